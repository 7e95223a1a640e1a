/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens perf events; errors say why the kernel refused. */
#ifndef PKBPF_CAPTURE_PERF_EVENT_H
#define PKBPF_CAPTURE_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/error.h"

/* A descriptor (close-on-exec) of an event on one CPU, all processes. -ENODEV: the CPU is offline.
 * Others explain themselves in *error. */
int perf_event_open_cpu(const struct perf_event_attr *attr, uint32_t cpu, struct error *error);

/* Attributes of an event that samples CPU time `frequency_hz` times a second: hardware cycles where
 * `hardware`, else the cpu-clock. */
void perf_event_cpu_attr(uint32_t frequency_hz, int hardware, struct perf_event_attr *ret_attr);

/* Nanoseconds between two samples of an event that counts time, as the kernel rounds them; 0: it
 * counts something else. */
uint64_t perf_event_period_ns(const struct perf_event_attr *attr);

/* The kernel's limit on samples per second (sysctl kernel.perf_event_max_sample_rate); 0
 * unknown. */
uint64_t perf_event_max_sample_rate(void);

#endif
