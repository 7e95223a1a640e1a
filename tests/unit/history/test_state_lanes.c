// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/state_lanes: sums by window and state, of processes and threads. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_machine.h"
#include "history/state_lanes.h"
#include "region_record.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define MS     1000000ULL
#define BEGIN  (1700002800LL * SECOND)

static struct temp_tree tree;
static struct store *store;
static struct state_lanes lanes;
static char *json;

static int setup(void **state)
{
	(void)state;
	store = temp_store_open(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	state_lanes_done(&lanes);
	free(json);
	json = NULL;
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

static void keep(struct fake_profile *machine, int number)
{
	struct profile_info *info;

	account_end(machine);
	info = profile_info(machine->profile);
	info->start_unix_ns = BEGIN + number * SECOND;
	info->start_ns = (uint64_t)((1 + number) * SECOND);
	info->end_ns = info->start_ns + (uint64_t)SECOND;
	assert_int_equal(store_add(store, machine->profile, NULL), 0);
	fake_profile_done(machine);
}

/* A second in which a server ran and waited for its disk, and so many other programs ran. */
static void record(int number, uint64_t run_ms, uint64_t disk_ms, uint32_t programs)
{
	struct fake_profile machine;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU, run_ms * MS,
		      0);
	account_process(&machine, &(struct account_process){.pid = 10,
							    .comm = "a\"server",
							    .run_ns = run_ms * MS,
							    .run_delay_ns = 3 * MS});
	if (disk_ms)
		account_waits(&machine, 10, "a\"server", PKBPF_WAIT_DISK, 1, disk_ms * MS, 1,
			      FAKE_IPS(0x110), FAKE_IPS(0x1010));
	for (uint32_t i = 0; i < programs; i++) {
		char comm[24];

		snprintf(comm, sizeof(comm), "program%u", i);
		account_process(&machine, &(struct account_process){
						  .pid = 1000 + i, .comm = comm, .run_ns = MS});
	}
	keep(&machine, number);
}

static void read_lanes(int seconds, enum rows_by by)
{
	const struct history_range range = {BEGIN, BEGIN + seconds * SECOND};
	struct slice_choice choice = {0};
	struct error error;

	if (state_lanes_read(store, &range, &choice, by, &lanes, &error) < 0)
		fail_msg("%s", error.text);
}

static const char *write_json(size_t top)
{
	size_t size;
	FILE *out = open_memstream(&json, &size);

	state_lanes_write_json(&lanes, top, out);
	fclose(out);
	return json;
}

static uint64_t sum_of(enum lane_state which)
{
	uint64_t sum = 0;

	array_foreach(&lanes.lanes, lane)
		for (size_t i = 0; i < lanes.points.count; i++)
			sum += lane->values[i][which];
	for (size_t i = 0; i < lanes.points.count; i++)
		sum += lanes.others.values[i][which];
	return sum;
}

static void a_window_has_what_a_process_did_in_it(void **state)
{
	const struct state_lane *lane;

	(void)state;
	record(0, 200, 0, 0);
	record(1, 100, 50, 0);
	read_lanes(2, ROWS_BY_PROCESS);
	assert_int_equal(lanes.points.count, 2);
	assert_int_equal(lanes.points.items[1].covered_ns, SECOND);
	assert_int_equal(lanes.lanes.count, 1);
	lane = &lanes.lanes.items[0];
	assert_int_equal(lane->pid, 10);
	assert_int_equal(lane->tid, 0);
	assert_string_equal(lane->name, "a\"server");
	assert_int_equal(lane->values[0][LANE_STATE_ON_CPU], 200 * MS);
	assert_int_equal(lane->values[1][LANE_STATE_ON_CPU], 100 * MS);
	assert_int_equal(lane->values[0][LANE_STATE_DISK], 0);
	assert_int_equal(lane->values[1][LANE_STATE_DISK], 50 * MS);
	assert_true(lanes.has_waits);
	assert_int_equal(lane->active_ns,
			 sum_of(LANE_STATE_ON_CPU) + sum_of(LANE_STATE_RUNQUEUE) + 50 * MS);
}

/* What is left of a thread's life has no state. */
static void parts_of_a_thread_are_its_life(void **state)
{
	const struct state_lane *thread = NULL;
	uint64_t sum = 0;

	(void)state;
	record(0, 200, 50, 0);
	read_lanes(1, ROWS_BY_THREAD);
	array_foreach(&lanes.lanes, lane)
		if (lane->tid == 10)
			thread = lane;
	assert_non_null(thread);
	assert_int_equal(thread->values[0][LANE_STATE_ON_CPU], 200 * MS);
	for (size_t i = 0; i < LANE_STATES; i++)
		sum += thread->values[0][i];
	assert_true(thread->values[0][LANE_STATE_OTHER] > 0);
	assert_int_equal(sum, SECOND);
}

static void lanes_without_room_are_in_the_others(void **state)
{
	(void)state;
	record(0, 200, 0, STATE_LANES_MAX + 100);
	read_lanes(1, ROWS_BY_PROCESS);
	assert_int_equal(lanes.lanes.count, STATE_LANES_MAX / 2 + 101);
	assert_string_equal(lanes.lanes.items[0].name, "a\"server");
	assert_int_equal(lanes.others_count, STATE_LANES_MAX / 2);
	assert_int_equal(lanes.others.values[0][LANE_STATE_ON_CPU], STATE_LANES_MAX / 2 * MS);
	assert_int_equal(sum_of(LANE_STATE_ON_CPU), (200 + STATE_LANES_MAX + 100) * MS);
}

static void a_late_one_takes_the_place_of_less_active_ones(void **state)
{
	struct fake_profile machine;
	char others[64];

	(void)state;
	record(0, 200, 0, STATE_LANES_MAX - 1);
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 300 * MS, 0);
	account_process(&machine,
			&(struct account_process){.pid = 9, .comm = "late", .run_ns = 300 * MS});
	keep(&machine, 1);
	/* One that went to the others, and comes again. */
	record(2, 0, 0, STATE_LANES_MAX - 1);
	read_lanes(3, ROWS_BY_PROCESS);
	assert_string_equal(lanes.lanes.items[0].name, "late");
	assert_string_equal(lanes.lanes.items[1].name, "a\"server");
	assert_int_equal(lanes.lanes.count + lanes.others_count, STATE_LANES_MAX + 1);
	assert_int_equal(sum_of(LANE_STATE_ON_CPU), (500 + 2 * (STATE_LANES_MAX - 1)) * MS);
	snprintf(others, sizeof(others), "\"others\":{\"lanes\":%d,", STATE_LANES_MAX + 1 - 10);
	assert_non_null(strstr(write_json(10), others));
}

static void a_damaged_window_is_not_covered(void **state)
{
	struct store_windows windows;
	char path[512], bytes[64];
	int fd;

	(void)state;
	for (int i = 0; i < 3; i++)
		record(i, 10, 0, 0);
	assert_int_equal(store_list(store, STORE_SLICE, BEGIN, BEGIN + 3 * SECOND, &windows), 0);
	snprintf(path, sizeof(path), "%s/slice/0000000000000001.pkbpf", tree.root);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	memset(bytes, 0x5a, sizeof(bytes));
	assert_int_equal(
		pwrite(fd, bytes, sizeof(bytes),
		       (off_t)(windows.list.items[1].offset + windows.list.items[2].offset) / 2),
		sizeof(bytes));
	close(fd);
	array_free(&windows.list);
	read_lanes(3, ROWS_BY_COMM);
	assert_int_equal(lanes.points.count, 3);
	assert_int_equal(lanes.points.items[0].covered_ns, SECOND);
	assert_int_equal(lanes.points.items[1].covered_ns, 0);
	assert_int_equal(lanes.points.items[2].covered_ns, SECOND);
}

/* Minutes that are complete stand for their seconds. */
static void many_windows_are_merged_and_add_up(void **state)
{
	uint64_t covered_ns = 0;

	(void)state;
	for (int i = 0; i < STATE_LANES_POINTS_MAX + 30; i++)
		record(i, 10, 0, 0);
	read_lanes(STATE_LANES_POINTS_MAX + 30, ROWS_BY_COMM);
	assert_true(lanes.points.count <= STATE_LANES_POINTS_MAX);
	assert_int_equal(lanes.lanes.items[0].pid, 0);
	array_foreach(&lanes.points, point)
		covered_ns += point->covered_ns;
	assert_true(covered_ns >= STATE_LANES_POINTS_MAX * (uint64_t)SECOND);
	assert_int_equal(sum_of(LANE_STATE_ON_CPU), covered_ns / 100);
}

static void json_has_the_first_ones_and_the_sum_of_the_rest(void **state)
{
	const char *text;

	(void)state;
	record(0, 200, 0, 3);
	read_lanes(1, ROWS_BY_PROCESS);
	text = write_json(1);
	assert_non_null(strstr(text, "{\"by\":\"process\",\"states\":[\"on-CPU\",\"run queue\""));
	assert_non_null(strstr(text, "\"windows\":[[1700002800.000,1700002801.000]]"));
	assert_non_null(strstr(text, "\"lanes\":[{\"name\":\"a\\\"server\",\"pid\":10,"));
	assert_non_null(strstr(text, "\"values\":[[200000000],"));
	assert_non_null(strstr(text, "\"others\":{\"lanes\":3,\"lane\":{\"name\":\"others\","));
	assert_non_null(strstr(text, "\"values\":[[3000000],"));
	assert_null(strstr(text, "program"));
}

/* In the second in which it is left; a damaged or idle one has none. */
static void a_region_is_in_its_window(void **state)
{
	struct fake_profile machine;
	const char *text;

	(void)state;
	record(0, 200, 0, 0);
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 200 * MS, 0);
	account_process(&machine, &(struct account_process){
					  .pid = 10, .comm = "a\"server", .run_ns = 200 * MS});
	region_record_send(aggregator_sink(machine.aggregator), 10, "<step>", NULL, 5, 40 * MS);
	profile_info(machine.profile)->regions_ns = SECOND;
	keep(&machine, 1);
	read_lanes(2, ROWS_BY_PROCESS);
	text = write_json(10);
	assert_non_null(strstr(text, "\"regions_ns\":[0,1000000000]"));
	assert_non_null(strstr(text, ",\"regions\":[null,[0,200000000,5,0]]}"));
	assert_non_null(strstr(text, "\"region_names\":[\"\\u003cstep>\"]}"));
}

static void no_history_is_an_empty_picture(void **state)
{
	(void)state;
	read_lanes(1, ROWS_BY_PROCESS);
	assert_int_equal(lanes.points.count, 0);
	assert_non_null(strstr(write_json(10), "\"windows\":[],"));
	assert_non_null(strstr(json, "\"lanes\":[],\"others\":{\"lanes\":0,"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_window_has_what_a_process_did_in_it),
		TEST(parts_of_a_thread_are_its_life),
		TEST(lanes_without_room_are_in_the_others),
		TEST(a_late_one_takes_the_place_of_less_active_ones),
		TEST(a_damaged_window_is_not_covered),
		TEST(many_windows_are_merged_and_add_up),
		TEST(json_has_the_first_ones_and_the_sum_of_the_rest),
		TEST(a_region_is_in_its_window),
		TEST(no_history_is_an_empty_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
