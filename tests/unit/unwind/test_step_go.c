// SPDX-License-Identifier: BSD-2-Clause
/* Tests for the step from one stack of a Go program to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "paper_process.h"

/* Words of the paper stack; the thread pointer is its start. */
enum {
	THREAD_G = 1, /* at thread pointer + 8 */
	G = 10,
	G_LIMIT = G + 1,
	G_M = G + 2,
	G_SP = G + 3,
	G_PC = G + 4,
	M = 20,
	M_G0 = M,
	M_CURG = M + 3,
	G0 = 30,
	G0_SP = G0 + 3,
	GOROUTINE = 40,
	SYSTEM = 100,
};

#define AT(word) (STACK + 8ULL * (word))
#define FAR	 (CODE + 0x8010) /* code of the second rule */

static const struct pkbpf_unwind_rule go_stack = {
	.cfa = PKBPF_CFA_GO_STACK,
	.cfa_offset = 8,
	.fp_offset = 8,
	.aux = 2,
	.ra_offset = 24,
	.go_offset = 24,
};

static struct paper make_paper(enum pkbpf_go_stack what, int32_t from_sp)
{
	struct paper paper = {.rule = go_stack, .second = END_RULE, .second_at = 0x8000};

	paper.rule.ra = (uint8_t)what;
	paper.rule.fp_offset = from_sp;
	paper.stack[THREAD_G] = AT(G0); /* which runs at the moment */
	paper.stack[G0 + 2] = paper.stack[G_M] = AT(M);
	paper.stack[M_G0] = AT(G0);
	paper.stack[M_CURG] = AT(G);
	paper.stack[G_SP] = AT(GOROUTINE);
	return paper;
}

static const uint64_t regs[PKBPF_REGS] = {[SP] = AT(SYSTEM), [PKBPF_REG_IP] = CODE + 0x10};

static void check(struct paper *paper, uint32_t end, size_t depth, uint64_t last)
{
	struct unwind_walk_result result = walk_paper(paper, regs, true);

	assert_int_equal(result.end, end);
	assert_int_equal(result.depth, depth);
	assert_int_equal(result.guessed, 0);
	assert_int_equal(paper->ips[depth - 1], last);
}

static void returns_to_the_goroutine_that_switched(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_CALLER, 8);

	(void)state;
	paper.stack[GOROUTINE] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
	/* with a frame of its own */
	paper = make_paper(PKBPF_GO_CALLER, 16);
	paper.stack[GOROUTINE + 1] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
}

static void finds_the_thread_through_a_word_of_the_library(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_CALLER, 8);

	(void)state;
	paper.rule.cfa_offset = 0;
	paper.rule.fp = 1;
	paper.data = 8;
	paper.stack[GOROUTINE] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
	/* one that cannot be read */
	paper.rule.cfa_offset = 0x100;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
}

static void a_goroutine_that_grows_its_stack_is_where_it_was_stopped(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_STOPPED, 8);

	(void)state;
	paper.stack[G_PC] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
	/* No goroutine any more: the thread looks for another. */
	paper.stack[M_CURG] = 0;
	check(&paper, PKBPF_END_ROOT, 1, CODE + 0x10);
}

static void a_goroutine_of_another_thread_is_not_followed(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_STOPPED, 8);

	(void)state;
	paper.stack[G_PC] = FAR;
	paper.stack[G_M] = AT(M) + 8;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
	paper = make_paper(PKBPF_GO_CALLER, 8);
	paper.stack[M_CURG] = 0;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
	/* It has no saved stack pointer unless it was switched away from. */
	paper = make_paper(PKBPF_GO_CALLER, 8);
	paper.stack[G_SP] = 0;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
	paper = make_paper(PKBPF_GO_CALLER, 8);
	paper.stack[THREAD_G] = 0;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
}

/* The second call back saved where the first had left the system's stack. */
static void returns_from_calls_back_to_c_code_one_after_the_other(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_CALLED_BACK, 16);

	(void)state;
	paper.stack[G0_SP] = AT(SYSTEM);
	paper.stack[SYSTEM] = AT(SYSTEM + 50);
	paper.stack[SYSTEM + 1] = CODE + 0x20;
	paper.stack[SYSTEM + 51] = FAR;
	check(&paper, PKBPF_END_ROOT, 3, FAR);
	assert_int_equal(paper.ips[1], CODE + 0x20);
}

static void returns_from_c_code_to_a_stack_that_may_have_moved(void **state)
{
	struct paper paper = make_paper(PKBPF_GO_CALLER, 8);

	(void)state;
	paper.rule = (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_GO_CALL,
						.cfa_offset = 8,
						.fp_offset = 8,
						.go_offset = 0,
						.aux = 8};
	paper.stack[SYSTEM] = 8 * 30;
	paper.stack[SYSTEM + 1] = AT(G);
	paper.stack[G_LIMIT] = AT(GOROUTINE + 30);
	paper.stack[GOROUTINE] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
	/* On the system's stack already: the word is the stack pointer. */
	paper.stack[SYSTEM] = AT(SYSTEM + 10);
	paper.stack[SYSTEM + 1] = 0;
	paper.stack[SYSTEM + 10] = FAR;
	check(&paper, PKBPF_END_ROOT, 2, FAR);
	/* The slots hold anything. */
	paper.stack[SYSTEM + 1] = 7;
	check(&paper, PKBPF_END_OTHER_STACK, 1, CODE + 0x10);
}

/* The step before a function that was entered without a call: its first instruction may be the one
 * that was interrupted. */
static void looks_up_interrupted_code_where_it_is(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP_INTERRUPTED, .cfa_offset = 8, RA_AT_8},
		.second = END_RULE,
		.second_at = 0x8000,
	};

	(void)state;
	paper.stack[SYSTEM] = CODE + 0x8000;
	check(&paper, PKBPF_END_ROOT, 2, (CODE + 0x8000) | PKBPF_INTERRUPTED);
	paper.rule.cfa = PKBPF_CFA_SP;
	paper.stack[SYSTEM + 1] = 0;
	check(&paper, PKBPF_END_ZERO_RA, 2, CODE + 0x8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_to_the_goroutine_that_switched),
		cmocka_unit_test(finds_the_thread_through_a_word_of_the_library),
		cmocka_unit_test(a_goroutine_that_grows_its_stack_is_where_it_was_stopped),
		cmocka_unit_test(a_goroutine_of_another_thread_is_not_followed),
		cmocka_unit_test(returns_from_calls_back_to_c_code_one_after_the_other),
		cmocka_unit_test(returns_from_c_code_to_a_stack_that_may_have_moved),
		cmocka_unit_test(looks_up_interrupted_code_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
