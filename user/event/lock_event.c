// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds records of locks. */
#include "event/lock_event.h"

#include <errno.h>
#include <string.h>

int lock_event_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_lock *lock = (const void *)header;

	if (header->size < sizeof(*lock) || lock->n_buckets > PKBPF_LOCK_BUCKETS ||
	    header->size - sizeof(*lock) < lock->n_buckets * sizeof(lock->buckets[0]) ||
	    !lock->class || lock->class >= PKBPF_LOCK_CLASSES || lock->queue_ns > lock->wait_ns ||
	    !memchr(lock->name, '\0', sizeof(lock->name)))
		return -EBADMSG;
	for (uint32_t i = 0; i < lock->n_buckets; i++)
		if (lock->buckets[i].index >= PKBPF_LOCK_BUCKETS ||
		    (i && lock->buckets[i].index <= lock->buckets[i - 1].index))
			return -EBADMSG;
	return 0;
}

int lock_part_event_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_lock_part *part = (const void *)header;

	if (header->size < sizeof(*part) || !part->class || part->class >= PKBPF_LOCK_CLASSES ||
	    part->kind > PKBPF_LOCK_SITE || part->state >= PKBPF_LOCK_STATES)
		return -EBADMSG;
	return 0;
}

int deadlock_event_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_deadlock *thread = (const void *)header;

	if (header->size < sizeof(*thread) || !thread->class ||
	    thread->class >= PKBPF_LOCK_CLASSES || !thread->tid || thread->index >= thread->count)
		return -EBADMSG;
	return 0;
}

int lock_event_encode(struct event_buffer *buffer, const struct pkbpf_event_lock *lock,
		      const struct pkbpf_histogram_bucket *buckets)
{
	size_t bytes = lock->n_buckets * sizeof(*buckets);
	struct pkbpf_event_lock *record = event_buffer_add(
		buffer, sizeof(*record) + bytes, PKBPF_EVENT_LOCK, 0, lock->header.time_ns);
	struct pkbpf_event_header header;

	if (!record)
		return -ENOMEM;
	header = record->header;
	*record = *lock;
	record->header = header;
	if (bytes)
		memcpy(record->buckets, buckets, bytes);
	return 0;
}

int lock_part_event_encode(struct event_buffer *buffer, const struct pkbpf_event_lock_part *part)
{
	struct pkbpf_event_lock_part *record = event_buffer_add(
		buffer, sizeof(*record), PKBPF_EVENT_LOCK_PART, 0, part->header.time_ns);
	struct pkbpf_event_header header;

	if (!record)
		return -ENOMEM;
	header = record->header;
	*record = *part;
	record->header = header;
	return 0;
}

int deadlock_event_encode(struct event_buffer *buffer, const struct pkbpf_event_deadlock *thread)
{
	struct pkbpf_event_deadlock *record = event_buffer_add(
		buffer, sizeof(*record), PKBPF_EVENT_DEADLOCK, 0, thread->header.time_ns);
	struct pkbpf_event_header header;

	if (!record)
		return -ENOMEM;
	header = record->header;
	*record = *thread;
	record->header = header;
	return 0;
}
