/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds a profile that is filled for hours.
 *
 * Samples distinguish every instruction, and combinations of return addresses are endless, but
 * users read functions. Stacks with equal text can be merged without changing any figure. If
 * that is not enough, the rarest stacks lose their inner half and are marked. Frames without a
 * stack are removed when they take much of the memory: a program with generated code and stacks
 * has new addresses in every sample.
 *
 * Both operations renumber stacks, and may renumber frames; the profile uses the new numbers
 * from then on. (*ret_numbers)[old] is the new number of a stack, in an array that the caller
 * frees. Time and memory are proportional to the profile: about two microseconds for each stack.
 * -ENOMEM: nothing has changed but symbols. */
#ifndef PKBPF_PROFILE_SHRINK_PROFILE_MERGE_H
#define PKBPF_PROFILE_SHRINK_PROFILE_MERGE_H

#include "profile/profile.h"

/* Symbolizes frames in files and the kernel before a merge: at least one. Stops at until_ns
 * (CLOCK_MONOTONIC), or after the file being read then, which takes 20 ms for a large one.
 * Frames in generated code may be symbolized later. false: more are left. */
bool profile_name_places(struct profile *profile, struct symbolizer *symbolizer, uint64_t until_ns);
/* The same for frames in generated code of exited processes. */
bool profile_name_generated(struct profile *profile, struct symbolizer *symbolizer,
			    uint64_t until_ns);
/* Merges stacks with equal text. Unresolved frames, and kernel frames without a symbol, stay
 * separate. Frames without a stack are removed where that saves much; with used_frames_only,
 * always. */
int profile_merge_stacks(struct profile *profile, bool used_frames_only, uint32_t **ret_numbers);
/* Shortens stacks to save about `bytes`, starting with the smallest share of the weight of
 * their kind. awaited (may be NULL) marks stacks that may still get events; those without any
 * event so far come last. */
int profile_shorten_stacks(struct profile *profile, struct symbolizer *symbolizer, size_t bytes,
			   const bool *awaited, uint32_t **ret_numbers);
/* Number of events whose stacks are shortened now. */
uint64_t profile_shortened_events(const struct profile *profile);

#endif
