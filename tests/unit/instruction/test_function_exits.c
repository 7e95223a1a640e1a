// SPDX-License-Identifier: BSD-2-Clause
/* Tests where probes on functions go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instruction/function_exits.h"

#define FIND(probes, ...)                                                                          \
	do {                                                                                       \
		static const uint8_t code_[] = {__VA_ARGS__};                                      \
		function_probes_find(code_, sizeof(code_), probes);                                \
	} while (0)

static void check_exit(const struct function_probes *probes, size_t number, uint32_t at,
		       enum function_exit_kind kind)
{
	assert_true(number < probes->exit_count);
	assert_int_equal(probes->exits[number].at, at);
	assert_int_equal(probes->exits[number].kind, kind);
}

static void slides_the_entry_to_a_push(void **state)
{
	struct function_probes probes;

	(void)state;
	/* endbr64; sub $24, %rsp; push %rbx; pop %rbx; add $24, %rsp; ret */
	FIND(&probes, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x18, 0x53, 0x5b, 0x48, 0x83, 0xc4,
	     0x18, 0xc3);
	assert_int_equal(probes.refusal, FUNCTION_IS_KNOWN);
	assert_int_equal(probes.entry, 8);
	assert_int_equal(probes.stack_bytes, 24);
	assert_true(probes.is_emulated);
	assert_int_equal(probes.exit_count, 1);
	check_exit(&probes, 0, 14, FUNCTION_EXIT_ALWAYS);
}

static void does_not_slide_past_the_target_of_a_jump(void **state)
{
	struct function_probes probes;

	(void)state;
	/* test %edi, %edi; 1: push %rbx; pop %rbx; jne 1b; ret */
	FIND(&probes, 0x85, 0xff, 0x53, 0x5b, 0x75, 0xfc, 0xc3);
	assert_int_equal(probes.refusal, FUNCTION_IS_KNOWN);
	assert_int_equal(probes.entry, 0);
	assert_false(probes.is_emulated);
}

static void leaves_out_what_the_kernel_refuses(void **state)
{
	struct function_probes probes;

	(void)state;
	/* lock add %edi, 0x2d99(%rip); movl $0, 4(%rsi); ret */
	FIND(&probes, 0xf0, 0x01, 0x3d, 0x99, 0x2d, 0x00, 0x00, 0xc7, 0x46, 0x04, 0x00, 0x00, 0x00,
	     0x00, 0xc3);
	assert_int_equal(probes.refusal, FUNCTION_IS_KNOWN);
	assert_int_equal(probes.entry, 7);
	/* f3 lock: xrelease lock andl $1, (%rdi); ret */
	FIND(&probes, 0xf3, 0xf0, 0x83, 0x27, 0x01, 0xc3);
	assert_false(function_probes_has_entry(&probes));
}

static void never_uses_a_nop_of_five_bytes(void **state)
{
	struct function_probes probes;

	(void)state;
	/* nopl 0(%rax,%rax,1); mov %edi, %eax; ret */
	FIND(&probes, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x89, 0xf8, 0xc3);
	assert_int_equal(probes.entry, 5);
	/* nopl 0(%rax,%rax,1); ret */
	FIND(&probes, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3);
	assert_false(function_probes_has_entry(&probes));
}

static void finds_tail_calls_and_their_conditions(void **state)
{
	struct function_probes probes;

	(void)state;
	/* push %rax; pop %rax; test %edi, %edi; je far; jmp *%rax; jmp *8(%rip); ret */
	FIND(&probes, 0x50, 0x58, 0x85, 0xff, 0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xff, 0xe0, 0xff,
	     0x25, 0x08, 0x00, 0x00, 0x00, 0xc3);
	assert_int_equal(probes.exit_count, 4);
	check_exit(&probes, 0, 4, FUNCTION_EXIT_BRANCH);
	assert_int_equal(probes.exits[0].condition, 4);
	check_exit(&probes, 1, 10, FUNCTION_EXIT_INDIRECT);
	check_exit(&probes, 2, 12, FUNCTION_EXIT_ALWAYS);
	check_exit(&probes, 3, 18, FUNCTION_EXIT_ALWAYS);
}

static void a_jump_alone_is_counted_only(void **state)
{
	struct function_probes probes;

	(void)state;
	FIND(&probes, 0xe9, 0x00, 0x10, 0x00, 0x00);
	assert_int_equal(probes.refusal, FUNCTION_IS_ONE_JUMP);
	assert_true(function_probes_has_entry(&probes));
}

static void knows_a_function_that_jumps_to_its_start(void **state)
{
	struct function_probes probes;

	(void)state;
	/* dec %edi; jne start; ret */
	FIND(&probes, 0xff, 0xcf, 0x75, 0xfc, 0xc3);
	assert_int_equal(probes.refusal, FUNCTION_IS_KNOWN);
	assert_true(probes.has_loop);
	/* dec %edi; jmp start */
	FIND(&probes, 0xff, 0xcf, 0xeb, 0xfc);
	assert_int_equal(probes.refusal, FUNCTION_IS_LOOP);
	assert_false(function_probes_has_entry(&probes));
}

static void refuses_what_is_not_code(void **state)
{
	struct function_probes probes;

	(void)state;
	/* half an instruction */
	FIND(&probes, 0x50, 0xe8, 0x00);
	assert_int_equal(probes.refusal, FUNCTION_IS_NOT_CODE);
	/* a jump into an instruction: je +1; mov $1, %eax; ret */
	FIND(&probes, 0x74, 0x01, 0xb8, 0x01, 0x00, 0x00, 0x00, 0xc3);
	assert_int_equal(probes.refusal, FUNCTION_IS_NOT_CODE);
	function_probes_find((const uint8_t *)"", 0, &probes);
	assert_int_equal(probes.refusal, FUNCTION_IS_NOT_CODE);
}

static void says_why_a_function_is_not_measured(void **state)
{
	struct function_probes probes;

	(void)state;
	/* push %rax; ud2 */
	FIND(&probes, 0x50, 0x0f, 0x0b);
	assert_int_equal(probes.refusal, FUNCTION_HAS_NO_EXIT);
	assert_true(function_probes_has_entry(&probes));
	assert_string_equal(function_refusal_text(probes.refusal), "it has no exit");
	/* push %rax; jmp *%fs:(%rax) */
	FIND(&probes, 0x50, 0x64, 0xff, 0x20);
	assert_int_equal(probes.refusal, FUNCTION_HAS_UNKNOWN_EXITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slides_the_entry_to_a_push),
		cmocka_unit_test(does_not_slide_past_the_target_of_a_jump),
		cmocka_unit_test(leaves_out_what_the_kernel_refuses),
		cmocka_unit_test(never_uses_a_nop_of_five_bytes),
		cmocka_unit_test(finds_tail_calls_and_their_conditions),
		cmocka_unit_test(a_jump_alone_is_counted_only),
		cmocka_unit_test(knows_a_function_that_jumps_to_its_start),
		cmocka_unit_test(refuses_what_is_not_code),
		cmocka_unit_test(says_why_a_function_is_not_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
