/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of locks in tables of the kernel side, as records of what has been added. One owner thread.
 */
#ifndef PKBPF_SOURCE_OFFCPU_LOCK_ROWS_H
#define PKBPF_SOURCE_OFFCPU_LOCK_ROWS_H

#include <stdint.h>

#include <pkbpf/lock.h>

#include "event/encoder.h"

/* Values of a row that have been sent. */
struct sent_lock { /* zero-initialized: none */
	uint64_t waits, wait_ns, queue_ns;
	uint32_t buckets[PKBPF_LOCK_BUCKETS];
};

/* Appends a record of what was added since the last call, if anything. name: of the lock; "": not
 * known. -ENOMEM: the next call sends it. */
int lock_row_drain(const volatile struct pkbpf_lock_row *row, struct sent_lock *sent,
		   const char *name, struct event_buffer *buffer);

#endif
