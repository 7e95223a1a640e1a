// SPDX-License-Identifier: BSD-2-Clause
/* What merged slices of different captures say: samples of different rates, what they cost, and
 * what had no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "profile/profile.h"
#include "profile/slice/slice.h"
#include "profile/slice/time_line.h"

#define SECOND 1000000000ULL

static struct profile *slice_at(uint64_t second, uint32_t frequency_hz)
{
	struct profile *slice = slice_new();
	struct profile_info *info = profile_info(slice);

	info->start_ns = second * SECOND;
	info->end_ns = (second + 1) * SECOND;
	info->frequency_hz = frequency_hz;
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU;
	return slice;
}

static void add(struct profile *slice, enum pkbpf_profile_kind kind, uint64_t weight)
{
	struct profile_row row = {
		.kind = kind, .process = UINT32_MAX, .count = weight, .weight = weight};

	row.stack = profile_intern_stack(slice, NULL, 0);
	row.comm = profile_intern_string(slice, "name");
	assert_int_equal(profile_add(slice, &row), 0);
}

static uint64_t weight_of(const struct profile *profile, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t weight = 0;

	for (size_t i = 0; i < count; i++)
		weight += rows[i].kind == kind ? rows[i].weight : 0;
	return weight;
}

static void a_second_of_each_rate_is_two_seconds_in_whatever_order(void **state)
{
	static const uint32_t rates[2][2] = {{100, 1000}, {1000, 100}};

	for (int i = 0; i < 2; i++) {
		struct profile *into = slice_new();
		const struct time_line *line;
		int64_t parts[2] = {0};

		assert_int_equal(slice_keep_times(into), 0);
		for (uint64_t j = 0; j < 2; j++) {
			struct profile *slice = slice_at(1 + j, rates[i][j]);

			add(slice, PKBPF_PROFILE_CPU, rates[i][j]);
			add(slice, PKBPF_PROFILE_OFFCPU, 7);
			assert_int_equal(slice_merge(into, slice), 0);
			profile_free(slice);
		}
		assert_int_equal(profile_info(into)->frequency_hz, 1000);
		assert_int_equal(weight_of(into, PKBPF_PROFILE_CPU), 2000);
		assert_int_equal(weight_of(into, PKBPF_PROFILE_OFFCPU), 14);
		line = profile_time_line(into);
		array_foreach(&line->parts, part)
			parts[part->slice] += part->weight == 7 ? 0 : part->weight;
		assert_int_equal(parts[0], 1000);
		assert_int_equal(parts[1], 1000);
		profile_free(into);
	}
}

static void sums_of_a_store_are_of_one_rate_too(void **state)
{
	struct profile *into = slice_new(), *a = slice_at(1, 100), *b = slice_at(2, 1000);

	add(a, PKBPF_PROFILE_CPU, 100);
	add(b, PKBPF_PROFILE_CPU, 1000);
	assert_int_equal(slice_add_sums(into, b), 0);
	assert_int_equal(slice_add_sums(into, a), 0);
	assert_int_equal(weight_of(into, PKBPF_PROFILE_CPU), 2000);
	profile_free(into);
	profile_free(a);
	profile_free(b);
}

static void values_of_two_labels_are_those_of_none(void **state)
{
	static const char *const keys[][2] = {
		{"route", "route"}, {"route", "tenant"}, {"route", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct profile *into = slice_new();

		for (size_t j = 0; j < 2; j++) {
			struct profile *slice = slice_at(1 + j, 100);

			strcpy(profile_info(slice)->label_key, keys[i][j]);
			strcpy(profile_info(slice)->label_keys[1], keys[i][j]);
			assert_int_equal(slice_merge(into, slice), 0);
			profile_free(slice);
		}
		assert_string_equal(profile_info(into)->label_key, i ? "" : "route");
		assert_string_equal(profile_info(into)->label_keys[1], i ? "" : "route");
		profile_free(into);
	}
}

static void a_slice_without_samples_has_no_rate(void **state)
{
	struct profile *into = slice_new(), *a = slice_at(1, 100), *b = slice_at(2, 1000);

	add(a, PKBPF_PROFILE_CPU, 100);
	profile_info(b)->kinds_mask = 1U << PKBPF_PROFILE_OFFCPU;
	assert_int_equal(slice_merge(into, a), 0);
	assert_int_equal(slice_merge(into, b), 0);
	assert_int_equal(profile_info(into)->frequency_hz, 100);
	assert_int_equal(weight_of(into, PKBPF_PROFILE_CPU), 100);
	profile_free(into);
	profile_free(a);
	profile_free(b);
}

/* Two captures of two slices: start-ups of 100 and 200, then 10, 20, 30 and 40. */
static void what_captures_cost_adds_up(void **state)
{
	static const uint64_t costs[][3] = {
		{0, 100, 110}, {1, 110, 130}, {0, 200, 230}, {1, 230, 270}};
	struct profile *into = slice_new();

	for (uint64_t i = 0; i < 4; i++) {
		struct profile *slice = slice_at(1 + i, 100);
		struct profile_info *info = profile_info(slice);

		info->sequence = costs[i][0];
		info->own_start_cpu_ns = costs[i][1];
		info->own_cpu_ns = costs[i][2];
		assert_int_equal(slice_merge(into, slice), 0);
		profile_free(slice);
	}
	assert_int_equal(profile_own_cpu_since_start(profile_info(into)), 10 + 20 + 30 + 40);
	assert_int_equal(profile_info(into)->own_start_cpu_ns, 300);
	assert_int_equal(profile_info(into)->own_cpu_ns, 400);
	profile_free(into);
}

static uint32_t add_region(struct profile *slice, uint32_t parent, const char *name)
{
	const struct region_sums sums = {.count = 1, .total_ns = 5, .max_ns = 5};
	int64_t place = region_table_get(profile_regions(slice), 0, parent,
					 profile_intern_string(slice, name), 0);

	assert_true(place >= 0);
	assert_int_equal(region_table_add(profile_regions(slice), (uint32_t)place, &sums, NULL, 0),
			 0);
	return (uint32_t)place;
}

static void a_full_table_of_regions_goes_on_counting_what_it_has(void **state)
{
	struct profile *into = slice_new(), *full = slice_at(1, 100), *slice = slice_at(2, 100);
	uint64_t calls = 0;

	process_table_get(profile_processes(full), 7, "server");
	process_table_get(profile_processes(slice), 7, "server");
	for (uint32_t i = 0; i < REGION_TABLE_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		add_region(full, REGION_ROOT, name);
	}
	add_region(slice, add_region(slice, REGION_ROOT, "new"), "child");
	add_region(slice, REGION_ROOT, "17");
	assert_int_equal(slice_merge(into, full), 0);
	assert_int_equal(slice_merge(into, slice), 0);
	for (size_t i = 0; i < region_table_count(profile_regions(into)); i++)
		calls += region_table_at(profile_regions(into), i)->sums.count;
	assert_int_equal(calls, REGION_TABLE_MAX + 1);
	assert_int_equal(profile_info(into)->counters[PKBPF_COUNTER_MERGE_TOO_MANY], 2);
	profile_free(into);
	profile_free(full);
	profile_free(slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_of_each_rate_is_two_seconds_in_whatever_order),
		cmocka_unit_test(sums_of_a_store_are_of_one_rate_too),
		cmocka_unit_test(values_of_two_labels_are_those_of_none),
		cmocka_unit_test(a_slice_without_samples_has_no_rate),
		cmocka_unit_test(what_captures_cost_adds_up),
		cmocka_unit_test(a_full_table_of_regions_goes_on_counting_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
