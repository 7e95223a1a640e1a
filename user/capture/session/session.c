// SPDX-License-Identifier: BSD-2-Clause
/* Life cycle of a capture: opening, attaching, closing, and its state. session_stream.c has the
 * record stream. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread_priority.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/kernel_counters.h"
#include "capture/kernel/kernel_namer.h"
#include "capture/kernel/libbpf_log.h"
#include "capture/perf_sideband.h"
#include "capture/program_clock.h"
#include "capture/program_code.h"
#include "capture/resource_account.h"
#include "capture/session/ring_reader.h"
#include "capture/session/session_private.h"
#include "capture/session/session_unwind.h"
#include "capture/tracing_program.h"
#include "event/event_queue.h"

#include "pkbpf.skel.h"

/* Longest wait for the unwind tables of running processes. The first samples of larger files are
 * unwound later. */
#define TABLE_WAIT_NS (60 * NS_PER_MS)

static void raise_open_files_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int session_new(const struct session_options *options, struct session **ret_session,
		struct error *error)
{
	struct session *session;
	int err = capability_check_required(error);

	if (err)
		return err;
	session = calloc(1, sizeof(*session));
	if (!session)
		return error_set(error, ENOMEM, "cannot start profiling: out of memory");
	session->epoll_fd = session->types_fd = session->caller_fd = -1;
	/* Loading takes a second, with many waits for the kernel. At normal priority a busy
	 * machine makes twenty seconds of it. */
	thread_priority_raise();
	raise_open_files_limit();
	libbpf_log_begin(options->log);
	err = session_copy_options(session, options);
	if (!err)
		err = cpu_watch_new(&session->cpus);
	if (err) {
		error_set(error, -err, "cannot read the list of online CPUs: %s", strerror(-err));
		goto fail;
	}
	session_note_cpu_count(session);
	err = session_open_object(session, error);
	err = err ? err : session_configure_object(session, error);
	err = err ? err
		  : session_unwind_configure(session->skeleton, &session->options, &session->unwind,
					     error);
	err = err ? err
		  : resource_account_configure(session->skeleton, &session->options,
					       &session->resources, error);
	if (err)
		goto fail;
	*ret_session = session;
	return 0;
fail:
	session_free(session);
	return err;
}

static int open_rings(struct session *session, struct error *error)
{
	struct epoll_event cpus = {.events = EPOLLIN, .data.u64 = TAG_CPUS};
	int sample_fd = bpf_map__fd(session->skeleton->maps.sample_ring), err;

	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	session->queue = event_queue_new();
	if (session->epoll_fd < 0 || !session->queue)
		return error_set(error, errno ? errno : ENOMEM, "cannot set up the event loop: %s",
				 strerror(errno));
	err = ring_reader_new(sample_fd, "samples", session_take_ring_record, session,
			      &session->ring, error);
	if (err)
		return err;
	err = session_watch(session, sample_fd);
	if (err)
		return error_set(error, -err, "cannot watch the ring buffer of samples: %s",
				 strerror(-err));
	if (cpu_watch_fd(session->cpus) >= 0 &&
	    epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, cpu_watch_fd(session->cpus), &cpus))
		return error_set(error, errno, "cannot watch CPU hotplug: %s", strerror(errno));
	/* A process whose tables are built on demand is handled when a sample misses it, and
	 * that wakes the session. */
	return perf_sideband_open(cpu_watch_list(session->cpus),
				  session_unwind_on_demand(session->unwind), session->epoll_fd,
				  TAG_SIDEBAND, &session->sideband, error);
}

/* The programs that follow processes through fork, exec and exit. */
static int attach_lifecycle(struct session *session, struct error *error)
{
	struct bpf_program *const programs[] = {
		session->skeleton->progs.task_forked,
		/* These two look up targets, so they run before the programs below remove
		 * targets. */
		session->skeleton->progs.resource_executed,
		session->skeleton->progs.resource_exiting,
		session->skeleton->progs.task_executed,
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

static int start_unwinder(struct session *session, const struct event_sink *sink,
			  struct error *error)
{
	int err = session_unwind_start(session->unwind, sink, session_take_ring_record, session,
				       error);

	session->sink = session_unwind_sink(session->unwind, sink);
	if (err)
		return err;
	err = session_unwind_watch(session->unwind, session->epoll_fd, TAG_SIDEBAND);
	return err ? error_set(error, -err, "cannot watch the stack unwinder: %s", strerror(-err))
		   : 0;
}

int session_start(struct session *session, const struct event_sink *sink, struct error *error)
{
	uint64_t start_ns = clock_now_ns();
	int err;

	/* Live events come first: events during the snapshot are recorded as well, so nothing is
	 * missed in between. */
	err = open_rings(session, error);
	err = err ? err : attach_lifecycle(session, error);
	err = err ? err : session_add_relatives(session, error);
	/* No program removes a process that exited before it became a target. */
	if (!err)
		session_forget_ended_targets(session);
	err = err ? err : start_unwinder(session, sink, error);
	err = err ? err : session_take_snapshot(session, start_ns, error);
	if (err)
		return err;
	session_accept_buffer(session);
	session_unwind_wait(session->unwind, TABLE_WAIT_NS);
	/* Sources find the running processes in the table when they attach. Nothing is older. */
	event_queue_flush(session->queue, start_ns + 1, &session->sink);
	session->last_look_ns = clock_now_ns();
	/* With resource accounting, exits arrive among the samples, and containers are named at
	 * that moment. */
	session->pace.may_rest = session->options.can_wait && !session->resources;
	/* CPU samples are rare enough to be timed without pauses. */
	session->program_clock = program_clock_open(
		session->skeleton->obj, session->options.can_wait, session->last_look_ns);
	return 0;
}

int session_begin_interval(struct session *session, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err;

	err = resource_account_begin(session->resources, &session->buffer, error);
	if (session->resources)
		log_info(session->options.log, "account of resources: %zu KiB read in %.1f ms",
			 session->buffer.size / 1024, (double)(clock_now_ns() - begin_ns) / 1e6);
	session_accept_buffer(session);
	program_clock_restart(session->program_clock, clock_now_ns());
	return err;
}

int session_cut(struct session *session, uint64_t sequence, struct error *error)
{
	struct cut_view cut = {
		.time_ns = clock_now_ns(),
		.sequence = sequence,
		.unix_ns = (int64_t)clock_read_ns(CLOCK_REALTIME),
	};
	int err = event_encode_cut(&session->buffer, &cut);

	if (err)
		return error_set(error, -err, "cannot begin another interval: %s", strerror(-err));
	err = resource_account_cut(session->resources, &session->buffer, error);
	session_accept_buffer(session);
	return err;
}

int session_end_interval(struct session *session, struct error *error)
{
	int err;

	program_clock_resume(session->program_clock, clock_now_ns());
	err = resource_account_end(session->resources, &session->buffer, error);
	thread_priority_restore();
	session_accept_buffer(session);
	return err;
}

int session_watch(struct session *session, int fd)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = TAG_RING};

	return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &wanted) ? -errno : 0;
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
	ret_counters[PKBPF_COUNTER_LOST_MALFORMED] += session->malformed;
	if (session->queue)
		ret_counters[PKBPF_COUNTER_LOST_MALFORMED] +=
			event_queue_stats(session->queue).malformed;
	resource_account_counters(session->resources, ret_counters);
	session_unwind_counters(session->unwind, ret_counters);
}

void session_mark_files(struct session *session, bool *is_used, size_t count)
{
	session_unwind_mark_files(session->unwind, is_used, count);
}

void session_forget_files(struct session *session, const bool *is_used, size_t count)
{
	session_unwind_forget_files(session->unwind, is_used, count);
}

bool session_follows(const struct session *session, uint32_t pid)
{
	return session_unwind_follows(session->unwind, pid);
}

bool session_name_kernel_address(struct session *session, uint64_t address, char *text, size_t size)
{
	return kernel_namer_ask(session->skeleton, address, text, size);
}

bool session_find_kernel_function(struct session *session, const char *function,
				  uint64_t *ret_address)
{
	return kernel_namer_find(session->skeleton, function, ret_address);
}

int session_each_code(const struct session *session,
		      int (*take)(void *context, uint64_t start, uint64_t length), void *context)
{
	return program_code_each(session->skeleton->obj, take, context);
}

bool session_bpf_time_ns(const struct session *session, uint64_t *ret_ns)
{
	return program_clock_read(session->program_clock, clock_now_ns(), ret_ns);
}

void session_shed(struct session *session, const struct pkbpf_shed_control *shed)
{
	struct pkbpf_shed_control *control = &session->skeleton->bss->shed_control;

	__atomic_store_n(&control->cpu_mask, shed->cpu_mask, __ATOMIC_RELAXED);
	__atomic_store_n(&control->fault_shift, shed->fault_shift, __ATOMIC_RELAXED);
	__atomic_store_n(&control->blockio_mask, shed->blockio_mask, __ATOMIC_RELAXED);
	__atomic_store_n(&control->no_wakers, shed->no_wakers, __ATOMIC_RELAXED);
	__atomic_store_n(&control->wait_quota, shed->wait_quota, __ATOMIC_RELAXED);
}

struct pkbpf_shed_control session_shed_now(const struct session *session)
{
	return session->skeleton->bss->shed_control;
}

struct program_share session_program_share(const struct session *session)
{
	return program_clock_last(session->program_clock);
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
