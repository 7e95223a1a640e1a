/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for locks of the kernel (--kernel-locks): tables of bpf/kernel_lock.bpf.c as records of
 * locks, with a stack for each place that waits. One owner thread. */
#ifndef PKBPF_SOURCE_OFFCPU_KERNEL_LOCKS_H
#define PKBPF_SOURCE_OFFCPU_KERNEL_LOCKS_H

#include "capture/session/session.h"
#include "event/encoder.h"

struct kernel_locks;

/* Includes programs and maps in the load, or excludes them. */
void kernel_locks_choose(struct pkbpf_bpf *skeleton, bool wanted);
/* Only before load. -ENOTSUP with the reason: this kernel has no tracepoints of contention. */
int kernel_locks_configure(struct session *session, struct kernel_locks **ret_locks,
			   struct error *error);
int kernel_locks_attach(struct kernel_locks *locks, struct error *error);
/* NULL is none, here and below. */
void kernel_locks_free(struct kernel_locks *locks);
/* Appends records of what was added since the last call, after stacks that are new. -ENOMEM: the
 * next call sends the rest. */
int kernel_locks_drain(struct kernel_locks *locks, struct event_buffer *buffer);
/* At the end of a slice, after the drain: maxima restart. */
void kernel_locks_cut(struct kernel_locks *locks);
void kernel_locks_each_stack(const struct kernel_locks *locks,
			     void (*take)(void *context, uint64_t stack_id), void *context);
void kernel_locks_detach(struct kernel_locks *locks);

/* The name of a lock at an address from what the kernel says of it: "cgroup_mutex+0x0/0x20" is
 * "cgroup_mutex"; "" where it is no symbol. */
void kernel_lock_name(char *name, size_t size, const char *text);

#endif
