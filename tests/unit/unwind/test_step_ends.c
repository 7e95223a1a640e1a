// SPDX-License-Identifier: BSD-2-Clause
/* The frame step: where walks of made-up stacks end, with which reason, and what is believed before
 * they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "paper_process.h"

static void believes_frame_pointers_only_where_they_can_be_true(void **state)
{
	struct paper paper = {.rule = {.cfa = PKBPF_CFA_NONE}};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 16, [PKBPF_REG_IP] = CODE + 0x20};
	struct unwind_walk_options tables_only = {.exact = true, .no_guess = true};
	struct unwind_walk_result result;

	paper.stack[2] = STACK + 64;
	paper.stack[3] = CODE + 0x100;
	paper.stack[8] = 0;
	paper.stack[9] = CODE + 0x200;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_FP_ROOT);
	assert_int_equal(result.depth, 3);
	assert_int_equal(result.guessed, 2);

	paper.stack[9] = 0x1234; /* no code there: neither frame nor guess is kept */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_NO_RULE);
	assert_int_equal(result.depth, 2);
	assert_int_equal(result.guessed, 1);
	paper.stack[9] = 0; /* returns nowhere: only the end of the chain does */
	paper.stack[8] = STACK + 128;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_RULE);
	paper.stack[8] = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
	paper.stack[2] = paper.stack[3] =
		0; /* the first link of none, but where a register holds nothing else */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_UNWIND_ARM64 ? PKBPF_END_ZERO_RA : PKBPF_END_NO_RULE);
	assert_int_equal(result.guessed, PKBPF_UNWIND_ARM64 ? 1 : 0);
	paper.stack[2] = STACK + 64;
	paper.stack[3] = CODE + 0x100;
	regs[FP] = 0; /* ends no chain */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_UNWIND_ARM64 ? PKBPF_END_FP_ROOT : PKBPF_END_NO_RULE);
	assert_int_equal(result.depth, 1);
	regs[FP] = STACK + 16;

	paper.flags = PKBPF_MAPPING_ANONYMOUS;
	paper.stack[9] = 0x1234;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_FP);
	regs[FP] = STACK + 17;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_FP);
	regs[FP] = 0; /* is the root only where a thread may have begun */
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_FP);
	paper.stack[9] = CODE + 0x200;
	regs[FP] = STACK + 16; /* or where a chain through generated code led */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_FP_ROOT);
	assert_int_equal(result.guessed, 2);
	regs[FP] = STACK - 16;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_FP);
	regs[FP] = STACK + PKBPF_UNWIND_MAX_GUESS_BYTES + 8;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_FP);
	regs[FP] = STACK + 16;
	result = unwind_walk(&paper_ops, &paper, regs, &tables_only, paper.ips, 16);
	assert_int_equal(result.end, PKBPF_END_NO_RULE);
	assert_int_equal(result.depth, 1);
}

static void says_that_the_file_cannot_be_opened_where_frame_pointers_lead_nowhere(void **state)
{
	struct unwind_walk_options tables_only = {.exact = true, .no_guess = true};
	struct paper paper = {.flags = PKBPF_MAPPING_NO_TABLE | PKBPF_MAPPING_NO_FILE};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 16, [PKBPF_REG_IP] = CODE + 0x20};
	struct unwind_walk_result result;

	paper.stack[2] = STACK + 64; /* one frame, then something else */
	paper.stack[3] = CODE + 0x100;
	paper.stack[9] = 0x1234;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_NO_FILE);
	assert_int_equal(result.depth, 2);
	paper.stack[2] = paper.stack[3] = 0; /* variables, as far as anybody knows */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_UNWIND_ARM64 ? PKBPF_END_ZERO_RA : PKBPF_END_NO_FILE);
	assert_int_equal(result.depth, 1);
	regs[FP] = STACK + 17;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_FILE);
	regs[FP] = STACK + 16;
	result = unwind_walk(&paper_ops, &paper, regs, &tables_only, paper.ips, 16);
	assert_int_equal(result.end, PKBPF_END_NO_FILE);
}

static void says_that_unwind_info_was_refused_where_frame_pointers_lead_nowhere(void **state)
{
	struct paper paper = {.flags = PKBPF_MAPPING_REFUSED};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 17, [PKBPF_REG_IP] = CODE + 0x20};

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_REFUSED);
	paper.flags = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_RULE);
}

static void ends_with_the_reason(void **state)
{
	static const struct {
		struct pkbpf_unwind_rule rule;
		enum pkbpf_stack_end end;
	} rows[] =
	{ {{.cfa = PKBPF_CFA_UNSUPPORTED}, PKBPF_END_UNSUPPORTED},
	  {{.cfa = 77}, PKBPF_END_UNSUPPORTED},
	  {{.cfa = PKBPF_CFA_NO_ROOM}, PKBPF_END_NO_ROOM},
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = -8, RA_AT_8}, PKBPF_END_FAULT_RA},
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = 1 << 20, RA_AT_8}, PKBPF_END_FAULT_RA},
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = 8, .ra_offset = 8}, PKBPF_END_MAX_DEPTH},
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = 16, .fp = PKBPF_FP_CFA, .fp_offset = -64, RA_AT_8},
	   PKBPF_END_FAULT_RA},
	  {{.cfa = PKBPF_CFA_SIGNAL}, PKBPF_END_MAX_DEPTH},
#if defined(__x86_64__)
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = 16, .ra = 9}, PKBPF_END_UNSUPPORTED},
#endif
	  {{.cfa = PKBPF_CFA_SP, .cfa_offset = 16, .ra = PKBPF_RA_LINK},
	   PKBPF_UNWIND_ARM64 ? PKBPF_END_ZERO_RA : PKBPF_END_UNSUPPORTED},
	  {END_RULE, PKBPF_END_ROOT},
	  {{.cfa = PKBPF_CFA_PENDING}, PKBPF_END_NO_TABLE},
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct paper paper = {.rule = rows[i].rule};

		/* Wherever a return address or a signal frame is looked for, it leads back to the
		 * same. */
		for (size_t k = 0; k < ARRAY_SIZE(paper.stack); k++)
			paper.stack[k] = CODE + 0x20;
		if (rows[i].rule.cfa == PKBPF_CFA_SIGNAL)
			paper.stack[PKBPF_SIGNAL_REGS_AT / 8 + PKBPF_SIGNAL_SP] = STACK;
		assert_int_equal(walk_paper(&paper, regs, true).end, rows[i].end);
	}
}

static void leaves_out_what_lies_above_the_end(void **state)
{
	struct paper paper = {.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8},
			      .second = {.cfa = PKBPF_CFA_END, .aux = 1},
			      .second_at = 0x100};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20};
	struct unwind_walk_result result;

	paper.stack[0] = CODE + 0x80;
	paper.stack[1] = CODE + 0x101;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ROOT);
	assert_int_equal(result.depth, 2);
	assert_int_equal(paper.ips[1], CODE + 0x80);
	regs[PKBPF_REG_IP] = CODE + 0x120; /* but there always is a frame */
	assert_int_equal(walk_paper(&paper, regs, true).depth, 1);
}

static void reports_code_that_is_not_known_yet(void **state)
{
	struct paper paper = {.code_end = PKBPF_END_NO_TABLE};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20};

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_TABLE);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 1);
	regs[PKBPF_REG_IP] = 0x1000;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_MAPPING);
}

static void a_leaf_that_returns_nowhere_is_a_root_only_without_frame_pointer(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = 7, [PKBPF_REG_IP] = CODE + 0x10};

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NOWHERE);
	regs[FP] = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
	/* What was called from somewhere is believed. */
	regs[FP] = 7;
	paper.stack[1] = CODE + 0x8010;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leaf_that_returns_nowhere_is_a_root_only_without_frame_pointer),
		cmocka_unit_test(believes_frame_pointers_only_where_they_can_be_true),
		cmocka_unit_test(
			says_that_the_file_cannot_be_opened_where_frame_pointers_lead_nowhere),
		cmocka_unit_test(
			says_that_unwind_info_was_refused_where_frame_pointers_lead_nowhere),
		cmocka_unit_test(ends_with_the_reason),
		cmocka_unit_test(leaves_out_what_lies_above_the_end),
		cmocka_unit_test(reports_code_that_is_not_known_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
