// SPDX-License-Identifier: BSD-2-Clause
/* Tests how regions become lines, and that they come through slices and recordings as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "profile/slice/slice.h"
#include "region_record.h"
#include "rows/region_list.h"
#include "rows/resource_rows.h"

#define MS 1000000ULL

static struct fake_profile fake;

static void send_region(uint32_t pid, const char *outer, const char *inner, uint64_t count,
			uint64_t wall_ns)
{
	region_record_send(aggregator_sink(fake.aggregator), pid, outer, inner, count, wall_ns);
}

static int setup(void **state)
{
	fake_profile_init(&fake, NULL);
	process_table_get(fake.processes, 7, "train");
	process_table_get(fake.processes, 8, "train");
	process_table_get(fake.processes, 9, "serve");
	send_region(7, "step", "load", 10, 1 * MS);
	send_region(7, "step", NULL, 10, 10 * MS);
	send_region(7, "step", "compute", 10, 8 * MS);
	send_region(8, "step", NULL, 10, 30 * MS);
	send_region(9, "load", NULL, 1, 2 * MS);
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

static void children_follow_their_parent_the_longest_first(void **state)
{
	struct region_list list;

	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_COMM), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.lines[0].name, "step");
	assert_string_equal(list.lines[0].comm, "train");
	assert_int_equal(list.lines[0].sums.count, 20);
	assert_int_equal(list.lines[0].sums.total_ns, 400 * MS);
	assert_int_equal(list.lines[0].self_ns, (400 - 90) * MS);
	assert_string_equal(list.lines[1].name, "compute");
	assert_int_equal(list.lines[1].depth, 1);
	assert_int_equal(list.lines[1].parent, 0);
	assert_string_equal(list.lines[2].name, "load");
	assert_string_equal(list.lines[3].comm, "serve");
	assert_int_equal(list.lines[3].depth, 0);
	region_list_done(&list);
}

static void processes_may_be_kept_apart(void **state)
{
	struct region_list list;

	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_PROCESS), 0);
	assert_int_equal(list.count, 5);
	assert_int_equal(list.lines[0].pid, 8);
	assert_int_equal(list.lines[0].sums.total_ns, 300 * MS);
	assert_int_equal(list.lines[1].pid, 7);
	region_list_done(&list);
}

static void one_name_is_one_line_wherever_it_is(void **state)
{
	const struct region_line *line;
	struct region_list list;

	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_NAME), 0);
	assert_int_equal(list.count, 3);
	line = region_list_find(&list, "load");
	assert_non_null(line);
	assert_int_equal(line->sums.count, 11);
	assert_int_equal(line->sums.total_ns, 12 * MS);
	assert_int_equal(line->sums.max_ns, 2 * MS);
	/* Within the width of a bucket. */
	assert_in_range(line->p50_ns, 969 * MS / 1000, 1031 * MS / 1000);
	assert_in_range(line->p99_ns, 1938 * MS / 1000, 2 * MS);
	assert_in_range((uint64_t)line->items_per_second, 9166, 9167);
	assert_int_equal(region_line_mean_rss(line), 3 << 20);
	assert_int_equal(line->sums.rss_max_kib, 3 << 10);
	assert_int_equal(line->sums.rss_growth_kib, 11 << 10);
	assert_null(region_list_find(&list, "none"));
	region_list_done(&list);
}

/* A quarter of the wall time is on a CPU. */
static void energy_is_shared_out_by_time_on_a_cpu(void **state)
{
	struct machine_figures *machine = &profile_info(fake.profile)->machine;
	const struct resource_machine reading = {.known = true, .busy_ns = 4000 * MS};
	struct region_list list;

	resource_usage_put_machine(profile_resources(fake.profile), &reading);
	machine->energy_uj = 40000000;
	machine->energy_ns = 1000 * MS;
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_COMM), 0);
	assert_int_equal(list.lines[0].energy_mj, 1000);
	region_list_done(&list);
	machine->energy_ns = 0;
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_COMM), 0);
	assert_int_equal(list.lines[0].energy_mj, 0);
	region_list_done(&list);
}

static void a_region_inside_its_like_adds_no_time(void **state)
{
	const struct region_line *line;
	struct region_list list;

	send_region(9, "load", "load", 5, 1 * MS);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_NAME), 0);
	line = region_list_find(&list, "load");
	assert_int_equal(line->sums.count, 16);
	assert_int_equal(line->sums.total_ns, 12 * MS);
	assert_int_equal(line->sums.rss_readings, 16);
	assert_int_equal(line->sums.rss_growth_kib, 11 << 10);
	region_list_done(&list);
}

/* An allocation by main() in the innermost of these regions. */
static void allocate(uint32_t pid, const char *outer, const char *inner, uint32_t kind)
{
	struct profile *profile = fake.profile;
	uint32_t frames[3], count = 0;
	struct profile_row row = {
		.kind = kind,
		.process = process_table_get(fake.processes, pid, "train")->id,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, "train"),
		.count = 2,
		.weight = 1000,
	};

	frames[count++] = profile_intern_frame(
		profile, &(struct frame_location){.space = FRAME_UNMAPPED, .object = row.process});
	if (inner)
		frames[count++] = profile_intern_region(profile, (uint32_t)inner[0], inner);
	frames[count++] = profile_intern_region(profile, (uint32_t)outer[0], outer);
	row.stack = profile_intern_stack(profile, frames, count);
	assert_int_equal(profile_add(profile, &row), 0);
}

static void allocations_belong_to_the_regions_around_them(void **state)
{
	struct region_list list;

	allocate(7, "step", "load", PKBPF_PROFILE_ALLOC);
	allocate(7, "step", NULL, PKBPF_PROFILE_ALLOC);
	allocate(8, "step", NULL, PKBPF_PROFILE_LIVE);
	allocate(8, "none", NULL, PKBPF_PROFILE_ALLOC);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_COMM), 0);
	assert_int_equal(list.lines[0].heap.allocated_bytes, 2000);
	assert_int_equal(list.lines[0].heap.allocated_objects, 4);
	assert_int_equal(list.lines[0].heap.live_bytes, 1000);
	assert_int_equal(list.lines[1].heap.allocated_bytes, 0);
	assert_int_equal(list.lines[2].heap.allocated_bytes, 1000);
	region_list_done(&list);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_PROCESS), 0);
	assert_int_equal(list.lines[0].pid, 8);
	assert_int_equal(list.lines[0].heap.allocated_bytes, 0);
	assert_int_equal(list.lines[0].heap.live_objects, 2);
	region_list_done(&list);
}

static void allocations_in_a_region_inside_its_like_count_once(void **state)
{
	struct region_list list;

	allocate(7, "load", "load", PKBPF_PROFILE_ALLOC);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_NAME), 0);
	assert_int_equal(region_list_find(&list, "load")->heap.allocated_bytes, 1000);
	region_list_done(&list);
}

static void slices_add_up(void **state)
{
	struct profile *slice = slice_new();
	struct region_list list;

	assert_non_null(slice);
	assert_int_equal(slice_merge(slice, fake.profile), 0);
	assert_int_equal(slice_merge(slice, fake.profile), 0);
	assert_int_equal(region_list_init(&list, slice, REGION_BY_COMM), 0);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.lines[0].sums.count, 40);
	assert_int_equal(list.lines[0].sums.total_ns, 800 * MS);
	assert_int_equal(list.lines[0].sums.max_ns, 30 * MS);
	assert_int_equal(region_sums_undivided_ns(&list.lines[0].sums), 0);
	region_list_done(&list);
	profile_free(slice);
}

/* As the source sends it, once for each slice. */
static void send_gap(const char *name, uint64_t missed_ns)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);
	struct pkbpf_event_region_gap record = {
		.header = {.kind = PKBPF_EVENT_REGION_GAP, .size = sizeof(record)},
		.missed_ns = missed_ns};

	strcpy(record.name, name);
	sink.ops->on_other(sink.context, &record.header);
}

static void gaps_of_slices_add_up_whichever_process_there_is(void **state)
{
	struct profile *slice = slice_new();
	struct region_list list;

	assert_non_null(slice);
	send_gap("step", 3 * MS);
	send_gap("unseen", 4 * MS);
	assert_int_equal(slice_merge(slice, fake.profile), 0);
	assert_int_equal(slice_merge(slice, fake.profile), 0);
	assert_int_equal(region_list_init(&list, slice, REGION_BY_NAME), 0);
	assert_int_equal(region_list_find(&list, "step")->missed_ns, 6 * MS);
	assert_int_equal(region_list_find(&list, "load")->missed_ns, 0);
	/* It was not counted, and that is no count of 0. */
	assert_int_equal(region_list_find(&list, "unseen")->missed_ns, 8 * MS);
	assert_int_equal(region_list_find(&list, "unseen")->sums.count, 0);
	region_list_done(&list);
	/* In both processes, and no line for one without. */
	assert_int_equal(region_list_init(&list, slice, REGION_BY_PROCESS), 0);
	assert_int_equal(list.count, 5);
	assert_int_equal(list.lines[0].missed_ns, 6 * MS);
	assert_int_equal(list.lines[1].missed_ns, 6 * MS);
	region_list_done(&list);
	profile_free(slice);
}

static void a_name_by_number_and_by_scope_is_one(void **state)
{
	struct region_table *table = profile_regions(fake.profile);
	const struct region_sums sums = {.count = 2, .total_ns = 8 * MS, .max_ns = 5 * MS};
	uint32_t process = process_table_find(fake.processes, 9)->id,
		 load = profile_intern_comm(fake.profile, "load"),
		 number = profile_intern_comm(fake.profile, "number");
	struct region_list list;
	int64_t place = region_table_get(table, process, REGION_ROOT, load, PKBPF_REGION_BY_ID);

	assert_int_equal(region_table_add(table, (uint32_t)place, &sums, NULL, 0), 0);
	place = region_table_get(table, process, REGION_ROOT, number, PKBPF_REGION_BY_ID);
	assert_int_equal(region_table_add(table, (uint32_t)place, &sums, NULL, 0), 0);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_NAME), 0);
	assert_int_equal(list.count, 4);
	assert_int_equal(region_list_find(&list, "load")->sums.count, 13);
	assert_int_equal(region_list_find(&list, "load")->sums.total_ns, 20 * MS);
	assert_false(region_list_find(&list, "load")->by_id);
	assert_true(region_list_find(&list, "number")->by_id);
	region_list_done(&list);
}

/* A program may choose any label. */
static void requests_with_a_label_are_no_region_of_that_name(void **state)
{
	struct region_table *table = profile_regions(fake.profile);
	const struct region_sums sums = {.count = 1, .total_ns = 5000 * MS, .max_ns = 5000 * MS};
	uint32_t process = process_table_find(fake.processes, 9)->id,
		 load = profile_intern_comm(fake.profile, "load"),
		 route = profile_intern_comm(fake.profile, "route");
	struct region_list list;
	int64_t place = region_table_get(table, process, REGION_ROOT, load, PKBPF_REGION_REQUEST);

	assert_int_equal(region_table_add(table, (uint32_t)place, &sums, NULL, 0), 0);
	place = region_table_get(table, process, REGION_ROOT, route, PKBPF_REGION_REQUEST);
	assert_int_equal(region_table_add(table, (uint32_t)place, &sums, NULL, 0), 0);
	send_gap("load", MS);
	assert_int_equal(region_list_init(&list, fake.profile, REGION_BY_NAME), 0);
	assert_int_equal(list.count, 5);
	assert_true(list.lines[0].is_request && list.lines[1].is_request);
	assert_int_equal(list.lines[0].missed_ns + list.lines[1].missed_ns, 0);
	assert_int_equal(region_list_find(&list, "load")->sums.count, 11);
	assert_int_equal(region_list_find(&list, "load")->missed_ns, MS);
	assert_null(region_list_find(&list, "route"));
	region_list_done(&list);
}

static void a_record_that_cannot_be_is_counted_as_malformed(void **state)
{
	struct pkbpf_event_region record = {
		.header = {.kind = PKBPF_EVENT_REGION, .size = sizeof(record)}, .depth = 1};
	struct event_sink sink = aggregator_sink(fake.aggregator);

	sink.ops->on_other(sink.context, &record.header);
	assert_int_equal(profile_info(fake.profile)->counters[PKBPF_COUNTER_LOST_MALFORMED], 1);
}

static void add_time(uint32_t process, unsigned int state, uint64_t time_ns)
{
	struct distribution_key key = {.kind = PKBPF_PROFILE_OFFCPU,
				       .process = process,
				       .measure = PKBPF_OFFCPU_TIME,
				       .state = (uint8_t)state};

	assert_int_equal(profile_add_distribution(
				 fake.profile, &key,
				 &(struct distribution_change){.count = 1, .total = time_ns}),
			 0);
}

static const struct resource_row *named(const struct resource_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->all_count; i++)
		if (!strcmp(rows->items[i].name, name))
			return &rows->items[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void rows_by_region_have_what_was_in_no_region_inside_of_them(void **state)
{
	uint32_t process = process_table_find(fake.processes, 7)->id, stack, frames[2];
	struct resource_rows rows;

	profile_info(fake.profile)->kinds_mask =
		1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU;
	add_time(process, PKBPF_WAIT_NONE, 200 * MS);
	add_time(process, PKBPF_WAIT_SLEEP, 500 * MS);
	/* The innermost one is next to the program. */
	frames[0] = profile_intern_region(fake.profile, 1, "load");
	frames[1] = profile_intern_region(fake.profile, 0, "step");
	stack = profile_intern_stack(fake.profile, frames, 2);
	assert_int_equal(profile_add(fake.profile, &(struct profile_row){.kind = PKBPF_PROFILE_CPU,
									 .process = process,
									 .stack = stack,
									 .count = 3,
									 .weight = 3}),
			 0);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_REGION), 0);
	assert_int_equal(named(&rows, "step")->waits.on_cpu_ns, 77 * MS + MS / 2);
	assert_int_equal(named(&rows, "step")->waits.sleep_ns, 232 * MS + MS / 2);
	assert_int_equal(named(&rows, "step")->waits.wall_ns, 310 * MS);
	assert_int_equal(named(&rows, "load")->waits.wall_ns, 12 * MS);
	assert_int_equal(named(&rows, "load")->cpu.samples, 3);
	assert_int_equal(named(&rows, "compute")->waits.on_cpu_ns, 20 * MS);
	assert_int_equal(named(&rows, ROW_NO_REGION)->waits.on_cpu_ns, 99 * MS + MS / 2);
	assert_int_equal(named(&rows, ROW_NO_REGION)->waits.sleep_ns, 198 * MS + MS / 2);
	assert_int_equal(named(&rows, ROW_NO_REGION)->waits.offcpu_ns, 198 * MS + MS / 2);
	assert_int_equal(rows.total.waits.wall_ns, 700 * MS);
	resource_rows_done(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(children_follow_their_parent_the_longest_first,
						setup, teardown),
		cmocka_unit_test_setup_teardown(processes_may_be_kept_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(gaps_of_slices_add_up_whichever_process_there_is,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_by_number_and_by_scope_is_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(requests_with_a_label_are_no_region_of_that_name,
						setup, teardown),
		cmocka_unit_test_setup_teardown(one_name_is_one_line_wherever_it_is, setup,
						teardown),
		cmocka_unit_test_setup_teardown(energy_is_shared_out_by_time_on_a_cpu, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_region_inside_its_like_adds_no_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			rows_by_region_have_what_was_in_no_region_inside_of_them, setup, teardown),
		cmocka_unit_test_setup_teardown(allocations_belong_to_the_regions_around_them,
						setup, teardown),
		cmocka_unit_test_setup_teardown(allocations_in_a_region_inside_its_like_count_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(slices_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_that_cannot_be_is_counted_as_malformed,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
