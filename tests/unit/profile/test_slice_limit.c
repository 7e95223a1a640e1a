// SPDX-License-Identifier: BSD-2-Clause
/* Tests that a profile that slices are merged into stays small, with the same figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/shrink/process_merge.h"
#include "profile/shrink/slice_limit.h"
#include "profile/slice/slice.h"
#include "profile/slice/time_line.h"
#include "slice_stream.h"

#define STACK_BYTES (64U << 10)
#define ENDED_TASKS 8
#define SLICES	    100

struct merging {
	struct profile *profile;
	struct slice_limit limit;
	size_t most_bytes, most_ended;
};

static void merge_within_limits(void *context, const struct profile *slice)
{
	struct merging *work = context;

	assert_int_equal(slice_merge(work->profile, slice), 0);
	assert_int_equal(slice_limit_memory(&work->limit, work->profile), 0);
	if (profile_stack_bytes(work->profile) > work->most_bytes)
		work->most_bytes = profile_stack_bytes(work->profile);
	if (profile_ended_processes(work->profile) > work->most_ended)
		work->most_ended = profile_ended_processes(work->profile);
}

static void add_weights(const struct profile *profile, uint64_t *weights, uint64_t *counts)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++) {
		weights[rows[i].kind] += rows[i].weight;
		counts[rows[i].kind] += rows[i].count;
	}
}

static uint64_t weight_in_time(const struct profile *profile)
{
	const struct time_line *line = profile_time_line(profile);
	uint64_t weight = 0;
	size_t count;

	assert_non_null(line);
	profile_rows(profile, &count);
	array_foreach(&line->parts, part) {
		assert_true(part->row < count);
		weight += part->weight;
	}
	return weight;
}

static void a_merged_profile_stays_small_and_keeps_its_figures(void **state)
{
	uint64_t cuts[SLICES], weights[PKBPF_PROFILE_KINDS] = {0},
			       counts[PKBPF_PROFILE_KINDS] = {0},
			       limited_weights[PKBPF_PROFILE_KINDS] = {0},
			       limited_counts[PKBPF_PROFILE_KINDS] = {0}, all = 0;
	struct merging work = {.profile = slice_new(), .limit = {STACK_BYTES, ENDED_TASKS, 0, 0}};
	struct slice_plan plan = {
		.cuts = cuts, .cut_count = SLICES, .take = merge_within_limits, .context = &work};
	struct slice_stream stream;
	struct profile *whole;

	assert_int_equal(slice_keep_times(work.profile), 0);
	slice_stream_init(&stream, 3, 4000);
	for (uint64_t i = 0; i < SLICES; i++)
		cuts[i] = SLICE_STREAM_START_NS +
			  (i + 1) * (stream.end_ns - SLICE_STREAM_START_NS) / (SLICES + 1);
	whole = slice_stream_play(&stream, &plan);
	add_weights(whole, weights, counts);
	add_weights(work.profile, limited_weights, limited_counts);
	assert_memory_equal(weights, limited_weights, sizeof(weights));
	assert_memory_equal(counts, limited_counts, sizeof(counts));
	for (int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		all += weights[kind];
	assert_int_equal(weight_in_time(work.profile), all);
	assert_true(profile_stack_bytes(whole) > STACK_BYTES / 2 * 3);
	assert_true(work.most_bytes < STACK_BYTES + STACK_BYTES / 2);
	assert_true(profile_grouped_processes(work.profile) > 0);
	assert_true(profile_ended_processes(whole) > 4 * work.most_ended);
	profile_free(work.profile);
	profile_free(whole);
	slice_stream_done(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merged_profile_stays_small_and_keeps_its_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
