// SPDX-License-Identifier: BSD-2-Clause
#include "event/request_event.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int request_event_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_request *record = (const void *)header;
	uint64_t rest_ns;

	if (header->size < sizeof(*record) || record->start_ns > header->time_ns ||
	    record->wall_ns > header->time_ns - record->start_ns ||
	    !memchr(record->comm, '\0', sizeof(record->comm)))
		return -EBADMSG;
	for (int i = 0; i < PKBPF_CONTEXT_LABELS; i++)
		if (!memchr(record->labels[i], '\0', sizeof(record->labels[i])))
			return -EBADMSG;
	rest_ns = record->wall_ns;
	for (int i = 0; i < PKBPF_WAIT_STATES; i++) {
		if (record->part_ns[i] > rest_ns)
			return -EBADMSG;
		rest_ns -= record->part_ns[i];
	}
	return rest_ns ? -EBADMSG : 0;
}
