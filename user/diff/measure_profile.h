/* SPDX-License-Identifier: BSD-2-Clause */
/* Slices of recordings as values to compare. */
#ifndef PKBPF_DIFF_MEASURE_PROFILE_H
#define PKBPF_DIFF_MEASURE_PROFILE_H

#include "diff/measurement.h"
#include "profile/profile.h"

/* Adds a symbolized profile as the next slice of a run. -ENOMEM. */
int measure_profile(struct measurement *measurement, const struct profile *profile, uint32_t run);

#endif
