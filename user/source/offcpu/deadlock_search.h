/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds threads that wait for each other in a cycle: each for a lock that the next one holds. */
#ifndef PKBPF_SOURCE_OFFCPU_DEADLOCK_SEARCH_H
#define PKBPF_SOURCE_OFFCPU_DEADLOCK_SEARCH_H

#include <stddef.h>

#include "source/offcpu/lock_wait.h"

/* A cycle of `count` threads, from the one with the smallest tid on: each waits for the next, the
 * last one for the first. behind: threads that are in no cycle and wait for one of these, directly
 * or through others. */
typedef void deadlock_fn(void *context, const struct lock_wait *const *threads, size_t count,
			 size_t behind);

/* Waits of threads that have not run meanwhile; they are sorted. In linear time but for that.
 * -ENOMEM. */
int deadlocks_find(struct lock_wait *waits, size_t count, deadlock_fn *take, void *context);

#endif
