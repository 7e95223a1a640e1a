/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_PROCESS_PROCFS_STATUS_H
#define PKBPF_PROCESS_PROCFS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* As whom a process runs, and what it is called where it runs. */
struct procfs_status {
	uint32_t real_uid, effective_uid, effective_gid;
	uint32_t inner_pid; /* in the innermost pid namespace */
	uint64_t caught;    /* signals that it handles: bit 0 is signal 1 */
};

/* procfs: "/proc". false: the process has exited. */
bool procfs_status_read(const char *procfs, uint32_t pid, struct procfs_status *ret_status);
/* When a process or thread was started: since boot, in ticks of USER_HZ; 0: it has exited. */
uint64_t procfs_start_ticks(const char *procfs, uint32_t tid);
/* The process of a thread; 0: it has exited. */
uint32_t procfs_process_of_thread(uint32_t tid);

#endif
