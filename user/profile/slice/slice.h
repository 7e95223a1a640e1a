/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A slice is what belongs to one interval [start, end) of a capture: a profile. A run is one slice;
 * several that follow each other merge into the profile of their whole interval.
 *
 * A slice of a running capture borrows the capture's process table and shares its names. One made
 * here owns all that it consists of: it outlives the capture, and is what a decoder fills.
 */
#ifndef PKBPF_PROFILE_SLICE_SLICE_H
#define PKBPF_PROFILE_SLICE_SLICE_H

#include "profile/profile.h"

/* Empty, with processes and names of its own. profile_free(). NULL: out of memory. */
struct profile *slice_new(void);
/*
 * Adds what `from` says to `into`, which slice_new() made; `from` begins no earlier. Associative:
 * only the order of time counts. Counts, weights, times and histograms add up, the largest values
 * stay, of memory and of states the last is kept; of the slow requests the slowest. Frames are
 * told apart by what they read, so `from` must be symbolized. -ENOMEM: part of `from` is missing.
 */
int slice_merge(struct profile *into, const struct profile *from);

#endif
