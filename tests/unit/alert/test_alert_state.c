// SPDX-License-Identifier: BSD-2-Clause
/* Tests when an alert begins and ends: rows of values over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alert/alerts.h"

#define SECOND 1000000000LL
#define START  (1700000000LL * SECOND)

static int64_t set_ns; /* by which the clock was set */

static struct alert_time at(int64_t ns)
{
	return (struct alert_time){START + ns + set_ns, 1000 * SECOND + ns};
}

/* Of each ten seconds: 'X' holds, 'o' neither holds nor is far off, '.' is far off. What happens is
 * written as 'F' (fires), 'E' (has ended) and '-' (nothing). */
static void play(struct alert_state *alert, const struct alert_rule *rule, const char *values,
		 const char *expected)
{
	for (size_t i = 0; values[i]; i++) {
		bool told = alert_state_step(alert, rule, values[i] == 'X', values[i] == '.',
					     at((int64_t)i * 10 * SECOND));
		char happens = !told ? '-' : alert->phase == ALERT_INACTIVE ? 'E' : 'F';

		if (happens != expected[i])
			fail_msg("step %zu: %c, expected %c", i, happens, expected[i]);
	}
}

static void it_fires_at_once_without_a_time(void **state)
{
	struct alert_rule rule = {.clear_for_ns = 0};
	struct alert_state alert = {0};

	play(&alert, &rule, "..X.X", "--FEF");
}

static void it_fires_when_it_holds_for_long_enough(void **state)
{
	struct alert_rule rule = {.for_ns = 30 * SECOND, .clear_for_ns = 10 * SECOND};
	struct alert_state alert = {0};

	play(&alert, &rule, "XXX.XXXXX..", "-------F--E");
}

static void what_is_near_the_limit_neither_begins_nor_ends_it(void **state)
{
	struct alert_rule rule = {.clear_for_ns = 20 * SECOND};
	struct alert_state alert = {0};

	play(&alert, &rule, "ooXoooo.o..X...", "--F-----------E");
}

static void one_that_returns_fires_for_longer(void **state)
{
	struct alert_rule rule = {.clear_for_ns = 10 * SECOND};
	struct alert_state alert = {0};

	play(&alert, &rule, "X..X...X.....", "F-EF--EF----E");
	assert_int_equal(alert.clear_for_ns, 40 * SECOND);
}

static void after_an_hour_it_is_as_new(void **state)
{
	struct alert_rule rule = {.clear_for_ns = 10 * SECOND};
	struct alert_state alert = {0};

	play(&alert, &rule, "X..X...", "F-EF--E");
	assert_true(alert_state_step(&alert, &rule, true, false, at(4000 * SECOND)));
	assert_int_equal(alert.clear_for_ns, 10 * SECOND);
}

/* As by NTP at the start of a machine, or by hand. */
static void a_clock_that_is_set_neither_delays_nor_hastens_it(void **state)
{
	static const int64_t steps[] = {-3600 * SECOND, 3600 * SECOND, -500 * 86400 * SECOND};
	struct alert_rule rule = {.for_ns = 30 * SECOND, .clear_for_ns = 30 * SECOND};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct alert_state alert = {0};

		set_ns = 0;
		assert_false(alert_state_step(&alert, &rule, true, false, at(0)));
		set_ns = steps[i];
		assert_false(alert_state_step(&alert, &rule, true, false, at(20 * SECOND)));
		assert_true(alert_state_step(&alert, &rule, true, false, at(30 * SECOND)));
		assert_int_equal(alert.fired_unix_ns, START + 30 * SECOND + steps[i]);
		assert_false(alert_state_step(&alert, &rule, false, true, at(40 * SECOND)));
		set_ns = 0;
		assert_false(alert_state_step(&alert, &rule, false, true, at(60 * SECOND)));
		assert_true(alert_state_step(&alert, &rule, false, true, at(70 * SECOND)));
		assert_int_equal(alert.phase, ALERT_INACTIVE);
		/* It comes back soon, whatever the clock says. */
		set_ns = steps[i];
		alert_state_step(&alert, &rule, true, false, at(80 * SECOND));
		assert_true(alert_state_step(&alert, &rule, true, false, at(110 * SECOND)));
		assert_int_equal(alert.clear_for_ns, 60 * SECOND);
	}
	set_ns = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_fires_at_once_without_a_time),
		cmocka_unit_test(it_fires_when_it_holds_for_long_enough),
		cmocka_unit_test(what_is_near_the_limit_neither_begins_nor_ends_it),
		cmocka_unit_test(one_that_returns_fires_for_longer),
		cmocka_unit_test(after_an_hour_it_is_as_new),
		cmocka_unit_test(a_clock_that_is_set_neither_delays_nor_hastens_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
