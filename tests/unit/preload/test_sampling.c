// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "preload/sampling.h"

#define INTERVAL 65536

/* size / (1 - exp(-size / interval)), from a table of another program. */
static const struct {
	uint64_t size, weight;
} weights[] = {
	{1, 65536},	  {100, 65586},	    {1000, 66037},
	{8192, 69717},	  {65536, 103676},  {131072, 151587},
	{262144, 267035}, {655360, 655390}, {10ULL << 20, 10 << 20},
};

static void weights_are_those_of_the_formula(void **state)
{
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		uint64_t weight = sampling_weight(weights[i].size, INTERVAL);

		if (weight + 1 < weights[i].weight || weight > weights[i].weight + 1)
			fail_msg("%lu stands for %lu, not %lu", weights[i].size, weight,
				 weights[i].weight);
	}
}

static void weights_rise_with_sizes(void **state)
{
	uint64_t before = 0;

	for (uint64_t size = 1; size < 64 * INTERVAL; size += size / 64 + 1) {
		uint64_t weight = sampling_weight(size, INTERVAL);

		assert_true(weight >= before && weight >= size && weight <= size + INTERVAL);
		before = weight;
	}
}

static void huge_intervals_and_sizes_do_not_overflow(void **state)
{
	assert_int_equal(sampling_weight(SAMPLING_MAX_INTERVAL * 100, SAMPLING_MAX_INTERVAL),
			 SAMPLING_MAX_INTERVAL * 100);
	assert_true(sampling_weight(1, SAMPLING_MAX_INTERVAL) >= SAMPLING_MAX_INTERVAL);
	assert_true(sampling_weight(SAMPLING_MAX_INTERVAL, SAMPLING_MAX_INTERVAL) <
		    2 * SAMPLING_MAX_INTERVAL);
	assert_int_equal(sampling_weight(1, 1), 1);
}

/* Mean and mean square of an exponential distribution are R and 2 R^2. */
static void distances_are_exponential(void **state)
{
	uint64_t random = 7, sum = 0, longer = 0;
	unsigned __int128 squares = 0;
	const uint64_t draws = 1000000;

	for (uint64_t i = 0; i < draws; i++) {
		uint64_t distance = sampling_distance(&random, INTERVAL);

		assert_true(distance >= 1);
		sum += distance;
		squares += (unsigned __int128)distance * distance;
		longer += distance > INTERVAL;
	}
	assert_in_range(sum / draws, INTERVAL * 995 / 1000, INTERVAL * 1005 / 1000);
	assert_in_range((uint64_t)(squares / draws >> 20),
			(2ULL * INTERVAL * INTERVAL >> 20) * 98 / 100,
			(2ULL * INTERVAL * INTERVAL >> 20) * 102 / 100);
	/* exp(-1) of them */
	assert_in_range(longer, 366000, 370000);
}

static void distances_of_large_intervals_have_their_mean(void **state)
{
	uint64_t random = 9, sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += sampling_distance(&random, SAMPLING_MAX_INTERVAL) >> 20;
	assert_in_range(sum / 100000, (SAMPLING_MAX_INTERVAL >> 20) * 98 / 100,
			(SAMPLING_MAX_INTERVAL >> 20) * 102 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_those_of_the_formula),
		cmocka_unit_test(weights_rise_with_sizes),
		cmocka_unit_test(huge_intervals_and_sizes_do_not_overflow),
		cmocka_unit_test(distances_are_exponential),
		cmocka_unit_test(distances_of_large_intervals_have_their_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
