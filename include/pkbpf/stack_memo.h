/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that are recognised, for whichever kinds of events add them up in the kernel. */
#ifndef PKBPF_STACK_MEMO_H
#define PKBPF_STACK_MEMO_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * A stack recognised without walking it again: which words the unwinding depended on, where they
 * lie and what they were. User: the words the unwinding read, counted from the stack pointer.
 * Kernel: the words that may be return addresses, counted from the context of the program upwards,
 * since kernels move the stack of each system call by a random distance from its top.
 */
#define PKBPF_MEMO_KERNEL_WORDS 64
#define PKBPF_MEMO_USER_WORDS	96
/* Entries among which a leaf has the choice: it may wait in several ways, and be preempted on each
 * of them. */
#define PKBPF_MEMO_WAYS 4
#define PKBPF_MEMO_ROWS 6
#define PKBPF_MEMO_NONE 0xffffffffU /* no entry, no row */

struct pkbpf_stack_memo {
	__u32 tid; /* 0: empty */
	__u16 kernel_words, user_words;
	__u16 user_last, kernel_last; /* the highest of user_at and kernel_at */
	__u16 cursor, kept;	      /* while learning */
	/* as many of the first user_at are near the stack pointer; the highest of them */
	__u16 user_near, user_near_last;
	__u64 born_ns, mm;
	__u64 ip, sp, fp, bx;
	__u64 stack_id;
	/* in which events of this stack count: off-CPU by wait state */
	__u32 rows[PKBPF_MEMO_ROWS];
	__u32 hits, walks;
	__u64 used_ns;
	__u64 until_ns; /* believed until then; 0: always */
	__u64 kernel_value[PKBPF_MEMO_KERNEL_WORDS];
	__u64 user_value[PKBPF_MEMO_USER_WORDS];
	__u16 kernel_at[PKBPF_MEMO_KERNEL_WORDS];
	__u16 user_at[PKBPF_MEMO_USER_WORDS];
};

#endif
