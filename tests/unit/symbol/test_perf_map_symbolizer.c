// SPDX-License-Identifier: BSD-2-Clause
/* Tests which perf map is taken for a process, and which is not believed. */
#include "symbol/jit/perf_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_machine.h"

static char root[] = "/tmp/pkbpf-jit-XXXXXX";
static struct mapped_file_table *files;
static struct process_table *processes;
static struct string_pool *strings;
static struct symbolizer_options options;
static struct symbolizer *symbolizer;
static uint32_t process_id;

static void run_in_root(const char *verb, const char *paths)
{
	char command[1024];

	snprintf(command, sizeof(command), "cd '%s' && %s %s", root, verb, paths);
	assert_int_equal(system(command), 0);
}

static void write_file(const char *path, const char *text, const char *mode)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int start(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct event_sink sink;

	strcpy(root, "/tmp/pkbpf-jit-XXXXXX");
	assert_non_null(mkdtemp(root));
	run_in_root("mkdir -p", "proc/4711/root/tmp tmp");
	files = mapped_file_table_new(root);
	processes = process_table_new(files);
	strings = string_pool_new();
	fake_process(machine, 4711, 1, "node");
	sink = process_table_sink(processes);
	fake_play(machine, &sink);
	fake_machine_free(machine);
	process_id = process_table_find(processes, 4711)->id;
	options = (struct symbolizer_options){.root = root};
	symbolizer = perf_map_symbolizer_new(&options, processes, strings);
	return symbolizer ? 0 : -1;
}

static int stop(void **state)
{
	symbolizer_free(symbolizer);
	process_table_free(processes);
	mapped_file_table_free(files);
	string_pool_free(strings);
	run_in_root("rm -rf", "proc tmp target");
	assert_int_equal(rmdir(root), 0);
	return 0;
}

static void write_status(uint32_t uid, const char *pids)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "Name:\tnode\nPid:\t4711\nUid:\t%u\t%u\t%u\t%u\nGid:\t0\t0\t0\t0\nNSpid:\t%"
		 "s\nThreads:\t1\n",
		 uid, uid, uid, uid, pids);
	write_file("/proc/4711/status", text, "w");
}

static struct symbol resolve(uint64_t address)
{
	struct frame_location location = {
		.space = FRAME_ANONYMOUS, .object = process_id, .address = address};
	struct symbol symbol;

	assert_true(symbolizer->ops->resolve(symbolizer, &location, &symbol));
	assert_int_equal(symbol.flags, SYMBOL_IS_JIT);
	return symbol;
}

static void assert_name(uint64_t address, const char *name)
{
	struct symbol symbol = resolve(address);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, name);
}

static void map_is_found_in_the_root_of_the_process_under_its_own_pid(void **state)
{
	write_status(getuid(), "4711\t17\t3");
	write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 wrong pid\n", "w");
	write_file("/proc/4711/root/tmp/perf-3.map", "1000 100 LazyCompile:~f\n", "w");
	assert_name(0x1010, "LazyCompile:~f");
	assert_int_equal(resolve(0x2000).result, SYMBOL_NOT_IN_TABLE);
}

static void kernel_without_pid_namespaces_is_fine(void **state)
{
	write_file("/proc/4711/status", "Name:\tnode\nUid:\t0\t0\t0\t0\n", "w");
	write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 f\n", "w");
	if (getuid() != 0)
		skip();
	assert_name(0x1010, "f");
}

static void process_without_map_says_so(void **state)
{
	write_status(getuid(), "4711");
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
}

static void map_that_grows_is_read_again(void **state)
{
	write_status(getuid(), "4711");
	write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 first\n", "w");
	assert_name(0x1010, "first");
	assert_int_equal(resolve(0x2010).result, SYMBOL_NOT_IN_TABLE);
	write_file("/proc/4711/root/tmp/perf-4711.map", "2000 100 second\n", "a");
	assert_name(0x2010, "second");
	assert_name(0x1010, "first");
}

static void map_of_another_user_is_not_believed(void **state)
{
	char path[512];

	if (getuid() != 0)
		skip();
	write_status(1234, "4711");
	snprintf(path, sizeof(path), "%s/proc/4711/root/tmp/perf-4711.map", root);
	write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 f\n", "w");
	assert_int_equal(chown(path, 4321, 4321), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
}

static void links_and_fifos_are_not_followed(void **state)
{
	char path[512], target[512];

	write_status(getuid(), "4711");
	write_file("/target", "1000 100 f\n", "w");
	write_file("/proc/4711/root/target", "1000 100 f\n", "w");
	snprintf(path, sizeof(path), "%s/proc/4711/root/tmp/perf-4711.map", root);
	snprintf(target, sizeof(target), "%s/target", root);
	assert_int_equal(symlink("/target", path), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
	symbolizer_free(symbolizer);
	symbolizer = perf_map_symbolizer_new(&options, processes, strings);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
}

static void map_larger_than_the_limit_is_not_read(void **state)
{
	char path[512];

	write_status(getuid(), "4711");
	write_file("/proc/4711/root/tmp/perf-4711.map", "1000 100 f\n", "w");
	snprintf(path, sizeof(path), "%s/proc/4711/root/tmp/perf-4711.map", root);
	assert_int_equal(truncate(path, (off_t)PERF_MAP_MAX_BYTES + 1), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
}

static void map_of_a_process_that_ended_is_found_in_our_own_tmp(void **state)
{
	write_file("/tmp/perf-4711.map", "1000 100 after the end\n", "w");
	assert_name(0x1010, "after the end");
}

static void map_of_a_process_that_ended_must_be_of_a_known_user(void **state)
{
	char path[512];

	if (getuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/tmp/perf-4711.map", root);
	write_file("/tmp/perf-4711.map", "1000 100 f\n", "w");
	assert_int_equal(chown(path, 1234, 1234), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
	symbolizer_free(symbolizer);
	options.user_uid = 1234;
	symbolizer = perf_map_symbolizer_new(&options, processes, strings);
	assert_name(0x1010, "f");
}

static void unknown_process_has_no_map(void **state)
{
	process_id = 99;
	assert_int_equal(resolve(0x1010).result, SYMBOL_NO_PERF_MAP);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		test(map_is_found_in_the_root_of_the_process_under_its_own_pid),
		test(kernel_without_pid_namespaces_is_fine),
		test(process_without_map_says_so),
		test(map_that_grows_is_read_again),
		test(map_of_another_user_is_not_believed),
		test(links_and_fifos_are_not_followed),
		test(map_larger_than_the_limit_is_not_read),
		test(map_of_a_process_that_ended_is_found_in_our_own_tmp),
		test(map_of_a_process_that_ended_must_be_of_a_known_user),
		test(unknown_process_has_no_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
