/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides when a look at the rings may leave CPU samples in them. Draining many samples at a
 * time is cheaper: their data structures must be fetched into the CPU's caches each time.
 * Samples can wait. Process events cannot: files and names of a process can be read only while
 * it exists. */
#ifndef PKBPF_CAPTURE_SESSION_DRAIN_PACE_H
#define PKBPF_CAPTURE_SESSION_DRAIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* Longest time of samples in their ring. What is left at the end of a record, when the user
 * waits, is a millisecond's work. A half-full ring wakes the session earlier. */
#define DRAIN_PACE_MAX_NS (4 * NS_PER_SECOND)

/* Zero-initialized: never leaves samples. Times are CLOCK_MONOTONIC. */
struct drain_pace {
	bool may_rest;	       /* only samples arrive without a wake-up */
	uint64_t stirred_ns;   /* time of the last process event or other work */
	uint64_t delivered_ns; /* records stamped earlier have been delivered */
	uint64_t drained_ns;   /* the last time samples were drained */
};

/* Notes work found at now_ns: everything is drained now, and again until it is delivered. */
static inline void drain_pace_stir(struct drain_pace *pace, uint64_t now_ns)
{
	pace->stirred_ns = now_ns;
}

/* Notes that samples were drained at now_ns and records stamped before delivered_ns were
 * delivered. */
static inline void drain_pace_drained(struct drain_pace *pace, uint64_t now_ns,
				      uint64_t delivered_ns)
{
	pace->drained_ns = now_ns;
	pace->delivered_ns = delivered_ns;
}

/* True when the look at now_ns may leave samples in their ring; nothing else is waiting. */
static inline bool drain_pace_rests(const struct drain_pace *pace, uint64_t now_ns)
{
	return pace->may_rest && pace->delivered_ns >= pace->stirred_ns &&
	       now_ns - pace->drained_ns < DRAIN_PACE_MAX_NS;
}

#endif
