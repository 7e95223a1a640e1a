// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/budget_file and region_gap_names: which regions a file has, and what is
 * sent of those that had no probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event/region_event.h"
#include "process_table_fixture.h"
#include "source/regions/budget_file.h"
#include "temp_tree.h"

#define MS 1000000ULL

static const char *const text_path = "/usr/bin/server";

static struct pkbpf_span_row row_of(uint32_t pid, const char *name)
{
	struct pkbpf_span_row row = {.pid = pid};

	snprintf((char *)row.name, sizeof(row.name), "%s", name);
	return row;
}

/* Processes 10 and 11 have a server mapped, 20 has not. */
static void run_servers(struct fixture *fixture)
{
	struct fake_machine *machine = fixture->machine;

	fake_process(machine, 10, 1, "server");
	fake_process(machine, 11, 1, "server");
	fake_process(machine, 20, 1, "other");
	fake_map(machine, 10, 0x400000, 0x500000, 0, text_path);
	fake_map(machine, 11, 0x400000, 0x500000, 0, text_path);
	fake_map(machine, 20, 0x400000, 0x500000, 0, "/usr/bin/other");
	play(fixture);
}

static struct budget_file *file_at(const char *path, uint32_t mapped_file)
{
	const struct region_sites sites = {0};
	struct error error;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct region_budget_file from = {fd, path, mapped_file, 3, &sites};
	struct budget_file *file = budget_file_new(&from, &error);

	assert_non_null(file);
	close(fd);
	return file;
}

static void a_file_has_the_regions_of_processes_that_map_it(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_span_row rows[] = {row_of(10, "a"), row_of(10, "b"), row_of(20, "c"),
					row_of(0, "d"), row_of(11, "a")};
	struct budget_file *file;

	run_servers(fixture);
	file = file_at("/dev/null", mapping_at(fixture, 10, 0x400000)->file);
	budget_file_note_names(file, fixture->table, rows, 5);
	assert_int_equal(file->names.items.count, 2);
	assert_string_equal(file->names.items.items[0].name, "a");
	assert_string_equal(file->names.items.items[1].name, "b");
	/* They stay when the rows are gone. */
	budget_file_note_names(file, fixture->table, rows, 0);
	assert_int_equal(file->names.items.count, 2);
	budget_file_free(file);
}

static void a_file_without_processes_is_not_mapped(void **state)
{
	struct fixture *fixture = *state;
	struct budget_file *file;

	run_servers(fixture);
	file = file_at("/dev/null", mapping_at(fixture, 10, 0x400000)->file);
	assert_true(budget_file_is_mapped(file, fixture->table));
	fake_exit(fixture->machine, 10, 10);
	play(fixture);
	assert_true(budget_file_is_mapped(file, fixture->table));
	fake_exit(fixture->machine, 11, 11);
	play(fixture);
	assert_false(budget_file_is_mapped(file, fixture->table));
	/* By another id. */
	assert_int_equal(budget_file_note_id(file, mapping_at(fixture, 20, 0x400000)->file), 0);
	assert_true(budget_file_is_mapped(file, fixture->table));
	budget_file_free(file);
}

static void a_file_is_known_by_its_inode(void **state)
{
	struct temp_tree tree;
	struct stat stat;
	struct budget_file *file;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "a", "text");
	temp_tree_file(&tree, "b", "text");
	file = file_at(temp_tree_path(&tree, "a"), 1);
	stat = temp_tree_stat(&tree, "a");
	assert_true(budget_file_is(file, &stat));
	stat = temp_tree_stat(&tree, "b");
	assert_false(budget_file_is(file, &stat));
	budget_file_free(file);
	temp_tree_done(&tree);
}

static void of_two_files_with_a_name_the_longer_gap_counts(void **state)
{
	struct region_gap_names first = {0}, second = {0}, gaps = {0};
	struct event_buffer buffer = {0};
	const struct pkbpf_event_region_gap *records;

	assert_int_equal(region_gap_names_note(&first, "a", 0), 0);
	assert_int_equal(region_gap_names_note(&first, "b", 0), 0);
	assert_int_equal(region_gap_names_note(&second, "b", 0), 0);
	assert_int_equal(region_gap_names_join(&gaps, &first, 4 * MS), 0);
	assert_int_equal(region_gap_names_join(&gaps, &second, 7 * MS), 0);
	assert_int_equal(region_gap_names_join(&gaps, &first, 5 * MS), 0);
	assert_int_equal(region_gap_names_send(&gaps, 99, &buffer), 0);
	records = (const void *)buffer.data;
	assert_int_equal(buffer.size, 2 * sizeof(*records));
	assert_int_equal(records[0].header.kind, PKBPF_EVENT_REGION_GAP);
	assert_int_equal(records[0].header.time_ns, 99);
	assert_string_equal(records[0].name, "a");
	assert_int_equal(records[0].missed_ns, 5 * MS);
	assert_string_equal(records[1].name, "b");
	assert_int_equal(records[1].missed_ns, 7 * MS);
	assert_int_equal(region_gap_check(&records[1].header), 0);
	event_buffer_done(&buffer);
	region_gap_names_done(&first);
	region_gap_names_done(&second);
	region_gap_names_done(&gaps);
}

static void names_are_bounded(void **state)
{
	struct region_gap_names names = {0};
	char name[PKBPF_SPAN_NAME];

	for (int i = 0; i < REGION_GAP_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "request %d", i);
		assert_int_equal(region_gap_names_note(&names, name, 1), 0);
	}
	assert_int_equal(region_gap_names_note(&names, "one more", 1), -ENOSPC);
	assert_int_equal(region_gap_names_note(&names, name, 2), 0);
	memset(name, 'x', sizeof(name)); /* without an end */
	assert_int_equal(region_gap_names_note(&names, name, 1), -ENOSPC);
	assert_int_equal(names.items.count, REGION_GAP_NAMES_MAX);
	region_gap_names_done(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_has_the_regions_of_processes_that_map_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_without_processes_is_not_mapped, setup,
						teardown),
		cmocka_unit_test(a_file_is_known_by_its_inode),
		cmocka_unit_test(of_two_files_with_a_name_the_longer_gap_counts),
		cmocka_unit_test(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
