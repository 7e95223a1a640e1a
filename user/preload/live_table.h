/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampled addresses that are not freed yet. Without locks: a thread may be interrupted or
 * killed at any instruction, and a fork may copy the table at any moment.
 */
#ifndef PKBPF_PRELOAD_LIVE_TABLE_H
#define PKBPF_PRELOAD_LIVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* A bucket is two cache lines, searched as a whole, so that nothing has to move. Of 32,768
 * addresses in 8,192 buckets, about one in a million finds its bucket full. */
#define LIVE_BUCKETS 8192
#define LIVE_SLOTS   16
/* Number of addresses from which on the interval is doubled. */
#define LIVE_MANY (LIVE_BUCKETS * 4)
/* Counts of addresses by hash, so that nearly all other addresses are told by one byte. */
#define LIVE_FILTER 65536
#define LIVE_STICKY 255 /* a count that has become this stays */

extern uint8_t live_filter[LIVE_FILTER];

static inline uint64_t live_hash(const void *address)
{
	return ((uint64_t)(uintptr_t)address >> 4) * 0x9E3779B97F4A7C15ULL;
}

/* False: the address is not in the table. */
static inline bool live_may_have(const void *address)
{
	return __atomic_load_n(&live_filter[live_hash(address) >> 48], __ATOMIC_RELAXED);
}

/* False: its bucket is full. */
bool live_add(const void *address);
/* Removes an address; false: it was not in the table. Of two threads that remove it, one succeeds.
 */
bool live_remove(const void *address);
/* Approximate while other threads add and remove. */
uint32_t live_count(void);

#endif
