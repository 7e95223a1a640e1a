/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells a leak from a cache, a queue, a pool and a growing load, by what became of the allocations
 * of a site in each generation. One look at a heap cannot: a full cache looks like a leak.
 */
#ifndef PKBPF_PROFILE_HEAP_HEAP_TREND_H
#define PKBPF_PROFILE_HEAP_HEAP_TREND_H

#include "profile/heap/heap.h"

/* Part of the recording format. */
enum heap_trend {
	HEAP_TREND_UNKNOWN = 0, /* the run is too short, or there are too few samples */
	HEAP_TREND_NONE = 1,
	HEAP_TREND_FILLS = 2, /* grows, and slows down: a cache that fills */
	HEAP_TREND_GROWS = 3, /* grows like a leak */
	HEAP_TRENDS = 4,
};

struct heap_growth {
	enum heap_trend trend;
	double bytes, error; /* since the warm-up; the error is for 95 % */
	double bytes_per_second;
	double stays; /* share of the allocations of the first generations that is alive */
	double old_samples;
};

struct heap_span {
	uint64_t end_ns;
	double live_bytes; /* of the whole process */
	/* The process is over: frees of the last generation do not count, since exit frees all
	 * that an interpreter or destructors own. */
	bool has_ended;
};
/* The growth of a site. */
struct heap_growth heap_growth_of(const struct heap *heap, const struct heap_site *site,
				  const struct heap_span *span);

#endif
