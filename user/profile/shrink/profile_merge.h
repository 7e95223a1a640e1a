/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes room in a profile that is filled for hours.
 *
 * Samples tell every instruction from every other, and combinations of return addresses have no
 * end, while what is read of a profile is functions. Stacks that read the same can become one, and
 * no figure changes. Where that is not enough, the rarest lose their inner half, and say so. Frames
 * that no stack has any more are left out when they take much of the memory: a program whose code
 * and stacks are made up has new addresses in every sample.
 *
 * Both give stacks, and may give frames, new numbers, which the profile itself uses from then on:
 * (*ret_numbers)[old] is the new one of a stack, in an array that the caller frees. Both take time
 * and memory in proportion to the profile: about two microseconds for each stack. -ENOMEM: nothing
 * has changed but names.
 */
#ifndef PKBPF_PROFILE_SHRINK_PROFILE_MERGE_H
#define PKBPF_PROFILE_SHRINK_PROFILE_MERGE_H

#include "profile/profile.h"

/* Before merging: names the frames in files and in the kernel, one at least, until then at the
 * latest (CLOCK_MONOTONIC) or when the file that is read then has been, which takes 20 ms for a
 * large one. Those in generated code may get their names later. false: there are more. */
bool profile_name_places(struct profile *profile, struct symbolizer *symbolizer, uint64_t until_ns);
/* The same for places in generated code, of processes that have ended. */
bool profile_name_generated(struct profile *profile, struct symbolizer *symbolizer,
			    uint64_t until_ns);
/* What has no name yet, or none in the kernel, stays apart. Frames that no stack has any more are
 * left out where that saves much, or, if used_frames_only, in any case. */
int profile_merge_stacks(struct profile *profile, bool used_frames_only, uint32_t **ret_numbers);
/* Shortens stacks to save about so many bytes: those with the smallest share of the weight of their
 * kind. awaited, by stack, says of which some may still come: where nothing has come yet they are
 * the last; may be NULL. */
int profile_shorten_stacks(struct profile *profile, struct symbolizer *symbolizer, size_t bytes,
			   const bool *awaited, uint32_t **ret_numbers);
/* Events whose stacks are shortened now. */
uint64_t profile_shortened_events(const struct profile *profile);

#endif
