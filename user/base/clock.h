/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_BASE_CLOCK_H
#define PKBPF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS     1000000ULL

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC: the time base of every record. */
static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
