/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of calls of GPU libraries. They reach sinks through on_other(). */
#ifndef PKBPF_EVENT_GPU_CALL_EVENT_H
#define PKBPF_EVENT_GPU_CALL_EVENT_H

#include <stdbool.h>

#include <pkbpf/gpu_call.h>

#include "event/encoder.h"

/* -EBADMSG: sizes, groups or sums that cannot be. Texts are NUL-terminated then, but for comm. */
int gpu_call_event_check(const struct pkbpf_event_header *header);
/* Has this name of a kernel, which may have more bytes, as many as a record can hold? */
bool gpu_kernel_name_is_cut(const char *name);
/* Appends one record, with the time of its header. -ENOMEM. */
int gpu_call_event_encode(struct event_buffer *buffer, const struct pkbpf_event_gpu_call *call);

#endif
