/* SPDX-License-Identifier: BSD-2-Clause */
/* A slice is the profile of one interval [start, end) of a capture. A whole record is one slice;
 * consecutive slices merge into the profile of their whole interval.
 *
 * A slice of a running capture borrows the capture's process table and shares its names. A slice
 * made here owns all its parts: it outlives the capture, and a decoder fills it. */
#ifndef PKBPF_PROFILE_SLICE_SLICE_H
#define PKBPF_PROFILE_SLICE_SLICE_H

#include "profile/profile.h"

/* Makes an empty slice with processes and names of its own, for profile_free(). NULL: out of
 * memory. */
struct profile *slice_new(void);
/* Adds `from` to `into`, which slice_new() made; `from` starts no earlier. Associative: only
 * time order matters. Counts, weights, times and histograms add up; maxima stay; of memory and
 * states the last is kept; of slow requests the slowest. Frames are compared by text, so `from`
 * must be symbolized. -ENOMEM: part of `from` is missing. */
int slice_merge(struct profile *into, const struct profile *from);
/* From now on, slice_merge() keeps how weights lie in time, for profile_time_line(). -ENOMEM. */
int slice_keep_times(struct profile *into);
/* Adds only what the run was and how many events of each kind there were: one row of no process and
 * no stack for each kind. Takes no memory however many slices are added. -ENOMEM. */
int slice_add_sums(struct profile *into, const struct profile *from);
/* What the run has cost, as it is in `from`, which is in `into` already. */
void slice_copy_cost(struct profile *into, const struct profile *from);

#endif
