/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Supplies the BPF unwinder: tracks processes and their code, has the tables of their files built,
 * and publishes both in the unwinder's maps.
 *
 * One owner thread. It passes every task and mapping record to the sink at once, in any order
 * (times decide), and then calls unwind_loader_poll(), which publishes the changes.
 */
#ifndef PKBPF_UNWIND_TABLE_LOADER_H
#define PKBPF_UNWIND_TABLE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "event/event_sink.h"
#include "unwind/process_tracker.h"
#include "unwind/table/table_cache.h"

#define UNWIND_LOADER_TABLE_BYTES (64ULL << 20) /* default cap of row memory */

/* max_entries of the maps; to be set before the BPF object is loaded. */
struct unwind_loader_sizes {
	uint32_t rows; /* chunks of 1 MiB */
	uint32_t pages, rules, files, mappings, processes;
	uint32_t raw_ring_bytes;
};

/* host_wide: all processes of the machine are profiled. table_bytes 0: the default. */
struct unwind_loader_sizes unwind_loader_choose_sizes(bool host_wide, uint64_t table_bytes);

/* File descriptors of the loaded maps; borrowed until unwind_loader_free(). */
struct unwind_loader_maps {
	int rows, pages, rules, files, mappings, processes, misses;
	int python_layouts;   /* -1: Python frames are not wanted */
	uint32_t *generation; /* incremented after each change of an entry of processes */
};

struct unwind_loader_options {
	bool only_relatives; /* track only the processes of the snapshot and their descendants */
	/* build a file's table only when an unwind misses it; raw stacks fill the gap */
	bool on_demand;
	/* Borrowed; outlives the loader. Files opened by the loader stay open there, so that
	 * symbols of deleted files can be read later. */
	struct mapped_file_table *files;
	const struct log *log;
	struct readers *readers; /* as in struct table_cache_options */
	/* Receives code found in procfs without a record of it, during unwind_loader_poll(). Either
	 * a record was lost, or mremap() moved the code, for which the kernel has no record. */
	struct event_sink found;
};

struct unwind_loader_stats {
	struct table_cache_stats tables;
	uint32_t processes; /* tracked processes */
	uint64_t mappings;  /* used entries of the mappings array */
	uint64_t misses;    /* notices from the BPF side */
	uint64_t rescans;   /* re-reads of procfs because of them */
	uint64_t publications;
	uint64_t refused; /* publications that failed because a map was full */
};

struct hotspot_tracker;
struct unwind_loader;

/* -EPERM, -ENOMEM, -EINVAL (maps too small). Starts the building thread. */
int unwind_loader_new(const struct unwind_loader_maps *maps,
		      const struct unwind_loader_options *options,
		      struct unwind_loader **ret_loader, struct error *error);
void unwind_loader_free(struct unwind_loader *loader);
struct event_sink unwind_loader_sink(struct unwind_loader *loader);
/* Publishes changes, re-reads processes that the BPF side missed, and collects garbage from time to
 * time. */
void unwind_loader_poll(struct unwind_loader *loader);
/* Returns whether a change will be due within about 10 ms and needs another poll. */
bool unwind_loader_postpones(const struct unwind_loader *loader);
/* File descriptor that is readable when the BPF side misses something. */
int unwind_loader_fd(const struct unwind_loader *loader);
/* Publishes, then sleeps until every table requested so far is ready; false: timeout. */
bool unwind_loader_wait_ready(struct unwind_loader *loader, uint64_t timeout_ns);
/* Returns whether every requested table is ready. */
bool unwind_loader_idle(struct unwind_loader *loader);
struct unwind_loader_stats unwind_loader_stats(struct unwind_loader *loader);
struct table_cache *unwind_loader_tables(struct unwind_loader *loader);
struct process_tracker *unwind_loader_processes(struct unwind_loader *loader);
struct generated_code *unwind_loader_generated(struct unwind_loader *loader);
struct hotspot_tracker *unwind_loader_hotspot(struct unwind_loader *loader);

#endif
