// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_loop: the part of a function that its jumps lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "python/python_loop.h"

#define LOOP	0x100000ULL
#define COLD	0x2000ULL
#define OTHER	0x3000ULL
#define NO_SUCH 0x9000ULL

static uint64_t function_of(void *context, uint64_t address)
{
	(void)context;
	return address >= COLD && address < OTHER      ? COLD
	       : address >= OTHER && address < NO_SUCH ? OTHER
						       : 0;
}

struct code {
	uint8_t bytes[512];
	size_t size;
};

/* A conditional jump, or one in tail position. */
static void add_jump(struct code *code, uint64_t target, int is_tail)
{
	int32_t distance;

	if (!is_tail)
		code->bytes[code->size++] = 0x0f;
	code->bytes[code->size++] = is_tail ? 0xe9 : 0x85;
	distance = (int32_t)(target - (LOOP + code->size + 4));
	memcpy(code->bytes + code->size, &distance, sizeof(distance));
	code->size += sizeof(distance);
}

static void most_jumps_lead_to_the_seldom_used_part(void **state)
{
	struct code code = {.size = 0};

	(void)state;
	for (uint64_t i = 1; i <= 12; i++) {
		add_jump(&code, COLD + 16 * i, i % 2);
		add_jump(&code, OTHER, 1);
		add_jump(&code, LOOP + i, 0);
		add_jump(&code, NO_SUCH + 16 * i, 0);
	}
	assert_int_equal(python_loop_cold_part(code.bytes, code.size, LOOP, function_of, NULL),
			 COLD);
}

static void few_jumps_are_no_part(void **state)
{
	struct code code = {.size = 0};

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add_jump(&code, COLD + 16 * i, 0);
	assert_int_equal(python_loop_cold_part(code.bytes, code.size, LOOP, function_of, NULL), 0);
	assert_int_equal(python_loop_cold_part(code.bytes, 0, LOOP, function_of, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_jumps_lead_to_the_seldom_used_part),
		cmocka_unit_test(few_jumps_are_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
