/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the slowest block requests among those the kernel side sends, and computes the latency
 * below which it need not send more. */
#ifndef PKBPF_SOURCE_BLOCKIO_SLOW_IO_CHOICE_H
#define PKBPF_SOURCE_BLOCKIO_SLOW_IO_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/blockio.h>

#include "base/largest.h"
#include "event/encoder.h"

struct slow_io_choice {
	uint64_t min_ns;	/* shorter requests are not slow */
	struct largest slowest; /* limit: how many are requested */
	uint64_t trace_ns;	/* all requests of this latency or more pass, too; 0: none */
};

/* Latency below which a request can no longer be among the slowest; UINT64_MAX: none are
 * requested. */
uint64_t slow_io_choice_bound_ns(const struct slow_io_choice *choice);
/* Appends the kernel side's record of a request to the buffer if it is among the slowest so far.
 * -EBADMSG: not such a record; -ENOMEM. */
int slow_io_choice_add(struct slow_io_choice *choice, const void *record, size_t size,
		       struct event_buffer *buffer);
/* The same for a request in flight at time_ns, the end of the interval. */
int slow_io_choice_add_open(struct slow_io_choice *choice,
			    const volatile struct pkbpf_blockio_row *row,
			    const struct pkbpf_blockio_request *request, uint64_t time_ns,
			    struct event_buffer *buffer);
void slow_io_choice_done(struct slow_io_choice *choice);

#endif
