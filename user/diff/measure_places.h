/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the places of allocation out of a profile. */
#ifndef PKBPF_DIFF_MEASURE_PLACES_H
#define PKBPF_DIFF_MEASURE_PLACES_H

#include "diff/measurement.h"
#include "profile/profile.h"

/* Adds those of a slice. A process has places once: in the slice in which it ends, or in the last
 * one. -ENOMEM. */
int measure_places(struct measurement *measurement, const struct profile *profile, uint32_t run);

#endif
