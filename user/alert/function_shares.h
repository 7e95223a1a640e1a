/* SPDX-License-Identifier: BSD-2-Clause */
/* Which share of the CPU samples functions have. */
#ifndef PKBPF_ALERT_FUNCTION_SHARES_H
#define PKBPF_ALERT_FUNCTION_SHARES_H

#include "profile/profile.h"

typedef void (*function_share_take)(void *context, const char *name, double percent);

/* Calls back with each function of this name ("*": any) that has samples, itself, or with total
 * with those it calls. -ENODATA: there are no samples; -ENOMEM. */
int function_shares_each(const struct profile *profile, const char *wanted, bool total,
			 function_share_take take, void *context);

#endif
