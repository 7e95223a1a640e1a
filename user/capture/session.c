// SPDX-License-Identifier: BSD-2-Clause
/* One live capture: BPF object, rings, side-band and snapshot become one record stream in time order. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread_priority.h"
#include "capture/capability.h"
#include "capture/kernel_counters.h"
#include "capture/kernel_namer.h"
#include "capture/libbpf_log.h"
#include "capture/perf_sideband.h"
#include "capture/program_clock.h"
#include "capture/resource_account.h"
#include "capture/ring_reader.h"
#include "capture/session_private.h"
#include "capture/session_unwind.h"
#include "capture/tracing_program.h"
#include "event/event_queue.h"

#include "pkbpf.skel.h"

/* An exec is followed by a burst of new mappings, each of which would wake us: also where a few processes were chosen, as
 * those of all others are announced, too. A few CPU samples more that are walked later do no harm; other events would leave
 * their stack behind. */
#define SIDEBAND_PAUSE_NS (3 * NS_PER_MS)
/* A record is in its ring this long after its time stamp at the latest: interrupts between the two take microseconds,
 * a stolen virtual CPU milliseconds. */
#define SETTLE_NS (20 * NS_PER_MS)

/* What a process has mapped is published in groups, the last of which is due this long after the one before. */
#define POSTPONED_WAIT_MS 11

/* After losses all processes are read from procfs again: this often at most, and in this share of the time, since it takes
 * a second where they are ten thousand. */
#define READ_AGAIN_PERIOD_NS NS_PER_SECOND
#define READ_AGAIN_RATIO     50

/* Longest wait for the unwind tables of what runs already: the first samples of larger files are walked later. */
#define TABLE_WAIT_NS (60 * NS_PER_MS)
/* The same at the end, for raw stacks of processes that started last. */
#define LAST_TABLE_WAIT_NS (500 * NS_PER_MS)

enum { TAG_SIDEBAND = 1, TAG_RING = 2, TAG_CALLER = 3, TAG_CPUS = 4 };

static bool wants_only_cpu(const struct session *session)
{
	return session->options.kinds_mask == 1U << PKBPF_PROFILE_CPU;
}

static void raise_open_files_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void note_cpu_count(struct session *session)
{
	size_t count = cpu_watch_list(session->cpus)->count;

	if (session->most_cpus < count)
		session->most_cpus = (uint32_t)count;
}

int session_new(const struct session_options *options, struct session **ret_session, struct error *error)
{
	struct session *session;
	int err = capability_check_required(error);

	if (err)
		return err;
	session = calloc(1, sizeof(*session));
	if (!session)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	session->epoll_fd = session->cgroup_fd = session->types_fd = session->caller_fd = -1;
	raise_open_files_limit();
	libbpf_log_begin(options->log);
	err = session_copy_options(session, options);
	if (!err)
		err = cpu_watch_new(&session->cpus);
	if (err) {
		error_set(error, -err, "cannot read the list of online CPUs: %s", strerror(-err));
		goto fail;
	}
	note_cpu_count(session);
	err = session_open_object(session, error);
	err = err ? err : session_configure_object(session, error);
	err = err ? err : session_unwind_configure(session->skeleton, &session->options, &session->unwind, error);
	err = err ? err : resource_account_configure(session->skeleton, &session->options, &session->resources, error);
	if (err)
		goto fail;
	*ret_session = session;
	return 0;
fail:
	session_free(session);
	return err;
}

/* Every record enters the stream here. */
static void accept_record(struct session *session, const void *record, size_t size)
{
	int err = event_queue_push(session->queue, record, size);

	if (err == -ENOMEM)
		session->out_of_memory = true;
	if (err)
		session->malformed++;
}

static int on_ring_record(void *context, void *data, size_t size)
{
	struct session *session = context;

	resource_account_look(session->resources, data);
	accept_record(session, data, size);
	return 0;
}

/* Hands the records collected in session->buffer to the stream. */
static void accept_buffer(struct session *session)
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

	accept_buffer(session);
	return err;
}

static int open_rings(struct session *session, struct error *error)
{
	struct epoll_event cpus = { .events = EPOLLIN, .data.u64 = TAG_CPUS };
	int sample_fd = bpf_map__fd(session->skeleton->maps.sample_ring), err;

	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	session->queue = event_queue_new();
	if (session->epoll_fd < 0 || !session->queue)
		return error_set(error, errno ? errno : ENOMEM, "cannot set up the event loop: %s", strerror(errno));
	err = ring_reader_new(sample_fd, "samples", on_ring_record, session, &session->ring, error);
	if (err)
		return err;
	err = session_watch(session, sample_fd);
	if (err)
		return error_set(error, -err, "cannot watch the ring buffer of samples: %s", strerror(-err));
	if (cpu_watch_fd(session->cpus) >= 0 &&
	    epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, cpu_watch_fd(session->cpus), &cpus))
		return error_set(error, errno, "cannot watch CPUs that come and go: %s", strerror(errno));
	/* A process whose tables are built on demand is looked at when a sample misses it, and that wakes us. */
	return perf_sideband_open(cpu_watch_list(session->cpus), session_unwind_on_demand(session->unwind), session->epoll_fd,
				  TAG_SIDEBAND, &session->sideband, error);
}

/* The programs that follow processes through fork, exec and exit. */
static int attach_lifecycle(struct session *session, struct error *error)
{
	struct bpf_program *const programs[] = {
		session->skeleton->progs.task_forked,
		session->skeleton->progs.task_executed,
		session->skeleton->progs.resource_exiting, /* asks who the targets are: before they are forgotten */
		session->skeleton->progs.resource_renumbered,
		session->skeleton->progs.task_freed,
	};
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		err = tracing_program_attach(programs[i], &session->lifecycle[i], error);
		if (err)
			return err;
	}
	return 0;
}

static int start_unwinder(struct session *session, const struct event_sink *sink, struct error *error)
{
	int err = session_unwind_start(session->unwind, sink, on_ring_record, session, error);

	session->sink = session_unwind_sink(session->unwind, sink);
	if (err)
		return err;
	err = session_unwind_watch(session->unwind, session->epoll_fd, TAG_SIDEBAND);
	return err ? error_set(error, -err, "cannot watch the stack unwinder: %s", strerror(-err)) : 0;
}

int session_start(struct session *session, const struct event_sink *sink, struct error *error)
{
	bool only_cpu = wants_only_cpu(session);
	uint64_t start_ns = clock_now_ns();
	int err;

	/* Live announcements first: what happens during the snapshot is announced as well, so nothing falls between. */
	err = open_rings(session, error);
	err = err ? err : attach_lifecycle(session, error);
	err = err ? err : session_add_relatives(session, error);
	/* Whoever has ended before it was a target was not forgotten then. */
	if (!err)
		session_forget_ended_targets(session);
	err = err ? err : start_unwinder(session, sink, error);
	err = err ? err : session_take_snapshot(session, start_ns, error);
	if (err)
		return err;
	accept_buffer(session);
	session_unwind_wait(session->unwind, TABLE_WAIT_NS);
	session->last_look_ns = clock_now_ns();
	/* Samples come with announcements of exits where resources are wanted, and containers are named then. */
	session->pace.may_rest = only_cpu && !session->resources;
	/* CPU samples are too few to be slowed by being timed. */
	session->program_clock = program_clock_open(session->skeleton->obj, only_cpu, session->last_look_ns);
	return 0;
}

int session_begin_interval(struct session *session, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err;

	thread_priority_raise();
	err = resource_account_begin(session->resources, &session->buffer, error);
	if (session->resources)
		log_info(session->options.log, "account of resources: %zu KiB read in %.1f ms",
			 session->buffer.size / 1024, (double)(clock_now_ns() - begin_ns) / 1e6);
	accept_buffer(session);
	program_clock_restart(session->program_clock, clock_now_ns());
	return err;
}

int session_end_interval(struct session *session, struct error *error)
{
	int err;

	program_clock_resume(session->program_clock, clock_now_ns());
	err = resource_account_end(session->resources, &session->buffer, error);
	thread_priority_restore();
	accept_buffer(session);
	return err;
}

int session_watch(struct session *session, int fd)
{
	struct epoll_event wanted = { .events = EPOLLIN, .data.u64 = TAG_RING };

	return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &wanted) ? -errno : 0;
}

static int watch_caller(struct session *session, int fd)
{
	struct epoll_event wanted = { .events = EPOLLIN, .data.u64 = TAG_CALLER };

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
	struct timespec rest = { .tv_nsec = (long)(SIDEBAND_PAUSE_NS - since_ns) };

	/* A signal that ends it early waits in the caller's descriptor. */
	if (wants_only_cpu(session) && since_ns < SIDEBAND_PAUSE_NS)
		nanosleep(&rest, NULL);
}

int session_wait(struct session *session, int fd, int timeout_ms)
{
	struct epoll_event ready[16];
	int count, err = watch_caller(session, fd);

	if (err)
		return err;
	pause_after_sideband(session);
	/* Nothing else would wake us for them. */
	if (session_unwind_postpones(session->unwind) && (timeout_ms < 0 || timeout_ms > POSTPONED_WAIT_MS))
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

/* Nobody has told, or nobody has heard, what processes did before time_ns. */
static void read_processes_again(struct session *session, uint64_t time_ns)
{
	struct error error;

	if (session_take_snapshot(session, time_ns, &error) < 0)
		log_warning(session->options.log, "%s", error.text);
	accept_buffer(session);
}

/* A process whose exec or mappings went by unheard would keep its former name, and code without names, until it ends. */
static void make_up_for_losses(struct session *session)
{
	uint64_t now_ns = clock_now_ns(), took_ns;

	if (session->sideband_lost == session->lost_made_up || now_ns < session->next_read_again_ns)
		return;
	session->lost_made_up = session->sideband_lost;
	read_processes_again(session, now_ns);
	took_ns = clock_now_ns() - now_ns;
	session->next_read_again_ns = now_ns + READ_AGAIN_PERIOD_NS + READ_AGAIN_RATIO * took_ns;
	log_info(session->options.log, "side-band records were lost: processes read again in %.1f ms", (double)took_ns / 1e6);
}

/* What is missing on a CPU that came online does not end the run: the others go on. */
static void follow_cpu_changes(struct session *session, uint64_t now_ns)
{
	bool announced = session->cpus_announced;
	struct error error;
	int arrived;

	session->cpus_announced = false;
	if (!cpu_watch_poll(session->cpus, announced, now_ns))
		return;
	drain_pace_stir(&session->pace, clock_now_ns());
	note_cpu_count(session);
	/* Rings of CPUs that left may hold something. */
	drain_sideband(session);
	now_ns = clock_now_ns();
	arrived = perf_sideband_update(session->sideband, cpu_watch_list(session->cpus), &error);
	log_info(session->options.log, "%zu CPUs are online now", cpu_watch_list(session->cpus)->count);
	if (arrived < 0)
		log_warning(session->options.log, "%s; what processes do there goes unseen", error.text);
	if (arrived <= 0)
		return;
	session->cpus_arrived += (uint64_t)arrived;
	read_processes_again(session, now_ns);
}

/* Everything stamped before this look has arrived at the next one. */
static void end_look(struct session *session, uint64_t now_ns)
{
	if (now_ns - session->last_look_ns >= SETTLE_NS)
		session->last_look_ns = now_ns;
	follow_cpu_changes(session, now_ns);
	make_up_for_losses(session);
}

/* Delivers what was stamped before the previous look, unless tables are still being built for it. */
static void deliver_settled(struct session *session, uint64_t now_ns)
{
	if (session_unwind_hold(session->unwind, now_ns, event_queue_stats(session->queue).bytes_waiting)) {
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
	accept_buffer(session);
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

	if (session->was_called || perf_sideband_waits(session->sideband) || !drain_pace_rests(&session->pace, now_ns))
		return session_drain(session);
	session_unwind_poll(session->unwind);
	end_look(session, now_ns);
	return 0;
}

int session_stop(struct session *session)
{
	int err = session->sideband ? drain_sideband(session) : 0, settle_err;

	settle_err = resource_account_settle(session->resources, &session->buffer);
	accept_buffer(session);
	err = err ? err : settle_err;
	ring_reader_drain(session->ring);
	session_unwind_drain(session->unwind);
	session_unwind_wait(session->unwind, LAST_TABLE_WAIT_NS);
	if (session->queue)
		event_queue_flush(session->queue, UINT64_MAX, &session->sink);
	session_unwind_log(session->unwind);
	return err;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(session->lifecycle); i++)
		bpf_link__destroy(session->lifecycle[i]);
	perf_sideband_close(session->sideband);
	ring_reader_free(session->ring);
	session_unwind_free(session->unwind);
	resource_account_free(session->resources);
	program_clock_close(session->program_clock);
	session_forget_kernel_types(session);
	pkbpf_bpf__destroy(session->skeleton);
	event_queue_free(session->queue);
	event_buffer_done(&session->buffer);
	cpu_watch_free(session->cpus);
	if (session->epoll_fd >= 0)
		close(session->epoll_fd);
	if (session->cgroup_fd >= 0)
		close(session->cgroup_fd);
	libbpf_log_end();
	free(session->pids.items);
	free(session->tids);
	free(session->comm);
	free(session);
}

void session_counters(struct session *session, uint64_t ret_counters[PKBPF_COUNTER_COUNT])
{
	memset(ret_counters, 0, PKBPF_COUNTER_COUNT * sizeof(*ret_counters));
	kernel_counters_read(session->skeleton->maps.counters, ret_counters);
	ret_counters[PKBPF_COUNTER_LOST_SIDEBAND] += session->sideband_lost;
	ret_counters[PKBPF_COUNTER_CPUS_ARRIVED] += session->cpus_arrived;
	ret_counters[PKBPF_COUNTER_RESOURCE_UNFREED] += resource_account_unfreed(session->resources);
	ret_counters[PKBPF_COUNTER_LOST_MALFORMED] += session->malformed;
	if (session->queue)
		ret_counters[PKBPF_COUNTER_LOST_MALFORMED] += event_queue_stats(session->queue).malformed;
	session_unwind_counters(session->unwind, ret_counters);
}

bool session_name_kernel_address(struct session *session, uint64_t address, char *text, size_t size)
{
	return kernel_namer_ask(session->skeleton, address, text, size);
}

bool session_bpf_time_ns(const struct session *session, uint64_t *ret_ns)
{
	return program_clock_read(session->program_clock, clock_now_ns(), ret_ns);
}

struct program_share session_program_share(const struct session *session)
{
	return program_clock_last(session->program_clock);
}

size_t session_target_count(const struct session *session)
{
	return session->pids.count + session->options.tid_count;
}

uint32_t session_cpu_count(const struct session *session)
{
	return session->most_cpus;
}

const struct cpu_list *session_cpus(const struct session *session)
{
	return cpu_watch_list(session->cpus);
}

struct pkbpf_bpf *session_skeleton(struct session *session)
{
	return session->skeleton;
}

const struct session_options *session_options(const struct session *session)
{
	return &session->options;
}
