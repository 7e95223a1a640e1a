/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps one perf event with a BPF program on every online CPU, through CPU hotplug. */
#ifndef PKBPF_SOURCE_PER_CPU_EVENTS_H
#define PKBPF_SOURCE_PER_CPU_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/cpu_list.h"

struct bpf_link;
struct bpf_program;

struct per_cpu_event {
	struct listed_cpu cpu;
	struct bpf_link *link; /* owns the perf event */
};

struct per_cpu_events { /* zero-initialized: empty */
	struct per_cpu_event *items;
	size_t count, capacity;
	uint32_t version; /* of the CPU list at the last update */
};

/* Opens missing events on the listed CPUs. Closes events on other CPUs and events that died with
 * a CPU that has returned. Call it first and whenever the list may have changed. It does nothing
 * when the list is unchanged: an event that the kernel refused is retried only after the next
 * change. A CPU that went offline meanwhile is no error. */
int per_cpu_events_update(struct per_cpu_events *events, const struct cpu_list *cpus,
			  const struct perf_event_attr *attr, struct bpf_program *program,
			  struct error *error);
void per_cpu_events_done(struct per_cpu_events *events);

#endif
