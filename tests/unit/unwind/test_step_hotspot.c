// SPDX-License-Identifier: BSD-2-Clause
/* The frame step in HotSpot's interpreter: a word says which method runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pkbpf/hotspot.h>
#include <pkbpf/python.h>

#include "paper_process.h"

#define METHOD 0x7f0012345678ULL

static const struct pkbpf_unwind_rule interpreted = {
	.cfa = PKBPF_CFA_FP_DEREF,
	.cfa_offset = -8,
	.fp = PKBPF_FP_FP,
	.ra = PKBPF_RA_FP,
	.ra_offset = 8,
};

/* A frame of the interpreter whose frame pointer is word `at` of the stack. */
static void put_frame(struct paper *paper, size_t at, uint64_t method, uint64_t bytecode,
		      size_t caller)
{
	paper->stack[at - 8] = bytecode;
	paper->stack[at - 3] = method;
	paper->stack[at - 1] = STACK + 8 * (at + 4);
	paper->stack[at] = STACK + 8 * caller;
	paper->stack[at + 1] = CODE + 0x20;
}

static void words_follow_the_interpreter(void **state)
{
	struct paper paper = {.rule = interpreted};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [FP] = STACK + 8 * 10, [PKBPF_REG_IP] = CODE + 0x10, [13] = 0x1234};
	struct unwind_walk_result result;

	(void)state;
	put_frame(&paper, 10, METHOD, 0x999, 30);
	put_frame(&paper, 30, METHOD + 8, 0x7f00000055aaULL, 50);
	put_frame(&paper, 50, METHOD + 3, 0, 70); /* no Method: no word */
	paper.stack[51] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 5);
	/* the leaf has its bytecode in a register */
	assert_int_equal(paper.ips[1], pkbpf_hotspot_word(METHOD, 0x1234));
	assert_int_equal(paper.ips[2], CODE + 0x20);
	assert_int_equal(paper.ips[3], pkbpf_hotspot_word(METHOD + 8, 0x55aa));
	assert_int_equal(paper.ips[4], CODE + 0x20);
	/* a thread in a system call has not */
	walk_paper(&paper, regs, false);
	assert_int_equal(paper.ips[1], pkbpf_hotspot_word(METHOD, 0x999));
}

static void words_are_told_apart(void **state)
{
	uint64_t word = pkbpf_hotspot_word(METHOD, 0x7f000000fffeULL);

	(void)state;
	assert_true(pkbpf_is_hotspot(word));
	assert_false(pkbpf_is_python(word));
	assert_false(pkbpf_is_interrupted(word));
	assert_int_equal(pkbpf_hotspot_method(word), METHOD);
	assert_int_equal(pkbpf_hotspot_bytecode(word), 0xfffe);
	assert_false(pkbpf_is_hotspot(pkbpf_python_word(METHOD, 3)));
	assert_true(pkbpf_is_python(pkbpf_python_word(METHOD, 3)));
	assert_int_equal(pkbpf_hotspot_word(0, 1), 0);
	assert_int_equal(pkbpf_hotspot_word(METHOD + 1, 1), 0);
	assert_int_equal(pkbpf_hotspot_word(1ULL << 47, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_follow_the_interpreter),
		cmocka_unit_test(words_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
