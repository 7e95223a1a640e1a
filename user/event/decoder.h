/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a record and passes it to a sink. Input is hostile: a stream may come from any source. */
#ifndef PKBPF_EVENT_DECODER_H
#define PKBPF_EVENT_DECODER_H

#include <stddef.h>

#include "event/event_sink.h"

/* Bounds on the sizes in a record. The largest known record is a raw stack (67 KiB) with 127
 * kernel frames. */
#define EVENT_MAX_RECORD_SIZE	 (128U * 1024)
#define EVENT_MAX_RAW_STACK_SIZE (112U * 1024)

/* Checks only the header, for code that copies records before decoding. Returns 0; -EMSGSIZE
 * when size is less than the header or header.size; -EBADMSG when the header is invalid. data
 * need not be aligned. */
int event_check_header(const void *data, size_t size, struct pkbpf_event_header *ret_header);

/* data must be 8-byte aligned. Returns the record's size (> 0) when the record was delivered or
 * has a kind unknown to this version. -EBADMSG: the contents contradict the size or bounds;
 * -EMSGSIZE: fewer than header.size bytes. On error nothing is delivered. A record may be longer
 * than its contents (the kernel side reserves size classes; later versions may append); the rest
 * is skipped. */
int event_decode(const void *data, size_t size, const struct event_sink *sink);

#endif
