/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The priority of threads whose short bursts of work come first on a busy machine, since what they
 * are late for is lost.
 *
 * Only the calling thread is affected, and what it starts afterwards: threads and processes inherit
 * its priority.
 */
#ifndef PKBPF_BASE_THREAD_PRIORITY_H
#define PKBPF_BASE_THREAD_PRIORITY_H

#include <stdbool.h>

/* false: not permitted, or the user has chosen a priority for the whole program (nice, systemd),
 * which is left alone. */
bool thread_priority_raise(void);
/* What thread_priority_raise() has done. */
void thread_priority_restore(void);

#endif
