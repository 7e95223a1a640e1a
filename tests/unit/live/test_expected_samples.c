// SPDX-License-Identifier: BSD-2-Clause
// Tests how expected CPU samples are divided among slices.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/expected_samples.h"

static uint64_t of_slice(struct expected_samples *expected, uint64_t recorded, uint64_t lost)
{
	return expected_samples_add_slice(
		expected, &(struct profile_account){.recorded = recorded, .lost = lost});
}

/* At the cut, the kernel side had counted 101: the sample between the last look at the ring and
 * the counters is the second slice's. */
static void a_sample_between_ring_and_counters_is_expected_where_it_is_recorded(void **state)
{
	struct expected_samples expected = {0};

	assert_int_equal(of_slice(&expected, 99, 1), 100);
	assert_int_equal(of_slice(&expected, 42, 0), 42);
	assert_int_equal(expected_samples_rest(&expected, 150), 8);
}

static void what_no_counter_knows_shows_in_the_last_slice(void **state)
{
	struct expected_samples expected = {0};

	assert_int_equal(expected_samples_rest(&expected, 150), 150);
	assert_int_equal(of_slice(&expected, 60, 0), 60);
	/* Of the 90 others, the last slice has 80 and knows of 7 lost ones. */
	assert_int_equal(expected_samples_rest(&expected, 150), 90);
}

static void more_than_was_expected_leaves_nothing(void **state)
{
	struct expected_samples expected = {0};

	of_slice(&expected, 60, 0);
	assert_int_equal(expected_samples_rest(&expected, 59), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_sample_between_ring_and_counters_is_expected_where_it_is_recorded),
		cmocka_unit_test(what_no_counter_knows_shows_in_the_last_slice),
		cmocka_unit_test(more_than_was_expected_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
