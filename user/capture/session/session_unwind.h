/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwinder of user stacks of a session: sizes and feeds its BPF maps, finishes raw stacks. */
#ifndef PKBPF_CAPTURE_SESSION_SESSION_UNWIND_H
#define PKBPF_CAPTURE_SESSION_SESSION_UNWIND_H

#include "capture/session/session.h"
#include "unwind/table/loader.h"
#include "unwind/raw_unwinder.h"

struct session_unwind;

/* Whether user stacks are wanted, and unwound with tables. */
bool session_unwinds(const struct session_options *options);
/* Before the object is loaded; *ret_unwind is NULL when frame pointers (or no user stacks) were
 * chosen. */
int session_unwind_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			     struct session_unwind **ret_unwind, struct error *error);
/* All below accept NULL and do nothing then. */

/* Between them, once the object's maps exist: has tables of what runs already built while its
 * programs are loaded, which is to end before anything else is asked of the unwinder. */
void session_unwind_scout(struct session_unwind *unwind);
void session_unwind_end_scout(struct session_unwind *unwind);
/* After the object is loaded and before the snapshot. Samples and other records go to sink by way
 * of session_unwind_sink(). Out of on_record come raw records, and code of processes that no record
 * had announced. */
int session_unwind_start(struct session_unwind *unwind, const struct event_sink *sink,
			 int (*on_record)(void *context, void *data, size_t size), void *context,
			 struct error *error);
/* Where time-ordered records go; `sink` itself when there is no unwinder. */
struct event_sink session_unwind_sink(struct session_unwind *unwind, const struct event_sink *sink);
/* One record as it arrives, in no order. */
void session_unwind_feed(struct session_unwind *unwind, const void *record, size_t size);
/* After records were fed: publishes what changed. */
void session_unwind_poll(struct session_unwind *unwind);
/* Whether changes wait for a poll in about 10 ms. */
bool session_unwind_postpones(const struct session_unwind *unwind);
/* Takes what the ring of raw stacks holds. */
int session_unwind_drain(struct session_unwind *unwind);
/* Waits until the tables of what is known so far are there, so that the first sample finds them. */
void session_unwind_wait(struct session_unwind *unwind, uint64_t timeout_ns);
/* Whether records had better wait: tables are being built, and raw stacks can be unwound when these
 * are there. True for at most a few seconds in a row and only while bytes_waiting is moderate. */
bool session_unwind_hold(struct session_unwind *unwind, uint64_t now_ns, size_t bytes_waiting);
/* Whether tables are built only when a walk misses them, so that raw stacks are expected. */
bool session_unwind_on_demand(const struct session_unwind *unwind);
/* Adds to the epoll set what becomes readable when the kernel side misses something, or when raw
 * stacks fill their ring. Negative errno. */
int session_unwind_watch(const struct session_unwind *unwind, int epoll_fd, uint64_t tag);
/* Sets the ids of mapped files that the unwinder uses, as far as they are below `count`; forgets
 * all others. */
void session_unwind_mark_files(struct session_unwind *unwind, bool *is_used, size_t count);
void session_unwind_forget_files(struct session_unwind *unwind, const bool *is_used, size_t count);
/* false: no unwinder. */
bool session_unwind_stats(struct session_unwind *unwind, struct unwind_loader_stats *ret_loader,
			  struct raw_unwinder_stats *ret_raw);
/* Adds what was counted in user space. */
void session_unwind_counters(struct session_unwind *unwind, uint64_t counters[PKBPF_COUNTER_COUNT]);
/* For -v -v: what the unwinder did. */
void session_unwind_log(struct session_unwind *unwind);
/* Before the skeleton is destroyed. */
void session_unwind_free(struct session_unwind *unwind);

#endif
