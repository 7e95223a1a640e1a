/* SPDX-License-Identifier: BSD-2-Clause */
/* The regions and calls of a record that took longest, one by one. */
#ifndef PKBPF_PROFILE_ACCOUNT_SLOW_REGION_H
#define PKBPF_PROFILE_ACCOUNT_SLOW_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

struct slow_region {
	uint32_t process;   /* incarnation id in the process table */
	uint32_t tid;	    /* that left it */
	uint32_t comm;	    /* profile_string() */
	uint32_t name;	    /* likewise */
	uint32_t stack;	    /* stack id: where it was left */
	uint32_t flags;	    /* PKBPF_REGION_* */
	uint64_t cgroup_id; /* 0: unknown */
	uint64_t start_ns;  /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	uint64_t part_ns[PKBPF_WAIT_STATES]; /* what they leave of wall_ns is not known */
};

struct slow_region_list;

/* Sets how many are kept, before the first is added; until then, none. */
void slow_region_list_limit(struct slow_region_list *list, size_t limit);
size_t slow_region_list_max(const struct slow_region_list *list);
/* Adds one unless all kept ones are at least as slow. -ENOMEM. */
int slow_region_list_add(struct slow_region_list *list, const struct slow_region *slow_region);
/* The kept ones, slowest first, in an array that the caller frees; they are valid until the next
 * add. -ENOMEM. */
int slow_region_list_sorted(const struct slow_region_list *list,
			    const struct slow_region ***ret_items, size_t *ret_count);

#endif
