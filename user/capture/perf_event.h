/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens perf events; errors explain why the kernel refused. */
#ifndef PKBPF_CAPTURE_PERF_EVENT_H
#define PKBPF_CAPTURE_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/error.h"

/* Opens an event on one CPU for all processes; the descriptor is close-on-exec. -ENODEV: the CPU
 * is offline. *error explains other errors. */
int perf_event_open_cpu(const struct perf_event_attr *attr, uint32_t cpu, struct error *error);

/* Attributes of an event that samples CPU time `frequency_hz` times a second: hardware cycles
 * with `hardware`, else cpu-clock. */
void perf_event_cpu_attr(uint32_t frequency_hz, int hardware, struct perf_event_attr *ret_attr);

/* Nanoseconds between two samples of a time-based event, as the kernel rounds them; 0: the event
 * is not time-based. */
uint64_t perf_event_period_ns(const struct perf_event_attr *attr);

/* Limit of samples per second (sysctl kernel.perf_event_max_sample_rate); 0: unknown. */
uint64_t perf_event_max_sample_rate(void);

#endif
