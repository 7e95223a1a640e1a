/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the source of regions. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_OPTIONS_H
#define PKBPF_SOURCE_REGIONS_REGION_OPTIONS_H

#include <stdbool.h>

#include "base/option_row.h"

struct region_options {
	bool wanted;
	bool frames; /* stacks begin with the regions that they are in; wants regions as well */
};

/* Rows about struct source_options; the last one has no name. */
extern const struct option_row region_option_rows[];

#endif
