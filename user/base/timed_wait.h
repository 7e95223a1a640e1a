/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits that end in time whatever the wall clock is set to. */
#ifndef PKBPF_BASE_TIMED_WAIT_H
#define PKBPF_BASE_TIMED_WAIT_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"

/* A condition for timed_wait(); ends with pthread_cond_destroy(). */
static inline void timed_wait_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* false: this time of clock_now_ns() has come. The caller holds the lock. */
static inline bool timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(until_ns % NS_PER_SECOND)};

	return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

/* The same for a lock that somebody else may hold. false: it was not free in time. */
static inline bool timed_lock(pthread_mutex_t *lock, uint64_t until_ns)
{
	static const struct timespec step = {.tv_nsec = 1000000};

	while (pthread_mutex_trylock(lock) != 0) {
		if (clock_now_ns() >= until_ns)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

#endif
