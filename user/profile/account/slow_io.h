/* SPDX-License-Identifier: BSD-2-Clause */
/* The slowest block requests of a record. */
#ifndef PKBPF_PROFILE_ACCOUNT_SLOW_IO_H
#define PKBPF_PROFILE_ACCOUNT_SLOW_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slow_io {
	uint32_t process; /* incarnation id in the process table */
	uint32_t tid;	  /* originator; 0: unknown */
	uint32_t comm;	  /* profile_string() */
	uint32_t stack;	  /* stack id */
	uint32_t device;  /* major << 20 | minor */
	uint32_t bytes;	  /* requested */
	uint8_t state;	  /* enum pkbpf_blockio_operation with its flags */
	bool open;	  /* in flight at the end: times are up to then */
	bool failed, fua, metadata;
	uint64_t cgroup_id; /* 0: unknown */
	uint64_t insert_ns; /* CLOCK_MONOTONIC */
	uint64_t queue_ns, device_ns;
	uint64_t sector; /* PKBPF_NO_SECTOR: none, or unknown */
};

struct slow_io_list;

/* Sets how many requests are kept, before the first is added; until then, none. */
void slow_io_list_limit(struct slow_io_list *list, size_t limit);
size_t slow_io_list_max(const struct slow_io_list *list);
/* Adds a request unless all kept ones are at least as slow. -ENOMEM. */
int slow_io_list_add(struct slow_io_list *list, const struct slow_io *slow_io);
/* By index, in no order; NULL at the end. Valid until the next add. */
const struct slow_io *slow_io_list_at(const struct slow_io_list *list, size_t index);
/* Latency: from insertion to completion. */
uint64_t slow_io_total_ns(const struct slow_io *slow_io);
/* The kept requests, slowest first, in an array that the caller frees; the requests are valid
 * until the next add. -ENOMEM. */
int slow_io_list_sorted(const struct slow_io_list *list, const struct slow_io ***ret_items,
			size_t *ret_count);

#endif
