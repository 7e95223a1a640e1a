/* SPDX-License-Identifier: BSD-2-Clause */
/* What the CPU counts while a run lasts, and what the machine takes: events that the launcher's
 * children inherit, energy, temperature, frequency. What is absent is left out. */
#ifndef PKBPF_BENCH_BENCH_COUNTERS_H
#define PKBPF_BENCH_BENCH_COUNTERS_H

#include <sys/types.h>

#include "bench/bench.h"

struct bench_counters;

/* Of the children of a process, which starts none until then. NULL: out of memory. */
struct bench_counters *bench_counters_open(pid_t pid);
/* Before a run, and after it: sets what is known. */
void bench_counters_begin(struct bench_counters *counters);
void bench_counters_end(struct bench_counters *counters, struct bench_run *run);
void bench_counters_free(struct bench_counters *counters); /* NULL is fine */

#endif
