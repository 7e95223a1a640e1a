/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds records in a growing byte buffer, for the procfs snapshot, translated perf records and
 * tests. */
#ifndef PKBPF_EVENT_ENCODER_H
#define PKBPF_EVENT_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"

struct event_buffer { /* zero-initialized: empty; a sequence of 8-byte aligned records */
	uint8_t *data;
	size_t size;
	size_t capacity;
};

void event_buffer_clear(struct event_buffer *buffer); /* keeps the memory */
void event_buffer_done(struct event_buffer *buffer);
/* Appends a zeroed record with a complete header, its size rounded up to 8; NULL: out of memory.
 * The next call may move the record. */
void *event_buffer_add(struct event_buffer *buffer, size_t size, uint16_t kind, uint16_t flags,
		       uint64_t time_ns);

/* Each appends one record. The buffer is unchanged after -ENOMEM and -EINVAL (contents the
 * decoder would refuse: too many frames, a stack that is too large or whose size is no multiple
 * of 8). Paths longer than PATH_MAX - 1 are truncated. */
int event_encode_sample(struct event_buffer *buffer, const struct sample_view *sample);
int event_encode_task(struct event_buffer *buffer, const struct task_view *task);
int event_encode_mapping(struct event_buffer *buffer, const struct mapping_view *mapping);
int event_encode_lost(struct event_buffer *buffer, const struct lost_view *lost);
int event_encode_raw_stack(struct event_buffer *buffer, const struct raw_stack_view *raw);
int event_encode_stack(struct event_buffer *buffer, uint64_t time_ns,
		       const struct stack_view *stack);
int event_encode_totals(struct event_buffer *buffer, const struct totals_view *totals);
/* -EINVAL also when times are out of order. */
int event_encode_slow_io(struct event_buffer *buffer, const struct slow_io_view *slow_io);
int event_encode_cut(struct event_buffer *buffer, const struct cut_view *cut);

#endif
