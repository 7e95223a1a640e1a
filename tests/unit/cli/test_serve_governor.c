// SPDX-License-Identifier: BSD-2-Clause
/* Tests when detail is shed and given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve_governor.h"

#define SLICE	  10000000000ULL
#define CPU	  (1U << PKBPF_PROFILE_CPU)
#define ASKED	  (CPU | 1U << PKBPF_PROFILE_FAULTS | 1U << PKBPF_PROFILE_BLOCKIO)
#define PER_MILLE (SLICE / 1000)

/* Six slices of a cost on four CPUs; the sum of what they return. */
static int minute(struct serve_governor *governor, uint64_t cost_ns, uint32_t asked)
{
	int steps = 0;

	for (int i = 0; i < 6; i++)
		steps += serve_governor_add(governor, cost_ns, SLICE, 4, asked);
	return steps;
}

static void a_minute_above_the_limit_takes_a_step(void **state)
{
	struct serve_governor governor = {.limit = 0.001};

	assert_int_equal(minute(&governor, 3 * PER_MILLE, ASKED), 0);
	assert_int_equal(minute(&governor, 5 * PER_MILLE, ASKED), 1);
	assert_int_equal(minute(&governor, 5 * PER_MILLE, ASKED), 1);
	assert_int_equal(minute(&governor, 5 * PER_MILLE, ASKED), 1);
	/* There is no more to shed. */
	assert_int_equal(minute(&governor, 5 * PER_MILLE, ASKED), 0);
	assert_int_equal(governor.step, 3);
}

static void ten_minutes_below_half_of_it_give_one_back(void **state)
{
	struct serve_governor governor = {.limit = 0.001, .step = 2};

	for (int i = 0; i < 9; i++)
		assert_int_equal(minute(&governor, PER_MILLE, ASKED), 0);
	/* One that is not calm begins anew. */
	assert_int_equal(minute(&governor, 3 * PER_MILLE, ASKED), 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(minute(&governor, PER_MILLE, ASKED), 0);
	assert_int_equal(minute(&governor, PER_MILLE, ASKED), -1);
	assert_int_equal(governor.step, 1);
}

static void without_a_limit_nothing_is_shed(void **state)
{
	struct serve_governor governor = {0};

	assert_int_equal(minute(&governor, SLICE, ASKED), 0);
}

static void steps_shed_kinds_that_were_asked_for_and_then_the_rate(void **state)
{
	struct live_options live = {.kinds_mask = ASKED, .frequency_hz = 19};
	struct serve_governor governor = {.step = 1};

	serve_governor_apply(&governor, &live);
	assert_int_equal(live.kinds_mask, CPU | 1U << PKBPF_PROFILE_BLOCKIO);
	assert_string_equal(serve_governor_sheds(1, ASKED), "stacks of page faults");
	live.kinds_mask = ASKED;
	governor.step = 3;
	serve_governor_apply(&governor, &live);
	assert_int_equal(live.kinds_mask, CPU);
	assert_int_equal(live.frequency_hz, 7);
	live = (struct live_options){.kinds_mask = CPU, .frequency_hz = 19};
	governor.step = 1;
	serve_governor_apply(&governor, &live);
	assert_int_equal(live.kinds_mask, CPU);
	assert_int_equal(live.frequency_hz, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_minute_above_the_limit_takes_a_step),
		cmocka_unit_test(ten_minutes_below_half_of_it_give_one_back),
		cmocka_unit_test(without_a_limit_nothing_is_shed),
		cmocka_unit_test(steps_shed_kinds_that_were_asked_for_and_then_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
