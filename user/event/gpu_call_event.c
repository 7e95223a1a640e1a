// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds records of calls of GPU libraries. */
#include "event/gpu_call_event.h"

#include <errno.h>
#include <string.h>

int gpu_call_event_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_gpu_call *call = (const void *)header;

	if (header->size < sizeof(*call) || !call->group || call->group >= PKBPF_GPU_NAME ||
	    call->what >= PKBPF_GPU_WHATS || call->unmeasured > call->count ||
	    !memchr(call->function, '\0', sizeof(call->function)) || !call->function[0] ||
	    !memchr(call->kernel, '\0', sizeof(call->kernel)))
		return -EBADMSG;
	return 0;
}

bool gpu_kernel_name_is_cut(const char *name)
{
	return strlen(name) >= PKBPF_GPU_KERNEL_NAME - 1;
}

int gpu_call_event_encode(struct event_buffer *buffer, const struct pkbpf_event_gpu_call *call)
{
	struct pkbpf_event_gpu_call *record = event_buffer_add(
		buffer, sizeof(*record), PKBPF_EVENT_GPU_CALL, 0, call->header.time_ns);
	struct pkbpf_event_header header;

	if (!record)
		return -ENOMEM;
	header = record->header;
	*record = *call;
	record->header = header;
	return 0;
}
