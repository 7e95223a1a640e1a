// SPDX-License-Identifier: BSD-2-Clause
/* The cpu source: a sampling perf event on every online CPU, each running the BPF program
 * sample_cpu. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/unused.h"
#include "capture/cpu_list.h"
#include "capture/kernel/kernel_counters.h"
#include "capture/kernel/orc_tables.h"
#include "capture/perf_event.h"
#include "source/per_cpu_events.h"
#include "source/source.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

struct source {
	struct session *session;
	bool hardware;
	struct perf_event_attr attr;
	struct per_cpu_events events;
	bool orc_looked_for;
};

/* Where finding the kernel's unwind tables is slow, it pays off from this many expected samples
 * on. */
#define SAMPLES_WORTH_TABLES 20000

static void cpu_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.sample_cpu, wanted);
	bpf_map__set_autocreate(skeleton->maps.cpu_samplers, wanted);
	bpf_map__set_autocreate(skeleton->maps.orc_rules, wanted);
}

static int cpu_configure(struct session *session, _unused_ const struct source_options *options,
			 struct source **ret_source, struct error *error)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare CPU sampling: out of memory");
	source->session = session;
	orc_tables_configure(session_skeleton(session),
			     session_options(session)->want_kernel_stack);
	*ret_source = source;
	return 0;
}

static int explain_frequency(uint64_t frequency_hz, struct error *error)
{
	uint64_t limit = perf_event_max_sample_rate();

	if (limit && frequency_hz > limit)
		return error_set(error, EINVAL,
				 "cannot sample at %" PRIu64 " Hz: the kernel allows %" PRIu64
				 " (sysctl kernel.perf_event_max_sample_rate); "
				 "use a lower -F or raise the limit",
				 frequency_hz, limit);
	return -EINVAL;
}

static int update_events(struct source *source, struct error *error)
{
	struct bpf_program *program = session_skeleton(source->session)->progs.sample_cpu;
	int err = per_cpu_events_update(&source->events, session_cpus(source->session),
					&source->attr, program, error);

	return err == -EINVAL ? explain_frequency(source->attr.sample_freq, error) : err;
}

/* Hardware cycles are better: they also sample code that runs with interrupts disabled. Many
 * virtual machines have no PMU; only opening an event shows it. */
static bool hardware_works(uint32_t frequency_hz, uint32_t cpu)
{
	struct perf_event_attr attr;
	int fd;

	perf_event_cpu_attr(frequency_hz, true, &attr);
	fd = perf_event_open_cpu(&attr, cpu, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static uint64_t samples_so_far(const struct source *source)
{
	uint64_t counters[PKBPF_COUNTER_COUNT] = {0};

	kernel_counters_read(session_skeleton(source->session)->maps.counters, counters);
	return counters[PKBPF_COUNTER_CPU_EXPECTED];
}

static void look_for_orc_tables(struct source *source)
{
	struct utsname machine;

	if (source->orc_looked_for)
		return;
	if (uname(&machine) || (!orc_tables_found_at_once(machine.release) &&
				samples_so_far(source) < SAMPLES_WORTH_TABLES))
		return;
	source->orc_looked_for = true;
	orc_tables_find(session_skeleton(source->session), session_options(source->session)->log);
}

static int cpu_attach(struct source *source, struct error *error)
{
	const struct cpu_list *cpus = session_cpus(source->session);
	uint32_t frequency_hz = session_options(source->session)->frequency_hz;

	source->hardware = cpus->count && hardware_works(frequency_hz, cpus->items[0].number);
	perf_event_cpu_attr(frequency_hz, source->hardware, &source->attr);
	look_for_orc_tables(source);
	session_skeleton(source->session)->bss->cpu_control.period_ns =
		perf_event_period_ns(&source->attr);
	return update_events(source, error);
}

/* The expected number of samples follows from the length of the interval. Opening and closing
 * the events of all CPUs takes time, so the programs check the interval themselves. */
static void cpu_begin(struct source *source, uint64_t start_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->cpu_control.start_ns, start_ns,
			 __ATOMIC_RELEASE);
}

static void cpu_end(struct source *source, _unused_ uint64_t end_ns)
{
	cpu_begin(source, 0);
}

static int cpu_poll(struct source *source)
{
	struct error error;

	look_for_orc_tables(source);
	/* One CPU that cannot be sampled does not fail the record. */
	if (update_events(source, &error))
		log_warning(session_options(source->session)->log, "%s; it is not sampled",
			    error.text);
	return 0;
}

/* The kernel lowers perf_event_max_sample_rate when sampling takes too much time. It then skips
 * samples and reports that only in perf's ring buffer, which this source does not have. */
static void warn_if_throttled(const struct source *source)
{
	const struct session_options *options = session_options(source->session);
	uint64_t limit = perf_event_max_sample_rate();

	if (source->events.count && limit && limit < options->frequency_hz)
		log_warning(options->log,
			    "CPU samples are missing: the kernel has lowered its limit to %" PRIu64
			    " Hz (sysctl "
			    "kernel.perf_event_max_sample_rate), below the %u Hz of -F; use a "
			    "lower one",
			    limit, options->frequency_hz);
}

static void cpu_detach(struct source *source)
{
	warn_if_throttled(source);
	per_cpu_events_done(&source->events);
}

static void cpu_free(struct source *source)
{
	cpu_detach(source);
	free(source);
}

static const char *cpu_event_name(const struct source *source)
{
	return source->hardware ? "cycles" : "cpu-clock";
}

const struct source_ops source_cpu = {
	.kind = PKBPF_PROFILE_CPU,
	.name = "cpu",
	.summary = "CPU samples by stack",
	.can_wait = true,
	.choose = cpu_choose,
	.configure = cpu_configure,
	.attach = cpu_attach,
	.begin = cpu_begin,
	.end = cpu_end,
	.poll = cpu_poll,
	.detach = cpu_detach,
	.free = cpu_free,
	.event_name = cpu_event_name,
};
