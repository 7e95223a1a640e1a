/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests how weights are kept in time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/slice/slice.h"
#include "profile/slice/time_line.h"

static uint64_t sum_of(const struct time_line *line, uint32_t row)
{
	uint64_t sum = 0;

	array_foreach(&line->parts, part) {
		assert_true(part->slice < line->slices.count);
		sum += part->row == row ? part->weight : 0;
	}
	return sum;
}

static void every_slice_is_kept_while_they_are_few(void **state)
{
	struct time_line line = {0};

	for (uint64_t i = 0; i < TIME_LINE_SLICES_MAX; i++) {
		time_line_begin(&line, i * 10, i * 10 + 10);
		time_line_add(&line, 3, i + 1);
	}
	assert_int_equal(line.slices.count, TIME_LINE_SLICES_MAX);
	for (size_t i = 0; i < line.parts.count; i++) {
		assert_int_equal(line.parts.items[i].slice, i);
		assert_int_equal(line.parts.items[i].weight, i + 1);
	}
	time_line_done(&line);
}

static void slices_that_are_too_many_are_joined_without_losing_weight(void **state)
{
	const uint64_t count = 5 * TIME_LINE_SLICES_MAX + 7;
	struct time_line line = {0};

	for (uint64_t i = 0; i < count; i++) {
		time_line_begin(&line, i * 10, i * 10 + 10);
		time_line_add(&line, 0, 1);
		time_line_add(&line, (uint32_t)(1 + i % 7), 100);
	}
	assert_true(line.slices.count <= TIME_LINE_SLICES_MAX);
	assert_true(line.slices.count >= TIME_LINE_SLICES_MAX / 2);
	assert_int_equal(sum_of(&line, 0), count);
	assert_int_equal(line.slices.items[0].start_ns, 0);
	assert_int_equal(line.slices.items[line.slices.count - 1].end_ns, count * 10);
	for (size_t i = 1; i < line.slices.count; i++)
		assert_int_equal(line.slices.items[i].start_ns, line.slices.items[i - 1].end_ns);
	time_line_done(&line);
}

static void every_joined_slice_but_the_last_covers_the_same_time(void **state)
{
	struct time_line line = {0};

	for (uint64_t i = 0; i < 3 * TIME_LINE_SLICES_MAX + 1; i++)
		time_line_begin(&line, i, i + 1);
	for (size_t i = 0; i + 1 < line.slices.count; i++)
		assert_int_equal(line.slices.items[i].end_ns - line.slices.items[i].start_ns, 4);
	time_line_done(&line);
}

static void merged_slices_know_when_their_rows_had_what(void **state)
{
	struct profile *into = slice_new();
	const struct time_line *line;
	size_t count;

	assert_int_equal(slice_keep_times(into), 0);
	assert_null(profile_time_line(into));
	for (uint64_t i = 0; i < 3; i++) {
		struct profile *from = slice_new();
		struct profile_row row = {.kind = PKBPF_PROFILE_CPU, .process = UINT32_MAX};

		profile_info(from)->start_ns = 1 + i;
		profile_info(from)->end_ns = 2 + i;
		row.stack = profile_intern_stack(from, NULL, 0);
		row.comm = profile_intern_string(from, i == 1 ? "other" : "name");
		row.count = row.weight = 10 * (i + 1);
		assert_int_equal(profile_add(from, &row), 0);
		assert_int_equal(slice_merge(into, from), 0);
		profile_free(from);
	}
	line = profile_time_line(into);
	assert_non_null(line);
	assert_int_equal(line->slices.count, 3);
	profile_rows(into, &count);
	assert_int_equal(count, 2);
	assert_int_equal(sum_of(line, 0), 40);
	assert_int_equal(sum_of(line, 1), 20);
	profile_free(into);
}

static uint64_t level_up_to(const struct time_line *line, uint32_t slice)
{
	int64_t sum = 0;

	array_foreach(&line->parts, part)
		sum += part->slice <= slice ? part->weight : 0;
	return (uint64_t)sum;
}

static void parts_of_a_level_are_its_changes(void **state)
{
	static const uint64_t levels[] = {80, 80, 30, 0, 50};
	struct profile *into = slice_new();

	assert_int_equal(slice_keep_times(into), 0);
	for (uint64_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct profile *from = slice_new();
		const struct process *process =
			process_table_get(profile_processes(from), 7, "server");
		struct profile_row row = {.kind = PKBPF_PROFILE_LIVE, .process = process->id};

		profile_info(from)->start_ns = 1 + i;
		profile_info(from)->end_ns = 2 + i;
		row.stack = profile_intern_stack(from, NULL, 0);
		row.comm = profile_intern_string(from, "server");
		row.count = row.weight = levels[i];
		assert_int_equal(profile_add(from, &row), 0);
		assert_int_equal(slice_merge(into, from), 0);
		profile_free(from);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(levels); i++)
		assert_int_equal(level_up_to(profile_time_line(into), i), levels[i]);
	profile_free(into);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_is_kept_while_they_are_few),
		cmocka_unit_test(slices_that_are_too_many_are_joined_without_losing_weight),
		cmocka_unit_test(every_joined_slice_but_the_last_covers_the_same_time),
		cmocka_unit_test(merged_slices_know_when_their_rows_had_what),
		cmocka_unit_test(parts_of_a_level_are_its_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
