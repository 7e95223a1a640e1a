/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the memory of a profile that is filled for hours within bounds.
 *
 * Samples tell every instruction from every other, and combinations of return addresses have no end, while what is read of
 * a profile is functions. Stacks that read the same become one, and no figure changes. Where that is not enough, the rarest
 * lose their inner half, and say so.
 */
#ifndef PKBPF_PROFILE_PROFILE_MERGE_H
#define PKBPF_PROFILE_PROFILE_MERGE_H

#include "profile/profile.h"

struct profile_merge_options {
	bool lines;	  /* each line of a function is a place of its own */
	size_t max_bytes; /* of profile_stack_bytes(): rare stacks are shortened until it is half of that, if they can be */
	/* Stacks that others refer to, and that must not be shortened. */
	const uint32_t *kept;
	size_t kept_count;
};

/*
 * Names the frames in files and in the kernel (those in generated code may get their names later), merges stacks, shortens
 * some if need be, and forgets none. Stacks get new numbers, which the profile uses itself from now on: (*ret_numbers)[old] is
 * the new one, in an array that the caller frees. -ENOMEM: *ret_numbers is NULL and nothing has changed but names, or it
 * holds what has been done so far.
 *
 * Takes time and memory in proportion to the profile: about a microsecond for each stack.
 */
int profile_merge_stacks(struct profile *profile, struct symbolizer *symbolizer, const struct profile_merge_options *options,
			 uint32_t **ret_numbers);

#endif
