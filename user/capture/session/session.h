/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One live capture: the loaded BPF object, the rings it fills, and the side-band of process events;
 * delivers one record stream in time order. One owner thread; steps in this order:
 *
 *	session_new → (sources configure it) → session_load → session_start → (sources attach)
 *	→ session_wait / session_look … → (sources detach) → session_stop → session_free
 */
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

struct session_options {
	enum pkbpf_target_mode target_mode;
	const uint32_t *pids; /* PROCESS mode */
	size_t pid_count;
	const uint32_t *tids; /* THREAD mode */
	size_t tid_count;
	const char *cgroup_path; /* CGROUP mode: a folder in the cgroup file system */
	const char *comm;	 /* only processes with this comm; NULL: all */
	enum pkbpf_follow follow;
	bool want_user_stack, want_kernel_stack;
	bool want_resources; /* what every thread has used */
	enum pkbpf_unwind_mode unwind_mode;
	uint64_t unwind_table_bytes; /* most memory of unwind tables; 0: the default */
	uint32_t kinds_mask;	     /* 1 << enum pkbpf_profile_kind */
	bool can_wait; /* records of these kinds can wait in the rings, and be unwound later */
	uint32_t frequency_hz;
	bool per_thread;      /* sources keep the threads of a process apart */
	uint32_t waiting_pid; /* a command of ours that begins when the interval does; 0: none */
	uint64_t ring_bytes;  /* 0: chosen from the number of CPUs */
	/* What processes have mapped, for the unwinder; the sink feeds it with the stream. Borrowed
	 * until session_free. */
	struct process_table *processes;
	const struct log *log;
};

struct session;

/* Opens the BPF object. From here to the end of the interval the calling thread, which reads the
 * rings, has a raised priority (base/thread_priority.h): a busy machine makes twenty seconds of
 * loading without it, and what does not fit in the rings is lost. Errors (all functions here):
 * -EPERM/-EACCES: this user may not; -ENOTSUP: this kernel cannot (no BTF, too old); -ESRCH: a
 * target does not exist; others as they come. The error's text is ready to print. */
int session_new(const struct session_options *options, struct session **ret_session,
		struct error *error);
/* Verifies and loads what the configured sources need. */
int session_load(struct session *session, struct error *error);
/* Opens the side-band, then takes the snapshot of what already runs. Records go to sink from now
 * on, in time order. The sink is borrowed until session_free. */
int session_start(struct session *session, const struct event_sink *sink, struct error *error);
/* The interval begins and ends: after the sources are attached, and before they are detached. If it
 * is wanted, reads what every thread of the targets has used. */
int session_begin_interval(struct session *session, struct error *error);
int session_end_interval(struct session *session, struct error *error);
/* Ends a slice of the interval and begins the next, which has this number: after the sources have
 * sent what belongs to the one that ends. What every thread has used is read, if it is wanted; the
 * cut is made even where that fails. */
int session_cut(struct session *session, uint64_t sequence, struct error *error);
/* Sleeps until there is something to do: side-band data, `fd` readable (-1: none), or timeout_ms.
 * -EINTR: a signal. */
int session_wait(struct session *session, int fd, int timeout_ms);
/* Takes what the rings hold and delivers what is old enough to be in order. Negative errno only
 * when broken. */
int session_drain(struct session *session);
/* The same, but leaves CPU samples in their ring for some seconds when nothing else has happened
 * since they were taken in. */
int session_look(struct session *session);
/* After the sources are detached: drains and delivers everything that is left, reads the final
 * counters. */
int session_stop(struct session *session);
void session_free(struct session *session);

/* Sets the ids of mapped files (of session_options.processes) that the session uses, as far as they
 * are below `count`. */
void session_mark_files(struct session *session, bool *is_used, size_t count);
/* Forgets all others, whose ids are about to be given to other files. */
void session_forget_files(struct session *session, const bool *is_used, size_t count);
/* Current counters, in-kernel and of the readers. */
void session_counters(struct session *session, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* Text of a kernel address as the kernel prints it, see capture/kernel/kernel_namer.h. false: this
 * kernel cannot tell. */
bool session_name_kernel_address(struct session *session, uint64_t address, char *text,
				 size_t size);
/* How much of the time the BPF programs ran lately; number 0: not known. */
struct program_share session_program_share(const struct session *session);
/* Time the BPF programs have run since session_start, as far as capture/program_clock.h can tell;
 * false: unknown. */
bool session_bpf_time_ns(const struct session *session, uint64_t *ret_ns);
/* Processes that were targets when the session started: those named and those followed. */
size_t session_target_count(const struct session *session);
struct u32_list;
/* Of PKBPF_TARGET_PROCESS: the processes that are targets by now, those whose end has not been
 * reaped included. The caller frees the list, which has memory of its own even when it is empty:
 * NULL would mean everybody. -ENOMEM. */
int session_targets_now(const struct session *session, struct u32_list *ret_pids);
/* The most CPUs that were online at one time. */
uint32_t session_cpu_count(const struct session *session);

/* For sources. */
struct kernel_types;
/* What the programs need to know of the running kernel, until session_load. Borrowed. */
const struct kernel_types *session_kernel_types(const struct session *session);
struct cpu_list;
const struct cpu_list *
session_cpus(const struct session *session); /* online now; followed by session_look */
struct pkbpf_bpf *session_skeleton(struct session *session);
const struct session_options *session_options(const struct session *session);
/* Data in this descriptor, which outlives the session's waiting, ends session_wait(), too. Negative
 * errno. */
int session_watch(struct session *session, int fd);
/* Puts a source's own records (totals it has drained) into the stream, in order of their times, and
 * empties buffer. */
struct event_buffer;
void session_add_records(struct session *session, struct event_buffer *buffer);

#endif
