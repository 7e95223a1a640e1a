// SPDX-License-Identifier: BSD-2-Clause
/* The off-CPU source: where threads wait and how long, summed in the kernel and drained once a
 * second. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"
#include "source/offcpu/offcpu_blocked.h"
#include "source/offcpu/offcpu_deadlocks.h"
#include "source/offcpu/offcpu_governor.h"
#include "source/offcpu/offcpu_locks.h"
#include "source/offcpu/offcpu_tables.h"
#include "source/offcpu/offcpu_wakers.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* Period of reading the totals. It bounds the delay of progress lines only; the final result is
 * complete. */
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)
/* Upper bound of that period: the waits of a process must arrive while the stream still knows
 * the process. */
#define LATE_DRAIN_NS (3 * NS_PER_SECOND)
/* Period of checking long waits that were not chosen for a stack. The next check comes later
 * when it would take more than 1/200 of the CPU time: its cost grows with the number of threads. */
#define VISIT_INTERVAL_NS (100 * NS_PER_MS)
#define VISIT_SHARE	  200
/* The same with looks that are spared: waits of less may lack a stack, their time does not. */
#define SPARING_VISIT_NS NS_PER_SECOND
/* Programs that started before the end was announced have finished after this time: they hold a
 * run queue lock. */
#define SETTLE_US 2000
/* Arguments of sched_switch with state: data, preempt, prev, next, state. */
#define ARGUMENTS_WITH_STATE 5

struct source {
	struct session *session;
	struct offcpu_options options;
	struct offcpu_tables *tables;
	struct offcpu_locks *locks;	/* NULL: not wanted */
	struct offcpu_blocked *blocked; /* NULL: all stacks of blocked threads are sent */
	struct bpf_link *on_switch, *on_wakeup, *on_exec, *on_traced_wake, *iterator;
	struct event_buffer buffer;
	uint64_t last_drain_ns;
	uint64_t last_judged; /* the last program overhead that the governor has used */
	uint64_t next_visit_ns;
	struct offcpu_wakers wakers;
	struct offcpu_deadlocks deadlocks;
};

static void offcpu_detach(struct source *source);

static void offcpu_free(struct source *source)
{
	offcpu_detach(source);
	bpf_link__destroy(source->iterator);
	offcpu_blocked_free(source->blocked);
	offcpu_locks_free(source->locks);
	offcpu_tables_free(source->tables);
	offcpu_deadlocks_done(&source->deadlocks);
	event_buffer_done(&source->buffer);
	free(source);
}

static void offcpu_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.offcpu_threads,	       skeleton->maps.offcpu_rows,
		skeleton->maps.offcpu_row_index,       skeleton->maps.offcpu_free_rows,
		skeleton->maps.offcpu_histograms,      skeleton->maps.offcpu_histogram_index,
		skeleton->maps.offcpu_free_histograms, skeleton->maps.edge_scratch,
		skeleton->maps.probed_calls,	       skeleton->maps.offcpu_last_switch,
		skeleton->maps.offcpu_causes,
	};

	bpf_program__set_autoload(skeleton->progs.offcpu_switch, wanted);
	bpf_program__set_autoload(skeleton->progs.offcpu_exec, wanted);
	bpf_program__set_autoload(skeleton->progs.offcpu_edge, wanted);
	bpf_program__set_autoload(skeleton->progs.offcpu_wakeup, wanted);
	bpf_program__set_autoload(skeleton->progs.offcpu_waker, wanted);
	bpf_program__set_autoload(skeleton->progs.offcpu_trace_wake, false);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
	offcpu_locks_choose(skeleton, false);
}

static int offcpu_configure(struct session *session, const struct source_options *options,
			    struct source **ret_source, struct error *error)
{
	const struct offcpu_options *own = &options->offcpu;
	const struct session_options *common = session_options(session);
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare off-CPU profiling: out of memory");
	source->session = session;
	source->options = *own;
	err = offcpu_tables_configure(skeleton, common->max_memory_bytes, &source->tables, error);
	if (!err && common->kinds_mask & 1U << PKBPF_PROFILE_LOCKS) {
		offcpu_locks_choose(skeleton, true);
		err = offcpu_locks_configure(skeleton,
					     skeleton->rodata->offcpu_config.thread_mask + 1,
					     &source->locks, error);
	}
	if (err) {
		offcpu_free(source);
		return err;
	}
	skeleton->rodata->offcpu_config.min_block_ns = own->min_block_ns;
	skeleton->rodata->offcpu_config.trace_ns = own->trace_ns;
	skeleton->rodata->offcpu_config.kernel_threads = own->kernel_threads;
	skeleton->rodata->offcpu_config.per_thread = common->per_thread;
	skeleton->rodata->offcpu_config.wakers = own->wakers;
	skeleton->rodata->offcpu_config.want_resources = common->want_resources;
	skeleton->rodata->offcpu_config.waiting_pid = common->waiting_pid;
	skeleton->rodata->offcpu_config.switch_has_state =
		kernel_types_tracepoint_arguments(session_kernel_types(session), "sched_switch") >=
		ARGUMENTS_WITH_STATE;
	bpf_program__set_autoload(skeleton->progs.offcpu_wakeup, own->wakers);
	if (own->trace_ns) {
		bpf_program__set_autoload(skeleton->progs.offcpu_trace_wake, true);
		bpf_map__set_max_entries(skeleton->maps.offcpu_causes,
					 skeleton->rodata->offcpu_config.thread_mask + 1);
		offcpu_tables_trace(source->tables);
	}
	*ret_source = source;
	return 0;
}

static void send(struct source *source)
{
	session_add_records(source->session, &source->buffer);
}

static int offcpu_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = offcpu_tables_open(source->tables, error);

	if (!err && source->locks)
		err = offcpu_locks_open(source->locks, error);
	err = err ? err
		  : tracing_program_attach(skeleton->progs.offcpu_edge, &source->iterator, error);
	if (!err && source->options.wakers)
		err = tracing_program_attach(skeleton->progs.offcpu_wakeup, &source->on_wakeup,
					     error);
	if (!err && source->options.trace_ns)
		err = tracing_program_attach(skeleton->progs.offcpu_trace_wake,
					     &source->on_traced_wake, error);
	err = err ? err
		  : tracing_program_attach(skeleton->progs.offcpu_exec, &source->on_exec, error);
	err = err ? err
		  : tracing_program_attach(skeleton->progs.offcpu_switch, &source->on_switch,
					   error);
	return err;
}

static void offcpu_begin(struct source *source, uint64_t start_ns)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	source->last_drain_ns = start_ns;
	skeleton->bss->offcpu_control.looking = 1;
	offcpu_locks_note_clock(skeleton);
	/* Wakers serve the findings, which only reports have. */
	if (session_options(source->session)->want_resources)
		offcpu_wakers_begin(&source->wakers, skeleton, start_ns);
	__atomic_store_n(&skeleton->bss->offcpu_control.start_ns, start_ns, __ATOMIC_RELEASE);
}

static void end_blocked(struct source *source)
{
	struct lost_view skipped = {
		.time_ns = clock_now_ns(),
		.cause = PKBPF_COUNTER_OFFCPU_BLOCKED_SKIPPED,
		.count = offcpu_blocked_skipped(source->blocked),
	};

	/* Without memory only this note is missing; the waits are counted. */
	if (skipped.count)
		event_encode_lost(&source->buffer, &skipped);
	offcpu_blocked_free(source->blocked);
	source->blocked = NULL;
}

static void send_blocked(struct source *source)
{
	const struct session_options *options = session_options(source->session);

	if (!source->blocked || offcpu_blocked_send(source->blocked, source->tables,
						    options->want_user_stack, &source->buffer))
		return;
	end_blocked(source);
}

/* Sets the number of stacks to take from the recent overhead of the programs. */
static void govern(struct source *source)
{
	const struct session_options *options = session_options(source->session);
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct program_share share = session_program_share(source->session);
	uint32_t quota = skeleton->bss->offcpu_control.quota, next;
	uint32_t most = session_shed_now(source->session).wait_quota;

	if (share.number == source->last_judged)
		return;
	source->last_judged = share.number;
	next = offcpu_governor_quota(quota, share.ran_ns, share.passed_ns,
				     source->options.max_overhead_permille);
	if (!source->options.max_overhead_permille)
		next = 0;
	if (most && (!next || next > most))
		next = most;
	if (next == quota)
		return;
	if (next)
		log_info(options->log,
			 "off-CPU: BPF programs used %.1f %% of one CPU; stacks of at most %" PRIu64
			 " waits per second and thread",
			 100 * (double)share.ran_ns / (double)share.passed_ns,
			 (uint64_t)(next * NS_PER_SECOND / PKBPF_OFFCPU_WINDOW_NS));
	else
		log_info(options->log,
			 "off-CPU: BPF programs used %.1f %% of one CPU; stacks of all waits",
			 100 * (double)share.ran_ns / (double)share.passed_ns);
	offcpu_tables_set_sampled(source->tables);
	__atomic_store_n(&skeleton->bss->offcpu_control.quota, next, __ATOMIC_RELAXED);
}

/* Takes stacks of long waits that were not chosen for one. Such a stack represents only its own
 * wait. */
static void visit_waiting(struct source *source, uint64_t now_ns)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	uint64_t took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t least_ns =
		session_options(source->session)->sparing ? SPARING_VISIT_NS : VISIT_INTERVAL_NS;
	struct error error;

	__atomic_store_n(&skeleton->bss->offcpu_control.visit_ns, now_ns, __ATOMIC_RELEASE);
	if (offcpu_blocked_read(source->iterator, &source->blocked, &error))
		log_info(session_options(source->session)->log, "%s", error.text);
	__atomic_store_n(&skeleton->bss->offcpu_control.visit_ns, 0, __ATOMIC_RELEASE);
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - took_ns;
	source->next_visit_ns =
		now_ns + (took_ns * VISIT_SHARE > least_ns ? took_ns * VISIT_SHARE : least_ns);
}

static uint64_t drain_interval_ns(const struct source *source)
{
	return source->blocked || session_options(source->session)->sparing ? LATE_DRAIN_NS
									    : DRAIN_INTERVAL_NS;
}

static void offcpu_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	offcpu_tables_each_stack(source->tables, take, context);
	offcpu_locks_each_stack(source->locks, take, context);
}

static int offcpu_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	govern(source);
	if (source->locks)
		offcpu_locks_note_clock(session_skeleton(source->session));
	offcpu_wakers_look(&source->wakers, now_ns);
	send_blocked(source);
	/* Rows refer to stacks, which must be sent first. This includes the stacks of threads
	 * that were blocked at the start. */
	if (now_ns - source->last_drain_ns >= drain_interval_ns(source)) {
		source->last_drain_ns = now_ns;
		err = offcpu_tables_drain(source->tables, &source->buffer);
		err = err ? err : offcpu_locks_drain(source->locks, &source->buffer);
	}
	if (!source->blocked && offcpu_tables_are_sampled(source->tables) &&
	    now_ns >= source->next_visit_ns)
		visit_waiting(source, now_ns);
	send(source);
	return err;
}

/* What is not known is none. */
static void look_for_deadlocks(struct source *source, uint64_t now_ns)
{
	const struct session_options *options = session_options(source->session);

	if (offcpu_deadlocks_look(&source->deadlocks, source->tables, now_ns) < 0)
		source->deadlocks.threads.count = 0;
	if (source->deadlocks.left_out)
		log_info(options->log,
			 "deadlocks: %u threads that wait were not looked at, beyond the first %u",
			 source->deadlocks.left_out, OFFCPU_DEADLOCK_THREADS);
}

static int offcpu_cut(struct source *source, uint64_t until_ns)
{
	int err;

	/* All threads of a machine are too many to be looked at in each slice. */
	if (session_options(source->session)->target_mode == PKBPF_TARGET_PROCESS)
		look_for_deadlocks(source, until_ns);
	send_blocked(source);
	source->last_drain_ns = until_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->offcpu_control.cut_ns, until_ns,
			 __ATOMIC_RELEASE);
	err = offcpu_tables_cut(source->tables, until_ns, &source->buffer);
	err = err ? err : offcpu_locks_cut(source->locks, &source->buffer);
	err = err ? err : offcpu_deadlocks_send(&source->deadlocks, &source->buffer);
	send(source);
	return err;
}

static int offcpu_look(struct source *source, enum source_edge edge, struct error *error)
{
	/* A thread that is not on a CPU now has been waiting since before the interval. */
	if (edge == SOURCE_EDGE_BEGUN) {
		int err = offcpu_blocked_read(source->iterator, &source->blocked, error);

		__atomic_store_n(&session_skeleton(source->session)->bss->offcpu_control.looking, 0,
				 __ATOMIC_RELEASE);
		return err;
	}
	/* Takes the stacks of long waits while they last. */
	if (edge == SOURCE_EDGE_ENDING && !source->blocked &&
	    offcpu_tables_are_sampled(source->tables))
		visit_waiting(source, clock_now_ns());
	if (edge == SOURCE_EDGE_ENDING)
		look_for_deadlocks(source, clock_now_ns());
	return 0;
}

static void offcpu_end(struct source *source, uint64_t end_ns)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	__atomic_store_n(&skeleton->bss->offcpu_control.end_ns, end_ns, __ATOMIC_RELEASE);
}

/* Cuts waits in flight at the end of the interval. */
static void cut_waits(struct source *source)
{
	uint64_t end_ns = session_skeleton(source->session)->bss->offcpu_control.end_ns;
	struct offcpu_blocked *nothing = NULL;
	struct error error;

	usleep(SETTLE_US);
	if (source->iterator && offcpu_blocked_read(source->iterator, &nothing, &error))
		log_warning(session_options(source->session)->log,
			    "%s; waits that began before the interval are not recorded",
			    error.text);
	offcpu_blocked_free(nothing);
	offcpu_tables_close(source->tables, end_ns);
}

static void offcpu_detach(struct source *source)
{
	if (!source->on_switch)
		return;
	/* Starting failed. */
	if (!session_skeleton(source->session)->bss->offcpu_control.end_ns)
		offcpu_end(source, clock_now_ns());
	cut_waits(source);
	if (source->blocked) {
		offcpu_blocked_finish(source->blocked,
				      session_options(source->session)->want_user_stack,
				      &source->buffer);
		end_blocked(source);
	}
	offcpu_wakers_end(&source->wakers);
	bpf_link__destroy(source->on_switch);
	bpf_link__destroy(source->on_wakeup);
	bpf_link__destroy(source->on_exec);
	bpf_link__destroy(source->on_traced_wake);
	source->on_switch = source->on_wakeup = source->on_exec = source->on_traced_wake = NULL;
	/* The stream counts records that are missing for lack of memory. */
	offcpu_tables_drain(source->tables, &source->buffer);
	offcpu_locks_drain(source->locks, &source->buffer);
	offcpu_deadlocks_send(&source->deadlocks, &source->buffer);
	send(source);
}

static const char *offcpu_event_name(_unused_ const struct source *source)
{
	return "sched_switch";
}

const struct source_ops source_offcpu = {
	.kind = PKBPF_PROFILE_OFFCPU,
	.name = "offcpu",
	.summary = "waiting time of threads by stack",
	.options = offcpu_option_rows,
	.options_init = offcpu_options_init,
	.cached_stacks = offcpu_tables_cached_stacks,
	.choose = offcpu_choose,
	.configure = offcpu_configure,
	.attach = offcpu_attach,
	.begin = offcpu_begin,
	.end = offcpu_end,
	.look = offcpu_look,
	.poll = offcpu_poll,
	.cut = offcpu_cut,
	.each_stack = offcpu_each_stack,
	.detach = offcpu_detach,
	.free = offcpu_free,
	.event_name = offcpu_event_name,
};
