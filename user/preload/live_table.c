// SPDX-License-Identifier: BSD-2-Clause
/* Buckets of addresses, changed by compare-and-exchange. */
#include "live_table.h"

#include <stddef.h>

uint8_t live_filter[LIVE_FILTER];

static uintptr_t slots[LIVE_BUCKETS][LIVE_SLOTS] __attribute__((aligned(64)));
static uint32_t count;

static uintptr_t *bucket_of(const void *address)
{
	/* Other bits than those of the filter. */
	return slots[live_hash(address) >> 20 & (LIVE_BUCKETS - 1)];
}

static void filter_change(const void *address, int change)
{
	uint8_t *counter = &live_filter[live_hash(address) >> 48];
	uint8_t before = __atomic_load_n(counter, __ATOMIC_RELAXED), after;

	do {
		if (before == LIVE_STICKY)
			return;
		after = (uint8_t)(before + change);
	} while (!__atomic_compare_exchange_n(counter, &before, after, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

bool live_add(const void *address)
{
	uintptr_t *bucket = bucket_of(address);

	for (size_t i = 0; i < LIVE_SLOTS; i++) {
		uintptr_t empty = 0;

		if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&bucket[i], &empty, (uintptr_t)address, false,
						 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
		/* The address is not known to the program yet: nobody looks for it. */
		filter_change(address, 1);
		return true;
	}
	return false;
}

bool live_remove(const void *address)
{
	uintptr_t *bucket = bucket_of(address);

	/* NULL would be found in each empty slot. */
	for (size_t i = 0; address && i < LIVE_SLOTS; i++) {
		uintptr_t found = (uintptr_t)address;

		if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) != found ||
		    !__atomic_compare_exchange_n(&bucket[i], &found, 0, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
		filter_change(address, -1);
		return true;
	}
	return false;
}

uint32_t live_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}
