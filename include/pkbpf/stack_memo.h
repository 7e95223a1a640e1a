/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cache of recognized stacks, for all kinds of events that are summed in the kernel. */
#ifndef PKBPF_STACK_MEMO_H
#define PKBPF_STACK_MEMO_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * A stack that is recognized without unwinding it again. The entry holds the words that the
 * unwinding depended on: their places and their values. User: the words that the unwinder read,
 * counted from the stack pointer. Kernel: the words that may be return addresses, counted from the
 * context of the program upwards, because kernels move the stack of each system call by a random
 * distance from its top.
 */
#define PKBPF_MEMO_KERNEL_WORDS 64
#define PKBPF_MEMO_USER_WORDS	96
/* Entries per leaf: a thread may reach one leaf by several paths, and may be preempted on each of
 * them. */
#define PKBPF_MEMO_WAYS 4
#define PKBPF_MEMO_ROWS 6
#define PKBPF_MEMO_NONE 0xffffffffU /* no entry, no row */

struct pkbpf_stack_memo {
	__u32 tid; /* 0: empty */
	__u16 kernel_words, user_words;
	__u16 user_last, kernel_last; /* the highest value in user_at and in kernel_at */
	__u16 cursor, kept;	      /* used while the entry is learned */
	/* user_near: number of leading user_at entries near the stack pointer; user_near_last: the
	 * highest of them */
	__u16 user_near, user_near_last;
	__u64 born_ns, mm;
	__u64 ip, sp, fp, bx;
	__u64 stack_id;
	/* row of each kind of event of this stack: off-CPU by wait state */
	__u32 rows[PKBPF_MEMO_ROWS];
	__u32 hits, walks;
	__u64 used_ns;
	__u64 until_ns; /* The entry counts as verified until this time; 0: always. */
	__u64 kernel_value[PKBPF_MEMO_KERNEL_WORDS];
	__u64 user_value[PKBPF_MEMO_USER_WORDS];
	__u16 kernel_at[PKBPF_MEMO_KERNEL_WORDS];
	__u16 user_at[PKBPF_MEMO_USER_WORDS];
};

#endif
