/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts sums of block requests in BPF maps into records of their increments. */
#ifndef PKBPF_SOURCE_BLOCKIO_BLOCKIO_RECORDS_H
#define PKBPF_SOURCE_BLOCKIO_BLOCKIO_RECORDS_H

#include <stdint.h>

#include <pkbpf/blockio.h>

#include "event/encoder.h"

/* Values of a row that have been sent. */
struct blockio_sent {
	uint64_t count, bytes, total_ns, queue_ns;
};

/* Appends the increments of a row and of its histogram (NULL: none), and stores the new values
 * in sent and sent_histogram. Rows of one process, device and operation share a histogram; its
 * increment goes with the first row that changed. The kernel side may add meanwhile; the next
 * increment has what this one misses. -ENOMEM: nothing is stored. */
int blockio_records_of_row(const volatile struct pkbpf_blockio_row *row, struct blockio_sent *sent,
			   const volatile struct pkbpf_blockio_histogram *histogram,
			   struct pkbpf_blockio_histogram *sent_histogram,
			   struct event_buffer *buffer);
/* Appends a request without a completion event: its count and its time so far, but no bytes. */
int blockio_record_of_request(const volatile struct pkbpf_blockio_row *row,
			      const struct pkbpf_blockio_request *request, uint64_t time_ns,
			      struct event_buffer *buffer);

#endif
