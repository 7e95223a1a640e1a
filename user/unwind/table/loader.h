/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the BPF unwinder supplied: follows processes and their code, has the tables of their files
 * built, and publishes both in the unwinder's maps.
 *
 * One owner thread. Feed its sink every task and mapping record at once, as it arrives (order does
 * not matter: times are compared), then call unwind_loader_poll(), which publishes what has
 * changed.
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

/* max_entries of the maps, to be set before the BPF object is loaded. */
struct unwind_loader_sizes {
	uint32_t rows; /* chunks of 1 MiB */
	uint32_t pages, rules, files, mappings, processes;
	uint32_t raw_ring_bytes;
};

/* host_wide: every process of the machine, not some chosen ones. table_bytes 0: the default. */
struct unwind_loader_sizes unwind_loader_choose_sizes(bool host_wide, uint64_t table_bytes);

/* Descriptors of the loaded maps; borrowed until unwind_loader_free(). */
struct unwind_loader_maps {
	int rows, pages, rules, files, mappings, processes, misses;
	uint32_t *generation; /* moves on after each change of an entry of processes */
};

struct unwind_loader_options {
	bool only_relatives; /* follow the snapshot's processes and their descendants only */
	/* build the table of a file only when a walk misses it: raw stacks then fill the gap */
	bool on_demand;
	/* Borrowed; outlives the loader. What it opens stays open there, for whoever names its code
	 * after it has been deleted. */
	struct mapped_file_table *files;
	const struct log *log;
	/* Told of code that was found in procfs though no record had announced it, during
	 * unwind_loader_poll(): a record was lost, or it was moved by mremap(), for which there is
	 * none. */
	struct event_sink found;
};

struct unwind_loader_stats {
	struct table_cache_stats tables;
	uint32_t processes; /* followed */
	uint64_t mappings;  /* places taken in the mappings array */
	uint64_t misses;    /* notices of the BPF side */
	uint64_t rescans;   /* procfs read again because of them */
	uint64_t publications;
	uint64_t refused; /* publications for which a map had no room */
};

struct unwind_loader;

/* -EPERM, -ENOMEM, -EINVAL (maps too small). Starts the building thread. */
int unwind_loader_new(const struct unwind_loader_maps *maps,
		      const struct unwind_loader_options *options,
		      struct unwind_loader **ret_loader, struct error *error);
void unwind_loader_free(struct unwind_loader *loader);
struct event_sink unwind_loader_sink(struct unwind_loader *loader);
/* Publishes what has changed, looks at processes the BPF side missed, collects garbage now and
 * then. */
void unwind_loader_poll(struct unwind_loader *loader);
/* Whether something waits for a poll in about 10 ms to be published. */
bool unwind_loader_postpones(const struct unwind_loader *loader);
/* Readable when the BPF side misses something. */
int unwind_loader_fd(const struct unwind_loader *loader);
/* Publishes, then sleeps until every table asked for so far is there; false: time is over. */
bool unwind_loader_wait_ready(struct unwind_loader *loader, uint64_t timeout_ns);
/* Whether every table asked for is there. */
bool unwind_loader_idle(struct unwind_loader *loader);
struct unwind_loader_stats unwind_loader_stats(struct unwind_loader *loader);
struct table_cache *unwind_loader_tables(struct unwind_loader *loader);
struct process_tracker *unwind_loader_processes(struct unwind_loader *loader);
struct generated_code *unwind_loader_generated(struct unwind_loader *loader);

#endif
