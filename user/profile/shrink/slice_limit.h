/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds a profile that slices are merged into for hours, as the running slice of a capture is
 * bounded: exited processes become groups, and the rarest stacks are shortened. Figures stay. The
 * same slices give the same result. */
#ifndef PKBPF_PROFILE_SHRINK_SLICE_LIMIT_H
#define PKBPF_PROFILE_SHRINK_SLICE_LIMIT_H

#include "profile/profile.h"

/* What stacks and frames may take: a long run of a large program stays far below. */
#define SLICE_LIMIT_STACK_BYTES (64U << 20)
/* So many processes and threads exit before they are merged, each time anew. */
#define SLICE_LIMIT_ENDED_TASKS (1U << 15)

struct slice_limit { /* zero-initialised is the default, before the first slice */
	size_t stack_bytes;
	uint64_t ended_tasks;
	/* when the next step is due */
	size_t next_bytes;
	uint64_t next_ended;
};

/* After each slice that was merged. Time and memory are proportional to the profile, when something
 * is due. -ENOMEM: it stays larger, no figure is lost. */
int slice_limit_memory(struct slice_limit *limit, struct profile *profile);

#endif
