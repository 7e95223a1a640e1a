/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from the running kernel's BTF where kernels differ, and the types that our programs use.
 * Version numbers cannot answer that: distributions backport changes.
 *
 * libbpf would copy all BTF (5 MB) and search it once per type; that took longer than loading
 * the programs of a CPU profile. Here one pass finds the wanted names, and libbpf gets a copy of
 * a few hundred types for relocation. One owner thread. */
#ifndef PKBPF_CAPTURE_KERNEL_KERNEL_TYPES_H
#define PKBPF_CAPTURE_KERNEL_KERNEL_TYPES_H

#include <stdint.h>

#include "base/error.h"

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types;

/* NULL: out of memory. */
struct kernel_types *kernel_types_new(void);
void kernel_types_free(struct kernel_types *types);
/* Exists since one link may hold user-space probes at many places (6.6). */
#define KERNEL_TYPE_UPROBE_MULTI "bpf_uprobe_multi_link"
/* The same of the kernel's functions (5.18, with fprobes). */
#define KERNEL_TYPE_KPROBE_MULTI "bpf_kprobe_multi_link"
/* Tracing programs may keep data with a socket: since 5.11. */
#define KERNEL_FUNCTION_SOCKET_STORAGE "bpf_sk_storage_get_tracing"

/* Adds a name to look for, before kernel_types_read(). Copied. -ENOMEM. */
int kernel_types_want(struct kernel_types *types, const char *name);
/* Reads a file of raw BTF. -EINVAL, -ENOTSUP: not BTF we understand; other errors as they come. */
int kernel_types_read(struct kernel_types *types, const char *path, struct error *error);

/* The number of the type with this wanted name and kind (BTF_KIND_*); 0: none. */
uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name);
/* Number of arguments of the tracepoint's function, including its private data, always the
 * first; 0: no such tracepoint. Its wanted name is "btf_trace_<tracepoint>". */
uint32_t kernel_types_tracepoint_arguments(const struct kernel_types *types,
					   const char *tracepoint);

/* Writes the structures, unions and enumerations found, with their members' types, as a BTF of
 * their own. All pointers become void *. Offsets and sizes of fields are the kernel's; type
 * numbers are not. */
int kernel_types_write(const struct kernel_types *types, int fd, struct error *error);

#endif
