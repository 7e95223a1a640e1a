/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwinder of user stacks in a session: sizes and fills its BPF maps, and unwinds raw stacks. */
#ifndef PKBPF_CAPTURE_SESSION_SESSION_UNWIND_H
#define PKBPF_CAPTURE_SESSION_SESSION_UNWIND_H

#include "capture/session/session.h"
#include "unwind/table/loader.h"
#include "unwind/raw_unwinder.h"

struct session_unwind;

/* True when user stacks are wanted and unwound with tables. */
bool session_unwinds(const struct session_options *options);
/* Call before the object is loaded. *ret_unwind is NULL when unwinding uses frame pointers or no
 * user stacks are wanted. */
int session_unwind_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			     struct session_unwind **ret_unwind, struct error *error);
/* All functions below accept NULL and do nothing then. */

/* Builds tables of running processes while the programs are loaded. Call it once the object's
 * maps exist. End it before any other call to the unwinder. */
void session_unwind_scout(struct session_unwind *unwind);
void session_unwind_end_scout(struct session_unwind *unwind);
/* Call after the object is loaded and before the snapshot. Samples and other records reach sink
 * through session_unwind_sink(). on_record gets raw-stack records, and mappings of processes
 * that no record had announced. */
int session_unwind_start(struct session_unwind *unwind, const struct event_sink *sink,
			 int (*on_record)(void *context, void *data, size_t size), void *context,
			 struct error *error);
/* The sink for time-ordered records; `sink` itself when there is no unwinder. */
struct event_sink session_unwind_sink(struct session_unwind *unwind, const struct event_sink *sink);
/* Takes one record as it arrives, in any order. */
void session_unwind_feed(struct session_unwind *unwind, const void *record, size_t size);
/* Publishes changes, after records were fed. */
void session_unwind_poll(struct session_unwind *unwind);
/* True when changes wait for a poll in about 10 ms. */
bool session_unwind_postpones(const struct session_unwind *unwind);
/* False: the process is certainly not sampled. */
bool session_unwind_follows(const struct session_unwind *unwind, uint32_t pid);
/* Drains the ring of raw stacks. */
int session_unwind_drain(struct session_unwind *unwind);
/* Waits until the tables of all known mappings are ready, so that the first sample finds them. */
void session_unwind_wait(struct session_unwind *unwind, uint64_t timeout_ns);
/* True when records should wait: tables are being built, and raw stacks can be unwound once they
 * are ready. At most for a few seconds in a row, and only while bytes_waiting is moderate. */
bool session_unwind_hold(struct session_unwind *unwind, uint64_t now_ns, size_t bytes_waiting);
/* True when tables are built only after the kernel side misses them, so that raw stacks are
 * expected. */
bool session_unwind_on_demand(const struct session_unwind *unwind);
/* Adds descriptors to the epoll set that become readable when the kernel side misses a table, or
 * when raw stacks fill their ring. Negative errno. */
int session_unwind_watch(const struct session_unwind *unwind, int epoll_fd, uint64_t tag);
/* The first sets is_used for the ids of mapped files that the unwinder uses, below `count`; the
 * second forgets all others. */
void session_unwind_mark_files(struct session_unwind *unwind, bool *is_used, size_t count);
void session_unwind_forget_files(struct session_unwind *unwind, const bool *is_used, size_t count);
/* Adds the counters of user space. */
void session_unwind_counters(struct session_unwind *unwind, uint64_t counters[PKBPF_COUNTER_COUNT]);
/* Logs the unwinder's statistics, for -v -v. */
void session_unwind_log(struct session_unwind *unwind);
/* Call before the skeleton is destroyed. */
void session_unwind_free(struct session_unwind *unwind);

#endif
