/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scratch memory of a CPU among programs that may preempt each other there: one uses it at a time.
 */
#ifndef PKBPF_SCRATCH_USER_BPF_H
#define PKBPF_SCRATCH_USER_BPF_H

/*
 * true: the caller alone uses the memory, until scratch_leave(). `users` is a word of its CPU.
 * Testing a mark and then setting it would let two in, if the first is preempted in between, so
 * each adds itself before it looks. Of two that meet, both may be refused. Kernels before 5.12 have
 * no addition that returns the old value.
 */
static __always_inline bool scratch_enter(__u32 *users)
{
	__sync_fetch_and_add(users, 1);
	if (*(volatile __u32 *)users == 1)
		return true;
	__sync_fetch_and_add(users, -1);
	return false;
}

static __always_inline void scratch_leave(__u32 *users)
{
	__sync_fetch_and_add(users, -1);
}

#endif
