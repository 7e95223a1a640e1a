// SPDX-License-Identifier: BSD-2-Clause
/* Single events beyond the room are refused; accounts of threads have room of their own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>

#include "profile/account/moment_list.h"

static void accounts_have_room_behind_events(void **state)
{
	const struct moment wait = {.kind = PKBPF_PROFILE_OFFCPU, .state = PKBPF_WAIT_SLEEP};
	const struct moment life = {.kind = PKBPF_PROFILE_OFFCPU, .state = PKBPF_WAIT_NONE};
	const struct moment sample = {.kind = PKBPF_PROFILE_CPU};
	struct moment_list list = {0};

	(void)state;
	for (size_t i = 0; i < MOMENT_MAX; i++)
		assert_int_equal(moment_list_add(&list, &wait), 0);
	assert_int_equal(moment_list_add(&list, &wait), -ENOSPC);
	assert_int_equal(moment_list_add(&list, &sample), -ENOSPC);
	for (size_t i = 0; i < MOMENT_LIVES_MAX; i++)
		assert_int_equal(moment_list_add(&list, &life), 0);
	assert_int_equal(moment_list_add(&list, &life), -ENOSPC);
	array_free(&list.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_have_room_behind_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
