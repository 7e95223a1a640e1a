/* SPDX-License-Identifier: BSD-2-Clause */
/* The last slice of a capture, and the last half to whole minute of them. One owner thread. */
#ifndef PKBPF_TOP_TOP_SLICES_H
#define PKBPF_TOP_TOP_SLICES_H

#include "profile/profile.h"

struct top_slices {
	struct profile *last;
	/* Of up to 30 s each, the older one first: when the younger is full it becomes the older,
	 * so that nothing has to be taken out of a merged profile. */
	struct profile *halves[2];
	bool only_last; /* the halves are not needed */
};

/* Takes over a slice that slice_new() made. -ENOMEM: it is the last one, but missing in the
 * minute. */
int top_slices_add(struct top_slices *slices, struct profile *slice);
/* A new profile of the last minute, for profile_free(). -ENOMEM; -ENODATA: no slice yet. */
int top_slices_minute(const struct top_slices *slices, struct profile **ret_profile);
/* Forgets the minute. */
void top_slices_reset(struct top_slices *slices);
void top_slices_done(struct top_slices *slices);

#endif
