// SPDX-License-Identifier: BSD-2-Clause
/* Merges the records of all rings and readers into one stream in time order. A record is
 * delivered once nothing older can arrive. */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/perf_sideband.h"
#include "capture/program_clock.h"
#include "capture/resource_account.h"
#include "capture/session/ring_reader.h"
#include "capture/session/session_private.h"
#include "capture/session/session_unwind.h"
#include "event/event_queue.h"

/* An exec is followed by a burst of mappings, and each would wake the session. This holds for a
 * few targets, too: the side-band has the events of all processes. A few more CPU samples
 * unwound later do no harm; other events would lose their stack. */
#define SIDEBAND_PAUSE_NS (3 * NS_PER_MS)
/* A machine that starts a hundred programs a second would wake us as often. The few samples of
 * programs that are younger are sent with their stack's memory. */
#define SPARING_PAUSE_NS (40 * NS_PER_MS)
/* Longest delay between the time stamp of a record and its arrival in the ring. Interrupts in
 * between take microseconds, a stolen virtual CPU milliseconds. */
#define SETTLE_NS (20 * NS_PER_MS)

/* The unwinder publishes mappings in batches; the last batch is due this long after the one
 * before. */
#define POSTPONED_WAIT_MS 11

/* After losses, all processes are read from procfs again: at most this often and in this share
 * of the time. Ten thousand processes take a second. */
#define READ_AGAIN_PERIOD_NS NS_PER_SECOND
#define READ_AGAIN_RATIO     50

/* Longest wait for unwind tables at the end, for raw stacks of the newest processes. */
#define LAST_TABLE_WAIT_NS (500 * NS_PER_MS)

/* Every record enters the stream here. */
static void accept_record(struct session *session, const void *record, size_t size)
{
	int err = event_queue_push(session->queue, record, size);

	if (err == -ENOMEM)
		session->out_of_memory = true;
	if (err)
		session->malformed++;
}

int session_take_ring_record(void *context, void *data, size_t size)
{
	struct session *session = context;

	if (!resource_account_look(session->resources, data))
		accept_record(session, data, size);
	return 0;
}

void session_accept_buffer(struct session *session)
{
	const uint8_t *data = session->buffer.data;

	for (size_t offset = 0; offset < session->buffer.size;) {
		const struct pkbpf_event_header *header = (const void *)(data + offset);

		if (header->kind == PKBPF_EVENT_LOST)
			session->sideband_lost += ((const struct pkbpf_event_lost *)header)->count;
		session_unwind_feed(session->unwind, header, header->size);
		accept_record(session, header, header->size);
		offset += header->size;
	}
	event_buffer_clear(&session->buffer);
	session_unwind_poll(session->unwind);
}

void session_add_records(struct session *session, struct event_buffer *buffer)
{
	for (size_t offset = 0; offset < buffer->size;) {
		const struct pkbpf_event_header *header = (const void *)(buffer->data + offset);

		accept_record(session, header, header->size);
		offset += header->size;
	}
	event_buffer_clear(buffer);
}

static int drain_sideband(struct session *session)
{
	int err = perf_sideband_drain(session->sideband, &session->buffer);

	session_accept_buffer(session);
	return err;
}

void session_note_cpu_count(struct session *session)
{
	size_t count = cpu_watch_list(session->cpus)->count;

	if (session->most_cpus < count)
		session->most_cpus = (uint32_t)count;
}

static int watch_caller(struct session *session, int fd)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = TAG_CALLER};

	if (fd < 0 || fd == session->caller_fd)
		return 0;
	if (epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &wanted))
		return -errno;
	session->caller_fd = fd;
	return 0;
}

static void pause_after_sideband(const struct session *session)
{
	uint64_t since_ns = clock_now_ns() - session->last_sideband_ns;
	uint64_t pause_ns = session->options.sparing	? SPARING_PAUSE_NS
			    : session->options.can_wait ? SIDEBAND_PAUSE_NS
							: 0;
	struct timespec rest = {.tv_nsec = (long)(pause_ns - since_ns)};

	/* A signal that ends the sleep early is pending in the caller's descriptor. */
	if (since_ns < pause_ns)
		nanosleep(&rest, NULL);
}

int session_wait(struct session *session, int fd, int timeout_ms)
{
	struct epoll_event ready[16];
	int count, err = watch_caller(session, fd);

	if (err)
		return err;
	pause_after_sideband(session);
	/* No event would wake the session for these. */
	if (session_unwind_postpones(session->unwind) &&
	    (timeout_ms < 0 || timeout_ms > POSTPONED_WAIT_MS))
		timeout_ms = POSTPONED_WAIT_MS;
	count = epoll_wait(session->epoll_fd, ready, ARRAY_SIZE(ready), timeout_ms);
	session->was_called = count > 0;
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		if (ready[i].data.u64 == TAG_SIDEBAND)
			session->last_sideband_ns = clock_now_ns();
		session->cpus_announced = session->cpus_announced || ready[i].data.u64 == TAG_CPUS;
	}
	return 0;
}

/* Reads all processes from procfs again: their events before time_ns were not sent or were lost. */
static void read_processes_again(struct session *session, uint64_t time_ns)
{
	struct error error;

	if (session_take_snapshot(session, time_ns, &error) < 0)
		log_warning(session->options.log, "%s", error.text);
	session_accept_buffer(session);
}

/* A process with lost exec or mmap records would keep its old name and unresolved code until it
 * exits. */
static void make_up_for_losses(struct session *session)
{
	uint64_t now_ns = clock_now_ns(), took_ns;

	if (session->sideband_lost == session->lost_made_up || now_ns < session->next_read_again_ns)
		return;
	session->lost_made_up = session->sideband_lost;
	read_processes_again(session, now_ns);
	took_ns = clock_now_ns() - now_ns;
	session->next_read_again_ns = now_ns + READ_AGAIN_PERIOD_NS + READ_AGAIN_RATIO * took_ns;
	log_info(session->options.log,
		 "task and mmap records lost: read all processes again in %.1f ms",
		 (double)took_ns / 1e6);
}

/* An error on a new CPU does not end the record: the other CPUs go on. */
static void follow_cpu_changes(struct session *session, uint64_t now_ns)
{
	bool announced = session->cpus_announced;
	struct error error;
	size_t arrived;
	int err;

	session->cpus_announced = false;
	if (!cpu_watch_poll(session->cpus, announced, now_ns))
		return;
	drain_pace_stir(&session->pace, clock_now_ns());
	session_note_cpu_count(session);
	/* Rings of CPUs that went offline may have records left. */
	drain_sideband(session);
	now_ns = clock_now_ns();
	err = perf_sideband_update(session->sideband, cpu_watch_list(session->cpus), &arrived,
				   &error);
	log_info(session->options.log, "%zu CPUs are online now",
		 cpu_watch_list(session->cpus)->count);
	if (err)
		log_warning(session->options.log, "%s; nothing is recorded there", error.text);
	if (!arrived)
		return;
	session->cpus_arrived += arrived;
	read_processes_again(session, now_ns);
}

/* Everything stamped before this look has arrived by the next look. */
static void end_look(struct session *session, uint64_t now_ns)
{
	if (now_ns - session->last_look_ns >= SETTLE_NS)
		session->last_look_ns = now_ns;
	follow_cpu_changes(session, now_ns);
	make_up_for_losses(session);
}

/* Delivers records stamped before the previous look, unless tables for them are still being
 * built. */
static void deliver_settled(struct session *session, uint64_t now_ns)
{
	if (session_unwind_hold(session->unwind, now_ns,
				event_queue_stats(session->queue).bytes_waiting)) {
		drain_pace_stir(&session->pace, clock_now_ns());
		return;
	}
	event_queue_flush(session->queue, session->last_look_ns, &session->sink);
	drain_pace_drained(&session->pace, now_ns, session->last_look_ns);
}

int session_drain(struct session *session)
{
	bool has_news = session->was_called || perf_sideband_waits(session->sideband);
	uint64_t now_ns = clock_now_ns();
	int err = drain_sideband(session);
	int ring_err = ring_reader_drain(session->ring);

	err = err ? err : resource_account_names(session->resources, &session->buffer);
	err = err ? err : resource_account_sweep(session->resources, now_ns, &session->buffer);
	session_accept_buffer(session);
	err = err ? err : session_unwind_drain(session->unwind);
	if (has_news)
		drain_pace_stir(&session->pace, clock_now_ns());
	deliver_settled(session, now_ns);
	end_look(session, now_ns);
	program_clock_poll(session->program_clock, now_ns);
	err = err ? err : ring_err;
	return err ? err : session->out_of_memory ? -ENOMEM : 0;
}

int session_look(struct session *session)
{
	uint64_t now_ns = clock_now_ns();

	if (session->was_called || perf_sideband_waits(session->sideband) ||
	    !drain_pace_rests(&session->pace, now_ns))
		return session_drain(session);
	session_unwind_poll(session->unwind);
	end_look(session, now_ns);
	return 0;
}

int session_stop(struct session *session)
{
	int err = session->sideband ? drain_sideband(session) : 0, late_err;

	late_err = resource_account_settle(session->resources, &session->buffer);
	session_accept_buffer(session);
	err = err ? err : late_err;
	ring_reader_drain(session->ring);
	late_err = resource_account_names(session->resources, &session->buffer);
	session_accept_buffer(session);
	err = err ? err : late_err;
	session_unwind_drain(session->unwind);
	session_unwind_wait(session->unwind, LAST_TABLE_WAIT_NS);
	if (session->queue)
		event_queue_flush(session->queue, UINT64_MAX, &session->sink);
	session_unwind_log(session->unwind);
	return err;
}
