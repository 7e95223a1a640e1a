/* SPDX-License-Identifier: BSD-2-Clause */
/* A process table that a fake machine's records are played into. After cmocka.h. */
#ifndef PKBPF_TEST_PROCESS_TABLE_FIXTURE_H
#define PKBPF_TEST_PROCESS_TABLE_FIXTURE_H

#include <stdlib.h>

#include "fake_machine.h"
#include "process/process_table.h"

struct fixture {
	struct fake_machine *machine;
	struct mapped_file_table *files;
	struct process_table *table;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->machine = fake_machine_new();
	fixture->files = mapped_file_table_new("");
	fixture->table = process_table_new(fixture->files);
	*state = fixture;
	return fixture->table ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	process_table_free(fixture->table);
	mapped_file_table_free(fixture->files);
	fake_machine_free(fixture->machine);
	free(fixture);
	return 0;
}

static void play(struct fixture *fixture)
{
	struct event_sink sink = process_table_sink(fixture->table);

	fake_play_new(fixture->machine, &sink);
}

static inline const struct mapping *mapping_at(struct fixture *fixture, uint32_t pid,
					       uint64_t address)
{
	struct process *process = process_table_find(fixture->table, pid);
	const struct address_space *space;

	if (!process)
		return NULL;
	space = process_table_mappings(fixture->table, process);
	return space ? address_space_find(space, address) : NULL;
}

/* Path of the file mapped there, "anonymous", "refused", or "nothing". */
static inline const char *path_at(struct fixture *fixture, uint32_t pid, uint64_t address)
{
	const struct mapping *mapping = mapping_at(fixture, pid, address);

	if (!mapping)
		return "nothing";
	if (mapping->file == MAPPING_REFUSED)
		return "refused";
	return mapping_has_file(mapping)
		       ? mapped_file_table_get(fixture->files, mapping->file)->path
		       : "anonymous";
}

#endif
