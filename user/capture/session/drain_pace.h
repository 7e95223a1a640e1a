/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a look at the rings may leave CPU samples where they are. Taking in many at a time costs
 * less, since what they are counted in must be fetched into the CPU's caches each time. Nobody
 * waits for samples, but for news of processes: their files and names can only be read while they
 * live.
 */
#ifndef PKBPF_CAPTURE_SESSION_DRAIN_PACE_H
#define PKBPF_CAPTURE_SESSION_DRAIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* Samples lie in their ring this long at most: what is left for the end of a run, which somebody
 * waits for, is a millisecond's work. A ring that is half full calls earlier. */
#define DRAIN_PACE_MAX_NS (4 * NS_PER_SECOND)

/* Zero-initialised: never rests. Times are CLOCK_MONOTONIC. */
struct drain_pace {
	bool may_rest;	       /* samples are all that is not announced */
	uint64_t stirred_ns;   /* all news came before */
	uint64_t delivered_ns; /* what is stamped before has been delivered */
	uint64_t drained_ns;   /* the last time that samples were taken in */
};

/* At a look at now_ns that found something to do: everything is taken in now, and once more later,
 * until it is delivered. */
static inline void drain_pace_stir(struct drain_pace *pace, uint64_t now_ns)
{
	pace->stirred_ns = now_ns;
}

/* Samples were taken in at now_ns, and records stamped before delivered_ns handed on. */
static inline void drain_pace_drained(struct drain_pace *pace, uint64_t now_ns,
				      uint64_t delivered_ns)
{
	pace->drained_ns = now_ns;
	pace->delivered_ns = delivered_ns;
}

/* The look at now_ns, at which nothing is waiting but perhaps samples, may leave those. */
static inline bool drain_pace_rests(const struct drain_pace *pace, uint64_t now_ns)
{
	return pace->may_rest && pace->delivered_ns >= pace->stirred_ns &&
	       now_ns - pace->drained_ns < DRAIN_PACE_MAX_NS;
}

#endif
