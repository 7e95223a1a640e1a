// SPDX-License-Identifier: BSD-2-Clause
/* Turns the increments of the off-CPU sums into records. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/trace.h>

#include "base/clock.h"
#include "source/offcpu/offcpu_tables_private.h"

/* Waits without a row are reported when they exceed this fraction of all waiting time. */
#define UNSEEN_SHARE 64

static struct waited *waited_get(struct offcpu_tables *tables, uint32_t pid, uint32_t state)
{
	bool added;
	uint64_t *number =
		hash_map_get(&tables->waited_numbers, (uint64_t)pid << 8 | (state & 0xff),
			     tables->waited.count, &added);
	struct waited *waited;

	if (!number || !added)
		return number ? &tables->waited.items[*number] : NULL;
	waited = array_add(&tables->waited);
	if (!waited) {
		hash_map_remove(&tables->waited_numbers, (uint64_t)pid << 8 | (state & 0xff));
		return NULL;
	}
	waited->pid = pid;
	waited->state = (uint8_t)state;
	return waited;
}

/* The increment of a row, and how much of it comes from sampled waits. */
struct increment {
	uint64_t total_ns, estimated_ns;
};

/* Reads the estimated part second: the kernel side adds to the total first. */
static struct increment increment_of(uint64_t total_ns, uint64_t sent_total_ns,
				     uint64_t estimated_ns, uint64_t sent_estimated_ns)
{
	struct increment more = {/* The part sent ahead may exceed the total. */
				 .total_ns =
					 total_ns > sent_total_ns ? total_ns - sent_total_ns : 0,
				 .estimated_ns = estimated_ns - sent_estimated_ns};

	if (more.estimated_ns > more.total_ns)
		more.estimated_ns = more.total_ns;
	return more;
}

static void add_row(struct offcpu_tables *tables, uint32_t pid, uint32_t state,
		    struct increment more)
{
	struct waited *waited = more.total_ns ? waited_get(tables, pid, state) : NULL;

	if (!waited)
		return;
	waited->estimated_ns += more.estimated_ns;
	waited->known_ns += more.total_ns - more.estimated_ns;
}

/* Sums the waiting time of threads since the last drain, and the part that rows have. Without
 * memory, rows stay unscaled. */
static void compare_waited(struct offcpu_tables *tables)
{
	const volatile struct pkbpf_thread *threads = tables->threads.items;
	const volatile struct pkbpf_wait_row *rows = tables->rows.items;
	const struct sent_row *sent;
	struct waited *waited;

	hash_map_done(&tables->waited_numbers);
	tables->waited.count = 0;
	for (uint32_t i = 0; i < tables->threads.count; i++) {
		if (!threads[i].tid || threads[i].tid == PKBPF_THREAD_TOMBSTONE)
			continue;
		for (uint32_t state = PKBPF_WAIT_RUNQUEUE; state < PKBPF_WAIT_STATES; state++) {
			uint64_t now_ns = threads[i].time_ns[state],
				 sent_ns = tables->sent_threads[i].time_ns[state],
				 more_ns = now_ns > sent_ns ? now_ns - sent_ns : 0;

			waited = more_ns ? waited_get(tables, threads[i].pid, state) : NULL;
			if (waited)
				waited->exact_ns += more_ns;
		}
	}
	for (uint32_t i = 0; i < tables->rows.count; i++) {
		if (!rows[i].pid)
			continue;
		sent = &tables->sent_rows[i];
		add_row(tables, rows[i].pid, rows[i].state,
			increment_of(rows[i].total_ns, sent->total_ns, rows[i].estimated_ns,
				     sent->estimated_ns));
		add_row(tables, rows[i].pid, PKBPF_WAIT_RUNQUEUE,
			increment_of(rows[i].queue_ns, sent->queue_ns, rows[i].estimated_queue_ns,
				     sent->estimated_queue_ns));
	}
}

/* Waiting time that no row has exactly. */
static uint64_t rest_ns(const struct waited *waited)
{
	return waited->exact_ns > waited->known_ns ? waited->exact_ns - waited->known_ns : 0;
}

/* Returns the increment of a row, with its sampled part scaled to the true waiting time. */
static uint64_t scale(struct offcpu_tables *tables, uint32_t pid, uint32_t state,
		      struct increment more)
{
	const uint64_t *number = NULL;
	const struct waited *waited;

	if (tables->sampled && more.estimated_ns)
		number = hash_map_find(&tables->waited_numbers, (uint64_t)pid << 8 | state);
	waited = number ? &tables->waited.items[*number] : NULL;
	if (!waited || !waited->estimated_ns)
		return more.total_ns;
	return more.total_ns - more.estimated_ns +
	       (uint64_t)((double)more.estimated_ns *
			  ((double)rest_ns(waited) / (double)waited->estimated_ns));
}

static int send_part(struct event_buffer *buffer, struct totals_view *view, uint64_t count,
		     uint64_t total, uint64_t max)
{
	if (!count && !total)
		return 0;
	view->count = count;
	view->total = total;
	view->max = max;
	return event_encode_totals(buffer, view);
}

/* Sends waiting time without a sampled stack. */
static int drain_unseen(struct offcpu_tables *tables, uint64_t time_ns, struct event_buffer *buffer)
{
	array_foreach(&tables->waited, waited) {
		struct totals_view view = {
			.time_ns = time_ns,
			.pid = waited->pid,
			.kind = PKBPF_PROFILE_OFFCPU,
			.state = waited->state,
			.measure = PKBPF_OFFCPU_WAITS,
			.estimated = true,
		};
		uint64_t unseen_ns = waited->estimated_ns ? 0 : rest_ns(waited);
		int err;

		/* Rows lag behind threads by one wait, and exclude the shortest waits. */
		if (unseen_ns < waited->exact_ns / UNSEEN_SHARE)
			continue;
		err = send_part(buffer, &view, 0, unseen_ns, 0);
		if (err)
			return err;
	}
	return 0;
}

/* Sends both parts of a row. The kernel side adds meanwhile; the next increment has what this
 * one misses. The time of the record is read after the row: a stack that arrives during the
 * drain must not be later than the record that refers to it. */
static int drain_row(struct offcpu_tables *tables, const volatile struct pkbpf_wait_row *row,
		     struct sent_row *sent, uint64_t ahead_ns, struct event_buffer *buffer)
{
	/* The reverse order of the kernel side's additions. */
	struct sent_row now = {.estimated_queue_ns = row->estimated_queue_ns,
			       .queue_ns = row->queue_ns,
			       .estimated_ns = row->estimated_ns,
			       .total_ns = row->total_ns + ahead_ns,
			       .count = row->count};
	struct totals_view view;
	uint64_t total_ns;
	int err;

	offcpu_settle(now.total_ns, &sent->total_ns, now.queue_ns, &sent->queue_ns);
	if (now.count == sent->count && now.total_ns <= sent->total_ns &&
	    now.queue_ns == sent->queue_ns)
		return 0;
	view = (struct totals_view){
		.time_ns = clock_now_ns(),
		.stack_id = row->stack_id,
		.waker_id = row->waker_id,
		.pid = row->pid,
		.tid = row->tid,
		.cgroup_id = row->cgroup_id,
		.device = row->peer,
		.kind = PKBPF_PROFILE_OFFCPU,
		.state = (uint8_t)row->state,
		.measure = PKBPF_OFFCPU_WAITS,
		.estimated = row->flags & PKBPF_TOTALS_ESTIMATED,
		.open = row->flags & PKBPF_TOTALS_OPEN || ahead_ns,
	};
	memcpy(view.comm, (const void *)row->comm, PKBPF_COMM_SIZE);
	total_ns = scale(
		tables, row->pid, view.state,
		increment_of(now.total_ns, sent->total_ns, now.estimated_ns, sent->estimated_ns));
	err = send_part(buffer, &view, now.count - sent->count, total_ns, row->max_ns);
	if (err)
		return err;
	sent->count = now.count;
	if (now.total_ns > sent->total_ns)
		sent->total_ns = now.total_ns;
	sent->estimated_ns = now.estimated_ns;
	/* The run-queue part of a wait in another state is not a wait of its own. */
	view.state = PKBPF_WAIT_RUNQUEUE;
	total_ns = scale(tables, row->pid, PKBPF_WAIT_RUNQUEUE,
			 increment_of(now.queue_ns, sent->queue_ns, now.estimated_queue_ns,
				      sent->estimated_queue_ns));
	err = send_part(buffer, &view, 0, total_ns, row->queue_max_ns);
	if (err)
		return err;
	sent->queue_ns = now.queue_ns;
	sent->estimated_queue_ns = now.estimated_queue_ns;
	return 0;
}

static int drain_rows(struct offcpu_tables *tables, struct event_buffer *buffer)
{
	const volatile struct pkbpf_wait_row *rows = tables->rows.items;

	tables->used_rows = 0;
	for (uint32_t i = 0; i < tables->rows.count; i++) {
		int err;

		if (!rows[i].pid)
			continue;
		tables->used_rows++;
		err = drain_row(tables, &rows[i], &tables->sent_rows[i],
				tables->until_ns && tables->ahead_ns ? tables->ahead_ns[i] : 0,
				buffer);
		if (err)
			return err;
	}
	return 0;
}

static int drain_histogram(struct offcpu_tables *tables, uint32_t index, uint64_t time_ns,
			   struct event_buffer *buffer)
{
	const volatile struct pkbpf_wait_histogram *histogram =
		&((const volatile struct pkbpf_wait_histogram *)tables->histograms.items)[index];
	struct pkbpf_wait_histogram *sent = &tables->sent_histograms[index];
	struct totals_view view = {
		.time_ns = time_ns,
		.pid = histogram->pid,
		.kind = PKBPF_PROFILE_OFFCPU,
		.state = (uint8_t)histogram->state,
		.measure = PKBPF_OFFCPU_LENGTHS,
		.max = histogram->max_ns,
		.buckets = tables->buckets,
	};
	uint32_t now[PKBPF_HISTOGRAM_BUCKETS];
	int err;

	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		now[i] = histogram->buckets[i];
		if (now[i] == sent->buckets[i])
			continue;
		/* The difference is right across one overflow of the counter per drain. */
		tables->buckets[view.bucket_count++] = (struct pkbpf_histogram_bucket){
			.index = i, .count = now[i] - sent->buckets[i]};
		view.count += now[i] - sent->buckets[i];
	}
	if (!view.bucket_count)
		return 0;
	err = event_encode_totals(buffer, &view);
	if (err)
		return err;
	memcpy(sent->buckets, now, sizeof(now));
	return 0;
}

static int drain_histograms(struct offcpu_tables *tables, uint64_t time_ns,
			    struct event_buffer *buffer)
{
	const volatile struct pkbpf_wait_histogram *histograms = tables->histograms.items;

	tables->used_histograms = 0;
	for (uint32_t i = 0; i < tables->histograms.count; i++) {
		int err;

		if (!histograms[i].pid)
			continue;
		tables->used_histograms++;
		err = drain_histogram(tables, i, time_ns, buffer);
		if (err)
			return err;
	}
	return 0;
}

/* Sends the time of a thread in each state. With until_ns, at a cut, this includes the current
 * state. */
static int send_times(const volatile struct pkbpf_thread *thread, struct sent_thread *sent,
		      uint64_t until_ns, struct totals_view *view, struct event_buffer *buffer)
{
	struct thread_times now;
	uint64_t *queue_ns = &sent->time_ns[PKBPF_WAIT_RUNQUEUE];
	int err;

	offcpu_read_times(thread, until_ns, &now);
	for (int state = PKBPF_WAIT_SLEEP; state < PKBPF_WAIT_STATES; state++)
		offcpu_settle(now.time_ns[state], &sent->time_ns[state],
			      now.time_ns[PKBPF_WAIT_RUNQUEUE], queue_ns);
	for (int state = 0; state < PKBPF_WAIT_STATES; state++) {
		uint64_t more_ns = now.time_ns[state] > sent->time_ns[state]
					   ? now.time_ns[state] - sent->time_ns[state]
					   : 0;

		view->state = (uint8_t)state;
		err = send_part(buffer, view, now.count[state] - sent->count[state], more_ns, 0);
		if (err)
			return err;
		sent->time_ns[state] += more_ns;
		sent->count[state] = now.count[state];
	}
	return 0;
}

static int drain_thread(const volatile struct pkbpf_thread *thread, struct sent_thread *sent,
			uint64_t until_ns, uint64_t time_ns, struct event_buffer *buffer)
{
	struct totals_view view = {
		.time_ns = time_ns,
		.pid = thread->pid,
		.tid = thread->tid,
		.cgroup_id = thread->cgroup_id,
		.kind = PKBPF_PROFILE_OFFCPU,
		.measure = PKBPF_OFFCPU_TIME,
	};
	struct sent_thread now = {.voluntary = thread->voluntary,
				  .involuntary = thread->involuntary};
	int err;

	memcpy(view.comm, (const void *)thread->comm, PKBPF_COMM_SIZE);
	err = send_times(thread, sent, until_ns, &view, buffer);
	if (err)
		return err;
	view.measure = PKBPF_OFFCPU_SWITCHES;
	view.state = 0;
	err = send_part(buffer, &view, now.voluntary - sent->voluntary, 0, 0);
	if (err)
		return err;
	sent->voluntary = now.voluntary;
	view.state = 1;
	err = send_part(buffer, &view, now.involuntary - sent->involuntary, 0, 0);
	if (err)
		return err;
	sent->involuntary = now.involuntary;
	return 0;
}

/* Sends the total time of the thread, until now or until a cut; its states must add up to it. */
static int send_wall(const volatile struct pkbpf_thread *thread, struct sent_thread *sent,
		     uint64_t until_ns, uint64_t time_ns, struct event_buffer *buffer)
{
	uint64_t wall_ns = until_ns > thread->first_ns ? until_ns - thread->first_ns : 0;

	struct totals_view view = {
		.time_ns = time_ns,
		.pid = thread->pid,
		.tid = thread->tid,
		.kind = PKBPF_PROFILE_OFFCPU,
		.measure = PKBPF_OFFCPU_WALL,
	};

	memcpy(view.comm, (const void *)thread->comm, PKBPF_COMM_SIZE);
	if (wall_ns > sent->wall_ns) {
		int err = send_part(buffer, &view, 1, wall_ns - sent->wall_ns, 0);

		if (err)
			return err;
		sent->wall_ns = wall_ns;
	}
	return 0;
}

/* Sends the account of an ended thread for the trace. */
static int send_life(const volatile struct pkbpf_thread *thread, uint64_t time_ns,
		     struct event_buffer *buffer)
{
	uint64_t end_ns = thread->since_ns, first_ns = thread->first_ns;
	struct pkbpf_event_wait *wait =
		event_buffer_add(buffer, sizeof(*wait), PKBPF_EVENT_WAIT, 0, time_ns);

	if (!wait)
		return -ENOMEM;
	wait->begin_ns = first_ns;
	wait->wait_ns = end_ns > first_ns ? end_ns - first_ns : 0;
	wait->ran_ns = thread->time_ns[PKBPF_WAIT_NONE];
	wait->pid = thread->pid;
	wait->tid = thread->tid;
	wait->state = PKBPF_WAIT_NONE;
	memcpy(wait->comm, (const void *)thread->comm, PKBPF_COMM_SIZE);
	return 0;
}

/* Frees the slot of an exited thread. A mark stays, so that searches continue behind the slot. */
static void free_thread(volatile struct pkbpf_thread *thread, struct sent_thread *sent)
{
	memset(sent, 0, sizeof(*sent));
	memset((char *)thread + offsetof(struct pkbpf_thread, place), 0,
	       sizeof(*thread) - offsetof(struct pkbpf_thread, place));
	__atomic_store_n(&thread->tid, PKBPF_THREAD_TOMBSTONE, __ATOMIC_RELEASE);
}

/* Sends the number of waits that were not chosen for a stack. */
static int send_without_stack(struct offcpu_tables *tables, uint64_t time_ns,
			      struct event_buffer *buffer)
{
	struct lost_view without = {.time_ns = time_ns,
				    .cause = PKBPF_COUNTER_OFFCPU_WITHOUT_STACK,
				    .count = tables->without_stack};
	int err = without.count ? event_encode_lost(buffer, &without) : 0;

	if (!err)
		tables->without_stack = 0;
	return err;
}

static void count_without_stack(struct offcpu_tables *tables, uint32_t slot)
{
	uint64_t now =
		((const volatile struct pkbpf_thread *)tables->threads.items)[slot].without_stack;

	tables->without_stack += now - tables->sent_threads[slot].without_stack;
	tables->sent_threads[slot].without_stack = now;
}

static int drain_threads(struct offcpu_tables *tables, uint64_t time_ns,
			 struct event_buffer *buffer)
{
	volatile struct pkbpf_thread *threads = tables->threads.items;

	for (uint32_t i = 0; i < tables->threads.count; i++) {
		bool ended;
		int err;

		if (!threads[i].tid || threads[i].tid == PKBPF_THREAD_TOMBSTONE)
			continue;
		ended = __atomic_load_n(&threads[i].place, __ATOMIC_ACQUIRE) == PKBPF_THREAD_ENDED;
		count_without_stack(tables, i);
		err = drain_thread(&threads[i], &tables->sent_threads[i],
				   ended ? 0 : tables->until_ns, time_ns, buffer);
		if (!err && (ended || tables->until_ns))
			err = send_wall(&threads[i], &tables->sent_threads[i],
					ended ? threads[i].since_ns : tables->until_ns, time_ns,
					buffer);
		if (!err && ended && tables->traced)
			err = send_life(&threads[i], time_ns, buffer);
		if (err)
			return err;
		if (!ended)
			continue;
		free_thread(&threads[i], &tables->sent_threads[i]);
	}
	return 0;
}

int offcpu_drain_increments(struct offcpu_tables *tables, struct event_buffer *buffer)
{
	uint64_t time_ns;
	int err;

	if (tables->sampled)
		compare_waited(tables);
	if (tables->until_ns)
		offcpu_sum_ahead(tables);
	err = drain_rows(tables, buffer);
	time_ns = clock_now_ns();
	err = err ? err : drain_unseen(tables, time_ns, buffer);
	err = err ? err : drain_histograms(tables, time_ns, buffer);
	err = err ? err : drain_threads(tables, time_ns, buffer);
	return err ? err : send_without_stack(tables, time_ns, buffer);
}
