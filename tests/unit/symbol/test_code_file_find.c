// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/jit/code_file_find: which mapped file is the jitdump of a process. */
#include "code_history_fixture.h"
#include "symbol/jit/code_file_find.h"

#include <errno.h>

#define FOLDER "/proc/4711/root/home/"

/* Maps /home/NAME of the process. */
static void map_dump(const char *name)
{
	struct fake_machine *machine = fake_machine_new();
	struct event_sink sink = process_table_sink(processes);
	char path[256];

	run_in_root("mkdir -p", "." FOLDER);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	write_file(path, "a dump", "w");
	fake_map(machine, 4711, 0x10000, 0x11000, 0, path + strlen("/proc/4711/root"));
	fake_play(machine, &sink);
	fake_machine_free(machine);
}

static int find(void)
{
	struct code_file_search search = {.options = &options,
					  .processes = processes,
					  .process = process_table_find(processes, 4711)};
	struct stat status;
	int fd = code_file_find(&search, &status);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void a_dump_is_of_the_process_in_its_name(void **state)
{
	write_status(geteuid(), "4711\t3");
	map_dump("jit-4712.dump");
	assert_int_equal(find(), -ENOENT);
	map_dump("jit-4711.dump.old");
	assert_int_equal(find(), -ENOENT);
	map_dump("jit-3.dump");
	assert_int_equal(find(), 0);
}

static void a_dump_may_have_the_outer_number(void **state)
{
	write_status(geteuid(), "4711\t3");
	map_dump("jit-4711.dump");
	assert_int_equal(find(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_dump_is_of_the_process_in_its_name, start, stop),
		cmocka_unit_test_setup_teardown(a_dump_may_have_the_outer_number, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
