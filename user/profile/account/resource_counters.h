/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic with the running totals of threads. */
#ifndef PKBPF_PROFILE_ACCOUNT_RESOURCE_COUNTERS_H
#define PKBPF_PROFILE_ACCOUNT_RESOURCE_COUNTERS_H

#include <stdint.h>

#include "event/resource_event.h"

/* Totals of a thread never decrease, except that exec by a thread other than the leader swaps
 * two of them. */
static inline uint64_t resource_less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct resource_counters resource_counters_less(const struct resource_counters *now,
						const struct resource_counters *before);
void resource_counters_add(struct resource_counters *to, const struct resource_counters *more);
/* CPU time is exact, but its kernel part is known only from timer ticks. As in getrusage(), the
 * exact sum is divided in proportion to the ticks; without ticks all of it is user time. */
void resource_counters_divide(struct resource_counters *counters);

#endif
