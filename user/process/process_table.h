/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes there are and what each has mapped, as of the last record fed in. Feed it records
 * in time order (it is an event sink); ask it between records. One owner thread.
 *
 * A process incarnation is one program image: exec ends one and begins the next under the same pid,
 * a reused pid begins another. An incarnation that a sample referred to (process_table_get) keeps
 * its id, comm, pid and times for good, so that results can name it. One that nobody referred to is
 * forgotten PROCESS_LATE_NS after its end, or when PROCESS_RECENT_MAX ended after it, and its id is
 * given to a later one: thousands of short processes between two samples leave nothing behind.
 *
 * Mappings are dropped when an incarnation ends by exec or because its pid is reused; after an exit
 * they stay for PROCESS_GRACE_NS of stream time (for at most PROCESS_GRACE_MAX processes), for
 * samples that sort slightly later. A mapping record without PROT_EXEC only removes what was mapped
 * in its range.
 *
 * Threads: a process ends with its last thread, whichever that is; exec leaves one. A process whose
 * threads nobody announced (made for a sample) counts as having its leader.
 *
 * Whoever keeps results can tell ended incarnations together, in groups, so that those of a run
 * without an end do not take ever more memory: process_table_merge().
 *
 * Bounds, all counted in process_table_dropped() when reached: PROCESS_TABLE_MAX incarnations and
 * as many threads, PROCESS_TABLE_MAX_MAPPINGS mappings of all processes together (copies after fork
 * share until one changes).
 */
#ifndef PKBPF_PROCESS_PROCESS_TABLE_H
#define PKBPF_PROCESS_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "event/event_sink.h"
#include "process/address_space.h"
#include "process/file/mapped_file.h"

#define PROCESS_GRACE_NS  200000000ULL
#define PROCESS_GRACE_MAX 1024
/* What is counted in the kernel comes at most this long after it happened: it is sent once a
 * second. */
#define PROCESS_LATE_NS		   5000000000ULL
#define PROCESS_RECENT_MAX	   32768
#define PROCESS_TABLE_MAX	   (1U << 22) /* the kernel's own limit of pids */
#define PROCESS_TABLE_MAX_MAPPINGS (4U << 20)

struct process {
	uint32_t id; /* dense incarnation number, from 0 */
	uint32_t pid;
	uint32_t parent_pid;
	char comm[PKBPF_COMM_SIZE + 1];	       /* of the thread-group leader */
	char comm_before[PKBPF_COMM_SIZE + 1]; /* until it executed this image; empty: not known */
	uint64_t start_ns;		       /* 0: before the interval */
	/* the same of the first one of the process, which has called exec since */
	uint64_t born_ns;
	uint64_t end_ns; /* 0: still alive */
	/* nobody has announced it: when it was first heard of; else 0 */
	uint64_t heard_ns;
	bool started_inside, execed;
	uint64_t cgroup_id;    /* last seen in a sample, 0 unknown */
	uint32_t thread_count; /* alive now */
	uint32_t members;      /* of a group: its processes; 0: it is one process */
};

struct process_table;

struct process_table *process_table_new(struct mapped_file_table *files);
void process_table_free(struct process_table *table);
/* Handles on_task and on_mapping. */
struct event_sink process_table_sink(struct process_table *table);
/* The incarnation a sample of pid belongs to: the living one, the one that ended last when that was
 * within the grace time, else a new one (empty, comm as given). It is kept for good. NULL: out of
 * memory or too many. The pointer lives as long as the table. */
struct process *process_table_get(struct process_table *table, uint32_t pid, const char *comm);
/* The same for what comes some time after it happened, when the process may be long gone: unless it
 * is alive, the one that had the pid last, if that is not forgotten. */
struct process *process_table_get_late(struct process_table *table, uint32_t pid, const char *comm);
/* As process_table_get() without making or keeping one: NULL when not known. The pointer of an
 * incarnation that no sample referred to lives until the next record. */
struct process *process_table_find(struct process_table *table, uint32_t pid);
/* NULL: no incarnation has this id (any more). */
struct process *process_table_by_id(struct process_table *table, uint32_t id);
/* All ids are below this; some may be unused. */
size_t process_table_count(const struct process_table *table);
/* Mappings of a process that lives or ended within the grace time; NULL when it has none known. */
const struct address_space *process_table_mappings(const struct process_table *table,
						   const struct process *process);
/* Time of the last record. */
uint64_t process_table_now_ns(const struct process_table *table);

/* Is this thread of the incarnation alive, as far as anybody has announced it? */
bool process_table_thread_lives(const struct process_table *table, uint32_t id, uint32_t tid);
/* Threads that exited so far before their process. */
uint64_t process_table_ended_threads(const struct process_table *table);

/* Has a sample referred to it, and was there news of it since that time: a thread more or less, its
 * end, another name? */
bool process_table_has_news(const struct process_table *table, uint32_t id, uint64_t since_ns);
/* Has it ended, for longer than the grace time, and is it kept for its name? */
bool process_table_is_kept(const struct process_table *table, uint32_t id);
size_t process_table_kept_count(const struct process_table *table);
bool process_table_is_group(const struct process_table *table, uint32_t id);
/* Is its number one to show: that of a single process, and not what stands for write-back? NULL:
 * no. */
bool process_has_pid(const struct process *process);
/* For groups of processes: without a pid, kept for good. NULL: out of memory or too many. */
struct process *process_table_add_group(struct process_table *table, const char *comm,
					uint64_t cgroup_id);
/* For tables that nothing is fed into: the incarnation of another table that this one is about, by
 * its pid and times or, of a group, its name and cgroup; added when there is none, else joined, as
 * seen later. NULL: out of memory or too many. */
struct process *process_table_put(struct process_table *table, const struct process *process);
/* The living incarnation, or the one within its grace time, of the process that this ended one was
 * before an exec. NULL: none. */
const struct process *process_table_next_image(const struct process_table *table,
					       const struct process *process);
/* A kept incarnation becomes part of a group, or of its process's next image, which is kept then,
 * too. With needs_name it can still be found by its id; without, its id is given to a later one,
 * and the caller knows of nobody who uses it. */
void process_table_merge(struct process_table *table, uint32_t id, uint32_t into, bool needs_name);
/* Nobody uses this id any more: if it is that of a member of a group, it is given to a later
 * incarnation. */
void process_table_release_member(struct process_table *table, uint32_t id);

/* Forgets those that have ended, and groups, but for the ids that are used: nobody refers to the
 * others any more. is_used has room for all ids. */
void process_table_release(struct process_table *table, const bool *is_used);

struct mapped_file_table *process_table_files(struct process_table *table);
/* Sets the ids of all files that somebody has mapped; is_used has room for all there are. */
void process_table_mark_files(const struct process_table *table, bool *is_used);
uint64_t process_table_dropped(
	const struct process_table *table); /* mappings or tasks not kept, for counters */

#endif
