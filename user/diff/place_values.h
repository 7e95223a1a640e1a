/* SPDX-License-Identifier: BSD-2-Clause */
/* What of places of allocation was alive at the peaks of processes, on one side: means of its runs,
 * with standard errors. */
#ifndef PKBPF_DIFF_PLACE_VALUES_H
#define PKBPF_DIFF_PLACE_VALUES_H

#include "base/hash_map.h"
#include "diff/comparison.h"

struct place_value {
	uint32_t name;
	double bytes, variance, samples; /* sums of all runs */
};

struct place_values { /* zero-initialized: empty */
	ARRAY_OF(struct place_value) items;
	struct hash_map index; /* name -> place in items */
	double runs;
	double bytes; /* of all */
};

/* false: out of memory; for place_values_done() in any case. measurement is borrowed for the call.
 */
bool place_values_init(struct place_values *values, const struct measurement *measurement);
void place_values_done(struct place_values *values);
/* Both sides of a name. Where one has no sample, its error is that of a side on which one more
 * would be a matter of luck. */
void place_values_compare(const struct place_values values[DIFF_SIDES], uint32_t name,
			  struct diff_amount ret_sides[DIFF_SIDES]);

/* A sampled allocation that lives for long is in each slice: their scatter says nothing of live
 * functions. Drops those where both sides know the places of allocation, which stand for them. */
void place_rows_replace_functions(struct comparison *comparison);
/* Adds a row for each name of either side, where both know their places. false: out of memory. */
bool place_rows_add(struct comparison *comparison, const struct place_values values[DIFF_SIDES]);

#endif
