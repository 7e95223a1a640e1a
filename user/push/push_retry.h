/* SPDX-License-Identifier: BSD-2-Clause */
/* When and whether something is sent again. */
#ifndef PKBPF_PUSH_PUSH_RETRY_H
#define PKBPF_PUSH_PUSH_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#define PUSH_BACKOFF_MAX_SECONDS 300

/* Seconds until the next try after so many failures in a row: longer each time, and by chance (any
 * number), so that a fleet does not come back as one; at least what the server asked for. */
static inline unsigned int push_backoff_seconds(unsigned int failures, uint64_t chance,
						unsigned int retry_after)
{
	unsigned int most = failures < 8 ? 1U << failures : PUSH_BACKOFF_MAX_SECONDS, seconds;

	seconds = 1 + (unsigned int)(chance % most);
	return retry_after > seconds ? retry_after : seconds;
}

/* Is the fault in what was sent, so that it is refused for good? All else (a wrong token, a path
 * that is not there yet, a server that is down) is mended while it waits. */
static inline bool push_is_refused(unsigned int status)
{
	return status == 400 || status == 409 || status == 413 || status == 415 || status == 422;
}

#endif
