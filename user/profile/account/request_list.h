/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests of a record that took longest, one by one, by the contexts of their threads. */
#ifndef PKBPF_PROFILE_ACCOUNT_REQUEST_LIST_H
#define PKBPF_PROFILE_ACCOUNT_REQUEST_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/context.h>

#define REQUEST_NO_STACK UINT32_MAX

/* The time that the thread waited at one stack, without the run queue. */
struct request_reason {
	uint32_t stack; /* stack id; REQUEST_NO_STACK: there is no such reason */
	uint64_t wait_ns;
};

struct slow_request {
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;
	uint32_t comm;			       /* profile_string() */
	uint32_t labels[PKBPF_CONTEXT_LABELS]; /* likewise; of the empty string: it has none */
	uint8_t trace[16], span[8];	       /* in the order in which they are written */
	uint64_t cgroup_id;		       /* 0: unknown */
	uint64_t flags;			       /* PKBPF_REQUEST_* */
	uint64_t start_ns;		       /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	uint64_t edge_ns;		     /* of wall_ns, that may lie outside of it */
	uint64_t part_ns[PKBPF_WAIT_STATES]; /* add up to wall_ns */
	struct request_reason reasons[PKBPF_CONTEXT_REASONS]; /* most time first */
};

struct request_list;

/* Sets how many are kept, before the first is added; until then, none. */
void request_list_limit(struct request_list *list, size_t limit);
size_t request_list_max(const struct request_list *list);
/* Adds one unless all kept ones are at least as slow. -ENOMEM. */
int request_list_add(struct request_list *list, const struct slow_request *request);
/* The kept ones, slowest first, in an array that the caller frees; they are valid until the next
 * add. -ENOMEM. */
int request_list_sorted(const struct request_list *list, const struct slow_request ***ret_items,
			size_t *ret_count);

#endif
