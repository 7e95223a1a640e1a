/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of resident memory. They reach sinks through on_other(). */
#ifndef PKBPF_EVENT_MEMORY_EVENT_H
#define PKBPF_EVENT_MEMORY_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/memory.h>

#include "event/encoder.h"

/* Each returns the record, checked, or NULL when it is not of its kind or has impossible values.
 * The record itself was checked by event_check_header(). comm is not terminated. */
const struct pkbpf_event_page *page_event_read(const struct pkbpf_event_header *record);
const struct pkbpf_event_mapped *mapped_event_read(const struct pkbpf_event_header *record);
const struct pkbpf_event_present *present_event_read(const struct pkbpf_event_header *record,
						     size_t *ret_runs);
const struct pkbpf_event_resident *resident_event_read(const struct pkbpf_event_header *record);

/* Appends runs in as many records as they need, one at least. flags: PKBPF_PRESENT_BEFORE or 0.
 * -ENOMEM. */
int present_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint32_t pid,
			 uint16_t flags, const struct pkbpf_present_run *runs, size_t count);

#endif
