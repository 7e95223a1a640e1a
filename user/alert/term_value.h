/* SPDX-License-Identifier: BSD-2-Clause */
/* The one number of a term in a profile, for judgements over many windows. */
#ifndef PKBPF_ALERT_TERM_VALUE_H
#define PKBPF_ALERT_TERM_VALUE_H

#include "alert/alert_rule.h"

/* Of a term on "*" the value that is furthest from holding. -ENODATA: not recorded, or nobody of
 * that name was there; -ENOMEM. */
int term_value(const struct alert_term *term, const struct profile *profile, double *ret_value);
enum figure_unit term_unit(const struct alert_term *term);
bool term_holds(const struct alert_term *term, double value);

#endif
