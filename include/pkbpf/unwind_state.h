/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the unwinder at the frame that it has reached. */
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
/* Index of a DWARF register in regs[]. */
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
/* Index of a DWARF register in regs[], one nibble each: rax 13, rdx 12, rcx 14, rbx 11, rsi 9, rdi
 * 8, rbp 10, rsp 15, r8 0, … */
#define PKBPF_SIGNAL_INDEX(number) ((0x76543210fa89becdULL >> (4 * ((number)&15))) & 15)
#define PKBPF_CODE_ADDRESS(ip)	   (ip)
#endif

/*
 * The vsyscall page, at the same address in every process: old programs and C libraries call
 * gettimeofday(), time() and getcpu() there. The kernel emulates its functions, or the page holds a
 * system call and a return. Either way the function is a leaf without a frame. No list of mappings
 * contains the page reliably.
 */
#define PKBPF_IS_VSYSCALL(address)                                                                 \
	(!PKBPF_UNWIND_ARM64 && ((address) & ~0xfffULL) == 0xffffffffff600000ULL)

/* Maximum distance of a guessed frame from the stack pointer; a frame farther away is on another
 * stack. */
#define PKBPF_UNWIND_MAX_GUESS_BYTES (8ULL << 20)

/* flags of a state */
enum {
	PKBPF_UNWIND_EXACT = 1, /* ip is the next instruction, not a return address */
	PKBPF_UNWIND_REGS = 2,	/* regs[] belong to this frame (leaf, or interrupted by a signal) */
	/* The unwinding ended because it needed a callee-saved register, and it had not followed
	 * these (FOLLOWS_KEPT). */
	PKBPF_UNWIND_WANTS_KEPT = 4,
	PKBPF_UNWIND_GUESSED = 8,   /* ip was found by an unverified frame pointer */
	PKBPF_UNWIND_NO_GUESS = 16, /* tables only, no unverified frame pointers */
	/* regs[] belong to the frame that this one called, and that frame is frameless */
	PKBPF_UNWIND_LEAF_REGS = 32,
	PKBPF_UNWIND_FRAMELESS = 64, /* the frame consists of its return address alone */
	/* the CFA of this frame is not counted from the stack pointer and may lie on another
	 * stack */
	PKBPF_UNWIND_MAY_LEAVE = 128,
	PKBPF_UNWIND_INTERRUPTED = 256, /* the caller's ip is the next instruction */
	/* follows callee-saved registers; kept says which of them are known */
	PKBPF_UNWIND_FOLLOWS_KEPT = 512,
	/* the last step left a frame of HotSpot's interpreter (pkbpf/hotspot.h); the caller of the
	 * step clears it */
	PKBPF_UNWIND_HOTSPOT = 1024,
};

struct pkbpf_unwind_state {
	__u64 ip, sp, fp;
	__u64 stack_start;		   /* lowest address unwound on the current stack */
	__u64 mapping_start, mapping_size; /* cached mapping; size 0: none */
	__u64 bias;
	__u64 text_start;
	/* ip of the innermost frame in generated code (no file, no rule); 0: none */
	__u64 generated_ip;
	__u32 first_page, page_count;
	__u32 mapping_flags; /* PKBPF_MAPPING_* */
	/* bit mask of entries in regs[] that belong to this frame although the others do not */
	__u32 kept;
	__u32 flags;
	__u32 depth;
	__u32 guessed;
	__u32 edition; /* of the cached mapping's table */
	__u64 regs[PKBPF_SIGNAL_REGS];
	/* For a switch from one stack of a Go program to another: the rule, the word read last, and
	 * the results. go_left_at is where the thread left the stack to be entered next; 0:
	 * unknown. */
	struct pkbpf_unwind_rule go_rule;
	__u64 go_word, go_cfa, go_ra, go_fp, go_left_at;
};

/* Registers whose value the unwinder may know in frames above the leaf. On arm64 it follows
 * none. */
#if PKBPF_UNWIND_ARM64
#define PKBPF_UNWIND_ALL_KEPT 0
#else
#define PKBPF_UNWIND_ALL_KEPT (1 << 11 | 0xf << 4) /* rbx, r12 to r15 in regs[] */
#endif

/* The reason for the end of an unwinding. It is determined afterwards, because code in the steps
 * takes kernel stack, of which Linux 5.10 leaves them hardly any. */
static inline __u32 pkbpf_unwind_reason(const struct pkbpf_unwind_state *state, __u32 end)
{
	if (end != PKBPF_END_NO_RULE)
		return end;
	if (state->mapping_flags & PKBPF_MAPPING_REFUSED)
		return PKBPF_END_REFUSED;
	return state->mapping_flags & PKBPF_MAPPING_NO_FILE ? PKBPF_END_NO_FILE : end;
}

#endif
