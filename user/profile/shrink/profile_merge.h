/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds a profile that is filled for hours.
 *
 * Samples distinguish every instruction, and combinations of return addresses are endless, but
 * users read functions. Stacks with equal text can be merged without changing any figure. If
 * that is not enough, the rarest stacks lose their inner half and are marked, or are counted as
 * one. Frames without a stack are removed when they take much of the memory: a program with
 * generated code and stacks has new addresses in every sample.
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
struct profile_cut {
	struct symbolizer *symbolizer; /* of the frame that marks cut stacks */
	size_t bytes;		       /* to save, about */
	/* stacks that may still get events, of which those without any event so far come last;
	 * NULL: none */
	const bool *awaited;
};

/* Shortens stacks, starting with the smallest share of the weight of their kind. */
int profile_shorten_stacks(struct profile *profile, const struct profile_cut *cut,
			   uint32_t **ret_numbers);
/* Counts such stacks as one, of which no frame is known. Sums stay the same. */
int profile_join_stacks(struct profile *profile, const struct profile_cut *cut,
			uint32_t **ret_numbers);
/* Number of events whose stacks are cut now, and marked so: PKBPF_END_SHORTENED or
 * PKBPF_END_OTHERS. */
uint64_t profile_cut_events(const struct profile *profile, enum pkbpf_stack_end marker);

#endif
