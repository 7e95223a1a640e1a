/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the sums of regions and makes records of what was added since. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_ROWS_H
#define PKBPF_SOURCE_REGIONS_REGION_ROWS_H

#include <stdint.h>

#include <pkbpf/span.h>

#include "event/encoder.h"

/* Rows of the kernel side, borrowed, and as they were when they were read last. */
struct region_rows {
	const volatile struct pkbpf_span_row *rows;
	struct pkbpf_span_row *sent;
	uint64_t *unfinished; /* of each row: regions that are open; NULL: not asked */
	uint32_t count;
};

/* Appends a record for each row that has changed. -ENOMEM: the rest waits for the next call. */
int region_rows_drain(struct region_rows *rows, uint64_t now_ns, struct event_buffer *buffer);

#endif
