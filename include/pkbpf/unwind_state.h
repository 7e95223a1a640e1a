/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a walk of a user stack knows of the frame it has reached. */
#ifndef PKBPF_UNWIND_STATE_H
#define PKBPF_UNWIND_STATE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>

#if defined(__TARGET_ARCH_arm64) || (!defined(__TARGET_ARCH_x86) && defined(__aarch64__))
#define PKBPF_UNWIND_ARM64 1
#else
#define PKBPF_UNWIND_ARM64 0
#endif

/*
 * Registers are kept in the order of the kernel's signal frame, so that one block read restores
 * them all. x86-64: r8..r15, di, si, bp, bx, dx, ax, cx, sp, ip. arm64: x0..x30, sp, pc.
 */
#if PKBPF_UNWIND_ARM64
#define PKBPF_SIGNAL_REGS    33
#define PKBPF_SIGNAL_REGS_AT 312 /* from sp in the trampoline: siginfo, then ucontext up to x0 */
#define PKBPF_SIGNAL_FP	     29
#define PKBPF_SIGNAL_LINK    30
#define PKBPF_SIGNAL_SP	     31
#define PKBPF_SIGNAL_IP	     32
#define PKBPF_REG_SP	     31 /* in struct pkbpf_event_raw_stack */
#define PKBPF_REG_IP	     32
/* Where a register of a DWARF number lies among them. */
#define PKBPF_SIGNAL_INDEX(number) ((number) < PKBPF_SIGNAL_REGS ? (number) : 0)
/* Return addresses may carry a signature above the 48 address bits. */
#define PKBPF_CODE_ADDRESS(ip) ((ip)&0xffffffffffffULL)
#else
#define PKBPF_SIGNAL_REGS	   17
#define PKBPF_SIGNAL_REGS_AT	   40 /* from sp in the trampoline: ucontext up to r8 */
#define PKBPF_SIGNAL_FP		   10
#define PKBPF_SIGNAL_SP		   15
#define PKBPF_SIGNAL_IP		   16
#define PKBPF_REG_SP		   7 /* in struct pkbpf_event_raw_stack */
#define PKBPF_REG_IP		   16
/* Where a register of a DWARF number lies among them, a nibble each: rax 13, rdx 12, rcx 14, rbx
 * 11, rsi 9, rdi 8, rbp 10, rsp 15, r8 0, … */
#define PKBPF_SIGNAL_INDEX(number) ((0x76543210fa89becdULL >> (4 * ((number)&15))) & 15)
#define PKBPF_CODE_ADDRESS(ip)	   (ip)
#endif

/*
 * The page behind which old programs and C libraries call gettimeofday(), time() and getcpu(), at
 * the same address in every process. The kernel emulates what it holds, or it holds a system call
 * and a return: as a leaf it has no frame. It is in no list of mappings that can be relied on.
 */
#define PKBPF_IS_VSYSCALL(address)                                                                 \
	(!PKBPF_UNWIND_ARM64 && ((address) & ~0xfffULL) == 0xffffffffff600000ULL)

/* A frame farther away than this from the stack pointer is no frame of the same stack. */
#define PKBPF_UNWIND_MAX_GUESS_BYTES (8ULL << 20)

/* flags of a state */
enum {
	PKBPF_UNWIND_EXACT = 1, /* ip is the next instruction, not a return address */
	PKBPF_UNWIND_REGS = 2,	/* regs[] belong to this frame (leaf, or interrupted by a signal) */
	/* the walk ended where a register was asked for that only one that follows it knows */
	PKBPF_UNWIND_WANTS_KEPT = 4,
	PKBPF_UNWIND_GUESSED = 8,   /* ip was found by an unverified frame pointer */
	PKBPF_UNWIND_NO_GUESS = 16, /* tables only */
	/* regs[] belong to the frame that this one called, which has none of its own */
	PKBPF_UNWIND_LEAF_REGS = 32,
	PKBPF_UNWIND_FRAMELESS = 64, /* this frame is nothing but its return address */
	/* its CFA was not counted from the stack pointer, and may lie on another stack */
	PKBPF_UNWIND_MAY_LEAVE = 128,
	PKBPF_UNWIND_INTERRUPTED = 256, /* the caller's ip is the next instruction */
	/* follows the registers that functions keep for their callers: kept says which */
	PKBPF_UNWIND_FOLLOWS_KEPT = 512,
};

struct pkbpf_unwind_state {
	__u64 ip, sp, fp;
	__u64 stack_start;		   /* lowest address unwound on the current stack */
	__u64 mapping_start, mapping_size; /* cached mapping; size 0: none */
	__u64 bias;
	__u64 text_start;
	/* innermost in code that neither a file nor a rule is behind; 0: none */
	__u64 generated_ip;
	__u32 first_page, page_count;
	__u32 mapping_flags; /* PKBPF_MAPPING_* */
	__u32 kept; /* bits of those in regs[] that belong to this frame, though regs[] does not */
	__u32 flags;
	__u32 depth;
	__u32 guessed;
	__u32 edition; /* of the cached mapping's table */
	__u64 regs[PKBPF_SIGNAL_REGS];
	/* Of a step from one stack of a Go program to another: the rule, the word read last, what
	 * was found, and where the stack of the thread that is to be entered next was left; 0: not
	 * known. */
	struct pkbpf_unwind_rule go_rule;
	__u64 go_word, go_cfa, go_ra, go_fp, go_left_at;
};

/* Of these a walk may know the value in frames above the leaf. arm64's are not followed. */
#if PKBPF_UNWIND_ARM64
#define PKBPF_UNWIND_ALL_KEPT 0
#else
#define PKBPF_UNWIND_ALL_KEPT (1 << 11 | 0xf << 4) /* rbx, r12 to r15 in regs[] */
#endif

/* Why a walk has ended, to be asked once it has: what the steps themselves do takes room on the
 * kernel's stack, of which Linux 5.10 leaves them hardly any. */
static inline __u32 pkbpf_unwind_reason(const struct pkbpf_unwind_state *state, __u32 end)
{
	return end == PKBPF_END_NO_RULE && state->mapping_flags & PKBPF_MAPPING_NO_FILE
		       ? PKBPF_END_NO_FILE
		       : end;
}

#endif
