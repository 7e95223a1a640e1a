// SPDX-License-Identifier: BSD-2-Clause
/* Tests when detail is left out, and when it is taken up again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve_governor.h"
#include "profile/profile.h"

#define SLICE	  10000000000ULL
#define CPUS	  4
#define CPU	  (1U << PKBPF_PROFILE_CPU)
#define OFFCPU	  (1U << PKBPF_PROFILE_OFFCPU)
#define FAULTS	  (1U << PKBPF_PROFILE_FAULTS)
#define BLOCKIO	  (1U << PKBPF_PROFILE_BLOCKIO)
#define ASKED	  (CPU | FAULTS | BLOCKIO)
#define PER_MILLE (SLICE * CPUS / 1000)

/* Six slices of a cost; the sum of what they return. */
static int minute(struct serve_governor *governor, uint64_t cost_ns, uint32_t asked)
{
	int steps = 0;

	for (int i = 0; i < 6; i++)
		steps += serve_governor_add(governor, cost_ns, SLICE, CPUS, asked);
	return steps;
}

/* With a capture that runs for a while. */
static struct serve_governor governor_of(double limit)
{
	struct serve_governor governor = {.limit = limit};

	assert_int_equal(minute(&governor, 0, ASKED), 0);
	return governor;
}

static int minutes(struct serve_governor *governor, unsigned int count, uint64_t cost_ns)
{
	int steps = 0;

	for (unsigned int i = 0; i < count; i++)
		steps += minute(governor, cost_ns, ASKED);
	return steps;
}

static void a_minute_above_the_limit_takes_a_step(void **state)
{
	struct serve_governor governor = governor_of(0.001);

	assert_int_equal(minute(&governor, PER_MILLE, ASKED), 0);
	for (int i = 1; i <= 7; i++)
		assert_int_equal(minute(&governor, PER_MILLE + 1000000, ASKED), 1);
	/* There is no more to leave out. */
	assert_int_equal(minute(&governor, 2 * PER_MILLE, ASKED), 0);
	assert_int_equal(governor.step, 7);
}

static void the_first_minute_of_a_capture_is_not_judged(void **state)
{
	struct serve_governor governor = {.limit = 0.001};

	assert_int_equal(minute(&governor, 500 * PER_MILLE, ASKED), 0);
	assert_int_equal(minute(&governor, 0, ASKED), 0);
	serve_governor_begin(&governor);
	assert_int_equal(minute(&governor, 500 * PER_MILLE, ASKED), 0);
	assert_int_equal(minute(&governor, 2 * PER_MILLE, ASKED), 1);
}

static void a_slice_far_above_the_limit_takes_a_step_at_once(void **state)
{
	struct serve_governor governor = governor_of(0.001);

	assert_int_equal(serve_governor_add(&governor, 9 * PER_MILLE, SLICE, CPUS, ASKED), 0);
	assert_int_equal(serve_governor_add(&governor, 11 * PER_MILLE, SLICE, CPUS, ASKED), 1);
	assert_true(governor.last_ns == SLICE && governor.last_share > 0.0109);
	assert_int_equal(serve_governor_add(&governor, 11 * PER_MILLE, SLICE, CPUS, ASKED), 1);
	assert_int_equal(serve_governor_add(&governor, 0, SLICE, CPUS, ASKED), 0);
}

static void ten_minutes_below_half_of_it_give_one_back(void **state)
{
	struct serve_governor governor = governor_of(0.001);

	governor.step = 2;
	assert_int_equal(minutes(&governor, 9, PER_MILLE / 4), 0);
	/* One that is not calm begins anew. */
	assert_int_equal(minute(&governor, 3 * PER_MILLE / 4, ASKED), 0);
	assert_int_equal(minutes(&governor, 9, PER_MILLE / 4), 0);
	assert_int_equal(minute(&governor, PER_MILLE / 4, ASKED), -1);
	assert_int_equal(governor.step, 1);
}

static void what_is_missed_soon_is_given_back_later(void **state)
{
	struct serve_governor governor = governor_of(0.001);

	governor.step = 1;
	assert_int_equal(minutes(&governor, 10, PER_MILLE / 4), -1);
	assert_int_equal(minute(&governor, 2 * PER_MILLE, ASKED), 1);
	assert_int_equal(minutes(&governor, 19, PER_MILLE / 4), 0);
	assert_int_equal(minute(&governor, PER_MILLE / 4, ASKED), -1);
	/* It was not missed for more than ten minutes. */
	assert_int_equal(minutes(&governor, 11, PER_MILLE / 4), 0);
	assert_int_equal(minute(&governor, 2 * PER_MILLE, ASKED), 1);
	assert_int_equal(minutes(&governor, 10, PER_MILLE / 4), -1);
}

/* An hour of a load that costs three times the limit with all, and less the more is left out. */
static void a_steady_load_finds_its_step_and_stays(void **state)
{
	struct serve_governor governor = governor_of(0.001);
	static const double costs[] = {3, 2.5, 1.8, 1.3, 0.8, 0.5, 0.3, 0.2};
	int turns = 0;

	for (int i = 0; i < 60; i++)
		turns += abs(minute(&governor, (uint64_t)(costs[governor.step] * (double)PER_MILLE),
				    ASKED));
	assert_int_equal(governor.step, 4);
	assert_int_equal(turns, 4);
}

static void without_a_limit_nothing_is_left_out(void **state)
{
	struct serve_governor governor = governor_of(0);

	assert_int_equal(minutes(&governor, 3, 500 * PER_MILLE), 0);
}

static void steps_leave_out_stacks_then_samples_then_waits(void **state)
{
	struct serve_governor governor = {.step = 3};
	char text[160];

	assert_int_equal(serve_governor_kinds(&governor, ASKED), ASKED);
	assert_int_equal(serve_governor_shed(&governor, ASKED).fault_shift, 6);
	assert_int_equal(serve_governor_shed(&governor, ASKED).blockio_mask, 7);
	assert_string_equal(serve_governor_text(1, ASKED), "7 of 8 stacks of page faults");
	assert_string_equal(serve_governor_text(1, ASKED | OFFCPU),
			    "stacks of wakers and of frequent waits");
	serve_governor_left_out(&governor, ASKED, text, sizeof(text));
	assert_string_equal(text,
			    "63 of 64 stacks of page faults, 7 of 8 new stacks of block requests");
	governor.step = 4;
	assert_int_equal(serve_governor_kinds(&governor, ASKED), CPU | BLOCKIO);
	assert_int_equal(serve_governor_shed(&governor, ASKED).cpu_mask, 0);
	governor.step = 6;
	assert_int_equal(serve_governor_kinds(&governor, ASKED), CPU | BLOCKIO);
	assert_int_equal(serve_governor_shed(&governor, ASKED).cpu_mask, 3);
	governor.step = 7;
	assert_int_equal(serve_governor_kinds(&governor, ASKED), CPU);
	/* Waits go last of all. */
	governor.step = 8;
	assert_int_equal(serve_governor_kinds(&governor, ASKED | OFFCPU), CPU | OFFCPU);
	governor.step = 9;
	assert_int_equal(serve_governor_kinds(&governor, ASKED | OFFCPU), CPU);
	governor.step = 0;
	serve_governor_left_out(&governor, ASKED, text, sizeof(text));
	assert_string_equal(text, "");
}

static void all_that_is_left_out_fits_into_a_window(void **state)
{
	struct serve_governor governor = {.step = 9};
	char text[512];

	serve_governor_left_out(&governor, ASKED | OFFCPU, text, sizeof(text));
	assert_string_equal(text,
			    "all stacks of page faults, 3 of 4 CPU samples, all block requests, "
			    "all waits");
	for (governor.step = 0; governor.step <= 9; governor.step++) {
		serve_governor_left_out(&governor, ASKED | OFFCPU, text, sizeof(text));
		assert_true(strlen(text) < PROFILE_SHED_SIZE);
	}
}

static void the_last_kind_stays(void **state)
{
	struct serve_governor governor = {.step = 5};

	assert_int_equal(serve_governor_kinds(&governor, OFFCPU), OFFCPU);
	assert_int_equal(serve_governor_shed(&governor, OFFCPU).wait_quota, 16);
	assert_int_equal(serve_governor_kinds(&governor, CPU), CPU);
	assert_int_equal(serve_governor_kinds(&governor, FAULTS | BLOCKIO), BLOCKIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_minute_above_the_limit_takes_a_step),
		cmocka_unit_test(the_first_minute_of_a_capture_is_not_judged),
		cmocka_unit_test(a_slice_far_above_the_limit_takes_a_step_at_once),
		cmocka_unit_test(ten_minutes_below_half_of_it_give_one_back),
		cmocka_unit_test(what_is_missed_soon_is_given_back_later),
		cmocka_unit_test(a_steady_load_finds_its_step_and_stays),
		cmocka_unit_test(without_a_limit_nothing_is_left_out),
		cmocka_unit_test(steps_leave_out_stacks_then_samples_then_waits),
		cmocka_unit_test(all_that_is_left_out_fits_into_a_window),
		cmocka_unit_test(the_last_kind_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
