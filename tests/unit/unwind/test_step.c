// SPDX-License-Identifier: BSD-2-Clause
/* The frame step: each kind of rule on made-up stacks, whole walks of stopped processes against libdwfl. */
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "live_tables.h"

#define STACK 0x7fff00000000ULL
#define CODE  0x400000ULL

/* A process on paper: one mapping whose every address has the same rule until `second_at`. */
struct paper {
	struct pkbpf_unwind_rule rule, second;
	uint64_t second_at; /* ELF address; 0: none */
	uint32_t code_end;  /* result of looking for code outside */
	uint32_t flags;
	bool tracks_rbx;
	uint64_t stack[512];
	uint64_t ips[16];
};

static uint32_t paper_code(void *context, uint64_t address, struct unwind_code *ret_code)
{
	struct paper *paper = context;

	if (address < CODE || address >= CODE + 0x10000)
		return PKBPF_END_NO_MAPPING;
	if (paper->code_end)
		return paper->code_end;
	*ret_code = (struct unwind_code){
		.start = CODE,
		.end = CODE + 0x10000,
		.bias = CODE,
		.flags = paper->flags,
		.tracks_rbx = paper->tracks_rbx,
	};
	return 0;
}

static bool paper_rule(void *context, const struct unwind_code *code, uint64_t elf_address,
		       struct pkbpf_unwind_rule *ret_rule)
{
	struct paper *paper = context;

	*ret_rule = paper->second_at && elf_address >= paper->second_at ? paper->second : paper->rule;
	return true;
}

static int paper_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct paper *paper = context;

	if (address < STACK || address + size > STACK + sizeof(paper->stack))
		return -EFAULT;
	memcpy(buffer, (char *)paper->stack + (address - STACK), size);
	return 0;
}

static const struct unwind_walk_ops paper_ops = { paper_code, paper_rule, paper_read };

/* Two that callees may change, and what every architecture has. */
#if defined(__aarch64__)
enum { FIRST = 1, SECOND = 10, FP = 29, SP = 31 };
#else
enum { RBX = 3, FIRST = 5, SECOND = 10, FP = 6, SP = 7 };
#endif

static struct unwind_walk_result walk_paper(struct paper *paper, const uint64_t *regs, bool exact)
{
	struct unwind_walk_options options = { .exact = exact };

	return unwind_walk(&paper_ops, paper, regs, &options, paper->ips, 16);
}

#define END_RULE { .cfa = PKBPF_CFA_END }
#define RA_AT_8	 .ra = PKBPF_RA_CFA, .ra_offset = -8

static void follows_stack_pointer_rule(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_SP, .cfa_offset = 24, RA_AT_8 },
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x10 };
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
		.rule = { .cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8 },
		.second = { .cfa = PKBPF_CFA_UNSUPPORTED },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x8000 };

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(walk_paper(&paper, regs, false).end, PKBPF_END_ZERO_RA);
	paper.stack[0] = CODE + 0x8000;
	assert_int_equal(walk_paper(&paper, regs, false).depth, 2);
}

static void restores_frame_pointer_from_cfa_and_from_itself(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_FP, .cfa_offset = 16, .fp = PKBPF_FP_CFA, .fp_offset = -16,
			  RA_AT_8 },
		.second = { .cfa = PKBPF_CFA_FP, .cfa_offset = 32, .fp = PKBPF_FP_FP, .fp_offset = 8,
			    RA_AT_8 },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [FP] = STACK + 32, [PKBPF_REG_IP] = CODE + 0x10 };
	struct unwind_walk_result result;

	paper.stack[4] = STACK + 80;	 /* caller's frame pointer */
	paper.stack[5] = CODE + 0x8010;	 /* its code has the second rule */
	paper.stack[11] = STACK + 160;	 /* fp + 8 */
	paper.stack[13] = CODE + 0x20;	 /* cfa - 8 = fp + 24 */
	paper.stack[20] = 0;
	paper.stack[21] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 3);
	assert_int_equal(paper.ips[2], CODE + 0x20);
}

/* Go's systemstack() and its like: the frame pointer still belongs to the stack that was left, here a lower one. */
static void follows_the_frame_pointer_to_another_stack(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_OTHER_STACK, .cfa_offset = 16, .fp = PKBPF_FP_FP, RA_AT_8 },
		.second = { .cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8 },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK + 128, [FP] = STACK + 16, [PKBPF_REG_IP] = CODE + 0x10 };
	struct unwind_walk_result result;

	paper.stack[2] = STACK + 64;
	paper.stack[3] = CODE + 0x8010;
	paper.stack[5] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(paper.ips[1], CODE + 0x8010);

	regs[FP] = 0;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_FP_ROOT);
	regs[FP] = STACK + 17;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_RULE);
}

static void reads_other_registers_only_at_the_leaf(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8 },
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [SECOND] = STACK + 64, [PKBPF_REG_IP] = CODE + 0x10 };
	struct unwind_walk_result result;

	paper.stack[8] = CODE + 0x20;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_UNSUPPORTED);
	assert_int_equal(result.depth, 2);
}

#if defined(__x86_64__)
/* A helper without a frame of its own, called by code whose caller only such a register leads to. */
static void believes_the_registers_of_a_leaf_without_frame(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8 },
		.second = { .cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8 },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [SECOND] = STACK + 64, [PKBPF_REG_IP] = CODE + 0x10 };
	struct unwind_walk_options tables_only = { .exact = true, .no_guess = true };
	struct unwind_walk_result result;

	(void)state;
	paper.stack[0] = CODE + 0x8010;
	paper.stack[8] = 0;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(result.guessed, 1);
	assert_int_equal(unwind_walk(&paper_ops, &paper, regs, &tables_only, paper.ips, 16).end, PKBPF_END_UNSUPPORTED);

	/* Not when it leads down the stack, nowhere, or is no address of a word; and not one frame further up. */
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

static void follows_rbx_only_through_code_that_tracks_it(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_SP, .cfa_offset = 16, RA_AT_8, .rbx_offset = -16 },
		.second = { .cfa = PKBPF_CFA_REGISTER, .aux = RBX, .cfa_offset = 16, RA_AT_8 },
		.second_at = 0x8000,
		.tracks_rbx = true,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [RBX] = 1, [PKBPF_REG_IP] = CODE + 0x10 };
	struct unwind_walk_result result;

	paper.stack[0] = STACK + 160;
	paper.stack[1] = CODE + 0x8010;
	result = walk_paper(&paper, regs, true);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	paper.tracks_rbx = false;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}
#endif

static void follows_cfa_saved_in_memory(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_FP_DEREF, .cfa_offset = -8, .aux = 1, RA_AT_8 },
		.second = { .cfa = PKBPF_CFA_SP_DEREF, .cfa_offset = 16, RA_AT_8 },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [FP] = STACK + 48, [PKBPF_REG_IP] = CODE + 0x10 };

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

static void knows_both_halves_of_a_plt_entry(void **state)
{
	struct paper paper = { .rule = { .cfa = PKBPF_CFA_PLT, .cfa_offset = 11, RA_AT_8 } };
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20 };

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
		.rule = { .cfa = PKBPF_CFA_SP, .ra = PKBPF_RA_REGISTER, .aux = FIRST },
		.second = END_RULE,
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [FIRST] = CODE + 0x9000, [PKBPF_REG_IP] = CODE + 0x20 };

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_ROOT);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 2);
	/* Returning to itself must not go on for ever: registers are known at the leaf only. */
	regs[FIRST] = CODE + 0x20;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_UNSUPPORTED);
}

#if defined(__x86_64__)
static void restores_all_registers_of_a_signal_frame(void **state)
{
	struct paper paper = {
		.rule = { .cfa = PKBPF_CFA_SIGNAL },
		.second = { .cfa = PKBPF_CFA_REGISTER, .aux = SECOND, .cfa_offset = 8, RA_AT_8 },
		.second_at = 0x8000,
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK + 800, [PKBPF_REG_IP] = CODE + 0x20 };
	uint64_t *frame = &paper.stack[105]; /* sp + 40 */
	struct unwind_walk_result result;

	frame[2] = STACK + 64;	    /* r10 */
	frame[15] = STACK;	    /* sp: of another, lower stack */
	frame[16] = CODE + 0x8000;  /* exact: not looked up one byte earlier */
	result = walk_paper(&paper, regs, false);
	assert_int_equal(result.end, PKBPF_END_ZERO_RA);
	assert_int_equal(result.depth, 2);
	assert_int_equal(paper.ips[1], CODE + 0x8000);
}
#endif

static void believes_frame_pointers_only_where_they_can_be_true(void **state)
{
	struct paper paper = { .rule = { .cfa = PKBPF_CFA_NONE } };
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [FP] = STACK + 16, [PKBPF_REG_IP] = CODE + 0x20 };
	struct unwind_walk_options tables_only = { .exact = true, .no_guess = true };
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

static void ends_with_the_reason(void **state)
{
	static const struct {
		struct pkbpf_unwind_rule rule;
		enum pkbpf_stack_end end;
	} rows[] = {
		{ { .cfa = PKBPF_CFA_UNSUPPORTED }, PKBPF_END_UNSUPPORTED },
		{ { .cfa = 77 }, PKBPF_END_UNSUPPORTED },
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = -8, RA_AT_8 }, PKBPF_END_FAULT_RA },
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = 1 << 20, RA_AT_8 }, PKBPF_END_FAULT_RA },
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = 8, .ra_offset = 8 }, PKBPF_END_MAX_DEPTH },
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = 16, .fp = PKBPF_FP_CFA, .fp_offset = -64, RA_AT_8 },
		  PKBPF_END_FAULT_RA },
		{ { .cfa = PKBPF_CFA_SIGNAL }, PKBPF_END_MAX_DEPTH },
#if defined(__x86_64__)
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = 16, .ra = 9 }, PKBPF_END_UNSUPPORTED },
#endif
		{ { .cfa = PKBPF_CFA_SP, .cfa_offset = 16, .ra = PKBPF_RA_LINK },
		  PKBPF_UNWIND_ARM64 ? PKBPF_END_ZERO_RA : PKBPF_END_UNSUPPORTED },
		{ END_RULE, PKBPF_END_ROOT },
		{ { .cfa = PKBPF_CFA_PENDING }, PKBPF_END_NO_TABLE },
	};
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct paper paper = { .rule = rows[i].rule };

		/* Wherever a return address or a signal frame is looked for, it leads back to the same. */
		for (size_t k = 0; k < ARRAY_SIZE(paper.stack); k++)
			paper.stack[k] = CODE + 0x20;
		if (rows[i].rule.cfa == PKBPF_CFA_SIGNAL)
			paper.stack[PKBPF_SIGNAL_REGS_AT / 8 + PKBPF_SIGNAL_SP] = STACK;
		assert_int_equal(walk_paper(&paper, regs, true).end, rows[i].end);
	}
}

static void leaves_out_what_lies_above_the_end(void **state)
{
	struct paper paper = { .rule = { .cfa = PKBPF_CFA_SP, .cfa_offset = 8, RA_AT_8 },
			       .second = { .cfa = PKBPF_CFA_END, .aux = 1 },
			       .second_at = 0x100 };
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20 };
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
	struct paper paper = { .code_end = PKBPF_END_NO_TABLE };
	uint64_t regs[PKBPF_REGS] = { [SP] = STACK, [PKBPF_REG_IP] = CODE + 0x20 };

	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_TABLE);
	assert_int_equal(walk_paper(&paper, regs, true).depth, 1);
	regs[PKBPF_REG_IP] = 0x1000;
	assert_int_equal(walk_paper(&paper, regs, true).end, PKBPF_END_NO_MAPPING);
}

/* Whole walks of real processes. */

static volatile int sink;

__attribute__((noinline)) static int recurse_plain(int depth, void (*stop)(void));

__attribute__((noinline)) static int recurse_alloca(int depth, void (*stop)(void))
{
	size_t size = 16 + (size_t)(depth & 63);
	volatile char *room = alloca(size);
	int result;

	room[0] = (char)depth;
	result = recurse_plain(depth - 1, stop);
	sink += room[0];
	return result + 1;
}

__attribute__((noinline)) static int recurse_big(int depth, void (*stop)(void))
{
	volatile char room[5000];
	int result;

	room[depth] = 1;
	result = recurse_plain(depth - 1, stop);
	sink += room[depth];
	return result + 1;
}

__attribute__((noinline)) static int recurse_plain(int depth, void (*stop)(void))
{
	int result;

	if (depth <= 0) {
		stop();
		return sink;
	}
	result = depth % 3 == 0 ? recurse_alloca(depth - 1, stop) :
		 depth % 7 == 0 ? recurse_big(depth - 1, stop) :
				  recurse_plain(depth - 1, stop);
	sink += result;
	return result + 1;
}

static void run_recursion(int depth)
{
	sink += recurse_plain(depth, stopped_child_stop);
}

static void on_signal(int number)
{
	recurse_plain(5, stopped_child_stop);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

static void run_signal(int on_own_stack)
{
	static char stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_signal };

	if (on_own_stack) {
		action.sa_flags = SA_ONSTACK;
		sigaltstack(&other, NULL);
	}
	sigaction(SIGUSR1, &action, NULL);
	sink += recurse_plain(9, raise_signal);
}

static int compare_and_stop(const void *a, const void *b)
{
	stopped_child_stop();
	return 0;
}

static void run_callback(int argument)
{
	int items[64] = { 0 };

	qsort(items, 64, sizeof(items[0]), compare_and_stop);
}

/* Until the main thread sleeps in pthread_join(): three looks in a row, for it may sleep for a moment on its way there. */
static void wait_for_main_thread(void)
{
	char path[64], line[512];
	int asleep = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	for (int i = 0; i < 1000 && asleep < 3; i++) {
		FILE *file = fopen(path, "re");
		const char *state = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;

		asleep = state && state[2] == 'S' ? asleep + 1 : 0;
		if (file)
			fclose(file);
		usleep(10000);
	}
}

static void *run_thread_body(void *argument)
{
	wait_for_main_thread();
	sink += recurse_plain(20, stopped_child_stop);
	return NULL;
}

/* The process is looked at through its main thread, which waits for the one that stops. */
static void run_joining(int argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_thread_body, NULL);
	pthread_join(thread, NULL);
}

static void check_against_dwfl(void (*run)(int argument), int argument, size_t at_least)
{
	static uint64_t ours[PKBPF_MAX_USER_FRAMES], theirs[PKBPF_MAX_USER_FRAMES];
	struct unwind_walk_options options = { .exact = false };
	struct unwind_walk_result result;
	struct stopped_child child;
	struct live_tables live;
	size_t count;

	if (!stopped_child_start(&child, run, argument))
		skip();
	live_tables_open(&live, &child);
	result = unwind_walk(&live_tables_ops, &live, child.regs, &options, ours, PKBPF_MAX_USER_FRAMES);
	count = stopped_child_dwfl_frames(&child, theirs, PKBPF_MAX_USER_FRAMES);
	assert_in_range(result.end, PKBPF_END_ROOT, PKBPF_END_LAST_COMPLETE);
	assert_in_range(count, at_least, PKBPF_MAX_USER_FRAMES);
	assert_int_equal(result.depth, count);
	assert_int_equal(result.guessed, 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ours[i], theirs[i]);
	live_tables_close(&live);
	stopped_child_end(&child);
}

static void walks_recursion_like_libdwfl(void **state)
{
	static const int depths[] = { 0, 7, 47, 124, 500 };

	for (size_t i = 0; i < ARRAY_SIZE(depths); i++)
		check_against_dwfl(run_recursion, depths[i], (size_t)depths[i] + 5);
}

static void walks_through_signal_handlers_like_libdwfl(void **state)
{
	check_against_dwfl(run_signal, 0, 20);
	check_against_dwfl(run_signal, 1, 20);
}

static void walks_through_library_callbacks_like_libdwfl(void **state)
{
	check_against_dwfl(run_callback, 0, 8);
}

static void walks_waiting_threads_like_libdwfl(void **state)
{
	check_against_dwfl(run_joining, 0, 5);
}

static void stops_at_the_limit(void **state)
{
	struct unwind_walk_options options = { .exact = false };
	struct unwind_walk_result result;
	struct stopped_child child;
	struct live_tables live;
	uint64_t ips[10];

	if (!stopped_child_start(&child, run_recursion, 50))
		skip();
	live_tables_open(&live, &child);
	result = unwind_walk(&live_tables_ops, &live, child.regs, &options, ips, 10);
	assert_int_equal(result.end, PKBPF_END_MAX_DEPTH);
	assert_int_equal(result.depth, 10);
	live_tables_close(&live);
	stopped_child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_stack_pointer_rule),
		cmocka_unit_test(looks_up_return_addresses_one_byte_earlier),
		cmocka_unit_test(restores_frame_pointer_from_cfa_and_from_itself),
		cmocka_unit_test(follows_the_frame_pointer_to_another_stack),
		cmocka_unit_test(reads_other_registers_only_at_the_leaf),
#if defined(__x86_64__)
		cmocka_unit_test(believes_the_registers_of_a_leaf_without_frame),
		cmocka_unit_test(follows_rbx_only_through_code_that_tracks_it),
#endif
		cmocka_unit_test(follows_cfa_saved_in_memory),
		cmocka_unit_test(knows_both_halves_of_a_plt_entry),
		cmocka_unit_test(returns_through_a_register_without_moving_the_stack),
#if defined(__x86_64__)
		cmocka_unit_test(restores_all_registers_of_a_signal_frame),
#endif
		cmocka_unit_test(believes_frame_pointers_only_where_they_can_be_true),
		cmocka_unit_test(ends_with_the_reason),
		cmocka_unit_test(leaves_out_what_lies_above_the_end),
		cmocka_unit_test(reports_code_that_is_not_known_yet),
		cmocka_unit_test(walks_recursion_like_libdwfl),
		cmocka_unit_test(walks_through_signal_handlers_like_libdwfl),
		cmocka_unit_test(walks_through_library_callbacks_like_libdwfl),
		cmocka_unit_test(walks_waiting_threads_like_libdwfl),
		cmocka_unit_test(stops_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
