/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which code each process has mapped, from process and mapping records in any order: records of one
 * process come from several CPUs, so each is judged by its time. One owner thread.
 */
#ifndef PKBPF_UNWIND_PROCESS_TRACKER_H
#define PKBPF_UNWIND_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"
#include "unwind/code/code_map.h"

struct tracked_process {
	uint32_t pid;
	uint32_t parent_pid;  /* 0 unknown */
	struct code_map *map; /* NULL: none known */
	uint64_t born_ns;     /* fork; 0 unknown */
	uint64_t exec_ns;     /* start of its image; 0: before the tracker's time */
	uint64_t scanned_ns; /* maps were read from procfs; older mapping records say nothing new */
	uint64_t exit_ns;    /* its leader's exit; 0: alive */
	uint64_t miss_ns;    /* last reading on request */
	uint64_t miss_wait_ns; /* time to the next one at least */
	bool changed;	       /* since process_tracker_take_changed() */
	bool urgent; /* somebody waits for the change, or what was taken last is wrong by now */
	uint64_t taken_ns;    /* process_tracker_take_changed() has shown it; 0: not in this life */
	uint32_t taken_count; /* mappings that it had then */
	uint64_t published_ns; /* the owner's notes: its entry was written; 0: it has none */
	bool missed;	       /* and was found missing */
};

struct process_tracker_ops {
	/* As mapping->file. */
	uint32_t (*file_of)(void *context, const struct mapping_view *mapping);
	/* A map that nobody uses any more, just before it is freed. May be NULL. */
	void (*map_done)(void *context, struct code_map *map);
	void *context;
};

struct process_tracker;

/* only_relatives: follow only processes of the snapshot, those asked for by
 * process_tracker_follow() and descendants of both. */
struct process_tracker *process_tracker_new(const struct process_tracker_ops *ops,
					    bool only_relatives);
void process_tracker_free(struct process_tracker *tracker);
void process_tracker_on_task(struct process_tracker *tracker, const struct task_view *task);
void process_tracker_on_mapping(struct process_tracker *tracker,
				const struct mapping_view *mapping);
/* NULL: not known. Lives until the process is forgotten. */
struct tracked_process *process_tracker_find(struct process_tracker *tracker, uint32_t pid);
/* The same, added when it is not known. NULL: out of memory. */
struct tracked_process *process_tracker_follow(struct process_tracker *tracker, uint32_t pid);
/* Replaces its mappings by a complete list that was true at time_ns; takes the reference. */
void process_tracker_replace(struct process_tracker *tracker, struct tracked_process *process,
			     struct code_map *map, uint64_t time_ns);
/* Its map, which is its parent's from now on when the two are equal: of hundreds of forked workers
 * that were found running, one map remains. */
struct code_map *process_tracker_share_with_parent(struct process_tracker *tracker,
						   struct tracked_process *process);
void process_tracker_forget(struct process_tracker *tracker, uint32_t pid);
void process_tracker_mark_changed(struct process_tracker *tracker, struct tracked_process *process);
/* One process whose map changed, its mark removed; NULL: no more. A program that maps one library
 * after another is not shown for each: what only adds to what was taken waits until that is an
 * eighth more or ten milliseconds old. */
struct tracked_process *process_tracker_take_changed(struct process_tracker *tracker,
						     uint64_t now_ns);
/* Whether some are left that are not due yet: they are within about 10 ms. */
bool process_tracker_has_changed(const struct process_tracker *tracker);
/* All of them, in no order; the callback may forget the one it is shown. */
void process_tracker_visit(struct process_tracker *tracker,
			   void (*visit)(void *context, struct tracked_process *process),
			   void *context);
/* Sets the numbers of all files that somebody has mapped, as far as they are below `count`. */
void process_tracker_mark_files(const struct process_tracker *tracker, bool *is_used, size_t count);
size_t process_tracker_count(const struct process_tracker *tracker);

/* Whether exactly this mapping is known of the process. */
bool process_tracker_has(const struct tracked_process *process, const struct mapping *code);
/* The code mapping that a record announces; false: it is none. */
bool process_tracker_code_of(struct process_tracker *tracker, const struct mapping_view *mapping,
			     struct mapping *ret_code);

#endif
