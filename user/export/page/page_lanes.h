/* SPDX-License-Identifier: BSD-2-Clause */
/* Lanes of threads as a page has them: their events with kinds, stacks, and who woke whom. */
#ifndef PKBPF_EXPORT_PAGE_PAGE_LANES_H
#define PKBPF_EXPORT_PAGE_PAGE_LANES_H

#include <stdio.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "export/json/json_writer.h"
#include "export/page/lane_kind.h"
#include "export/page/lane_list.h"
#include "rows/resource_rows.h"

/* A stack of an event: functions of the rows' table, leaf first. */
struct lane_stack {
	size_t end; /* in functions; it begins where the one before ends */
	enum wait_class class;
	bool faults;
};

struct page_lanes { /* zero-initialised has none */
	const struct resource_rows *rows;
	struct lane_list list;
	const struct slow_region **regions;
	size_t region_count;
	uint32_t *stack_of; /* by stack of the profile: 1 + place in stacks; 0: none yet */
	ARRAY_OF(struct lane_stack) stacks;
	ARRAY_OF(uint32_t) functions;
};

/* Gathers the lanes of the profile of these rows, which it borrows. -ENOMEM. */
int page_lanes_make(struct page_lanes *lanes, const struct resource_rows *rows);
/* "lanes": {…}; owners: as page_owners_map(); rows: index of a row -> in the report. */
void page_lanes_write(const struct page_lanes *lanes, const struct hash_map *owners,
		      struct json_writer *writer);
/* The columns, as in page_data.h; place_of_function: of functions of the table in the page. */
void page_lanes_write_columns(const struct page_lanes *lanes, const uint32_t *place_of_function,
			      FILE *out);
void page_lanes_done(struct page_lanes *lanes);

#endif
