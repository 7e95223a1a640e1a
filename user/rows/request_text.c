// SPDX-License-Identifier: BSD-2-Clause
#include "rows/request_text.h"

#include <stdio.h>

const char *request_id_text(char buffer[REQUEST_ID_TEXT], const uint8_t *id, size_t size)
{
	buffer[0] = '\0';
	for (size_t i = 0; i < size && i < (REQUEST_ID_TEXT - 1) / 2; i++)
		snprintf(buffer + 2 * i, 3, "%02x", id[i]);
	return buffer;
}

uint64_t request_other_wait_ns(const struct slow_request *request)
{
	uint64_t rest_ns = 0;

	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		if (i != PKBPF_WAIT_NONE && i != PKBPF_WAIT_RUNQUEUE)
			rest_ns += request->part_ns[i];
	for (size_t i = 0; i < PKBPF_CONTEXT_REASONS; i++) {
		uint64_t wait_ns = request->reasons[i].stack == REQUEST_NO_STACK
					   ? 0
					   : request->reasons[i].wait_ns;

		rest_ns -= wait_ns < rest_ns ? wait_ns : rest_ns;
	}
	return rest_ns;
}
