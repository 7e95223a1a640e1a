/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a block of a recording holds: one table per section, beside those of accounts
 * (profile/account/account.h). Where a struct of the profile can be
 * written as it is, it is; the others are here. Processes, stacks and frames are named by their
 * places in the tables of the same block; where there may be none, by 1 + place, and 0 is none.
 *
 * A new member of a struct that is written needs a column, or reports from recordings lack it: the
 * sizes are asserted in slice_tables.c.
 */
#ifndef PKBPF_RECORDING_SLICE_TABLES_H
#define PKBPF_RECORDING_SLICE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "recording/recorded_table.h"

/* Numbers of sections, for good. Accounts have others (user/profile/account/); free ones are found
 * by tests/unit/recording/test_slice_sections.c. */
enum slice_section {
	SLICE_STRINGS = 1, /* NUL-terminated, one behind the other; in all other tables by number */
	SLICE_FACTS = 2,
	SLICE_COUNTERS = 3,
	SLICE_PROCESSES = 4,
	SLICE_FRAMES = 5,
	SLICE_LINES = 6,
	SLICE_NODES = 7,
	SLICE_STACKS = 8,
	SLICE_ROWS = 9,
	SLICE_ENDS = 10,
	SLICE_DISTRIBUTIONS = 11,
	SLICE_BUCKETS = 12,
	SLICE_DEVICES = 13,
	SLICE_ACCOUNT_PROCESSES = 14,
	SLICE_ACCOUNT_THREADS = 15,
	SLICE_CGROUPS = 16,
	SLICE_CGROUP_LIMITS = 17,
};

struct recorded_facts {		  /* one row */
	struct profile_info info; /* counters are a table of their own, by name */
	uint64_t guessed_frames;
	uint64_t processes_dropped;
	uint64_t slow_io_limit, slow_region_limit, slow_request_limit;
	uint64_t account_start_ns, account_end_ns, account_missing;
	struct resource_machine machine;
};

struct recorded_counter {
	const char *name;
	uint64_t count;
};

/* A frame without its lines, which follow each other in a table of their own. */
struct recorded_frame {
	struct frame_location location;
	uint32_t result, flags;
	const char *module, *build_id;
	uint64_t module_address; /* of code that is in no file */
	int64_t address_offset;	 /* of code in a file: module_address - location.address */
	uint64_t function_address;
	uint32_t line_count;
};

/* Stacks share their callers: a node is a frame and the node that called it. */
struct recorded_node {
	uint32_t caller; /* how many nodes before this one; 0: none */
	uint32_t frame;
};

struct recorded_stack {
	uint32_t node; /* 1 + its leaf; 0: no frames */
};

struct recorded_row {
	struct profile_row row; /* comm aside; process and stack: 1 + place */
	const char *comm;
};

struct recorded_end {
	uint32_t process; /* 1 + place; 0: beyond those of processes */
	uint32_t end;
	uint64_t count;
};

struct recorded_distribution {
	struct distribution distribution; /* process: 1 + place */
	uint32_t bucket_count;		  /* the next ones of the table of buckets */
};

struct recorded_device {
	uint32_t device;
	const char *name;
};

struct recorded_cgroup {
	uint64_t cgroup_id;
	const char *text; /* path, or name of the container */
	bool is_container;
};

extern const struct recorded_table slice_facts, slice_counters, slice_processes, slice_frames,
	slice_lines, slice_nodes, slice_stacks, slice_rows, slice_ends, slice_distributions,
	slice_buckets, slice_devices, slice_account_processes, slice_account_threads, slice_cgroups,
	slice_cgroup_limits;

#endif
