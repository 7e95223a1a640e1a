/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the sums of regions and makes records of what was added since. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_ROWS_H
#define PKBPF_SOURCE_REGIONS_REGION_ROWS_H

#include <stdint.h>

#include <pkbpf/span.h>

#include <stdbool.h>

#include "event/encoder.h"

/* Rows of the kernel side, borrowed, and as they were when they were read last. */
struct region_rows {
	const volatile struct pkbpf_span_row *rows;
	struct pkbpf_span_row *sent;
	uint64_t *unfinished; /* of each row: regions that are open; NULL: not asked */
	uint32_t count;
};

typedef bool region_ended_fn(const void *context, uint32_t pid);

/* Appends a record for each row that has changed. -ENOMEM: the rest waits for the next call. */
int region_rows_drain(struct region_rows *rows, uint64_t now_ns, struct event_buffer *buffer);
/* After a drain: the longest region of each row begins anew, but for one that the drain has not
 * seen. */
void region_rows_begin_slice(struct region_rows *rows);
uint32_t region_rows_used(const struct region_rows *rows);
/* Frees rows of processes that have ended and been drained, for others; descriptors of maps: the
 * index of the rows, the queue of free ones, regions by id. */
void region_rows_free_ended(struct region_rows *rows, int index_fd, int free_fd, int ids_fd,
			    region_ended_fn *has_ended, const void *context);

/* Marks the calls of this name, or the regions, as those of a function, or a pair, that is not
 * watched any more. */
void region_rows_let_go(struct pkbpf_span_row *rows, uint32_t count, const char *name,
			bool is_function);

#endif
