/* SPDX-License-Identifier: BSD-2-Clause */
/* One live capture: the loaded BPF object, its rings, and the side-band of process events.
 * Delivers one record stream in time order. One owner thread; steps in this order:
 *
 *	session_new → (sources configure it) → session_load → session_start → (sources attach)
 *	→ session_wait / session_look … → (sources detach) → session_stop → session_free */
#ifndef PKBPF_CAPTURE_SESSION_SESSION_H
#define PKBPF_CAPTURE_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/counter.h>

#include "base/error.h"
#include "base/log.h"
#include "capture/program_clock.h"
#include "event/event_sink.h"

struct pkbpf_bpf; /* the skeleton */

struct process_table;
struct readers;
struct cgroup_paths;

struct elf_file;
struct inlined_functions;

struct session_options {
	enum pkbpf_target_mode target_mode;
	const uint32_t *pids; /* PROCESS mode */
	size_t pid_count;
	const uint32_t *tids; /* THREAD mode */
	size_t tid_count;
	/* CGROUP mode: directories in the cgroup file system; may grow (session_set_cgroup).
	 * Borrowed until session_free. */
	const struct cgroup_paths *cgroups;
	const char *comm; /* only processes with this comm; NULL: all */
	enum pkbpf_follow follow;
	bool want_user_stack, want_kernel_stack;
	bool want_resources; /* resource usage of every thread */
	enum pkbpf_unwind_mode unwind_mode;
	bool want_python;	     /* Python frames in user stacks */
	uint64_t unwind_table_bytes; /* memory limit of unwind tables; 0: the default */
	uint64_t max_memory_bytes;   /* of all maps and the program; 0: no limit */
	uint32_t kinds_mask;	     /* 1 << enum pkbpf_profile_kind */
	bool can_wait; /* records of these kinds can wait in the rings and be unwound later */
	bool sparing;  /* see struct live_options */
	uint32_t frequency_hz;
	bool per_thread;      /* sources distinguish the threads of a process */
	uint32_t waiting_pid; /* the command to profile, waiting for the interval to begin; 0:
			       * none */
	const char *command;  /* its program; NULL: none. Borrowed until session_free. */
	uint64_t ring_bytes;  /* 0: chosen from the number of CPUs */
	/* Mappings of processes, for the unwinder; the sink updates it from the stream. Borrowed
	 * until session_free. */
	struct process_table *processes;
	struct readers *readers; /* borrowed; read files of targets; NULL: that is done here */
	/* Finds the functions of a file that are copied into their callers
	 * (elf/inlined_functions.h, symbol/dwarf/inlined_copies.h), of which sources know nothing
	 * themselves. NULL: nobody does. */
	int (*find_inlined)(const struct elf_file *file,
			    bool (*is_meant)(void *context, const char *name, char *ret_name),
			    void *context, struct inlined_functions *functions);
	const struct log *log;
};

struct session;

/* Opens the BPF object. Until the end of the interval the calling thread, which reads the rings,
 * has a raised priority (base/thread_priority.h): at normal priority a busy machine makes twenty
 * seconds of loading, and records that do not fit in the rings are lost. Errors of all functions
 * here: -EPERM/-EACCES: the user lacks permission; -ENOTSUP: the kernel lacks a feature (no BTF,
 * too old); -ESRCH: a target does not exist; others as they come. The error's text is ready to
 * print. */
int session_new(const struct session_options *options, struct session **ret_session,
		struct error *error);
/* Verifies and loads the programs of the configured sources. */
int session_load(struct session *session, struct error *error);
/* Opens the side-band, then takes a snapshot of the running processes, which the sink has when this
 * returns. Records go to it from now on, in time order. It is borrowed until session_free. */
int session_start(struct session *session, const struct event_sink *sink, struct error *error);
/* Begin and end the interval: after the sources are attached, and before they are detached. With
 * want_resources, read the resource usage of every target thread. */
int session_begin_interval(struct session *session, struct error *error);
int session_end_interval(struct session *session, struct error *error);
/* Ends a slice of the interval and begins slice `sequence`. Call it after the sources have sent
 * everything of the old slice. With want_resources, reads the usage of every thread; the cut is
 * made even if that fails. */
int session_cut(struct session *session, uint64_t sequence, struct error *error);
/* Sleeps until there is work: side-band data, `fd` readable (-1: none), or timeout_ms. -EINTR: a
 * signal. */
int session_wait(struct session *session, int fd, int timeout_ms);
/* Drains the rings and delivers records that are old enough to be in order. A negative errno
 * means that the session is broken. */
int session_drain(struct session *session);
/* The same, but leaves CPU samples in their ring for some seconds when nothing else has happened
 * since the last drain. */
int session_look(struct session *session);
/* Drains and delivers everything left and reads the final counters. Only after the sources are
 * detached. */
int session_stop(struct session *session);
void session_free(struct session *session);

/* Sets is_used for the ids of mapped files (of session_options.processes) that the session uses,
 * below `count`. */
void session_mark_files(struct session *session, bool *is_used, size_t count);
/* Forgets all other ids, which are about to be reused for other files. */
void session_forget_files(struct session *session, const bool *is_used, size_t count);
/* Current counters, of the kernel side and of the readers. */
void session_counters(struct session *session, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* The kernel's text for an address, see capture/kernel/kernel_namer.h. false: not supported by
 * this kernel. */
bool session_name_kernel_address(struct session *session, uint64_t address, char *text,
				 size_t size);
/* Where the kernel has a function, see capture/kernel/kernel_namer.h. */
bool session_find_kernel_function(struct session *session, const char *function,
				  uint64_t *ret_address);
/* The recent overhead of the BPF programs; number 0: unknown. */
struct program_share session_program_share(const struct session *session);
/* What the programs leave out from now on. */
void session_shed(struct session *session, const struct pkbpf_shed_control *shed);
/* The same, as it was set last. */
struct pkbpf_shed_control session_shed_now(const struct session *session);
/* False: the process is neither a target nor forked from one. */
bool session_follows(const struct session *session, uint32_t pid);
/* Where the code of our programs is, see program_code.h; after session_load(). */
int session_each_code(const struct session *session,
		      int (*take)(void *context, uint64_t start, uint64_t length), void *context);
/* Run time of the BPF programs since session_start, as measured by capture/program_clock.h;
 * false: unknown. */
bool session_bpf_time_ns(const struct session *session, uint64_t *ret_ns);
struct u32_list;
/* The current target processes of PKBPF_TARGET_PROCESS, including exited ones not yet reaped.
 * The caller frees the list. Even an empty list has memory of its own: NULL would mean all
 * processes. -ENOMEM. */
int session_targets_now(const struct session *session, struct u32_list *ret_pids);
/* CGROUP mode: tasks below this directory are targets as well from now on, instead of those below
 * the one that had this place before. -ERANGE: more than PKBPF_TARGET_CGROUPS_MAX. */
int session_set_cgroup(struct session *session, size_t place, const char *path,
		       struct error *error);
/* Maximum number of CPUs online at one time. */
uint32_t session_cpu_count(const struct session *session);

/* For sources. */
struct kernel_types;
/* Types of the running kernel, until session_load. Borrowed. */
const struct kernel_types *session_kernel_types(const struct session *session);
struct cpu_list;
const struct cpu_list *
session_cpus(const struct session *session); /* online now; followed by session_look */
struct pkbpf_bpf *session_skeleton(struct session *session);
const struct session_options *session_options(const struct session *session);
/* Data in this descriptor also ends session_wait(). The descriptor must outlive the waits.
 * Negative errno. */
int session_watch(struct session *session, int fd);
/* Adds a source's own records (drained totals) to the stream, in order of their times, and
 * empties buffer. */
struct event_buffer;
void session_add_records(struct session *session, struct event_buffer *buffer);

#endif
