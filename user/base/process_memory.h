/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the memory of another process. Any thread. */
#ifndef PKBPF_BASE_PROCESS_MEMORY_H
#define PKBPF_BASE_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Copies all bytes (0) by process_vm_readv(2); context points to the pid (uint32_t). -ESRCH: it has
 * ended; -EPERM: no CAP_SYS_PTRACE; -EFAULT: not all of it is mapped. */
int process_memory_read(void *context, uint64_t address, void *buffer, size_t size);

#endif
