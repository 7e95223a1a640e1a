/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of locks that threads wait for. They reach sinks through on_other(). */
#ifndef PKBPF_EVENT_LOCK_EVENT_H
#define PKBPF_EVENT_LOCK_EVENT_H

#include <pkbpf/lock.h>

#include "event/encoder.h"

/* -EBADMSG: sizes, classes or indexes that cannot be. Texts are NUL-terminated then. */
int lock_event_check(const struct pkbpf_event_header *header);
int lock_part_event_check(const struct pkbpf_event_header *header);
int deadlock_event_check(const struct pkbpf_event_header *header);

/* Each appends one record, with the time of its header. lock->n_buckets buckets, ascending.
 * -ENOMEM. */
int lock_event_encode(struct event_buffer *buffer, const struct pkbpf_event_lock *lock,
		      const struct pkbpf_histogram_bucket *buckets);
int lock_part_event_encode(struct event_buffer *buffer, const struct pkbpf_event_lock_part *part);
int deadlock_event_encode(struct event_buffer *buffer, const struct pkbpf_event_deadlock *thread);

#endif
