/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions that stacks are in, by the numbers of the kernel side. One owner thread. */
#ifndef PKBPF_PROFILE_REGION_NAMES_H
#define PKBPF_PROFILE_REGION_NAMES_H

#include <stdint.h>

#include <pkbpf/span.h>

#include "base/array.h"

struct region_name {
	uint32_t parent; /* number; PKBPF_NO_ROW: none */
	char name[PKBPF_SPAN_NAME];
};

struct region_names {			    /* zero-initialised: empty */
	ARRAY_OF(struct region_name) items; /* by number */
};

void region_names_done(struct region_names *names);
/* Takes a checked record. -ENOMEM. */
int region_names_put(struct region_names *names, const struct pkbpf_event_region_name *record);
/* NULL: not known. */
const struct region_name *region_names_get(const struct region_names *names, uint32_t number);

#endif
