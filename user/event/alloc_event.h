/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of sampled allocations. They reach sinks through on_other(). */
#ifndef PKBPF_EVENT_ALLOC_EVENT_H
#define PKBPF_EVENT_ALLOC_EVENT_H

#include <stdint.h>

#include <pkbpf/alloc.h>

#include "event/encoder.h"

/* 0 < size <= weight. */
struct alloc_view {
	uint64_t time_ns;
	uint64_t stack_id;
	uint32_t pid, tid;
	uint64_t cgroup_id;
	/* of a call in a window: 0 */
	uint64_t address;
	uint64_t size, weight;
	char comm[PKBPF_COMM_SIZE + 1]; /* not escaped */
};

struct free_view {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t address;
};

/* Each returns 0, or -EBADMSG when the record (checked by event_check_header()) is not of its kind,
 * or holds values that no allocation has. */
int alloc_event_decode(const struct pkbpf_event_header *record, struct alloc_view *ret_view);
int free_event_decode(const struct pkbpf_event_header *record, struct free_view *ret_view);

/* Each appends one record. -ENOMEM. */
int alloc_event_encode(struct event_buffer *buffer, const struct alloc_view *view);
int free_event_encode(struct event_buffer *buffer, const struct free_view *view);

#endif
