/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks of the kernel: what its tracepoints of contention say, and tables of the
 * programs. Rows are those of locks (pkbpf/lock.h): holder_slot is the number of the stack,
 * hand_over is set for the lock of the process's mappings. */
#ifndef PKBPF_KERNEL_LOCK_H
#define PKBPF_KERNEL_LOCK_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/lock.h>

/* Flags of contention_begin (include/trace/events/lock.h). */
#define PKBPF_KERNEL_LOCK_SPIN	 1U
#define PKBPF_KERNEL_LOCK_READ	 2U
#define PKBPF_KERNEL_LOCK_WRITE	 4U
#define PKBPF_KERNEL_LOCK_RT	 8U
#define PKBPF_KERNEL_LOCK_PERCPU 16U
#define PKBPF_KERNEL_LOCK_MUTEX	 32U
#define PKBPF_KERNEL_LOCK_FLAGS	 63U

#define PKBPF_KERNEL_LOCK_ROWS	   4096
#define PKBPF_KERNEL_LOCK_WAITS	   8192 /* at once */
#define PKBPF_KERNEL_LOCK_STACKS   4096
#define PKBPF_KERNEL_LOCK_FRAMES   32
#define PKBPF_KERNEL_LOCK_NO_STACK 0xffffffffU

/* enum pkbpf_lock_class */
static inline __attribute__((always_inline)) __u32 pkbpf_kernel_lock_class(__u32 flags)
{
	if (flags & PKBPF_KERNEL_LOCK_MUTEX)
		return PKBPF_LOCK_KERNEL_MUTEX;
	if (flags & PKBPF_KERNEL_LOCK_PERCPU)
		return PKBPF_LOCK_KERNEL_PERCPU;
	if (flags & PKBPF_KERNEL_LOCK_RT)
		return PKBPF_LOCK_KERNEL_RT;
	if (!(flags & (PKBPF_KERNEL_LOCK_READ | PKBPF_KERNEL_LOCK_WRITE)))
		return PKBPF_LOCK_KERNEL_SPIN;
	return flags & PKBPF_KERNEL_LOCK_SPIN ? PKBPF_LOCK_KERNEL_RWLOCK : PKBPF_LOCK_KERNEL_RWSEM;
}

struct pkbpf_kernel_lock_wait {
	__u64 lock;
	__u32 tid;
	__u32 reserved;
};

struct pkbpf_kernel_lock_key {
	__u64 lock;
	__u32 pid;
	__u32 stack;
};

#endif
