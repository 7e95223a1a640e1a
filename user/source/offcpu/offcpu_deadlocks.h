/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlocks among the threads that the off-CPU tables know: of those that have not run for a
 * second, the lock that each waits for is read once. A thread that has not run since holds what it
 * held then. Nothing is stopped. One owner thread.
 */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_DEADLOCKS_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_DEADLOCKS_H

#include <stdint.h>

#include <pkbpf/lock.h>

#include "base/array.h"
#include "event/encoder.h"
#include "source/offcpu/offcpu_tables.h"

/* Threads that are looked at: of each a file is read. */
#define OFFCPU_DEADLOCK_THREADS 4096

struct offcpu_deadlocks { /* zero-initialized: none */
	ARRAY_OF(struct pkbpf_event_deadlock) threads;
	uint32_t left_out; /* further threads that wait, of the last look */
};

/* Replaces what is known by what there is at now_ns, while the programs run. -ENOMEM. */
int offcpu_deadlocks_look(struct offcpu_deadlocks *deadlocks, const struct offcpu_tables *tables,
			  uint64_t now_ns);
/* Appends a record for each thread, after the stacks of their waits. -ENOMEM. */
int offcpu_deadlocks_send(const struct offcpu_deadlocks *deadlocks, struct event_buffer *buffer);
void offcpu_deadlocks_done(struct offcpu_deadlocks *deadlocks);

#endif
