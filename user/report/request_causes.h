/* SPDX-License-Identifier: BSD-2-Clause */
/* What a slow request waited for: its waits at all places, summed by cause. */
#ifndef PKBPF_REPORT_REQUEST_CAUSES_H
#define PKBPF_REPORT_REQUEST_CAUSES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account/request_list.h"
#include "rows/plumbing.h"
#include "rows/resource_rows.h"

struct request_cause {
	const char *text; /* "waits for a mutex"; static */
	uint64_t wait_ns;
	uint32_t stack; /* where it waited longest for it */
	uint64_t stack_ns;
};

/* Most time first. Returns the number. */
size_t request_causes(const struct resource_rows *rows, const struct slow_request *request,
		      struct request_cause causes[PKBPF_CONTEXT_REASONS]);
/* The end of the stack of a cause, "handle > Pool::get > pthread_mutex_lock", clean for a terminal,
 * in about so many columns. The caller frees it; NULL: out of memory, or no function has a name. */
char *request_cause_place(const struct resource_rows *rows, const struct plumbing *plumbing,
			  const struct request_cause *cause, size_t columns);

#endif
