/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel memory of BPF maps, which RSS does not include. */
#ifndef PKBPF_CAPTURE_KERNEL_MAP_MEMORY_H
#define PKBPF_CAPTURE_KERNEL_MAP_MEMORY_H

#include <stdint.h>

/* Bytes that the kernel charges for all maps this process has open; 0: unknown. proc_self:
 * "/proc/self" or a test directory. */
uint64_t map_memory_bytes(const char *proc_self);

#endif
