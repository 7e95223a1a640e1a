// SPDX-License-Identifier: BSD-2-Clause
/* Tests which perf map is taken for a process, which is not believed, and what is read of it. */
#include "symbol/jit/code_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "code_history_fixture.h"

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
	write_file("/proc/4711/status", "Name:\tnode\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n", "w");
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
	assert_int_equal(resolve(0x1010).result, SYMBOL_PERF_MAP_REFUSED);
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
	assert_int_equal(resolve(0x1010).result, SYMBOL_PERF_MAP_REFUSED);
	stop_history();
	start_history();
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(resolve(0x1010).result, SYMBOL_PERF_MAP_REFUSED);
}

/* A frame of a sample of that time, before its name is known. */
static struct frame_location sample(uint64_t address, uint64_t time_ns)
{
	return (struct frame_location){
		.space = FRAME_ANONYMOUS,
		.object = process_id,
		.address = address,
		.code = code_history_at(code, process_id, address, time_ns),
	};
}

static void assert_reads(const struct frame_location *location, const char *name)
{
	struct symbol symbol;

	code_history_settle(code);
	assert_true(symbolizer->ops->resolve(symbolizer, location, &symbol));
	assert_int_equal(symbol.result, name ? SYMBOL_FOUND : SYMBOL_NOT_IN_TABLE);
	if (name)
		assert_string_equal(symbol.lines[0].function, name);
}

#define MAP "/proc/4711/root/tmp/perf-4711.map"

/* Longer than a tick of the clock of file times. */
static uint64_t after_a_while(void)
{
	usleep(30000);
	return clock_now_ns();
}

static void each_sample_gets_the_name_of_its_time(void **state)
{
	struct frame_location before, after, between;
	uint64_t write_ns;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	before = sample(0x1010, after_a_while());
	write_ns = after_a_while();
	write_file(MAP, "1000 100 second\n", "a");
	after = sample(0x1010, after_a_while());
	/* When exactly the line was written nobody knows. */
	between = sample(0x1010, write_ns);
	assert_reads(&before, "first");
	assert_reads(&after, "second");
	assert_reads(&between, "second or first");
}

static void
code_that_was_replaced_before_the_first_look_is_told_apart_by_the_last_write(void **state)
{
	struct frame_location before, after;
	uint64_t begun_ns;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	begun_ns = after_a_while();
	write_file(MAP, "1000 100 second\n", "a");
	after = sample(0x1010, after_a_while());
	before = sample(0x1020, begun_ns);
	assert_reads(&after, "second");
	assert_reads(&before, "second or first");
}

static void name_that_is_written_later_says_so(void **state)
{
	struct frame_location early;

	write_status(getuid(), "4711");
	write_file(MAP, "9000 100 other\n", "w");
	early = sample(0x1010, after_a_while());
	usleep(600000);
	write_file(MAP, "1000 100 f\n", "a");
	assert_reads(&early, "f (named later)");
}

static void map_that_is_written_at_once_later_names_what_was_there(void **state)
{
	struct frame_location early;

	write_status(getuid(), "4711");
	early = sample(0x1010, after_a_while());
	write_file(MAP, "1000 100 f\n", "w");
	assert_reads(&early, "f");
}

static void map_that_is_begun_anew_keeps_the_names_of_before(void **state)
{
	struct frame_location before, after, gone;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n2000 100 gone\n3000 100 unused and long\n", "w");
	before = sample(0x1010, after_a_while());
	gone = sample(0x2010, clock_now_ns());
	assert_reads(&before, "first");
	write_file(MAP, "1000 100 second\n", "w");
	after = sample(0x1010, after_a_while());
	assert_reads(&before, "first");
	assert_reads(&gone, "gone");
	assert_reads(&after, "second");
}

static void map_that_is_begun_anew_and_is_longer_is_noticed(void **state)
{
	struct frame_location after;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	sample(0x1010, after_a_while());
	after_a_while();
	write_file(MAP, "1000 100 f\n1000 100 second\n1000 100 third\n", "w");
	after = sample(0x1010, after_a_while());
	assert_reads(&after, "third");
}

static void map_that_another_replaces_goes_on_there(void **state)
{
	struct frame_location after;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	sample(0x1010, after_a_while());
	write_file("/proc/4711/root/tmp/new", "1000 100 second\n", "w");
	run_in_root("cd proc/4711/root/tmp && mv", "new perf-4711.map");
	sample(0x1010, after_a_while());
	/* It is searched for again after a rest. */
	usleep(2100000);
	after = sample(0x1010, after_a_while());
	assert_reads(&after, "second");
}

static void map_of_many_megabytes_is_read_in_pieces(void **state)
{
	struct frame_location last;
	char path[512];
	FILE *file;

	write_status(getuid(), "4711");
	snprintf(path, sizeof(path), "%s%s", root, MAP);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < 400000; i++)
		fprintf(file, "%x 40 LazyCompile:~function %d file.js\n", 0x100000 + i * 64, i);
	fprintf(file, "1000 100 last\n");
	fclose(file);
	last = sample(0x1010, after_a_while());
	assert_true(code_history_work(code, clock_now_ns()));
	while (code_history_work(code, clock_now_ns() + NS_PER_MS))
		;
	assert_reads(&last, "last");
}

static void late_name_of_a_large_addition_is_found(void **state)
{
	struct frame_location before, after;
	char path[512];
	FILE *file;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	before = sample(0x1010, after_a_while());
	after_a_while();
	snprintf(path, sizeof(path), "%s%s", root, MAP);
	file = fopen(path, "a");
	assert_non_null(file);
	for (int i = 0; i < 20000; i++)
		fprintf(file, "%x 40 LazyCompile:~function %d file.js\n", 0x100000 + i * 64, i);
	fprintf(file, "1000 100 second\n1000 100 half a li");
	fclose(file);
	after = sample(0x1010, after_a_while());
	write_file(MAP, "ne\n", "a");
	assert_reads(&before, "first");
	/* The last line had been begun when it was sampled. */
	assert_reads(&after, "half a line or second");
	after_a_while();
	after = sample(0x1010, after_a_while());
	assert_reads(&after, "half a line");
}

static void places_beyond_the_bound_lose_their_names_rarest_first(void **state)
{
	uint64_t now_ns;
	struct frame_location often = {0};

	write_status(getuid(), "4711");
	write_file(MAP, "1000 1000000 f\n", "w");
	now_ns = after_a_while();
	for (int i = 0; i < 10; i++)
		often = sample(0x1010, now_ns);
	/* In order, so that the test is quick. */
	for (uint64_t i = 0; i < CODE_HISTORY_MAX_PLACES + 10; i++)
		sample(0x2000 + i, now_ns);
	assert_true(code_history_dropped(code) > 0);
	assert_reads(&often, "f");
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
	assert_int_equal(resolve(0x1010).result, SYMBOL_PERF_MAP_REFUSED);
	stop_history();
	options.user_uid = 1234;
	start_history();
	assert_name(0x1010, "f");
}

static void exec(void)
{
	struct event_sink sink = process_table_sink(processes);

	sink.ops->on_task(sink.context, &(struct task_view){.kind = PKBPF_EVENT_COMM,
							    .time_ns = clock_now_ns(),
							    .pid = 4711,
							    .tid = 4711,
							    .comm = "other",
							    .exec = true});
}

static void program_that_has_the_number_of_an_earlier_one_has_none_of_its_names(void **state)
{
	struct frame_location before, after;
	struct symbol symbol;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 first\n", "w");
	before = sample(0x1010, after_a_while());
	assert_reads(&before, "first");
	after_a_while();
	exec();
	exec();
	assert_int_equal(process_table_find(processes, 4711)->id, process_id);
	after = sample(0x1010, after_a_while());
	code_history_settle(code);
	assert_true(symbolizer->ops->resolve(symbolizer, &after, &symbol));
	assert_int_equal(symbol.result, SYMBOL_OTHERS_PERF_MAP);
}

static void child_of_one_whose_number_another_has_inherits_nothing(void **state)
{
	struct event_sink sink = process_table_sink(processes);
	struct frame_location frame;
	struct symbol symbol;

	write_status(getuid(), "4711");
	sink.ops->on_task(sink.context, &(struct task_view){.kind = PKBPF_EVENT_FORK,
							    .time_ns = clock_now_ns(),
							    .pid = 5000,
							    .tid = 5000,
							    .parent_pid = 4711});
	frame = sample(0x2010, after_a_while());
	frame.object = process_table_find(processes, 5000)->id;
	/* The child is known now, and its parent by its number. */
	code_history_at(code, frame.object, 0x3010, clock_now_ns());
	exec();
	exec();
	write_file(MAP, "1000 100 of another program\n", "w");
	frame.address = 0x1010;
	frame.code = code_history_at(code, frame.object, 0x1010, after_a_while());
	code_history_settle(code);
	assert_true(symbolizer->ops->resolve(symbolizer, &frame, &symbol));
	assert_int_not_equal(symbol.result, SYMBOL_FOUND);
}

static void end(uint32_t pid)
{
	struct event_sink sink = process_table_sink(processes);

	/* Long ago: nothing of it comes any more. */
	sink.ops->on_task(sink.context,
			  &(struct task_view){
				  .kind = PKBPF_EVENT_EXIT, .time_ns = 1, .pid = pid, .tid = pid});
}

static size_t count_used(void)
{
	bool is_used[64] = {false};
	size_t count = 0;

	code_history_mark_processes(code, is_used);
	for (size_t i = 0; i < ARRAY_SIZE(is_used); i++)
		count += is_used[i];
	return count;
}

/* What a child has not written itself may be in the map of its parent. */
static void parents_are_kept_as_long_as_their_children(void **state)
{
	struct event_sink sink = process_table_sink(processes);
	uint32_t child;

	write_status(getuid(), "4711");
	write_file(MAP, "1000 100 of the parent\n", "w");
	sample(0x1010, after_a_while());
	assert_int_equal(count_used(), 1);
	sink.ops->on_task(sink.context, &(struct task_view){.kind = PKBPF_EVENT_FORK,
							    .time_ns = clock_now_ns(),
							    .pid = 5000,
							    .tid = 5000,
							    .parent_pid = 4711});
	child = process_table_find(processes, 5000)->id;
	code_history_at(code, child, 0x1010, after_a_while());
	assert_int_equal(count_used(), 2);
	code_history_forget_ended(code);
	assert_int_equal(count_used(), 2);
	end(4711);
	code_history_settle(code);
	code_history_work(code, UINT64_MAX);
	assert_int_equal(code_history_ended_count(code), 1);
	code_history_forget_ended(code);
	assert_int_equal(code_history_ended_count(code), 0);
	assert_int_equal(count_used(), 2);
	end(5000);
	code_history_settle(code);
	code_history_forget_ended(code);
	code_history_forget_ended(code);
	assert_int_equal(count_used(), 0);
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
		test(each_sample_gets_the_name_of_its_time),
		test(code_that_was_replaced_before_the_first_look_is_told_apart_by_the_last_write),
		test(name_that_is_written_later_says_so),
		test(map_that_is_written_at_once_later_names_what_was_there),
		test(map_that_is_begun_anew_keeps_the_names_of_before),
		test(map_that_is_begun_anew_and_is_longer_is_noticed),
		test(map_that_another_replaces_goes_on_there),
		test(map_of_many_megabytes_is_read_in_pieces),
		test(late_name_of_a_large_addition_is_found),
		test(places_beyond_the_bound_lose_their_names_rarest_first),
		test(map_of_a_process_that_ended_is_found_in_our_own_tmp),
		test(map_of_a_process_that_ended_must_be_of_a_known_user),
		test(program_that_has_the_number_of_an_earlier_one_has_none_of_its_names),
		test(child_of_one_whose_number_another_has_inherits_nothing),
		test(parents_are_kept_as_long_as_their_children),
		test(unknown_process_has_no_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
