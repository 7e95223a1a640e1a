/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts records of several rings into time order. Records are copied in, and delivered once
 * nothing older can arrive. Stable: records of equal time keep their order of arrival. One owner
 * thread; callbacks must not call into the queue.
 *
 * Memory: the waiting records plus 32 bytes each; at most 16 idle chunks of 256 KiB are kept for
 * reuse. */
#ifndef PKBPF_EVENT_EVENT_QUEUE_H
#define PKBPF_EVENT_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"

/* Maximum bytes between two flushes. Beyond it, push returns -ENOMEM, and the caller counts the
 * record as lost. */
#define EVENT_QUEUE_MAX_BYTES (256U << 20)

struct event_queue;

struct event_queue_stats {
	uint64_t delivered;
	uint64_t malformed; /* refused by the decoder */
	uint64_t late;	    /* older than a record delivered before; delivered nevertheless */
	size_t bytes_waiting;
};

struct event_queue *event_queue_new(void);
void event_queue_free(struct event_queue *queue);
/* Copies the record of header.size bytes at `record`. -EBADMSG: not a record, counted as
 * malformed; -ENOMEM. */
int event_queue_push(struct event_queue *queue, const void *record, size_t size);
/* Delivers every record with time_ns < until_ns (UINT64_MAX: all) to the sink, oldest first. */
void event_queue_flush(struct event_queue *queue, uint64_t until_ns, const struct event_sink *sink);
struct event_queue_stats event_queue_stats(const struct event_queue *queue);

#endif
