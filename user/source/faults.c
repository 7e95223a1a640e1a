// SPDX-License-Identifier: BSD-2-Clause
/* The faults source: stacks of sampled page faults, and the exact number of faults of each
 * process. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/faults.h>

#include "base/clock.h"
#include "base/unused.h"
#include "capture/perf_event.h"
#include "capture/tracing_program.h"
#include "event/encoder.h"
#include "source/fault_sums.h"
#include "source/per_cpu_events.h"
#include "source/source.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* Sampling period of minor faults. It is prime so that a loop over a few places does not run in
 * step with it. The kernel stops an event that fires more often than perf_event_max_sample_rate.
 * One CPU has at most about MAX_FAULTS_PER_SECOND. */
#define MINOR_PERIOD	      17
#define MAX_FAULTS_PER_SECOND 1500000

/* log2 of the nanoseconds in which a CPU takes some 32 stacks: 17 ms, 1,900 a second; beside a
 * machine that is measured all the time 1.1 s, 30 a second, as many as CPU samples. */
#define WINDOW_SHIFT	     24
#define SPARING_WINDOW_SHIFT 30

_Static_assert(MINOR_PERIOD != PKBPF_FAULT_MAJOR_PERIOD, "the program tells them apart by it");

/* Sampling periods that a process may have shared with other processes unnoticed: its first, its
 * last, and those that happened to end in another process. */
#define PERIODS_NOT_SEEN 4

/* Capacities: threads alive when the interval begins; processes with faults that live or were not
 * yet sent; processes with announced periods. 64, 96 and 80 bytes each. */
#define THREADS	  65536U
#define PROCESSES 16384U
/* Threads that the end of the interval finds exiting, plus threads that exit while one of those
 * frees its memory. */
#define ACCOUNTED 16384U
/* Processes are drained soon after they exit, while the stream still knows them. */
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)

/* Number in include/uapi/linux/bpf.h; since Linux 5.17. */
#define HELPER_FIND_VMA ((enum bpf_func_id)180)

struct source {
	struct session *session;
	struct bpf_program *sampler;
	struct per_cpu_events minor, major;
	struct perf_event_attr minor_attr, major_attr;
	struct bpf_link *iterator, *exec, *exit;
	struct fault_sums sums;
	struct event_buffer buffer;
	uint64_t last_drain_ns;
};

static void faults_detach(struct source *source);

static void faults_free(struct source *source)
{
	faults_detach(source);
	bpf_link__destroy(source->iterator);
	bpf_link__destroy(source->exec);
	fault_sums_done(&source->sums);
	event_buffer_done(&source->buffer);
	free(source);
}

static bool is_prime(uint64_t number)
{
	for (uint64_t factor = 2; factor * factor <= number; factor++) {
		if (number % factor == 0)
			return false;
	}
	return true;
}

static uint64_t minor_period(void)
{
	uint64_t limit = perf_event_max_sample_rate();
	uint64_t period = limit ? MAX_FAULTS_PER_SECOND / limit : 0;

	if (period < MINOR_PERIOD)
		return MINOR_PERIOD;
	while (!is_prime(period))
		period++;
	return period;
}

static struct perf_event_attr fault_attr(uint64_t event, uint64_t period)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = event,
		.sample_period = period,
	};
}

static void faults_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.sample_fault, wanted);
	bpf_program__set_autoload(skeleton->progs.sample_fault_anywhere, wanted);
	bpf_program__set_autoload(skeleton->progs.faults_exec, wanted);
	bpf_program__set_autoload(skeleton->progs.faults_exit, wanted);
	bpf_program__set_autoload(skeleton->progs.faults_edge, wanted);
	bpf_map__set_autocreate(skeleton->maps.fault_rates, wanted);
	bpf_map__set_autocreate(skeleton->maps.fault_threads, wanted);
	bpf_map__set_autocreate(skeleton->maps.fault_accounted, wanted);
	bpf_map__set_autocreate(skeleton->maps.fault_processes, wanted);
	bpf_map__set_autocreate(skeleton->maps.fault_announced, wanted);
}

/* Chooses between the program that finds the memory area of a fault and the one that does not. */
static void choose_sampler(struct source *source, bool memory)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	bpf_program__set_autoload(skeleton->progs.sample_fault, memory);
	bpf_program__set_autoload(skeleton->progs.sample_fault_anywhere, !memory);
	source->sampler =
		memory ? skeleton->progs.sample_fault : skeleton->progs.sample_fault_anywhere;
}

static int faults_configure(struct session *session, _unused_ const struct source_options *options,
			    struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM,
				 "cannot prepare page-fault profiling: out of memory");
	source->session = session;
	source->minor_attr = fault_attr(PERF_COUNT_SW_PAGE_FAULTS_MIN, minor_period());
	source->major_attr = fault_attr(PERF_COUNT_SW_PAGE_FAULTS_MAJ, PKBPF_FAULT_MAJOR_PERIOD);
	err = bpf_map__set_max_entries(skeleton->maps.fault_threads, THREADS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.fault_accounted, ACCOUNTED);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.fault_processes, PROCESSES);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.fault_announced, PROCESSES);
	if (err) {
		faults_free(source);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	skeleton->rodata->faults_config.window_shift =
		session_options(session)->sparing ? SPARING_WINDOW_SHIFT : WINDOW_SHIFT;
	choose_sampler(source, libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, HELPER_FIND_VMA,
						       NULL) == 1);
	*ret_source = source;
	return 0;
}

static int visit_threads(struct source *source, struct error *error)
{
	int err = tracing_iterator_run(source->iterator);

	if (err < 0)
		return error_set(
			error, -err,
			"cannot read page-fault counts through the kernel's task iterator: %s",
			strerror(-err));
	return 0;
}

static int update_events(struct source *source, struct error *error)
{
	const struct cpu_list *cpus = session_cpus(source->session);
	int err;

	err = per_cpu_events_update(&source->minor, cpus, &source->minor_attr, source->sampler,
				    error);
	return err ? err
		   : per_cpu_events_update(&source->major, cpus, &source->major_attr,
					   source->sampler, error);
}

static int faults_attach(struct source *source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	int err = tracing_program_attach(skeleton->progs.faults_edge, &source->iterator, error);

	err = err ? err : tracing_program_attach(skeleton->progs.faults_exec, &source->exec, error);
	err = err ? err : tracing_program_attach(skeleton->progs.faults_exit, &source->exit, error);
	return err ? err : update_events(source, error);
}

/* Called before the look at the threads: a thread started during the look has had no faults
 * before the interval. */
static void faults_begin(struct source *source, uint64_t start_ns)
{
	source->last_drain_ns = start_ns;
	__atomic_store_n(&session_skeleton(source->session)->bss->faults_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void faults_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->faults_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

static int faults_look(struct source *source, enum source_edge edge, struct error *error)
{
	return edge == SOURCE_EDGE_ENDING ? 0 : visit_threads(source, error);
}

/* A sampling period counts for the process of its last fault. Periods that one process fills
 * alone on one CPU are exact. In a shared period the process had between none and all of the
 * faults. Where processes fault in turns, this equals choosing one fault at random to represent
 * the period. The number of such periods then has the variance of a Poisson distribution: the
 * number itself. */
static uint64_t announced_variance(const struct source *source,
				   const struct pkbpf_fault_announced *announced, bool major)
{
	uint64_t period =
		major ? source->major_attr.sample_period : source->minor_attr.sample_period;

	return announced->squares[major] + PERIODS_NOT_SEEN * period * period;
}

static int send_number(struct source *source, struct totals_view *view, uint64_t exact,
		       const struct pkbpf_fault_announced *announced)
{
	bool major = view->state == PKBPF_FAULT_MAJOR;
	int err;

	view->measure = PKBPF_FAULT_EXACT;
	view->count = view->total = exact;
	err = event_encode_totals(&source->buffer, view);
	if (err || !announced)
		return err;
	view->measure = PKBPF_FAULT_ANNOUNCED;
	view->count = announced->count[major];
	view->total = 0;
	view->variance = announced_variance(source, announced, major);
	err = event_encode_totals(&source->buffer, view);
	view->variance = 0;
	return err;
}

static int send_process(struct source *source, uint32_t pid,
			const struct pkbpf_fault_process *process,
			const struct pkbpf_fault_announced *announced, uint64_t time_ns)
{
	struct totals_view view = {
		.time_ns = time_ns,
		.pid = pid,
		.cgroup_id = process->cgroup_id,
		.kind = PKBPF_PROFILE_FAULTS,
		.state = PKBPF_FAULT_MINOR,
	};
	int err;

	memcpy(view.comm, process->comm, PKBPF_COMM_SIZE);
	err = send_number(source, &view, process->minor, announced);
	if (err || !process->major)
		return err;
	view.state = PKBPF_FAULT_MAJOR;
	return send_number(source, &view, process->major, announced);
}

/* Sends what was added since the last time. Returns 1, 0 (nothing) or a negative errno. */
static int drain_process(struct source *source, uint32_t pid, struct lost_view *undivided)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	/* No entry: no period of this process was announced, or the map was full. */
	struct pkbpf_fault_announced announced = {0};
	struct pkbpf_fault_process process;
	bool is_full;
	int added, err;

	/* Announced first: these are part of the exact numbers, at the next cut or the exit. */
	bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.fault_announced), &pid, &announced);
	if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.fault_processes), &pid, &process))
		return 0;
	is_full =
		__atomic_load_n(&skeleton->bss->faults_control.announced_is_full, __ATOMIC_RELAXED);
	added = fault_sums_take(&source->sums, pid, &process, &announced);
	if (added <= 0)
		return added;
	err = send_process(source, pid, &process, is_full ? NULL : &announced, undivided->time_ns);
	undivided->count += is_full && !err;
	return err ? err : added;
}

static void forget_process(struct source *source, uint32_t pid)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	bpf_map_delete_elem(bpf_map__fd(skeleton->maps.fault_processes), &pid);
	bpf_map_delete_elem(bpf_map__fd(skeleton->maps.fault_announced), &pid);
	fault_sums_forget(&source->sums, pid);
}

/* Sends the numbers of processes. Unless `all` is set, only of ended ones, whose numbers are final:
 * these are forgotten, and where room gets short those to which nothing was added. */
static int drain(struct source *source, bool all, uint64_t time_ns)
{
	int fd = bpf_map__fd(session_skeleton(source->session)->maps.fault_processes), err = 0;
	struct lost_view undivided = {.time_ns = time_ns, .cause = PKBPF_COUNTER_FAULTS_UNDIVIDED};
	uint32_t key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &next) == 0;

	bool is_crowded = source->sums.items.count > PROCESSES / 2;

	for (uint32_t i = 0; more && err >= 0 && i < PROCESSES; i++) {
		bool has_ended;

		key = next;
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		/* Before its numbers are read. */
		has_ended = kill((pid_t)key, 0) && errno == ESRCH;
		if (!all && !has_ended)
			continue;
		err = drain_process(source, key, &undivided);
		if (err >= 0 && (has_ended || (is_crowded && !err)))
			forget_process(source, key);
	}
	if (undivided.count && err >= 0)
		err = event_encode_lost(&source->buffer, &undivided);
	return err < 0 ? err : 0;
}

static int faults_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();
	struct error error;
	int err;

	/* One CPU that cannot be watched does not fail the record. */
	if (update_events(source, &error))
		log_warning(session_options(source->session)->log,
			    "%s; its page faults are missing", error.text);
	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	err = drain(source, false, now_ns);
	session_add_records(source->session, &source->buffer);
	return err;
}

/* Sends the counts of all processes up to the cut. */
static int faults_cut(struct source *source, uint64_t until_ns)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct error error;
	int err;

	__atomic_store_n(&skeleton->bss->faults_control.cutting, 1, __ATOMIC_RELEASE);
	err = visit_threads(source, &error);
	__atomic_store_n(&skeleton->bss->faults_control.cutting, 0, __ATOMIC_RELEASE);
	if (err)
		log_warning(session_options(source->session)->log, "%s", error.text);
	source->last_drain_ns = until_ns;
	err = drain(source, true, until_ns);
	session_add_records(source->session, &source->buffer);
	return err;
}

static void faults_detach(struct source *source)
{
	per_cpu_events_done(&source->minor);
	per_cpu_events_done(&source->major);
	if (!source->exit)
		return;
	bpf_link__destroy(source->exit);
	source->exit = NULL;
	/* The stream counts records that are missing for lack of memory. */
	drain(source, true, clock_now_ns());
	session_add_records(source->session, &source->buffer);
}

static const char *faults_event_name(_unused_ const struct source *source)
{
	return "minor-faults, major-faults";
}

const struct source_ops source_faults = {
	.kind = PKBPF_PROFILE_FAULTS,
	.name = "faults",
	.summary = "page faults by stack and type of memory",
	.choose = faults_choose,
	.configure = faults_configure,
	.attach = faults_attach,
	.begin = faults_begin,
	.end = faults_end,
	.look = faults_look,
	.poll = faults_poll,
	.cut = faults_cut,
	.detach = faults_detach,
	.free = faults_free,
	.event_name = faults_event_name,
};
