/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PKBPF_PROCESS_PROCFS_STATUS_H
#define PKBPF_PROCESS_PROCFS_STATUS_H

#include <stdint.h>

/* The process of a thread; 0: it has exited. */
uint32_t procfs_process_of_thread(uint32_t tid);

#endif
