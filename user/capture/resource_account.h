/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the resource usage of every target thread at the start and end of the interval, and that
 * of threads that exit in between; names their cgroups. One owner thread. */
#ifndef PKBPF_CAPTURE_RESOURCE_ACCOUNT_H
#define PKBPF_CAPTURE_RESOURCE_ACCOUNT_H

#include <pkbpf/counter.h>

#include "base/error.h"
#include "capture/session/session.h"
#include "event/resource_event.h"

struct resource_account;

/* Call before the programs are loaded. *ret_account is NULL when no accounting is wanted: then
 * none of its programs are loaded and all functions here do nothing. */
int resource_account_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			       struct resource_account **ret_account, struct error *error);
/* Attaches the programs and appends the records of the start. From now on, records of exited
 * threads arrive in the ring. */
int resource_account_begin(struct resource_account *account, struct event_buffer *buffer,
			   struct error *error);
/* Takes a record from the ring and looks up the name of its cgroup while the cgroup exists.
 * Returns true when the record is only for accounting. */
bool resource_account_look(struct resource_account *account,
			   const struct pkbpf_event_header *record);
/* Appends the names of cgroups seen since the last call. */
int resource_account_names(struct resource_account *account, struct event_buffer *buffer);
/* Appends records of exited threads whose release was missed. Call periodically. */
int resource_account_sweep(struct resource_account *account, uint64_t now_ns,
			   struct event_buffer *buffer);
/* Appends the records of a cut: end of one slice, start of the next. */
int resource_account_cut(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error);
/* Appends the records of the end. */
int resource_account_end(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error);
/* Call after the end. Threads that exited before the end but are not yet freed are in no list.
 * Waits a grace period of the kernel (about 10 ms, at most a second more) until
 * they are in the ring, and appends what is known of the rest. -ENOMEM. */
int resource_account_settle(struct resource_account *account, struct event_buffer *buffer);
/* Adds the counters of what could not be read. */
void resource_account_counters(const struct resource_account *account,
			       uint64_t counters[PKBPF_COUNTER_COUNT]);
void resource_account_free(struct resource_account *account);

#endif
