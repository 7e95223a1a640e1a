// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what user probes have changed in a waiting thread's stack is taken back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/offcpu/offcpu_probed.h"

#define AREA  0x7fff0000ULL
#define STACK 0x7ff000ULL

static const struct pkbpf_probed_calls calls = {
	.trampoline = AREA,
	.copy = AREA + 0x80,
	.instruction = 0x401000,
	.count = 2,
	.calls = {{STACK + 16, 0x401234}, {STACK + 32, 0x405678}},
};

static void mend(const struct pkbpf_probed_calls *probed, uint64_t start, void *stack, size_t size)
{
	struct raw_stack_extent extent = {.start = start, .size = size};

	offcpu_probed_mend_stack(probed, &extent, stack);
}

static void a_return_to_the_trampoline_is_one_to_the_caller(void **state)
{
	uint64_t words[] = {1, AREA, AREA, AREA + 8, AREA, AREA};

	mend(&calls, STACK, words, sizeof(words));
	/* Only where a probed call had its return address. */
	assert_true(words[1] == AREA && words[2] == 0x401234 && words[3] == AREA + 8 &&
		    words[4] == 0x405678 && words[5] == AREA);
}

static void pages_that_the_copy_lacks_are_left_out(void **state)
{
	uint64_t words[] = {1, 2, AREA};
	struct raw_stack_extent extent = {
		.start = STACK - 3 * 4096 + 4080, .size = sizeof(words), .holes = 6};

	offcpu_probed_mend_stack(&(struct pkbpf_probed_calls){.trampoline = AREA,
							      .count = 1,
							      .calls = {{STACK, 0x405678}}},
				 &extent, (uint8_t *)words);
	assert_true(words[2] == 0x405678);
}

static void what_is_no_longer_there_is_left_alone(void **state)
{
	uint64_t words[] = {1, 2, 0x409999, 3};

	mend(&calls, STACK, words, sizeof(words));
	assert_true(words[2] == 0x409999);
}

static void calls_outside_of_the_copy_change_nothing(void **state)
{
	uint64_t words[] = {AREA, AREA, AREA, AREA};

	mend(&calls, STACK + 64, words, sizeof(words));
	mend(&calls, STACK + 12, words, 8);
	mend(&calls, STACK + 16, words, 7);
	mend(&calls, STACK + 16, words, 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(words[i] == AREA);
	/* The last word of it is not outside. */
	mend(&calls, STACK + 8, words, 16);
	assert_true(words[1] == 0x401234);
}

static void more_calls_than_there_can_be_are_not_read(void **state)
{
	struct pkbpf_probed_calls many = calls;
	uint64_t word = AREA;

	many.count = UINT32_MAX;
	mend(&many, STACK + 16, &word, sizeof(word));
	assert_true(word == 0x401234);
}

static void a_thread_in_the_copy_of_an_instruction_is_at_the_instruction(void **state)
{
	uint64_t sp = STACK, ip = AREA + 0x83;

	offcpu_probed_mend_regs(&calls, &sp, &ip);
	assert_true(ip == 0x401003 && sp == STACK);
}

static void a_thread_in_the_trampoline_has_returned(void **state)
{
	uint64_t sp = STACK + 24, ip = AREA + 1;

	offcpu_probed_mend_regs(&calls, &sp, &ip);
	assert_true(ip == 0x401234 && sp == STACK + 24);
	/* With three registers saved below. */
	sp = STACK + 40 - 24;
	ip = AREA + 9;
	offcpu_probed_mend_regs(&(struct pkbpf_probed_calls){.trampoline = AREA,
							     .count = 1,
							     .calls = {{STACK + 32, 0x405678}}},
				&sp, &ip);
	assert_true(ip == 0x405678 && sp == STACK + 40);
}

static void a_thread_elsewhere_stays_there(void **state)
{
	static const uint64_t places[] = {0x401000, AREA - 1, AREA + 4096, 0, UINT64_MAX};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint64_t sp = STACK + 24, ip = places[i];

		offcpu_probed_mend_regs(&calls, &sp, &ip);
		assert_true(ip == places[i] && sp == STACK + 24);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_to_the_trampoline_is_one_to_the_caller),
		cmocka_unit_test(pages_that_the_copy_lacks_are_left_out),
		cmocka_unit_test(what_is_no_longer_there_is_left_alone),
		cmocka_unit_test(calls_outside_of_the_copy_change_nothing),
		cmocka_unit_test(more_calls_than_there_can_be_are_not_read),
		cmocka_unit_test(a_thread_in_the_copy_of_an_instruction_is_at_the_instruction),
		cmocka_unit_test(a_thread_in_the_trampoline_has_returned),
		cmocka_unit_test(a_thread_elsewhere_stays_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
