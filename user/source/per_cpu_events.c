// SPDX-License-Identifier: BSD-2-Clause
/* Keeps one perf event with a BPF program on every online CPU. */
#include "source/per_cpu_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/perf_event.h"

/* Also returns 0 when the CPU has just gone offline. */
static int event_add(struct per_cpu_events *events, struct listed_cpu cpu,
		     const struct perf_event_attr *attr, struct bpf_program *program,
		     struct error *error)
{
	int fd = perf_event_open_cpu(attr, cpu.number, error);
	struct per_cpu_event *event;

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;
	event = array_add(events);
	if (!event) {
		close(fd);
		return error_set(error, ENOMEM, "cannot watch CPU %u: out of memory", cpu.number);
	}
	event->cpu = cpu;
	event->link = bpf_program__attach_perf_event(program, fd);
	if (!event->link) {
		int errnum = errno;

		events->count--;
		close(fd);
		return error_set(error, errnum, "cannot attach BPF program %s to CPU %u: %s",
				 bpf_program__name(program), cpu.number, strerror(errnum));
	}
	return 0;
}

int per_cpu_events_update(struct per_cpu_events *events, const struct cpu_list *cpus,
			  const struct perf_event_attr *attr, struct bpf_program *program,
			  struct error *error)
{
	struct error later;
	int first_err = 0;

	if (events->version == cpus->version)
		return 0;
	events->version = cpus->version;
	for (size_t i = 0; i < events->count;) {
		struct per_cpu_event *event = &events->items[i];

		if (cpu_list_still_has(cpus, event->cpu)) {
			i++;
			continue;
		}
		/* The event died when its CPU went offline; the CPU needs a new one when it
		 * returns. */
		bpf_link__destroy(event->link);
		*event = events->items[--events->count];
	}
	array_foreach(cpus, cpu) {
		bool known = false;
		int err;

		array_foreach(events, event)
			known = known || event->cpu.number == cpu->number;
		if (known)
			continue;
		err = event_add(events, *cpu, attr, program, first_err ? &later : error);
		first_err = first_err ? first_err : err;
	}
	return first_err;
}

void per_cpu_events_done(struct per_cpu_events *events)
{
	array_foreach(events, event)
		bpf_link__destroy(event->link);
	array_free(events);
}
