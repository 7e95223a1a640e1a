/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases that were held, one by one. */
#ifndef PKBPF_TEST_LEASE_LIST_H
#define PKBPF_TEST_LEASE_LIST_H

#include <pkbpf/event.h>

#include "base/array.h"

struct lease_event {
	struct pkbpf_event_header header;
	uint64_t stack_id, held_ns;
	uint32_t pid, pad;
};

struct lease {
	uint32_t process; /* incarnation id */
	uint32_t comm;	  /* profile_string() */
	uint32_t stack;	  /* stack id */
	uint32_t pad;
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	uint64_t held_ns;
};

struct lease_list { /* zero-initialised: empty */
	ARRAY_OF(struct lease) items;
};

/* -ENOMEM. */
int lease_list_add(struct lease_list *list, const struct lease *lease);

#endif
