/* SPDX-License-Identifier: BSD-2-Clause */
/* Two samples: does one tend to be larger (Mann and Whitney 1947), and by how much (Hodges and
 * Lehmann 1963). No distribution is assumed. */
#ifndef PKBPF_STATISTICS_RANK_TEST_H
#define PKBPF_STATISTICS_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics/order_statistic.h"

/* Samples of at most this size each get exact probabilities, with ties, too. */
#define RANK_EXACT_MAX 20

struct rank_test {
	bool exact;	    /* else by the normal distribution, corrected for ties */
	double u;	    /* pairs in which b is larger; ties count half */
	double superiority; /* u as a part of all pairs: 0.5 is none */
	double probability; /* of a u at least as far from the middle by chance */
};

/* Of base (a) and new (b); both counts > 0. -ENOMEM. */
int rank_test(const double *a, size_t a_count, const double *b, size_t b_count,
	      struct rank_test *ret_test);

struct rank_shift {
	double estimate;	  /* median of all differences b - a */
	struct interval interval; /* that leaves the shift out with a probability of at most risk */
};

/* -ENOMEM. */
int rank_shift(const double *a, size_t a_count, const double *b, size_t b_count, double risk,
	       struct rank_shift *ret_shift);

#endif
