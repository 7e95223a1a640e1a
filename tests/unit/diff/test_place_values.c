// SPDX-License-Identifier: BSD-2-Clause
/* Tests how places of allocation are compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diff/place_values.h"

#define MIB 1048576.0

struct fixture {
	struct diff_names names;
	struct measurement sides[DIFF_SIDES];
	struct comparison comparison;
};

static uint32_t name_of(struct fixture *fixture, const char *text)
{
	return string_pool_add(fixture->names.texts, text);
}

static void add_place(struct fixture *fixture, int side, uint32_t run, const char *name,
		      double bytes, double error, double samples)
{
	struct diff_place *place = array_add(&fixture->sides[side].places);

	assert_non_null(place);
	*place = (struct diff_place){.name = name_of(fixture, name),
				     .run = run,
				     .bytes = bytes,
				     .error = error,
				     .samples = samples};
}

/* Both of one run with one slice of a second, and a live function that seems to be new. */
static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	assert_true(diff_names_init(&fixture.names));
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct measurement *measurement = &fixture.sides[side];
		struct diff_key whole = {PKBPF_PROFILE_LIVE, DIFF_ALL, name_of(&fixture, "")},
				leaf = {PKBPF_PROFILE_LIVE, DIFF_SELF,
					name_of(&fixture, side ? "malloc" : "mmap")};

		measurement_init(measurement, &fixture.names);
		assert_true(measurement_begin_slice(measurement,
						    &(struct diff_slice){0, 0, 1000000000, 0, 0}));
		measurement->kinds_mask = 1U << PKBPF_PROFILE_LIVE;
		assert_true(measurement_add(measurement, &whole, 5 * MIB, 9));
		assert_true(measurement_add(measurement, &leaf, 5 * MIB, 9));
		measurement->has_level[DIFF_PLACE] = true;
	}
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	comparison_done(&fixture->comparison);
	for (int side = 0; side < DIFF_SIDES; side++)
		measurement_done(&fixture->sides[side]);
	diff_names_done(&fixture->names);
	return 0;
}

static void compare(struct fixture *fixture)
{
	struct diff_work work = {.per = DIFF_PER_RUN};
	struct error error = {""};

	for (int side = 0; side < DIFF_SIDES; side++)
		measurement_finish(&fixture->sides[side]);
	if (comparison_init(&fixture->comparison, &fixture->sides[DIFF_BASE],
			    &fixture->sides[DIFF_NEW], &work, &error))
		fail_msg("%s", error.text);
}

static const struct diff_row *row_of(struct fixture *fixture, uint32_t level, const char *name)
{
	struct diff_key key = {PKBPF_PROFILE_LIVE, level, name_of(fixture, name)};

	return comparison_find(&fixture->comparison, &key);
}

static void places_grow_shrink_appear_and_vanish(void **state)
{
	struct fixture *fixture = *state;

	add_place(fixture, DIFF_BASE, 0, "cache", 100 * MIB, MIB, 400);
	add_place(fixture, DIFF_NEW, 0, "cache", 150 * MIB, MIB, 600);
	add_place(fixture, DIFF_BASE, 0, "buffer", 50 * MIB, MIB, 200);
	add_place(fixture, DIFF_NEW, 0, "buffer", 20 * MIB, MIB, 80);
	add_place(fixture, DIFF_NEW, 0, "leak", 60 * MIB, MIB, 240);
	add_place(fixture, DIFF_BASE, 0, "table", 60 * MIB, MIB, 240);
	compare(fixture);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "cache")->verdict, DIFF_GREW);
	assert_true(fabs(row_of(fixture, DIFF_PLACE, "cache")->ratio - 0.5) < 1e-9);
	assert_true(row_of(fixture, DIFF_PLACE, "cache")->ratio_low > 0.4);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "buffer")->verdict, DIFF_SHRANK);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "leak")->verdict, DIFF_APPEARED);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "table")->verdict, DIFF_VANISHED);
	assert_true(fabs(row_of(fixture, DIFF_PLACE, "leak")->sides[DIFF_NEW].share - 60.0 / 230) <
		    1e-9);
}

/* One sample stands for 64 KiB, wherever it falls. */
static void a_sample_is_no_change(void **state)
{
	struct fixture *fixture = *state;

	add_place(fixture, DIFF_NEW, 0, "once", 65536, 65536 * 1.4, 1);
	add_place(fixture, DIFF_BASE, 0, "gone", 3 * 65536, 65536 * 2, 3);
	compare(fixture);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "once")->verdict, DIFF_SAME);
	assert_int_equal(row_of(fixture, DIFF_PLACE, "gone")->verdict, DIFF_SAME);
	assert_true(row_of(fixture, DIFF_PLACE, "once")->sides[DIFF_BASE].error > 65536);
}

static void processes_add_up_and_runs_are_averaged(void **state)
{
	struct fixture *fixture = *state;

	fixture->sides[DIFF_NEW].run_count = 2;
	add_place(fixture, DIFF_BASE, 0, "cache", 30 * MIB, 3 * MIB, 9);
	add_place(fixture, DIFF_BASE, 0, "cache", 10 * MIB, 4 * MIB, 9);
	add_place(fixture, DIFF_NEW, 0, "cache", 30 * MIB, 3 * MIB, 9);
	add_place(fixture, DIFF_NEW, 1, "cache", 50 * MIB, 4 * MIB, 9);
	compare(fixture);
	assert_true(row_of(fixture, DIFF_PLACE, "cache")->sides[DIFF_BASE].value == 40 * MIB);
	assert_true(row_of(fixture, DIFF_PLACE, "cache")->sides[DIFF_NEW].value == 40 * MIB);
	assert_true(fabs(row_of(fixture, DIFF_PLACE, "cache")->sides[DIFF_BASE].error - 5 * MIB) <
		    0.01 * MIB);
	assert_true(fabs(row_of(fixture, DIFF_PLACE, "cache")->sides[DIFF_NEW].error - 2.5 * MIB) <
		    0.01 * MIB);
}

/* Those of long lives are in each slice, which is no evidence. */
static void places_stand_for_live_functions(void **state)
{
	struct fixture *fixture = *state;

	add_place(fixture, DIFF_NEW, 0, "cache", MIB, MIB, 9);
	compare(fixture);
	assert_null(row_of(fixture, DIFF_SELF, "malloc"));
	assert_null(row_of(fixture, DIFF_SELF, "mmap"));
	assert_non_null(row_of(fixture, DIFF_ALL, ""));
}

static void a_side_without_places_has_functions(void **state)
{
	struct fixture *fixture = *state;

	fixture->sides[DIFF_BASE].has_level[DIFF_PLACE] = false;
	add_place(fixture, DIFF_NEW, 0, "cache", MIB, MIB, 9);
	compare(fixture);
	assert_null(row_of(fixture, DIFF_PLACE, "cache"));
	assert_non_null(row_of(fixture, DIFF_SELF, "malloc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_grow_shrink_appear_and_vanish, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_sample_is_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_add_up_and_runs_are_averaged, setup,
						teardown),
		cmocka_unit_test_setup_teardown(places_stand_for_live_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(a_side_without_places_has_functions, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
