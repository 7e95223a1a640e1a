/* SPDX-License-Identifier: BSD-2-Clause */
/* What a term usually is at this hour of the day. */
#ifndef PKBPF_ALERT_BASELINE_H
#define PKBPF_ALERT_BASELINE_H

#include "alert/alert_rule.h"
#include "store/store.h"

#define BASELINE_DAYS 7
/* Fewer say nothing of their scatter. */
#define BASELINE_DAYS_MIN 3

struct baseline {
	int64_t hour;	      /* for which it was made, since 1970; 0: not yet */
	size_t days;	      /* that have a value */
	double usual, spread; /* per second where the figure adds up */
};

/* Median and 1.4826 times the median of the distances, which is at least 2 % of it. values are
 * sorted. count > 0. */
void baseline_of(double *values, size_t count, struct baseline *ret_baseline);
/* The same time of the day, as people have it, so many days before: business moves with them when
 * summer time begins or ends. */
int64_t baseline_days_before(int64_t unix_ns, int days);
/* Reads the hours if the baseline is of another one than at this time. over_ns: the interval of the
 * term. -ENOMEM. */
int baseline_update(struct baseline *baseline, const struct alert_term *term, struct store *store,
		    int64_t unix_ns, uint64_t over_ns);
/* The limit of the term over this length; false: there are not enough days yet. */
bool baseline_limit(const struct baseline *baseline, const struct alert_term *term,
		    uint64_t over_ns, double *ret_limit);

#endif
