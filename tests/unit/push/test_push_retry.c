// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/push_retry: pauses that grow and scatter, and which answers are final. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "push/push_retry.h"

static void pauses_double_up_to_five_minutes(void **state)
{
	static const unsigned int most[] = {1, 2, 4, 8, 16, 32, 64, 128, 300, 300};

	(void)state;
	for (unsigned int i = 0; i < sizeof(most) / sizeof(*most); i++) {
		assert_int_equal(push_backoff_seconds(i, most[i] - 1, 0), most[i]);
		assert_int_equal(push_backoff_seconds(i, most[i], 0), 1);
	}
	assert_in_range(push_backoff_seconds(1000000, UINT64_MAX, 0), 1, 300);
}

static void chance_decides_within_a_pause(void **state)
{
	(void)state;
	assert_int_equal(push_backoff_seconds(5, 0, 0), 1);
	assert_int_equal(push_backoff_seconds(5, 17, 0), 18);
	assert_int_equal(push_backoff_seconds(5, 17 + 32 * 7, 0), 18);
}

static void a_server_may_ask_for_a_longer_pause(void **state)
{
	(void)state;
	assert_int_equal(push_backoff_seconds(0, 0, 120), 120);
	assert_int_equal(push_backoff_seconds(5, 31, 10), 32);
}

static void only_what_is_wrong_with_a_message_is_final(void **state)
{
	static const unsigned int final[] = {400, 409, 413, 415, 422};
	static const unsigned int later[] = {301, 401, 403, 404, 405, 407, 408,
					     429, 500, 502, 503, 504, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(final) / sizeof(*final); i++)
		assert_true(push_is_refused(final[i]));
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		assert_false(push_is_refused(later[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_double_up_to_five_minutes),
		cmocka_unit_test(chance_decides_within_a_pause),
		cmocka_unit_test(a_server_may_ask_for_a_longer_pause),
		cmocka_unit_test(only_what_is_wrong_with_a_message_is_final),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
