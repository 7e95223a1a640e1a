/* SPDX-License-Identifier: BSD-2-Clause */
/* What is gathered for a page before it is written: values of stacks, their parts by slice, cells
 * of the heat map. */
#ifndef PKBPF_EXPORT_PAGE_PAGE_DATA_PRIVATE_H
#define PKBPF_EXPORT_PAGE_PAGE_DATA_PRIVATE_H

#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "export/page/page_lanes.h"
#include "profile/call_tree.h"
#include "profile/slice/time_line.h"
#include "rows/resource_rows.h"

#define NO_ROW	UINT32_MAX
#define CELL_NS (10 * NS_PER_MS)

struct page_value {
	uint32_t leaf; /* call_tree_place() */
	uint32_t row;
	uint8_t state;
	double value;
};

/* What of a value lies in a slice. */
struct page_part {
	uint32_t value, slice;
	double weight;
};

/* One kind of event. */
struct page_kind {
	struct call_tree *tree; /* NULL: none recorded */
	ARRAY_OF(struct page_value) values;
	ARRAY_OF(struct page_part) parts; /* by value, then by slice */
};

/* Single CPU samples of one row, close to each other in time. */
struct page_cell {
	uint32_t cell, row, weight;
};

struct page_data {
	const struct resource_rows *rows;
	struct page_kind kinds[PKBPF_PROFILE_KINDS];
	uint32_t *index_of_number; /* of a row's stacks -> in the tables */
	uint32_t number_count;
	uint32_t *place_of_function;	/* in the page; NO_ROW: in no stack that is shown */
	ARRAY_OF(uint32_t) functions;	/* by that place */
	ARRAY_OF(const char *) threads; /* borrowed */
	struct hash_map thread_of_node; /* kind << 32 and node -> in threads */
	const struct time_line *times;	/* NULL: not known */
	struct hash_map owners;		/* page_owners_map() */
	struct page_lanes lanes;
	struct hash_map value_of;	  /* value_key() -> in the values of its kind */
	ARRAY_OF(struct page_cell) cells; /* by cell and row */
	FILE *out;
};

/* Each false: out of memory. In this order: */
bool page_values_index_rows(struct page_data *data);
bool page_values_add(struct page_data *data);
bool page_values_add_parts(struct page_data *data);
bool page_samples_add(struct page_data *data);

#endif
