/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables of everything that a stopped child has mapped, for walks with the user-space
 * step. */
#ifndef PKBPF_TEST_LIVE_TABLES_H
#define PKBPF_TEST_LIVE_TABLES_H

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "process/procfs_maps.h"
#include "stopped_child.h"
#include "unwind/step.h"
#include "unwind/table/unwind_table.h"

struct live_code {
	struct procfs_mapping mapping;
	struct unwind_table *table; /* NULL: none */
	uint64_t bias;
};

struct live_tables {
	const struct stopped_child *child;
	struct rule_set *rules;
	ARRAY_OF(struct live_code) code;
};

static inline void live_tables_add(void *context, const struct procfs_mapping *mapping)
{
	struct live_tables *live = context;
	struct elf_file *image = NULL;
	struct live_code *code;
	void *memory = NULL;
	int fd = -1;

	if (!(mapping->protection & 4) || mapping->start >= 1ULL << 63)
		return;
	code = array_add(&live->code);
	if (!code)
		abort();
	code->mapping = *mapping;
	if (strcmp(mapping->path, "[vdso]") == 0) {
		size_t size = mapping->end - mapping->start;

		memory = malloc(size);
		if (!memory || stopped_child_read(live->child, mapping->start, memory, size) ||
		    elf_program_open_memory(memory, size, &image))
			abort();
	} else if (mapping->path[0] == '/') {
		/* What has been deleted since, or is no ELF file, is walked without a table. */
		fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && elf_program_open(fd, &image))
			image = NULL;
	}
	if (image && elf_segments_bias(&image->segments, mapping->start, mapping->end,
				       mapping->file_offset, &code->bias))
		unwind_table_build(image, false, live->rules, &code->table, NULL);
	elf_program_free(image);
	free(memory);
	if (fd >= 0)
		close(fd);
}

static inline void live_tables_open(struct live_tables *live, const struct stopped_child *child)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*live = (struct live_tables){.child = child, .rules = rule_set_new()};
	if (proc_fd < 0 || !live->rules ||
	    procfs_maps_read(proc_fd, (uint32_t)child->pid, live_tables_add, live) != 0)
		abort();
	close(proc_fd);
}

static inline void live_tables_close(struct live_tables *live)
{
	array_foreach(&live->code, code)
		unwind_table_free(code->table);
	array_free(&live->code);
	rule_set_free(live->rules);
}

static inline uint32_t live_tables_find_code(void *context, uint64_t address,
					     struct unwind_code *ret_code)
{
	struct live_tables *live = context;

	array_foreach(&live->code, code) {
		if (address < code->mapping.start || address >= code->mapping.end)
			continue;
		*ret_code = (struct unwind_code){
			.start = code->mapping.start,
			.end = code->mapping.end,
			.bias = code->bias,
			.flags = code->table ? 0 : PKBPF_MAPPING_ANONYMOUS,
			.table = code->table,
		};
		return 0;
	}
	return PKBPF_END_NO_MAPPING;
}

static inline bool live_tables_find_rule(void *context, const struct unwind_code *code,
					 uint64_t elf_address, struct pkbpf_unwind_rule *ret_rule)
{
	struct live_tables *live = context;

	*ret_rule = *unwind_table_lookup(code->table, live->rules, elf_address);
	return true;
}

static inline int live_tables_read(void *context, uint64_t address, void *buffer, size_t size)
{
	return stopped_child_read(((struct live_tables *)context)->child, address, buffer, size);
}

static const struct unwind_walk_ops live_tables_ops = {
	live_tables_find_code,
	live_tables_find_rule,
	live_tables_read,
	NULL,
};

#endif
