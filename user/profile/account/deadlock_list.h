/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of deadlocks: each waits for a lock that the next one of its cycle holds. At most
 * DEADLOCK_THREADS_MAX. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_DEADLOCK_LIST_H
#define PKBPF_PROFILE_ACCOUNT_DEADLOCK_LIST_H

#include <stdint.h>

#include <pkbpf/lock.h>

#include "base/array.h"

#define DEADLOCK_THREADS_MAX 4096
#define DEADLOCK_NO_STACK    UINT32_MAX

struct deadlock_thread {
	uint64_t address; /* of the lock that it waits for */
	uint64_t wait_ns; /* so far */
	uint32_t pid, tid;
	uint32_t cycle; /* tid of its first thread */
	uint32_t
		index; /* in the cycle, from 0: it waits for the next one, the last for the first */
	uint32_t count;	 /* threads of the cycle */
	uint32_t behind; /* threads outside of the cycle that wait for it */
	uint32_t class;	 /* enum pkbpf_lock_class */
	uint32_t stack;	 /* of the profile; DEADLOCK_NO_STACK: none */
	char comm[PKBPF_COMM_SIZE + 1];
};

struct deadlock_list {				/* zero-initialized: empty */
	ARRAY_OF(struct deadlock_thread) items; /* by cycle, in its order */
};

/* Adds a thread, or what is known of it later. -ENOMEM; -ENOSPC. */
int deadlock_list_add(struct deadlock_list *list, const struct deadlock_thread *thread);

#endif
