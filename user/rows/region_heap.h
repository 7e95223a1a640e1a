/* SPDX-License-Identifier: BSD-2-Clause */
/* What regions allocate: adds up the allocations whose stacks begin with regions. */
#ifndef PKBPF_ROWS_REGION_HEAP_H
#define PKBPF_ROWS_REGION_HEAP_H

#include "rows/region_list.h"

/* Fills the heap of each line from the rows of the kinds ALLOC and LIVE, where there are any:
 * estimates, of the region and those inside of it. `grouping`: that of the list. -ENOMEM. */
int region_heap_add(struct region_list *list, const struct profile *profile,
		    enum region_grouping grouping);

#endif
