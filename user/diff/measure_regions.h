/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions and counted functions of a slice as values to compare. */
#ifndef PKBPF_DIFF_MEASURE_REGIONS_H
#define PKBPF_DIFF_MEASURE_REGIONS_H

#include "diff/measurement.h"
#include "profile/profile.h"

/* What a report says of a region. */
struct region_figures {
	const char *name;
	double time_ns;
	double calls, measured; /* measured: have a part in time_ns */
	bool is_let_go; /* calls are missing: neither their number nor their time is known */
};

/* Adds to the last slice. Cuts names at REGION_NAME_SIZE. false: out of memory. */
bool measure_region(struct measurement *measurement, const struct region_figures *figures);
/* All regions of a profile with their histograms, those of one name together. -ENOMEM. */
int measure_regions(struct measurement *measurement, const struct profile *profile);

#endif
