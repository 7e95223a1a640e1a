// SPDX-License-Identifier: BSD-2-Clause
/* Tests the parser of arguments of statically defined probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf/usdt_operand.h"

static void check(const char *arguments, unsigned int number, struct pkbpf_span_operand expected)
{
	struct pkbpf_span_operand operand = usdt_operand_parse(arguments, number);

	assert_int_equal(operand.kind, expected.kind);
	if (!expected.kind)
		return;
	assert_int_equal(operand.size, expected.size);
	assert_int_equal(operand.is_signed, expected.is_signed);
	assert_int_equal(operand.scale, expected.scale);
	assert_int_equal(operand.word, expected.word);
	assert_int_equal(operand.index_word, expected.index_word);
	assert_true(operand.offset == expected.offset);
}

#if defined(__x86_64__)

static void reads_the_forms_of_compilers(void **state)
{
	static const char arguments[] =
		"-4@%r15d 8@-24(%rbp) 4@(%r12) 1@$-5 8@8(%rax,%rbx,4) 1@%al";

	(void)state;
	check(arguments, 0,
	      (struct pkbpf_span_operand){
		      .kind = PKBPF_OPERAND_REGISTER, .size = 4, .is_signed = 1, .word = 0});
	check(arguments, 1,
	      (struct pkbpf_span_operand){
		      .kind = PKBPF_OPERAND_MEMORY, .size = 8, .word = 4, .offset = -24});
	check(arguments, 2,
	      (struct pkbpf_span_operand){.kind = PKBPF_OPERAND_MEMORY, .size = 4, .word = 3});
	check(arguments, 3,
	      (struct pkbpf_span_operand){.kind = PKBPF_OPERAND_CONSTANT, .size = 1, .offset = -5});
	check(arguments, 4,
	      (struct pkbpf_span_operand){.kind = PKBPF_OPERAND_MEMORY,
					  .size = 8,
					  .word = 10,
					  .index_word = 5,
					  .scale = 4,
					  .offset = 8});
	check(arguments, 5,
	      (struct pkbpf_span_operand){.kind = PKBPF_OPERAND_REGISTER, .size = 1, .word = 10});
	check(arguments, 6, (struct pkbpf_span_operand){0});
}

#endif

static void leaves_other_forms_out(void **state)
{
	static const char *const others[] = {
		"",
		"4@40+Stats(%rip)",
		"8@x@GOTPCREL(%rip)",
		"8@%xmm0",
		"3@%eax",
		"8@(%eax)",
		"8@4(%rax",
		"8@4(%rax))",
		"8@",
		"@%rax",
		"8@(,%rax,8)",
		"8@(%rax,%rbx,3)",
		"8@$",
		"8@-",
		"8@%raxx",
		"8@99999999999999999999(%rax)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		check(others[i], 0, (struct pkbpf_span_operand){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(reads_the_forms_of_compilers),
#endif
		cmocka_unit_test(leaves_other_forms_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
