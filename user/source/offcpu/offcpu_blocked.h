/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that were blocked before the interval: kernel stacks from a task iterator, user stacks
 * from memory. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_BLOCKED_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "event/encoder.h"
#include "source/offcpu/offcpu_tables.h"

struct bpf_link;
struct offcpu_blocked;

/* Runs the task iterator and stores its records. */
int offcpu_blocked_read(struct bpf_link *iterator, struct offcpu_blocked **ret_blocked,
			struct error *error);
/* Appends the stacks of as many threads as fit into a short round. Returns false when no threads
 * are left. */
bool offcpu_blocked_send(struct offcpu_blocked *blocked, const struct offcpu_tables *tables,
			 bool want_user, struct event_buffer *buffer);
/* Sends the rest after the end of the interval; without user stacks once time runs out. */
void offcpu_blocked_finish(struct offcpu_blocked *blocked, bool want_user,
			   struct event_buffer *buffer);
/* Threads that resumed before their user stack was captured. */
uint64_t offcpu_blocked_skipped(const struct offcpu_blocked *blocked);
void offcpu_blocked_free(struct offcpu_blocked *blocked);

#endif
