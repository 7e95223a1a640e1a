/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what every thread of the targets has used, at the start and at the end of the interval, and
 * that of threads that end between; names their cgroups. One owner thread.
 */
#ifndef PKBPF_CAPTURE_RESOURCE_ACCOUNT_H
#define PKBPF_CAPTURE_RESOURCE_ACCOUNT_H

#include <pkbpf/counter.h>

#include "base/error.h"
#include "capture/session/session.h"
#include "event/resource_event.h"

struct resource_account;

/* Before the programs are loaded. *ret_account is NULL when nobody wants the account: then nothing
 * of it is loaded, and all functions here do nothing. */
int resource_account_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			       struct resource_account **ret_account, struct error *error);
/* Attaches the programs and appends the records of the start; from now on records of exited threads
 * are in the ring. */
int resource_account_begin(struct resource_account *account, struct event_buffer *buffer,
			   struct error *error);
/* A record that came out of the ring: its cgroup gets a name while it has one. True: it is for the
 * account alone. */
bool resource_account_look(struct resource_account *account,
			   const struct pkbpf_event_header *record);
/* Appends the names of cgroups seen since the last call. */
int resource_account_names(struct resource_account *account, struct event_buffer *buffer);
/* To be called now and then: appends those of threads that are gone, but were not seen to go. */
int resource_account_sweep(struct resource_account *account, uint64_t now_ns,
			   struct event_buffer *buffer);
/* Appends the records of a cut: the end of one slice, and the start of the next. */
int resource_account_cut(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error);
/* Appends the records of the end. */
int resource_account_end(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error);
/* After the end: who had ended before but was not freed yet is in no list. Waits a grace period of
 * the kernel (some 10 ms, at most a quarter of a second more) until those are in the ring, and
 * appends what is known of the others. -ENOMEM. */
int resource_account_settle(struct resource_account *account, struct event_buffer *buffer);
/* Adds what it could not find out. */
void resource_account_counters(const struct resource_account *account,
			       uint64_t counters[PKBPF_COUNTER_COUNT]);
void resource_account_free(struct resource_account *account);

#endif
