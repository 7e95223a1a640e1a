// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/lock_rows.h"

#include <stdio.h>

#include "base/clock.h"
#include "event/lock_event.h"

/* The kernel side adds meanwhile; the next increment has what this one misses. */
int lock_row_drain(const volatile struct pkbpf_lock_row *row, struct sent_lock *sent,
		   const char *name, struct event_buffer *buffer)
{
	struct pkbpf_histogram_bucket buckets[PKBPF_LOCK_BUCKETS];
	struct sent_lock now = {0};
	struct pkbpf_event_lock lock;
	int err;

	/* Against the order in which the kernel side adds: no part is larger than its sum. */
	now.queue_ns = row->queue_ns;
	now.wait_ns = row->wait_ns;
	now.waits = row->waits;
	lock = (struct pkbpf_event_lock){
		.header.time_ns = clock_now_ns(),
		.address = row->address,
		.pid = row->pid,
		.class = row->class,
		.max_waiters = row->max_waiters,
		.waits = now.waits - sent->waits,
		.wait_ns = now.wait_ns - sent->wait_ns,
		.queue_ns = now.queue_ns - sent->queue_ns,
		.max_ns = row->max_ns,
	};
	if (!lock.waits && !lock.wait_ns)
		return 0;
	snprintf(lock.name, sizeof(lock.name), "%s", name);
	for (uint32_t i = 0; i < PKBPF_LOCK_BUCKETS; i++) {
		now.buckets[i] = row->buckets[i];
		if (now.buckets[i] != sent->buckets[i])
			buckets[lock.n_buckets++] = (struct pkbpf_histogram_bucket){
				.index = i, .count = now.buckets[i] - sent->buckets[i]};
	}
	err = lock_event_encode(buffer, &lock, buckets);
	if (!err)
		*sent = now;
	return err;
}
