/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of regions in the report of an hour. */
#ifndef PKBPF_WEB_HOUR_REGIONS_H
#define PKBPF_WEB_HOUR_REGIONS_H

#include <stdio.h>

#include "profile/profile.h"

/* Nothing where no regions were recorded. */
void hour_regions_write(const struct profile *profile, FILE *out);

#endif
