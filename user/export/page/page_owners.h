/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the report that single events belong to. */
#ifndef PKBPF_EXPORT_PAGE_PAGE_OWNERS_H
#define PKBPF_EXPORT_PAGE_PAGE_OWNERS_H

#include "base/hash_map.h"
#include "rows/resource_rows.h"

/* What moments have in common with rows of the profile -> index in report.rows, by
 * index_of_number[] of number_count. false: out of memory. */
bool page_owners_map(const struct resource_rows *rows, const uint32_t *index_of_number,
		     uint32_t number_count, struct hash_map *ret_owners);
/* UINT32_MAX: none. */
uint32_t page_owners_find(const struct hash_map *owners, enum rows_by by,
			  const struct moment *moment);

#endif
