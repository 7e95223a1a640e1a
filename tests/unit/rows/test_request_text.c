// SPDX-License-Identifier: BSD-2-Clause
/* Tests for rows/request_text: ids as digits, and what is left of waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rows/request_text.h"

static void ids_have_two_digits_a_byte(void **state)
{
	const uint8_t id[16] = {0x4b, 0xf9, 0x00, 0xff};
	char text[REQUEST_ID_TEXT];

	(void)state;
	assert_string_equal(request_id_text(text, id, sizeof(id)),
			    "4bf900ff000000000000000000000000");
	assert_string_equal(request_id_text(text, id, 8), "4bf900ff00000000");
}

static void other_waits_are_what_the_reasons_leave(void **state)
{
	struct slow_request request = {.wall_ns = 100};

	(void)state;
	for (size_t i = 0; i < PKBPF_CONTEXT_REASONS; i++)
		request.reasons[i].stack = REQUEST_NO_STACK;
	request.part_ns[PKBPF_WAIT_NONE] = 10;
	request.part_ns[PKBPF_WAIT_RUNQUEUE] = 20;
	request.part_ns[PKBPF_WAIT_SLEEP] = 50;
	request.part_ns[PKBPF_WAIT_DISK] = 20;
	assert_int_equal(request_other_wait_ns(&request), 70);
	request.reasons[0] = (struct request_reason){.stack = 3, .wait_ns = 45};
	request.reasons[1].wait_ns = 9; /* is none */
	assert_int_equal(request_other_wait_ns(&request), 25);
	request.reasons[1] = (struct request_reason){.stack = 4, .wait_ns = 1000};
	assert_int_equal(request_other_wait_ns(&request), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_have_two_digits_a_byte),
		cmocka_unit_test(other_waits_are_what_the_reasons_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
