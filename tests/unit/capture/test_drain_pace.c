// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/drain_pace: samples may wait, news of processes may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "capture/session/drain_pace.h"

#define S(seconds) ((seconds)*NS_PER_SECOND)

/* Looks once a second, each of which delivers what came before the last look. */
static void drain_at(struct drain_pace *pace, uint64_t now_ns)
{
	drain_pace_drained(pace, now_ns, now_ns - S(1));
}

static void never_rests_unless_told_that_it_may(void **state)
{
	struct drain_pace pace = {0};

	drain_at(&pace, S(10));
	assert_false(drain_pace_rests(&pace, S(11)));
}

static void rests_between_drains_of_a_quiet_stretch(void **state)
{
	struct drain_pace pace = {.may_rest = true};
	unsigned int drains = 0;

	for (uint64_t now_ns = S(100); now_ns < S(140); now_ns += S(1)) {
		if (drain_pace_rests(&pace, now_ns))
			continue;
		drain_at(&pace, now_ns);
		drains++;
	}
	assert_int_equal(drains, S(40) / DRAIN_PACE_MAX_NS);
}

static void drains_again_until_the_news_are_delivered(void **state)
{
	struct drain_pace pace = {.may_rest = true};

	drain_at(&pace, S(10));
	assert_true(drain_pace_rests(&pace, S(11)));
	/* Something calls at 12: what it brings was stamped before the rings had been read. */
	drain_pace_stir(&pace, S(12) + 5);
	drain_at(&pace, S(12));
	assert_false(drain_pace_rests(&pace, S(13)));
	drain_at(&pace, S(13)); /* until 12 */
	assert_false(drain_pace_rests(&pace, S(14)));
	drain_at(&pace, S(14));
	assert_true(drain_pace_rests(&pace, S(15)));
}

static void does_not_rest_while_records_are_held(void **state)
{
	struct drain_pace pace = {.may_rest = true};

	drain_at(&pace, S(10));
	for (uint64_t now_ns = S(11); now_ns < S(20); now_ns += S(1)) {
		drain_pace_stir(&pace, now_ns); /* drained, not delivered */
		assert_false(drain_pace_rests(&pace, now_ns + S(1)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_rests_unless_told_that_it_may),
		cmocka_unit_test(rests_between_drains_of_a_quiet_stretch),
		cmocka_unit_test(drains_again_until_the_news_are_delivered),
		cmocka_unit_test(does_not_rest_while_records_are_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
