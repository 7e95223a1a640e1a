/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the session. */
#ifndef PKBPF_CAPTURE_SESSION_SESSION_PRIVATE_H
#define PKBPF_CAPTURE_SESSION_SESSION_PRIVATE_H

#include "base/parse_value.h"
#include "capture/cpu_watch.h"
#include "capture/session/drain_pace.h"
#include "capture/session/session.h"
#include "event/encoder.h"

struct bpf_link;
struct event_queue;
struct perf_sideband;
struct program_clock;
struct resource_account;
struct ring_reader;
struct session_unwind;

struct session {
	struct session_options options;
	struct u32_list pids; /* the targets given, then the processes followed */
	uint32_t *tids;
	uint64_t cgroup_ids[PKBPF_TARGET_CGROUPS_MAX]; /* of the target cgroups; 0: none */
	char *comm;
	struct kernel_types *kernel_types; /* until the object is loaded */
	struct pkbpf_bpf *skeleton;
	struct ring_reader *ring;
	struct bpf_link *lifecycle[5];
	struct perf_sideband *sideband;
	struct session_unwind *unwind;	    /* NULL: unwinding by frame pointers */
	struct resource_account *resources; /* NULL: not wanted */
	struct cpu_watch *cpus;
	uint32_t most_cpus; /* maximum online at one time */
	struct event_queue *queue;
	struct event_buffer buffer;
	struct event_sink sink;
	struct program_clock *program_clock; /* NULL: not supported by the kernel */
	int epoll_fd;
	int types_fd;	 /* types for relocation, until the object is loaded; -1: none */
	int caller_fd;	 /* in the epoll set; -1: none */
	bool was_called; /* the last wait ended because of a descriptor */
	struct drain_pace pace;
	uint64_t last_look_ns, last_sideband_ns;
	uint64_t malformed; /* records refused by the queue */
	uint64_t sideband_lost;
	uint64_t lost_made_up; /* lost records already made up for by reading procfs */
	uint64_t next_read_again_ns;
	uint64_t cpus_arrived;
	bool cpus_announced; /* uevents of CPUs are waiting */
	bool out_of_memory;
};

/* Tags in the epoll set: what woke the session. */
enum { TAG_SIDEBAND = 1, TAG_RING = 2, TAG_CALLER = 3, TAG_CPUS = 4 };

/* session_stream.c */
/* Moves the records in session->buffer to the stream. */
void session_accept_buffer(struct session *session);
/* Adds one record of a ring; context: the session. Returns 0. */
int session_take_ring_record(void *context, void *data, size_t size);
/* Call whenever the online CPUs have changed. */
void session_note_cpu_count(struct session *session);

/* session_load.c */
int session_open_object(struct session *session, struct error *error);
/* Sizes the maps of the opened object, chooses its programs, and sets their configuration. */
int session_configure_object(struct session *session, struct error *error);
/* Frees the types, which only loading needs. */
void session_forget_kernel_types(struct session *session);

/* session_targets.c */
/* Stores a deep copy of the caller's options. -ENOMEM. */
int session_copy_options(struct session *session, const struct session_options *options);
/* Writes the targets to the maps of the loaded programs. */
int session_fill_targets(struct session *session, struct error *error);
/* Removes targets that exited before the kernel side saw exits: their pids may be reused. */
void session_forget_ended_targets(const struct session *session);
/* Adds existing children of the targets. The kernel side follows those started from now on. */
int session_add_relatives(struct session *session, struct error *error);
/* Appends a snapshot of the past to session->buffer, stamped time_ns: of the target processes
 * when they are given by pid, else of all processes. */
int session_take_snapshot(struct session *session, uint64_t time_ns, struct error *error);

#endif
