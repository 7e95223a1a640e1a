/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of a row by what was sampled of its allocations, and what else is known with -e memory. */
#ifndef PKBPF_ROWS_PART_ROW_HEAP_H
#define PKBPF_ROWS_PART_ROW_HEAP_H

#include "rows/part/row_part.h"

#define ROW_HAS_ALLOC  ROW_HAS_KIND(PKBPF_PROFILE_ALLOC)
#define ROW_HAS_LIVE   ROW_HAS_KIND(PKBPF_PROFILE_LIVE)
#define ROW_HAS_MEMORY ROW_HAS_KIND(PKBPF_PROFILE_MEMORY)

struct row_heap {
	uint64_t allocated_bytes, allocations; /* estimates, as all but swap */
	uint64_t live_bytes;		       /* not freed at the end, or at the exit */
	uint64_t peak_bytes;		       /* of one process; 0: not known */
	uint64_t mean_bytes;		       /* of one process, over time; 0: not known */
	uint64_t kept_bytes;   /* freed by the one process since its peak, and still resident */
	uint64_t growth_bytes; /* per second, of places that grow like a leak */
	uint64_t swap_bytes;   /* at the end */
};

extern const struct row_part row_heap_part;

#endif
