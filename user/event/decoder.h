/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a record and passes it to a sink. Input is hostile: a stream may come from anywhere. */
#ifndef PKBPF_EVENT_DECODER_H
#define PKBPF_EVENT_DECODER_H

#include <stddef.h>

#include "event/event_sink.h"

/* Bounds of what a record may claim. The largest one known is a raw stack (67 KiB) with 127 kernel
 * frames. */
#define EVENT_MAX_RECORD_SIZE	 (128U * 1024)
#define EVENT_MAX_RAW_STACK_SIZE (112U * 1024)

/* Checks the header alone: 0; -EMSGSIZE when size is less than the header, or than header.size,
 * says; -EBADMSG when it can be no record. For whoever copies records before they are decoded. data
 * need not be aligned. */
int event_check_header(const void *data, size_t size, struct pkbpf_event_header *ret_header);

/* data must be 8-byte aligned. Returns the record's size (> 0) when it was delivered or is of a
 * kind unknown to this version; -EBADMSG when its contents contradict its size or bounds; -EMSGSIZE
 * when fewer than header.size bytes are there. Nothing is delivered on error. A record may be
 * longer than its contents need (the kernel side reserves in size classes; later versions may
 * append): what follows is skipped. */
int event_decode(const void *data, size_t size, const struct event_sink *sink);

#endif
