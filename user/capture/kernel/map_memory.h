/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel memory of BPF maps, which no RSS includes. */
#ifndef PKBPF_CAPTURE_KERNEL_MAP_MEMORY_H
#define PKBPF_CAPTURE_KERNEL_MAP_MEMORY_H

#include <stdint.h>

/* Bytes of all maps that this process has open, by what the kernel charges for them; proc_self:
 * "/proc/self" or a test folder. 0: unknown. */
uint64_t map_memory_bytes(const char *proc_self);

#endif
