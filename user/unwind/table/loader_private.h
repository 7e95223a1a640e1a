/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the loader. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_PRIVATE_H
#define PKBPF_UNWIND_TABLE_LOADER_PRIVATE_H

#include <pkbpf/python.h>

#include "base/array.h"
#include "unwind/table/extent_allocator.h"
#include "unwind/code/generated_code.h"
#include "unwind/table/loader.h"
#include "unwind/table/loader_maps.h"

struct loader_hotspot;
struct ring_buffer;

/* Entries of the mappings array that no map uses any more. A process forked meanwhile may still
 * refer to them. */
struct limbo_extent {
	uint32_t first, count;
	uint32_t idle_sweeps; /* consecutive sweeps without a reference */
};

struct missed_process {
	uint32_t pid;
	bool unknown;	  /* the kernel side has no entry for the process */
	uint64_t address; /* missed code address */
};

/* Elements of the kernel side's map of layouts of Python interpreters. */
#define LOADER_PYTHON_LAYOUTS 32

struct unwind_loader {
	struct loader_memory memory;
	const struct log *log;
	struct event_sink found;
	struct table_cache *tables;
	struct process_tracker *tracker;
	struct generated_code *generated;
	struct loader_hotspot *hotspot;
	struct extent_allocator *mapping_room;
	struct ring_buffer *misses;
	int proc_fd;
	ARRAY_OF(struct missed_process) missed; /* processes to re-read */
	ARRAY_OF(struct limbo_extent) limbo;
	uint64_t last_sweep_ns;
	struct pkbpf_python_layout python_layouts[LOADER_PYTHON_LAYOUTS];
	uint32_t python_layout_count;
	struct unwind_loader_stats stats;
};

/* Deletes the kernel side's entry of a process. */
void loader_forget_entry(struct unwind_loader *loader, uint32_t pid);
/* From time to time: forgets exited processes and frees their entries in the mappings array. */
void loader_sweep(struct unwind_loader *loader, uint64_t now_ns);

#endif
