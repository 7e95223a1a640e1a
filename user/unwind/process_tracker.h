/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracks the executable mappings of each process from process and mapping records in any order.
 * Records of one process come from several CPUs, so times decide. One owner thread.
 */
#ifndef PKBPF_UNWIND_PROCESS_TRACKER_H
#define PKBPF_UNWIND_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

#include "event/event_sink.h"
#include "unwind/code/code_map.h"

struct tracked_process {
	uint32_t pid;
	uint32_t parent_pid;   /* 0: unknown */
	struct code_map *map;  /* NULL: no mapping known */
	uint64_t born_ns;      /* time of fork; 0: unknown */
	uint64_t exec_ns;      /* start of its image; 0: before the tracker started */
	uint64_t scanned_ns;   /* maps read from procfs; older records are ignored */
	uint64_t exit_ns;      /* exit of its leader; 0: alive */
	uint64_t miss_ns;      /* last re-read of its maps on request */
	uint64_t miss_wait_ns; /* minimum time to the next one */
	bool changed;	       /* since process_tracker_take_changed() */
	bool urgent;	   /* the change is waited for, or the last taken state is wrong by now */
	uint64_t taken_ns; /* last process_tracker_take_changed(); 0: not in this life */
	uint32_t taken_count;  /* mappings at that time */
	uint64_t published_ns; /* set by the owner: its entry was written; 0: it has none */
	bool missed;	       /* set by the owner: the entry was found missing */
	/* set by the owner: its Python interpreter, and whether its threads were looked at */
	struct pkbpf_python_process python;
	bool python_looked;
	uint64_t ruby_look_ns;	/* the next look at its Ruby is not before this */
	uint64_t ruby_pause_ns; /* between the last look, which found nothing, and that */
};

struct process_tracker_ops {
	/* Returns the value for mapping->file. */
	uint32_t (*file_of)(void *context, const struct mapping_view *mapping);
	/* A map without users, just before it is freed. May be NULL. */
	void (*map_done)(void *context, struct code_map *map);
	void *context;
};

struct process_tracker;

/* only_relatives: tracks only processes of the snapshot, those added by process_tracker_follow(),
 * and descendants of both. */
struct process_tracker *process_tracker_new(const struct process_tracker_ops *ops,
					    bool only_relatives);
void process_tracker_free(struct process_tracker *tracker);
void process_tracker_on_task(struct process_tracker *tracker, const struct task_view *task);
void process_tracker_on_mapping(struct process_tracker *tracker,
				const struct mapping_view *mapping);
/* NULL: unknown. Valid until the process is forgotten. */
struct tracked_process *process_tracker_find(struct process_tracker *tracker, uint32_t pid);
/* Adds the process when it is unknown. NULL: out of memory. */
struct tracked_process *process_tracker_follow(struct process_tracker *tracker, uint32_t pid);
/* Replaces its mappings by a complete list as of time_ns; takes over the reference. */
void process_tracker_replace(struct process_tracker *tracker, struct tracked_process *process,
			     struct code_map *map, uint64_t time_ns);
/* Returns its map. When it equals the parent's, the process shares the parent's map from now on:
 * hundreds of forked workers found at start need one map. */
struct code_map *process_tracker_share_with_parent(struct process_tracker *tracker,
						   struct tracked_process *process);
void process_tracker_forget(struct process_tracker *tracker, uint32_t pid);
void process_tracker_mark_changed(struct process_tracker *tracker, struct tracked_process *process);
/* Returns one process whose map changed, and clears its mark; NULL: none is due. A change that only
 * adds mappings is delayed until it is an eighth of the map or ten milliseconds old, so that a
 * program that maps many libraries is not returned for each. */
struct tracked_process *process_tracker_take_changed(struct process_tracker *tracker,
						     uint64_t now_ns);
/* Returns whether changes remain that are not due yet; they will be within about 10 ms. */
bool process_tracker_has_changed(const struct process_tracker *tracker);
/* Visits all processes in no order; the callback may forget the process it gets. */
void process_tracker_visit(struct process_tracker *tracker,
			   void (*visit)(void *context, struct tracked_process *process),
			   void *context);
/* Sets is_used for the numbers (below `count`) of all files that a process has mapped. */
void process_tracker_mark_files(const struct process_tracker *tracker, bool *is_used, size_t count);
size_t process_tracker_count(const struct process_tracker *tracker);

/* Returns whether the process has exactly this mapping. */
bool process_tracker_has(const struct tracked_process *process, const struct mapping *code);
/* Converts a record to an executable mapping; false: it is none. */
bool process_tracker_code_of(struct process_tracker *tracker, const struct mapping_view *mapping,
			     struct mapping *ret_code);

#endif
