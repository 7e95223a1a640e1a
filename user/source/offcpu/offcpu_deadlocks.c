// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/offcpu_deadlocks.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "event/lock_event.h"
#include "source/offcpu/deadlock_search.h"
#include "source/offcpu/offcpu_tables_private.h"

/* What waits for less may be about to go on. */
#define LEAST_NS NS_PER_SECOND

struct looking {
	struct offcpu_deadlocks *deadlocks;
	uint64_t now_ns;
	bool failed;
};

static void take_cycle(void *context, const struct lock_wait *const *threads, size_t count,
		       size_t behind)
{
	struct looking *looking = context;

	for (size_t i = 0; i < count; i++) {
		struct pkbpf_event_deadlock *thread = array_add(&looking->deadlocks->threads);

		if (!thread) {
			looking->failed = true;
			return;
		}
		*thread = (struct pkbpf_event_deadlock){
			.address = threads[i]->address,
			.stack_id = threads[i]->stack_id,
			.wait_ns = looking->now_ns - threads[i]->since_ns,
			.pid = threads[i]->pid,
			.tid = threads[i]->tid,
			.cycle = threads[0]->tid,
			.index = (uint32_t)i,
			.count = (uint32_t)count,
			.behind = (uint32_t)behind,
			.class = threads[i]->class,
		};
		memcpy(thread->comm, threads[i]->comm, sizeof(thread->comm));
	}
}

static bool waits_since(const volatile struct pkbpf_thread *thread, uint32_t tid, uint64_t since_ns)
{
	return thread->tid == tid && thread->place == PKBPF_THREAD_OFF_CPU &&
	       thread->since_ns == since_ns;
}

static uint64_t stack_of(const struct offcpu_tables *tables,
			 const volatile struct pkbpf_thread *thread)
{
	const volatile struct pkbpf_wait_row *rows = tables->rows.items;
	uint32_t row = thread->row;

	return row < tables->rows.count ? rows[row].stack_id : thread->stack_id;
}

/* false: it does not wait for a lock. */
static bool read_wait(const struct offcpu_tables *tables,
		      const volatile struct pkbpf_thread *thread, struct lock_wait *ret_wait)
{
	uint64_t since_ns = thread->since_ns;
	uint32_t tid = thread->tid;

	if (!tid || !waits_since(thread, tid, since_ns) ||
	    lock_wait_read(thread->pid, tid, ret_wait))
		return false;
	ret_wait->since_ns = since_ns;
	ret_wait->stack_id = stack_of(tables, thread);
	memcpy(ret_wait->comm, (const void *)thread->comm, sizeof(ret_wait->comm));
	/* It has not run while the lock was read. */
	return waits_since(thread, tid, since_ns);
}

struct lock_waits {
	ARRAY_OF(struct lock_wait) items;
};

static int read_waits(const struct offcpu_tables *tables, uint64_t now_ns, struct lock_waits *waits,
		      uint32_t *ret_left_out)
{
	const volatile struct pkbpf_thread *threads = tables->threads.items;
	uint32_t looked = 0;

	*ret_left_out = 0;
	for (uint32_t i = 0; i < tables->threads.count; i++) {
		struct lock_wait wait, *place;

		if (threads[i].place != PKBPF_THREAD_OFF_CPU ||
		    now_ns < threads[i].since_ns + LEAST_NS)
			continue;
		if (looked == OFFCPU_DEADLOCK_THREADS) {
			++*ret_left_out;
			continue;
		}
		looked++;
		if (!read_wait(tables, &threads[i], &wait))
			continue;
		place = array_add(&waits->items);
		if (!place)
			return -ENOMEM;
		*place = wait;
	}
	return 0;
}

int offcpu_deadlocks_look(struct offcpu_deadlocks *deadlocks, const struct offcpu_tables *tables,
			  uint64_t now_ns)
{
	struct looking looking = {deadlocks, now_ns, false};
	struct lock_waits waits = {0};
	int err;

	deadlocks->threads.count = 0;
	err = read_waits(tables, now_ns, &waits, &deadlocks->left_out);
	err = err ? err
		  : deadlocks_find(waits.items.items, waits.items.count, take_cycle, &looking);
	array_free(&waits.items);
	return looking.failed ? -ENOMEM : err;
}

int offcpu_deadlocks_send(const struct offcpu_deadlocks *deadlocks, struct event_buffer *buffer)
{
	array_foreach(&deadlocks->threads, thread) {
		struct pkbpf_event_deadlock record = *thread;
		int err;

		record.header.time_ns = clock_now_ns();
		err = deadlock_event_encode(buffer, &record);
		if (err)
			return err;
	}
	return 0;
}

void offcpu_deadlocks_done(struct offcpu_deadlocks *deadlocks)
{
	array_free(&deadlocks->threads);
}
