/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the most similar word for a mistyped one. */
#ifndef PKBPF_BASE_NEAR_MATCH_H
#define PKBPF_BASE_NEAR_MATCH_H

#include <stddef.h>

/* The best candidate so far; start with zeroes. */
struct near_match {
	const char *word; /* borrowed candidate, NULL: none was near enough */
	unsigned int distance;
};

/* Compares typed with one more candidate. Near enough: a third of the letters wrong at most, or
 * typed begins it. */
void near_match_offer(struct near_match *match, const char *typed, const char *candidate);

#endif
