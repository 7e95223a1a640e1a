/* SPDX-License-Identifier: BSD-2-Clause */
/* One perf event with a BPF program on every online CPU, following CPUs that come and go. */
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

struct per_cpu_events { /* zero-initialised is empty */
	struct per_cpu_event *items;
	size_t count, capacity;
	uint32_t version; /* of the list they follow */
};

/* Opens what is missing on the CPUs of the list and closes what is on others or died with a CPU
 * that has returned: the first time, and whenever the list may have changed. Does nothing when the
 * list has not changed, so that what the kernel refused is tried again after the next change only.
 * A CPU that has gone meanwhile is no
 * error. */
int per_cpu_events_update(struct per_cpu_events *events, const struct cpu_list *cpus,
			  const struct perf_event_attr *attr, struct bpf_program *program,
			  struct error *error);
void per_cpu_events_done(struct per_cpu_events *events);

#endif
