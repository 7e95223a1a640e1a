// SPDX-License-Identifier: BSD-2-Clause
/* The cpu source: a sampling perf event on every online CPU, each running the BPF program sample_cpu. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/cpu_list.h"
#include "capture/perf_event.h"
#include "source/source.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

struct cpu_event {
	uint32_t cpu;
	struct bpf_link *link; /* owns the perf event */
};

struct source {
	struct session *session;
	bool hardware;
	ARRAY_OF(struct cpu_event) events;
};

static int cpu_configure(struct session *session, struct source **ret_source, struct error *error)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare CPU sampling: out of memory");
	source->session = session;
	bpf_program__set_autoload(session_skeleton(session)->progs.sample_cpu, true);
	*ret_source = source;
	return 0;
}

static int explain_frequency(uint32_t frequency_hz, struct error *error)
{
	uint64_t limit = perf_event_max_sample_rate();

	if (limit && frequency_hz > limit)
		return error_set(error, EINVAL,
				 "cannot sample at %u Hz: the kernel allows %" PRIu64 " (sysctl kernel.perf_event_max_sample_rate); "
				 "choose a lower -F or raise the limit", frequency_hz, limit);
	return -EINVAL;
}

static int event_open(struct source *source, uint32_t cpu, struct error *error)
{
	uint32_t frequency_hz = session_options(source->session)->frequency_hz;
	struct perf_event_attr attr;
	int fd;

	perf_event_cpu_attr(frequency_hz, source->hardware, &attr);
	fd = perf_event_open_cpu(&attr, cpu, error);
	return fd == -EINVAL ? explain_frequency(frequency_hz, error) : fd;
}

/* 0 also when the CPU has just gone offline. */
static int event_add(struct source *source, uint32_t cpu, struct error *error)
{
	struct bpf_program *program = session_skeleton(source->session)->progs.sample_cpu;
	struct cpu_event *event;
	int fd = event_open(source, cpu, error);

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;
	event = array_add(&source->events);
	if (!event) {
		close(fd);
		return error_set(error, ENOMEM, "cannot sample CPU %u: out of memory", cpu);
	}
	event->cpu = cpu;
	event->link = bpf_program__attach_perf_event(program, fd);
	if (!event->link) {
		int errnum = errno;

		source->events.count--;
		close(fd);
		return error_set(error, errnum, "cannot attach BPF program sample_cpu to CPU %u: %s", cpu, strerror(errnum));
	}
	return 0;
}

/* Cycles are better (they interrupt code that has interrupts off), but many virtual machines have none; the only
 * honest test is to try. */
static bool hardware_works(struct source *source, uint32_t cpu)
{
	int fd;

	source->hardware = true;
	fd = event_open(source, cpu, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int cpu_attach(struct source *source, struct error *error)
{
	const struct cpu_list *cpus = session_cpus(source->session);

	source->hardware = cpus->count && hardware_works(source, cpus->cpus[0]);
	for (size_t i = 0; i < cpus->count; i++) {
		int err = event_add(source, cpus->cpus[i], error);

		if (err)
			return err;
	}
	return 0;
}

static int cpu_poll(struct source *source, const struct event_sink *sink)
{
	const struct cpu_list *cpus = session_cpus(source->session);

	for (size_t i = 0; i < source->events.count;) {
		struct cpu_event *event = &source->events.items[i];

		if (cpu_list_contains(cpus, event->cpu)) {
			i++;
			continue;
		}
		/* Its event died with the CPU; a new one is needed when the CPU returns. */
		bpf_link__destroy(event->link);
		*event = source->events.items[--source->events.count];
	}
	for (size_t i = 0; i < cpus->count; i++) {
		bool known = false;

		array_foreach(&source->events, event)
			known = known || event->cpu == cpus->cpus[i];
		if (!known) {
			int err = event_add(source, cpus->cpus[i], NULL);

			if (err)
				return err;
		}
	}
	return 0;
}

/* The kernel lowers its limit when sampling takes too much of its time; beyond it, it leaves samples out and tells
 * nobody who has no ring of perf's. */
static void warn_if_throttled(const struct source *source)
{
	const struct session_options *options = session_options(source->session);
	uint64_t limit = perf_event_max_sample_rate();

	if (source->events.count && limit && limit < options->frequency_hz)
		log_warning(options->log,
			    "CPU samples are missing: the kernel has lowered its limit to %" PRIu64 " Hz (sysctl "
			    "kernel.perf_event_max_sample_rate), below the %u Hz asked for; choose a lower -F", limit,
			    options->frequency_hz);
}

static void cpu_detach(struct source *source)
{
	warn_if_throttled(source);
	array_foreach(&source->events, event)
		bpf_link__destroy(event->link);
	array_free(&source->events);
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
	.summary = "stacks of what runs on the CPUs",
	.unit = "samples",
	.configure = cpu_configure,
	.attach = cpu_attach,
	.poll = cpu_poll,
	.detach = cpu_detach,
	.free = cpu_free,
	.event_name = cpu_event_name,
};
