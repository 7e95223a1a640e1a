/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of a lane over time: for each point the outermost one with the most wall time. A region
 * counts in the slice in which it is left. One owner thread.
 */
#ifndef PKBPF_HISTORY_LANE_REGIONS_H
#define PKBPF_HISTORY_LANE_REGIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/string_pool.h"
#include "rows/resource_rows.h"

/* Names of an answer; the rest has one name together. */
#define LANE_REGION_NAMES_MAX 256
#define LANE_REGION_OTHER     "[other]"

struct lane_region {
	uint32_t name; /* string; 0 with count 0: no region was left */
	uint64_t wall_ns, count, missed_ns;
};

/* Regions in `list` by point, made for the first one with room for `points`. Of several at one
 * point the longest stays, and those of one name are added up. -ENOMEM. */
int lane_regions_put(struct lane_region **list, size_t points, size_t at, struct string_pool *names,
		     const struct row_region *region);

/* Names as numbers of an answer, in the order of their first use. */
struct lane_region_names {
	uint32_t strings[LANE_REGION_NAMES_MAX];
	size_t count;
	bool has_other; /* number LANE_REGION_NAMES_MAX */
};

/* A member "regions", unless there are none: by point null, or the number of the name, wall time,
 * count and time without probes; and "region_names". */
void lane_regions_write(const struct lane_region *list, size_t points,
			struct lane_region_names *names, FILE *out);
void lane_region_names_write(const struct lane_region_names *names,
			     const struct string_pool *strings, FILE *out);

#endif
