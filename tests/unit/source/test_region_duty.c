// SPDX-License-Identifier: BSD-2-Clause
/* Tests in how many slices the probes of files are on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "source/regions/region_duty.h"

#define SLICE_NS   (10 * NS_PER_SECOND)
#define ALLOWED_NS (50 * NS_PER_MS)

static bool step(struct region_duties *all, struct region_duty *files, size_t count)
{
	struct region_duty *list[8];

	for (size_t i = 0; i < count; i++)
		list[i] = &files[i];
	return region_duties_step(all, list, count, ALLOWED_NS, SLICE_NS);
}

static void the_dearest_is_watched_less_after_two_slices(void **state)
{
	struct region_duty files[] = {{.cost_ns = 60 * NS_PER_MS}, {.cost_ns = 10 * NS_PER_MS}};
	struct region_duties all = {0};

	assert_false(step(&all, files, ARRAY_SIZE(files)));
	assert_true(step(&all, files, ARRAY_SIZE(files)));
	assert_int_equal(files[0].shift, 1);
	assert_int_equal(files[1].shift, 0);
	/* 30 and 10 fit. */
	assert_false(step(&all, files, ARRAY_SIZE(files)));
}

static void one_dear_slice_among_others_changes_nothing(void **state)
{
	struct region_duty file = {.cost_ns = 60 * NS_PER_MS};
	struct region_duties all = {0};

	for (int i = 0; i < 20; i++) {
		file.cost_ns = (i % 2 ? 60 : 40) * NS_PER_MS;
		assert_false(step(&all, &file, 1));
	}
}

static void a_burst_changes_it_at_once_as_far_as_it_takes(void **state)
{
	struct region_duty file = {.cost_ns = 1600 * NS_PER_MS};
	struct region_duties all = {0};

	assert_true(step(&all, &file, 1));
	assert_int_equal(file.shift, 5);
}

static void others_do_not_pay_for_what_cannot_be_watched_less(void **state)
{
	struct region_duty files[] = {{.cost_ns = 4000 * ALLOWED_NS}, {.cost_ns = NS_PER_MS}};
	struct region_duties all = {0};

	assert_true(step(&all, files, ARRAY_SIZE(files)));
	assert_int_equal(1U << files[0].shift, REGION_DUTY_MOST);
	assert_int_equal(files[1].shift, 0);
}

static void steps_are_undone_after_ten_cheap_minutes(void **state)
{
	struct region_duty files[] = {{.cost_ns = 80 * NS_PER_MS}, {.cost_ns = NS_PER_MS}};
	struct region_duties all = {0};
	int slices = 0;

	step(&all, files, ARRAY_SIZE(files));
	step(&all, files, ARRAY_SIZE(files));
	assert_int_equal(files[0].shift, 1);
	files[0].cost_ns = 20 * NS_PER_MS;
	while (!step(&all, files, ARRAY_SIZE(files)))
		slices++;
	assert_int_equal(slices, 59);
	assert_int_equal(files[0].shift, 0);
	/* Nothing is left to be undone. */
	for (int i = 0; i < 200; i++)
		assert_false(step(&all, files, ARRAY_SIZE(files)));
}

static void what_would_cost_too_much_again_stays(void **state)
{
	/* 24 of 50 may be spent, and twice as much would be too near: 1 of 2 of 48 is 24. */
	struct region_duty file = {.cost_ns = 102 * NS_PER_MS, .shift = 3};
	struct region_duties all = {0};
	int changes = 0;

	for (int i = 0; i < 600; i++)
		changes += step(&all, &file, 1);
	/* 1 of 8, 12.75 ms; 1 of 4, 25.5 ms, is more than half. */
	assert_int_equal(changes, 1);
	assert_int_equal(file.shift, 2);
}

static void one_of_so_many_slices_is_watched_and_not_always_the_same(void **state)
{
	for (uint32_t shift = 0; shift <= 6; shift++) {
		struct region_duty duty = {.shift = shift};
		bool same_place = true;
		uint64_t first = 0;

		for (uint64_t group = 0; group < 64; group++) {
			uint64_t watched = 0, place = 0;

			for (uint64_t i = 0; i < 1ULL << shift; i++)
				if (region_duty_watches(&duty, 4711, (group << shift) + i)) {
					watched++;
					place = i;
				}
			assert_int_equal(watched, 1);
			first = group ? first : place;
			same_place &= place == first;
		}
		assert_int_equal(same_place, shift == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dearest_is_watched_less_after_two_slices),
		cmocka_unit_test(one_dear_slice_among_others_changes_nothing),
		cmocka_unit_test(a_burst_changes_it_at_once_as_far_as_it_takes),
		cmocka_unit_test(others_do_not_pay_for_what_cannot_be_watched_less),
		cmocka_unit_test(steps_are_undone_after_ten_cheap_minutes),
		cmocka_unit_test(what_would_cost_too_much_again_stays),
		cmocka_unit_test(one_of_so_many_slices_is_watched_and_not_always_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
