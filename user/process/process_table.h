/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes and their mappings as of the last record. It is an event sink; feed records in time
 * order and query between records. One owner thread.
 *
 * A process incarnation is one program image: exec ends one and begins the next under the same
 * pid; a reused pid begins another. An incarnation that a sample referred to (process_table_get)
 * keeps its id, comm, pid and times, so that results can name it. Any other is forgotten
 * PROCESS_LATE_NS after its end, or when PROCESS_RECENT_MAX ended after it, and its id is
 * reused. So thousands of short-lived processes between two samples take no memory.
 *
 * Mappings are dropped when an incarnation ends by exec or by reuse of its pid. After an exit
 * they stay for PROCESS_GRACE_NS of stream time (for at most PROCESS_GRACE_MAX processes), for
 * samples that sort slightly later. A mapping record without PROT_EXEC only removes mappings in
 * its range.
 *
 * Threads: a process ends with its last thread, whichever that is; exec leaves one. A process
 * without thread records (created for a sample) counts as having its leader.
 *
 * Owners of results can merge exited incarnations into groups with process_table_merge(), so
 * that an endless record does not grow without bound.
 *
 * Bounds, counted in process_table_dropped() when reached: PROCESS_TABLE_MAX incarnations and as
 * many threads, PROCESS_TABLE_MAX_MAPPINGS mappings of all processes together (copies after fork
 * share until one changes). */
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
/* Maximum delay of records that are aggregated in the kernel: they are sent once a second. */
#define PROCESS_LATE_NS		   5000000000ULL
#define PROCESS_RECENT_MAX	   32768
#define PROCESS_TABLE_MAX	   (1U << 22) /* the kernel's own limit of pids */
#define PROCESS_TABLE_MAX_MAPPINGS (4U << 20)

struct process {
	uint32_t id; /* dense incarnation number, from 0 */
	uint32_t pid;
	uint32_t parent_pid;
	char comm[PKBPF_COMM_SIZE + 1];	       /* of the thread-group leader */
	char comm_before[PKBPF_COMM_SIZE + 1]; /* before it executed this image; empty: unknown */
	uint64_t start_ns;		       /* 0: before the interval */
	/* the same of the first image of a process that has called exec since */
	uint64_t born_ns;
	uint64_t end_ns; /* 0: still running */
	/* time of the first record when there was no fork record; else 0 */
	uint64_t heard_ns;
	bool started_inside, execed;
	uint64_t cgroup_id;    /* last seen in a sample, 0: unknown */
	uint32_t thread_count; /* alive now */
	uint32_t members;      /* number of processes in a group; 0: a single process */
	/* Read when a sample first referred to it, if it still lived; not part of recordings. */
	struct process_home {
		bool is_known;
		bool is_ours;	   /* its mounts and root directory are those of this program */
		uint32_t uid, gid; /* its rights to files */
	} home;
};

struct process_table;

struct process_table *process_table_new(struct mapped_file_table *files);
void process_table_free(struct process_table *table);
/* Handles on_task and on_mapping. */
struct event_sink process_table_sink(struct process_table *table);
/* The incarnation for a sample of pid: the living one; else the last exited one within its grace
 * time; else a new one (empty, with this comm). Its id is kept. NULL: out of memory or too many.
 * The pointer is valid as long as the table. */
struct process *process_table_get(struct process_table *table, uint32_t pid, const char *comm);
/* The same for records that arrive some time after the event, when the process may have exited:
 * without a living incarnation, the last one of the pid, unless it is forgotten. */
struct process *process_table_get_late(struct process_table *table, uint32_t pid, const char *comm);
/* As process_table_get(), but does not create or keep an incarnation: NULL when unknown. Without
 * a sample that refers to it, the pointer is valid until the next record. */
struct process *process_table_find(struct process_table *table, uint32_t pid);
/* NULL: no incarnation has this id, or no longer. */
struct process *process_table_by_id(struct process_table *table, uint32_t id);
/* All ids are below this; some may be unused. */
size_t process_table_count(const struct process_table *table);
/* Mappings of a process that is running or within its grace time; NULL: none known. */
const struct address_space *process_table_mappings(const struct process_table *table,
						   const struct process *process);
/* Time of the last record. */
uint64_t process_table_now_ns(const struct process_table *table);

/* True when this thread of the incarnation is alive, according to the records. */
bool process_table_thread_lives(const struct process_table *table, uint32_t id, uint32_t tid);
/* Number of threads that exited before their process. */
uint64_t process_table_ended_threads(const struct process_table *table);

/* True when a sample referred to it and it has changed since that time: a thread started or
 * exited, its end, its name. */
bool process_table_has_news(const struct process_table *table, uint32_t id, uint64_t since_ns);
/* True when its grace time is over and it is kept only for its name. */
bool process_table_is_kept(const struct process_table *table, uint32_t id);
size_t process_table_kept_count(const struct process_table *table);
bool process_table_is_group(const struct process_table *table, uint32_t id);
/* True when the pid is worth showing: of a single process, not the substitute for write-back.
 * Accepts NULL: false. */
bool process_has_pid(const struct process *process);
/* For groups of processes: without a pid, never forgotten. NULL: out of memory or too many. */
struct process *process_table_add_group(struct process_table *table, const char *comm,
					uint64_t cgroup_id);
/* For tables without a record stream: finds the same incarnation of another table, by pid and
 * times or, for a group, by name and cgroup. Adds it when missing, else merges it as the later
 * one. NULL: out of memory or too many. */
struct process *process_table_put(struct process_table *table, const struct process *process);
/* The incarnation, running or within its grace time, that this ended one became by exec. NULL:
 * none. */
const struct process *process_table_next_image(const struct process_table *table,
					       const struct process *process);
/* Merges a kept incarnation into a group, or into its process's next image, which is then kept,
 * too. With needs_name it can still be found by its id. Without, its id is reused; the caller
 * guarantees that nothing refers to it. */
void process_table_merge(struct process_table *table, uint32_t id, uint32_t into, bool needs_name);
/* Releases an id without references: when it belongs to a member of a group, it is reused. */
void process_table_release_member(struct process_table *table, uint32_t id);

/* Forgets groups and incarnations that exited PROCESS_LATE_NS ago, except used ids: nothing refers
 * to the others. is_used has room for all ids. */
void process_table_release(struct process_table *table, const bool *is_used);

struct mapped_file_table *process_table_files(struct process_table *table);
/* Sets the ids of all mapped files; is_used has room for all files. */
void process_table_mark_files(const struct process_table *table, bool *is_used);
uint64_t process_table_dropped(
	const struct process_table *table); /* mappings and tasks refused, for counters */

#endif
