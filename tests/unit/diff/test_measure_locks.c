// SPDX-License-Identifier: BSD-2-Clause
/* Tests what locks are as values to compare, by name. */
#include <stdlib.h>

#include "diff/diff_condition.h"
#include "diff/measure_json.h"
#include "diff/measure_locks.h"
#include "diff/measure_profile.h"
#include "lock_scenario.h"
#include "side_fixture.h"

static struct sides sides;
static struct fake_profile fake;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

/* -1: there is none. */
static double wait_of(enum diff_level level, const char *name)
{
	struct diff_key key = sides_key(&sides, PKBPF_PROFILE_LOCKS, level, name);
	const struct diff_series *series = measurement_find(&sides.items[DIFF_BASE], &key);

	return series ? series->values.items[0].value : -1;
}

static void names_are_symbols_or_those_of_the_report(void **state)
{
	(void)state;
	lock_scenario(&fake, "cache_lock");
	assert_int_equal(measure_profile(&sides.items[DIFF_BASE], fake.profile, 0), 0);
	assert_float_equal(wait_of(DIFF_LOCK, "cache_lock"), 10 * MS, 0.1);
	assert_float_equal(wait_of(DIFF_LOCK, "rwlock"), 2 * MS, 0.1);
	assert_float_equal(wait_of(DIFF_LOCK, "mutex in exec_query"), -1, 0.1);
	fake_profile_done(&fake);
	lock_scenario(&fake, "");
	assert_int_equal(measure_profile(&sides.items[DIFF_BASE], fake.profile, 0), 0);
	assert_float_equal(wait_of(DIFF_LOCK, "mutex in exec_query"), 10 * MS, 0.1);
	fake_profile_done(&fake);
}

static void a_report_in_json_says_the_same(void **state)
{
	char *text;
	struct error error;

	(void)state;
	lock_scenario(&fake, "cache_lock");
	text = fake_profile_write(&fake, "json", NULL);
	assert_int_equal(measure_json(&sides.items[DIFF_BASE], text, strlen(text), &error), 0);
	assert_float_equal(wait_of(DIFF_LOCK, "cache_lock"), 10 * MS, 0.1);
	assert_float_equal(wait_of(DIFF_LOCK, "rwlock"), 2 * MS, 0.1);
	assert_float_equal(wait_of(DIFF_PROCESS, "server"), 10 * MS, 0.1);
	assert_float_equal(wait_of(DIFF_ALL, ""), 12 * MS, 0.1);
	free(text);
	fake_profile_done(&fake);
}

/* Slices of a second. */
static void fill(enum diff_side side, const char *name, double ns)
{
	for (uint32_t i = 0; i < 20; i++) {
		if (sides.items[side].slices.count < i + 1)
			sides_slice(&sides, side, NS_PER_SECOND, 0);
		sides.items[side].kinds_mask = 1U << PKBPF_PROFILE_LOCKS;
		assert_true(measurement_put(
			&sides.items[side],
			&(struct diff_key){PKBPF_PROFILE_LOCKS, DIFF_LOCK,
					   string_pool_add(sides.names.texts, name)},
			i, ns * (i % 2 ? 1.001 : 0.999), 0));
	}
}

static enum diff_condition_outcome outcome_of(const char *text)
{
	struct diff_condition_result result;
	struct diff_condition condition;
	struct error error = {""};

	if (diff_condition_parse(text, &condition, &error))
		fail_msg("%s: %s", text, error.text);
	diff_condition_check(&condition, text, &sides.comparison, &result);
	return result.outcome;
}

static void a_lock_that_is_waited_for_longer_is_found(void **state)
{
	(void)state;
	fill(DIFF_BASE, "grew", 100 * MS);
	fill(DIFF_NEW, "grew", 150 * MS);
	fill(DIFF_BASE, "same", 100 * MS);
	fill(DIFF_NEW, "same", 100 * MS);
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
	assert_int_equal(sides_row(&sides, PKBPF_PROFILE_LOCKS, DIFF_LOCK, "grew")->verdict,
			 DIFF_GREW);
	assert_int_equal(sides_row(&sides, PKBPF_PROFILE_LOCKS, DIFF_LOCK, "same")->verdict,
			 DIFF_SAME);
	assert_int_equal(outcome_of("locks.lock[grew]>+10%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("locks.lock[grew]>+60%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("locks.lock[same]>+10%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("locks.lock[none]>+10%"), DIFF_CONDITION_ABSENT);
	assert_int_equal(outcome_of("cpu.lock[grew]>+10%"), DIFF_CONDITION_NO_KIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_symbols_or_those_of_the_report, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_report_in_json_says_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_that_is_waited_for_longer_is_found, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
