/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a block of a recording holds: one table per section. Where a struct of the profile can be
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

/* Numbers of sections, for good. */
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
	SLICE_SLOW_IO = 18,
	SLICE_RELATIONS = 19, /* struct relation; stacks: 1 + place */
	SLICE_HEAPS = 64,     /* struct heap_place; stacks: 1 + place */
	SLICE_MEMORY = 65,    /* struct memory_point */
	SLICE_LOCKS = 66,
	SLICE_LOCK_BUCKETS = 67,
	SLICE_LOCK_PARTS = 68, /* stacks: 1 + place; locks: by place */
	SLICE_PEERS = 80,      /* distributions of the kind NETWORK: device is 1 + place */
	SLICE_MOMENTS = 112,
	SLICE_REGIONS = 30,
	SLICE_REGION_BUCKETS = 31,
	SLICE_SLOW_REGIONS = 32,
};

struct recorded_facts {		  /* one row */
	struct profile_info info; /* counters are a table of their own, by name */
	uint64_t guessed_frames;
	uint64_t processes_dropped;
	uint64_t slow_io_limit, slow_region_limit;
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

struct recorded_slow_io {
	struct slow_io request; /* comm aside; process and stack: 1 + place */
	const char *comm;
};

struct recorded_slow_region {
	struct slow_region region; /* comm and name aside; process and stack: 1 + place */
	const char *comm, *name;
};

struct recorded_moment {
	struct moment moment; /* comm aside; process and stack: 1 + place */
	const char *comm;
};

struct recorded_peer {
	struct peer peer;    /* its address is in words */
	uint64_t address[2]; /* as bytes in memory */
};

struct recorded_region {
	struct region region; /* name and buckets aside; process: 1 + place; parent: of these rows,
			       * 1 + place, 0: none */
	const char *name;
	uint32_t bucket_count; /* the next ones of the table of their buckets */
};

struct recorded_lock_bucket {
	uint32_t lock; /* place */
	uint32_t index, count;
};

extern const struct recorded_table slice_facts, slice_counters, slice_processes, slice_frames,
	slice_lines, slice_nodes, slice_stacks, slice_rows, slice_ends, slice_distributions,
	slice_buckets, slice_devices, slice_account_processes, slice_account_threads, slice_cgroups,
	slice_cgroup_limits, slice_slow_io, slice_relations, slice_moments, slice_peers,
	slice_regions, slice_region_buckets, slice_heaps, slice_memory, slice_slow_regions,
	slice_locks, slice_lock_buckets, slice_lock_parts;

#endif
