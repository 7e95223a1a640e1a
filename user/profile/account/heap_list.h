/* SPDX-License-Identifier: BSD-2-Clause */
/* The heaps of processes at the end of a capture, by the place of allocation. At most
 * HEAP_PLACES_MAX: of more, those of which a trend is known come first, then those with most bytes.
 * One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_HEAP_LIST_H
#define PKBPF_PROFILE_ACCOUNT_HEAP_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "base/array.h"
#include "profile/heap/heap_trend.h"

#define HEAP_PLACES_MAX 8192

/* An estimate; its error is the half width of the interval that holds the truth with 95 %. */
struct heap_estimate {
	uint64_t bytes, error_bytes, objects, samples;
};

struct heap_place {
	uint32_t pid;
	uint32_t stack; /* of the profile */
	char comm[PKBPF_COMM_SIZE + 1];
	uint8_t trend; /* enum heap_trend */
	struct heap_estimate allocated, live;
	uint64_t brief_bytes;	/* of `allocated`: lived for a millisecond or less */
	uint64_t at_peak_bytes; /* alive when the process had most */
	/* Growth since the warm-up; 0: it did not grow, or it is not known. */
	uint64_t growth_bytes, growth_error_bytes, growth_per_second;
	uint64_t stays_permille;      /* of the oldest allocations, how many are alive */
	uint64_t peak_bytes, peak_ns; /* of the process; CLOCK_MONOTONIC */
	uint64_t mean_bytes;	      /* alive of the process, since its first sampled allocation */
};

struct heap_list { /* zero-initialized: empty */
	ARRAY_OF(struct heap_place) items;
};

/* The list may be in another order then. -ENOMEM. */
int heap_list_add(struct heap_list *list, const struct heap_place *place);
/* What a sum of samples says. */
struct heap_estimate heap_estimate_of(const struct heap_sum *sum);

#endif
