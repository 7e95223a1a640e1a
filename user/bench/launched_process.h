/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process that has exited took, while it waits to be reaped. */
#ifndef PKBPF_BENCH_LAUNCHED_PROCESS_H
#define PKBPF_BENCH_LAUNCHED_PROCESS_H

#include <sys/types.h>

#include "bench/launcher.h"

/* Fills status, usage and the rest, and reaps the process. */
void launched_process_read(pid_t pid, struct launch_result *result);
/* Children of this process that are alive. */
uint32_t launched_children(void);
/* Reaps a child that has exited and that the command did not wait for, and adds what it and those
 * that it waited for used. result NULL: to nothing. */
void launched_orphan_reap(pid_t pid, struct launch_result *result);
/* Of one after the other, or at a time: the largest of memory, sums of all else. */
void launched_usage_add(struct rusage *sum, const struct rusage *more);

#endif
