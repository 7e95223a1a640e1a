/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_PROCESS_PROCFS_STATUS_H
#define PKBPF_PROCESS_PROCFS_STATUS_H

#include <stdint.h>

/* The process that a thread belongs to; 0: it is gone. */
uint32_t procfs_process_of_thread(uint32_t tid);

#endif
