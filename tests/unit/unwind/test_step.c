// SPDX-License-Identifier: BSD-2-Clause
/* The frame step: each kind of rule on made-up stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "paper_process.h"

static void follows_stack_pointer_rule(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 24, RA_AT_8},
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	paper.stack[2] = CODE + 0x20;
	paper.stack[5] = CODE + 0x9000;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ROOT);
	assert_int_equal(result.depth, 3);
	assert_int_equal(paper.ips[0], CODE + 0x10);
	assert_int_equal(paper.ips[1], CODE + 0x20);
	assert_int_equal(paper.ips[2], CODE + 0x9000);
}

/* The address behind a call that never returns belongs to the next function. */
static void looks_up_return_addresses_one_byte_earlier(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8},
		.second = {.cfa = PKBPF_CFA_UNSUPPORTED},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x8000};

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(walk_paper(&paper, regs, false).end, PKBPF_END_ZERO_RA);
	paper.stack[0] = CODE + 0x8000;
	assert_int_equal(walk_paper(&paper, regs, false).depth, 2);
}

static void restores_frame_pointer_from_cfa_and_from_itself(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_FP,
			 .cfa_offset = 16,
			 .fp = PKBPF_FP_CFA,
			 .fp_offset = -16,
			 RA_AT_8},
		.second = {.cfa = PKBPF_CFA_FP,
			   .cfa_offset = 32,
			   .fp = PKBPF_FP_FP,
			   .fp_offset = 8,
			   RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 32, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	paper.stack[4] = STACK + 80;	/* caller's frame pointer */
	paper.stack[5] = CODE + 0x8010; /* its code has the second rule */
	paper.stack[11] = STACK + 160;	/* fp + 8 */
	paper.stack[13] = CODE + 0x20;	/* cfa - 8 = fp + 24 */
	paper.stack[20] = 0;
	paper.stack[21] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 3);
	assert_int_equal(paper.ips[2], CODE + 0x20);
}

/* Functions of Go's run-time that call the vDSO: the frame pointer still belongs to the stack that
 * was left, here a lower one. */
static void follows_the_frame_pointer_to_another_stack(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_OTHER_STACK,
			 .cfa_offset = 16,
			 .fp = PKBPF_FP_FP,
			 RA_AT_8},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK + 128, [FP] = STACK + 16, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	paper.stack[2] = STACK + 64;
	paper.stack[3] = CODE + 0x8010;
	paper.stack[5] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(paper.ips[1], CODE + 0x8010);

	regs[FP] = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_OTHER_STACK);
	regs[FP] = STACK + 17;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_OTHER_STACK);
}

/* A function that runs on a stack above its caller's, as fibers do: its frame is led to by the
 * frame pointer. */
static void leaves_a_stack_for_a_lower_one(void **state)
{
	static const uint8_t kinds[] = {PKBPF_CFA_FP, PKBPF_CFA_FP_DEREF, PKBPF_CFA_SP_DEREF};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds); i++) {
		struct paper paper = {
			.rule = {.cfa = kinds[i],
				 .cfa_offset = kinds[i] == PKBPF_CFA_FP ? 16 : 0,
				 RA_AT_8},
			.second = END_RULE,
			.second_at = 0x8000,
		};
		uint64_t regs[PKBPF_REGS] = {
			[SP] = STACK + 256, [FP] = STACK + 48, [PKBPF_REG_IP] = CODE + 0x10};

		if (kinds[i] != PKBPF_CFA_FP)
			paper.stack[kinds[i] == PKBPF_CFA_SP_DEREF ? 32 : 6] = STACK + 64;
		paper.stack[7] = CODE + 0x8010;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
		assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
		/* Where nothing is returned to there is no stack. */
		paper.stack[7] = 0;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
	}
}

static void does_not_go_down_a_stack_that_it_has_walked(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_FP, .cfa_offset = 16, RA_AT_8},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 128, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK + 256, [FP] = STACK + 48, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	(void)state;
	/* Down to another stack, up, and down the same one again. */
	paper.stack[7] = CODE + 0x8010;
	paper.stack[23] = CODE + 0x10;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_NO_PROGRESS);
	assert_int_equal(result.depth, 3);
	/* What is no multiple of words is no stack, nor does the stack pointer lead to another. */
	regs[FP]++;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
	regs[FP]--;
	paper.rule.cfa = PKBPF_CFA_SP;
	paper.rule.cfa_offset = -192;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
}

static void reads_other_registers_only_at_the_leaf(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8},
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [SECOND] = STACK + 64, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	paper.stack[8] = CODE + 0x20;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(result.depth, 2);
}

#if defined(__x86_64__)
/* A helper without a frame of its own, called by code whose caller only such a register leads
 * to. */
static void believes_the_registers_of_a_leaf_without_frame(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8},
		.second = {.cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [SECOND] = STACK + 64, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_options tables_only = {.exact = true, .no_guess = true};
	struct unwind_walk_result result;

	(void)state;
	paper.stack[0] = CODE + 0x8010;
	paper.stack[8] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(result.guessed, 1);
	assert_int_equal(unwind_walk(&paper_ops, &paper, regs, &tables_only, paper.ips, 16).end,
			 PKBPF_END_UNSUPPORTED);

	/* Not when it leads down the stack, nowhere, or is no address of a word; and not one frame
	 * further up. */
	regs[SECOND] = STACK;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	regs[SECOND] = UINT64_MAX - 7;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	regs[SECOND] = STACK + 65;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	regs[SECOND] = STACK + 64;
	paper.stack[8] = CODE + 0x8010;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(result.depth, 3);

	/* A leaf that has a frame has used registers for itself. */
	paper.rule.cfa_offset = 16;
	paper.stack[1] = CODE + 0x8010;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

/* The leaf saves the register behind its return address; what it was is the CFA of its caller. */
static void follows_registers_that_callees_keep(void **state)
{
	static const uint8_t numbers[PKBPF_KEPT_REGISTERS] = {RBX, 12, 13, 14, 15};

	for (size_t i = 0; i < PKBPF_KEPT_REGISTERS; i++) {
		struct paper paper = {
			.rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 24, RA_AT_8},
			.second = {.cfa = PKBPF_CFA_REGISTER, .aux = numbers[i], RA_AT_8},
			.second_at = 0x8000,
		};
		uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x10};
		struct unwind_walk_result result;

		paper.rule.saved[i] = PKBPF_SAVED(PKBPF_SAVED_CFA, -16);
		paper.stack[1] = STACK + 160;
		paper.stack[2] = CODE + 0x8010;
		regs[numbers[i]] = STACK + 320;
		result = walk_paper(&paper, regs, true);
		assert_int_equal(result.end, PKBPF_END_ZERO_RA);
		assert_int_equal(result.depth, 2);
		assert_int_equal(result.guessed, 0);
		/* From the frame pointer it is the same place. */
		paper.rule.saved[i] = PKBPF_SAVED(PKBPF_SAVED_FP, -16);
		regs[FP] = STACK + 24;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
		/* Still in its register: one that leads to another stack, which ends there. */
		paper.rule.saved[i] = PKBPF_SAVED_NOT;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
		/* One that leads nowhere. */
		regs[numbers[i]] = 8;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_RA);
		paper.rule.saved[i] = PKBPF_SAVED_UNKNOWN;
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	}
}

static void follows_a_cfa_in_memory_at_a_kept_register(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP,
			 .cfa_offset = 16,
			 RA_AT_8,
			 .saved = {PKBPF_SAVED(PKBPF_SAVED_CFA, -16)}},
		.second = {.cfa = PKBPF_CFA_REGISTER_DEREF,
			   .cfa_offset = 8,
			   .aux = 2 << 4 | RBX,
			   RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x10};
	struct unwind_walk_result result;

	paper.stack[0] = STACK + 800;
	paper.stack[1] = CODE + 0x8010;
	paper.stack[101] = STACK + 80;
	paper.stack[11] = CODE + 0x8020;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_NO_PROGRESS);
	assert_int_equal(result.depth, 3);
	assert_int_equal(paper.ips[2], CODE + 0x8020);
}

/* A guess may have passed any number of functions, with what they saved. */
static void forgets_kept_registers_where_it_guesses(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_NONE},
		.second = {.cfa = PKBPF_CFA_REGISTER, .aux = RBX, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [FP] = STACK + 16, [RBX] = STACK + 160, [PKBPF_REG_IP] = CODE + 0x10};

	paper.stack[2] = STACK + 64;
	paper.stack[3] = CODE + 0x8010;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

static void leaves_the_vsyscall_page_by_its_return_address(void **state)
{
	static const uint64_t calls[] = {0xffffffffff600000, 0xffffffffff600400,
					 0xffffffffff600800};
	struct paper paper = {.rule = {.cfa = PKBPF_CFA_REGISTER, .aux = RBX, RA_AT_8}};

	for (size_t i = 0; i < 3; i++) {
		uint64_t regs[PKBPF_REGS] = {
			[SP] = STACK, [RBX] = STACK + 160, [PKBPF_REG_IP] = calls[i]};
		struct unwind_walk_result result;

		paper.stack[0] = CODE + 0x10;
		result = walk_paper(&paper, regs, true);
		assert_int_equal(result.end, PKBPF_END_ZERO_RA);
		assert_int_equal(result.depth, 2);
		assert_int_equal(result.guessed, 0);
		assert_int_equal(paper.ips[0], calls[i]);
		/* Nobody is called from there. */
		paper.stack[0] = calls[i];
		assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_MAPPING);
	}
}
#endif

static void follows_cfa_saved_in_memory(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_FP_DEREF, .cfa_offset = -8, .aux = 1, RA_AT_8},
		.second = {.cfa = PKBPF_CFA_SP_DEREF, .cfa_offset = 16, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 48, [PKBPF_REG_IP] = CODE + 0x10};

	paper.stack[5] = STACK + 80; /* cfa = that + 8: sp of the caller */
	paper.stack[10] = CODE + 0x8010;
	paper.stack[13] = STACK + 400; /* sp + 16 */
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
	paper.stack[13] = STACK + 800;
	paper.stack[99] = CODE + 0x10;
	paper.stack[5] = STACK + 80;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
}

static void follows_cfa_saved_behind_an_array_while_its_length_is_known(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP_INDEXED, .cfa_offset = 8, .aux = 9 | 1 << 4, RA_AT_8},
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x10};

	regs[9] = 6;
	paper.stack[7] = STACK + 160; /* sp + 8 + 8 * 6 */
	paper.stack[20] = CODE + 0x8010;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
	/* A caller's registers are not known. */
	paper.stack[20] = CODE + 0x10;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	regs[9] = 1ULL << 60;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_RA);
}

static void knows_both_halves_of_a_plt_entry(void **state)
{
	struct paper paper = {.rule = {.cfa = PKBPF_CFA_PLT, .cfa_offset = 11, RA_AT_8}};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20};

	paper.second = (struct pkbpf_unwind_rule)END_RULE;
	paper.second_at = 0x8000;
	paper.stack[0] = CODE + 0x9000;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	regs[PKBPF_REG_IP] = CODE + 0x2b;
	paper.stack[0] = 5; /* relocation index pushed by the entry */
	paper.stack[1] = CODE + 0x9001;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(paper.ips[1], CODE + 0x9001);
}

static void returns_through_a_register_without_moving_the_stack(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .ra = PKBPF_RA_REGISTER, .ra_offset = FIRST},
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [FIRST] = CODE + 0x9000, [PKBPF_REG_IP] = CODE + 0x20};

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
	/* Returning to itself must not go on for ever: registers are known at the leaf only. */
	regs[FIRST] = CODE + 0x20;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

/* Frames of HotSpot's interpreter: the caller's stack pointer is in the frame, and the return
 * address is not next to it. */
static void finds_the_return_address_above_the_frame_pointer(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_FP_DEREF,
			 .cfa_offset = -8,
			 .fp = PKBPF_FP_FP,
			 .ra = PKBPF_RA_FP,
			 .ra_offset = 8},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK, [FP] = STACK + 32, [PKBPF_REG_IP] = CODE + 0x10};

	paper.stack[3] = STACK + 64;  /* fp - 8: the caller's stack pointer */
	paper.stack[4] = STACK + 128; /* its frame pointer */
	paper.stack[5] = CODE + 0x20;
	paper.stack[15] = STACK + 240;
	paper.stack[16] = STACK + 480;
	paper.stack[17] = CODE + 0x9000;
	paper.stack[30] = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ZERO_RA);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 3);
	assert_int_equal(paper.ips[1], CODE + 0x20);
	assert_int_equal(paper.ips[2], CODE + 0x9000);
	/* A frame that leads to itself must not go on for ever. */
	paper.stack[3] = STACK + 32;
	paper.stack[4] = STACK + 32;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
	paper.stack[3] = STACK + 64;
	regs[FP] = STACK + 8 * 512 - 8;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_RA);
}

/* Adapters between compiled and interpreted code: the caller's stack pointer is in a register, the
 * return address at the top of the stack, with arguments between them. */
static void finds_the_return_address_where_a_register_points(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_REGISTER,
			 .aux = FIRST,
			 .ra = PKBPF_RA_AT_REGISTER,
			 .ra_offset = PKBPF_RA_AT(SP, 8)},
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK, [FIRST] = STACK + 64, [PKBPF_REG_IP] = CODE + 0x20};

	paper.stack[1] = CODE + 0x9000;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
	assert_int_equal(paper.ips[1], CODE + 0x9000);
	/* Registers are known at the leaf only. */
	paper.rule.cfa = PKBPF_CFA_SP;
	paper.rule.cfa_offset = 16;
	paper.stack[1] = CODE + 0x20;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
}

/* OCaml's caml_c_call takes its return address off the stack before it calls: it is still below. */
static void a_leaf_may_have_moved_its_stack_back_already(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SP, .ra = PKBPF_RA_CFA, .ra_offset = -8},
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK + 8, [PKBPF_REG_IP] = CODE + 0x20};

	paper.stack[0] = CODE + 0x9000;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(paper.ips[1], CODE + 0x9000);
	/* What was called has: it must not go on for ever. */
	paper.stack[0] = CODE + 0x30;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_PROGRESS);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
}

/* longjmp() before it has loaded the registers: where it goes may be another stack, here a lower
 * one. */
static void follows_a_jump_into_another_frame(void **state)
{
	enum { JUMP_SP = 9, JUMP_FP = 8 };
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_JUMP,
			 .aux = JUMP_SP,
			 .fp_offset = JUMP_FP,
			 .ra_offset = FIRST},
		.second = {.cfa = PKBPF_CFA_FP, .cfa_offset = 16, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK + 256, [JUMP_SP] = STACK,	     [JUMP_FP] = STACK + 16,
		[FP] = STACK + 48,  [FIRST] = CODE + 0x9000, [PKBPF_REG_IP] = CODE + 0x20};
	struct unwind_walk_result result;

	paper.stack[3] = CODE + 0x9010; /* fp + 8 */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(paper.ips[1], CODE + 0x9000);
	assert_int_equal(paper.ips[2], CODE + 0x9010);
	assert_int_equal(result.depth, 3);
	/* Registers are known at the leaf only. */
	regs[FIRST] = CODE + 0x20;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

/* setcontext(): what it goes to is in memory, of no stack. */
static void follows_saved_registers_into_another_frame(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_JUMP_SAVED,
			 .aux = FIRST,
			 .cfa_offset = 16,
			 .fp_offset = 8,
			 .ra_offset = 24},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 16, .fp = PKBPF_FP_SAME, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {
		[SP] = STACK + 256, [FIRST] = STACK + 160, [PKBPF_REG_IP] = CODE + 0x20};
	struct unwind_walk_result result;

	paper.stack[22] = STACK + 32;	 /* its stack pointer: lower than the leaf's */
	paper.stack[23] = CODE + 0x9000; /* its code */
	paper.stack[5] = CODE + 0x9010;	 /* sp + 8 */
	result = walk_paper(&paper, regs, true);
	assert_int_equal(paper.ips[1], CODE + 0x9000);
	assert_int_equal(paper.ips[2], CODE + 0x9010);
	assert_int_equal(result.depth, 3);
	regs[FIRST] = 1ULL << 60;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FAULT_RA);
	regs[FIRST] = STACK + 160;
	paper.stack[23] = CODE + 0x20;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

#if defined(__x86_64__)
static void restores_all_registers_of_a_signal_frame(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SIGNAL},
		.second = {.cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK + 800, [PKBPF_REG_IP] = CODE + 0x20};
	uint64_t *frame = &paper.stack[105]; /* sp + 40 */
	struct unwind_walk_result result;

	frame[2] = STACK + 64;	   /* r10 */
	frame[15] = STACK;	   /* sp: of another, lower stack */
	frame[16] = CODE + 0x8000; /* exact: not looked up one byte earlier */
	result = walk_paper(&paper, regs, false);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(paper.ips[1], (CODE + 0x8000) | PKBPF_INTERRUPTED);
}

static void marks_what_a_signal_has_interrupted_and_neither_leaf_nor_caller(void **state)
{
	struct paper paper = {
		.rule = {.cfa = PKBPF_CFA_SIGNAL},
		.second = {.cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8},
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = {[SP] = STACK + 784, [PKBPF_REG_IP] = CODE + 0x8010};
	uint64_t *frame = &paper.stack[105]; /* sp + 40 in the trampoline, which is at 800 */
	struct unwind_walk_result result;

	paper.stack[99] = CODE + 0x20; /* the handler returns to the trampoline */
	frame[15] = STACK;
	frame[16] = CODE + 0x8000; /* the first instruction of what has the second rule */
	paper.stack[1] = CODE + 0x9000;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 4);
	assert_int_equal(paper.ips[0], CODE + 0x8010);
	assert_int_equal(paper.ips[1], CODE + 0x20);
	assert_int_equal(paper.ips[2], (CODE + 0x8000) | PKBPF_INTERRUPTED);
	assert_int_equal(paper.ips[3], CODE + 0x9000);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_stack_pointer_rule),
		cmocka_unit_test(looks_up_return_addresses_one_byte_earlier),
		cmocka_unit_test(restores_frame_pointer_from_cfa_and_from_itself),
		cmocka_unit_test(follows_the_frame_pointer_to_another_stack),
		cmocka_unit_test(leaves_a_stack_for_a_lower_one),
		cmocka_unit_test(does_not_go_down_a_stack_that_it_has_walked),
		cmocka_unit_test(reads_other_registers_only_at_the_leaf),
#if defined(__x86_64__)
		cmocka_unit_test(believes_the_registers_of_a_leaf_without_frame),
		cmocka_unit_test(follows_registers_that_callees_keep),
		cmocka_unit_test(follows_a_cfa_in_memory_at_a_kept_register),
		cmocka_unit_test(forgets_kept_registers_where_it_guesses),
		cmocka_unit_test(leaves_the_vsyscall_page_by_its_return_address),
#endif
		cmocka_unit_test(follows_cfa_saved_in_memory),
		cmocka_unit_test(follows_cfa_saved_behind_an_array_while_its_length_is_known),
		cmocka_unit_test(knows_both_halves_of_a_plt_entry),
		cmocka_unit_test(returns_through_a_register_without_moving_the_stack),
		cmocka_unit_test(finds_the_return_address_above_the_frame_pointer),
		cmocka_unit_test(finds_the_return_address_where_a_register_points),
		cmocka_unit_test(a_leaf_may_have_moved_its_stack_back_already),
		cmocka_unit_test(follows_a_jump_into_another_frame),
		cmocka_unit_test(follows_saved_registers_into_another_frame),
#if defined(__x86_64__)
		cmocka_unit_test(restores_all_registers_of_a_signal_frame),
		cmocka_unit_test(marks_what_a_signal_has_interrupted_and_neither_leaf_nor_caller),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
