/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that this process has for itself. */
#ifndef PKBPF_CAPTURE_KERNEL_OWN_MEMORY_H
#define PKBPF_CAPTURE_KERNEL_OWN_MEMORY_H

#include <stdint.h>

/* Resident bytes that belong to no file: heap and stacks. Mapped BPF tables are not among them
 * (map_memory.h). 0: unknown. proc_self: "/proc/self" or a test directory. */
uint64_t own_memory_bytes(const char *proc_self);

#endif
