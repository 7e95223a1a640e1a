/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks that threads wait for: tables of the off-CPU programs, sized before load, read without
 * system calls, and turned into records of increments. One owner thread. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_LOCKS_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_LOCKS_H

#include <stdint.h>

#include "base/error.h"
#include "event/encoder.h"

struct pkbpf_bpf;
struct offcpu_locks;

/* Includes the maps in the load, or excludes them. */
void offcpu_locks_choose(struct pkbpf_bpf *skeleton, bool wanted);
/* Only before load, after the tables of threads are sized to `slots`. */
int offcpu_locks_configure(struct pkbpf_bpf *skeleton, uint32_t slots,
			   struct offcpu_locks **ret_locks, struct error *error);
/* Notes the time of day, by which waits time out: it may be set meanwhile. */
void offcpu_locks_note_clock(struct pkbpf_bpf *skeleton);
int offcpu_locks_open(struct offcpu_locks *locks, struct error *error);
/* NULL is none, here and below. */
void offcpu_locks_free(struct offcpu_locks *locks);
/* Appends records of all increments since the last call. -ENOMEM: the next call sends the rest. */
int offcpu_locks_drain(struct offcpu_locks *locks, struct event_buffer *buffer);
/* The same at the end of a slice: maxima restart. Waits in flight belong to the slice in which
 * they end. */
int offcpu_locks_cut(struct offcpu_locks *locks, struct event_buffer *buffer);
/* Passes the stack ids of holders and waits. */
void offcpu_locks_each_stack(const struct offcpu_locks *locks,
			     void (*take)(void *context, uint64_t stack_id), void *context);

#endif
