/* SPDX-License-Identifier: BSD-2-Clause */
/* The one number of a term in a profile, for judgements over many windows. */
#ifndef PKBPF_ALERT_TERM_VALUE_H
#define PKBPF_ALERT_TERM_VALUE_H

#include "alert/alert_rule.h"

/* Of a term on "*" the value that is furthest from holding. -ENODATA: not recorded, or nobody of
 * that name was there; -ENOMEM. */
int term_value(const struct alert_term *term, const struct profile *profile, double *ret_value);
enum figure_unit term_unit(const struct alert_term *term);
/* What the regions of a term have in a profile, beside its value. */
struct term_regions {
	uint64_t count;
	uint64_t over;	     /* than the limit of the term; of those that were counted by it */
	bool over_known;     /* all were */
	uint64_t watched_ns; /* of the profile, while their program had probes */
};

/* Of a term on a region. As term_value(); *ret_holds is by counts of those that took longer, where
 * these are known: a percentile of a histogram may be wrong by 3.1 %. */
int term_region_value(const struct alert_term *term, const struct profile *profile,
		      double *ret_value, bool *ret_holds, struct term_regions *ret_regions);
bool term_holds(const struct alert_term *term, double value);

#endif
