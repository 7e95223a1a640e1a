/* SPDX-License-Identifier: BSD-2-Clause */
/* Block requests of a row, their bytes and latencies. */
#ifndef PKBPF_ROWS_PART_ROW_BLOCKIO_H
#define PKBPF_ROWS_PART_ROW_BLOCKIO_H

#include "rows/part/row_part.h"

/* Block I/O was recorded. */
#define ROW_HAS_BLOCKIO ROW_HAS_KIND(PKBPF_PROFILE_BLOCKIO)

struct row_blockio {
	uint64_t requests, reads, writes, read_bytes, written_bytes;
	uint64_t device_ns, queue_ns; /* sums of service and queue times */
	struct row_lengths device, queue;
};

extern const struct row_part row_blockio_part;

#endif
