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
	struct u32_list pids; /* the targets named, then those that belong to them */
	uint32_t *tids;
	char *comm;
	struct kernel_types *kernel_types; /* until the object is loaded */
	struct pkbpf_bpf *skeleton;
	struct ring_reader *ring;
	struct bpf_link *lifecycle[5];
	struct perf_sideband *sideband;
	struct session_unwind *unwind;	    /* NULL: frame pointers */
	struct resource_account *resources; /* NULL: not wanted */
	struct cpu_watch *cpus;
	uint32_t most_cpus; /* online at one time */
	struct event_queue *queue;
	struct event_buffer buffer;
	struct event_sink sink;
	struct program_clock *program_clock; /* NULL: unknown to the kernel */
	int epoll_fd, cgroup_fd;
	int types_fd;	 /* types to relocate by, until the object is loaded; -1: none */
	int caller_fd;	 /* in the epoll set; -1: none */
	bool was_called; /* the last wait ended because of a descriptor */
	struct drain_pace pace;
	uint64_t last_look_ns, last_sideband_ns;
	uint64_t malformed; /* records the queue refused */
	uint64_t sideband_lost;
	uint64_t lost_made_up; /* of these, what procfs has been read for */
	uint64_t next_read_again_ns;
	uint64_t cpus_arrived;
	bool cpus_announced; /* there is something to read of them */
	bool out_of_memory;
};

/* What has woken the session, in its epoll set. */
enum { TAG_SIDEBAND = 1, TAG_RING = 2, TAG_CALLER = 3, TAG_CPUS = 4 };

/* session_stream.c */
/* Hands the records collected in session->buffer to the stream. */
void session_accept_buffer(struct session *session);
/* The same for one record of a ring; context: the session. 0. */
int session_take_ring_record(void *context, void *data, size_t size);
/* Whenever the CPUs that are online have changed. */
void session_note_cpu_count(struct session *session);

/* session_load.c */
int session_open_object(struct session *session, struct error *error);
/* Sizes the maps of the opened object, chooses its programs, and tells them what is wanted. */
int session_configure_object(struct session *session, struct error *error);
/* Gives back what only loading needs. */
void session_forget_kernel_types(struct session *session);

/* session_targets.c */
/* Keeps the caller's options, with lists and texts of our own. -ENOMEM. */
int session_copy_options(struct session *session, const struct session_options *options);
/* Tells the loaded programs who the targets are. */
int session_fill_targets(const struct session *session, struct error *error);
/* Once the end of targets is seen in the kernel: of one that ended before, the number may become a
 * stranger's. */
void session_forget_ended_targets(const struct session *session);
/* Adds living children of the targets; those started from now on are followed in the kernel. */
int session_add_relatives(struct session *session, struct error *error);
/* Appends to session->buffer what the stream must know of the past, stamped time_ns: of the targets
 * when they are given by number, else of everybody. */
int session_take_snapshot(struct session *session, uint64_t time_ns, struct error *error);

#endif
