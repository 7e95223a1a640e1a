/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the running kernel's BTF says, where kernels differ and of the types that our programs read.
 * Versions cannot answer that: changes are carried back into old kernels.
 *
 * libbpf would copy all of it (5 MB) and search it once for every type, which took longer than to
 * load what the programs of a CPU profile are made of. Here it is walked once, for the names that
 * are wanted, and libbpf gets a copy of a few hundred types to relocate by. One owner thread.
 */
#ifndef PKBPF_CAPTURE_KERNEL_KERNEL_TYPES_H
#define PKBPF_CAPTURE_KERNEL_KERNEL_TYPES_H

#include <stdint.h>

#include "base/error.h"

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types;

/* NULL: out of memory. */
struct kernel_types *kernel_types_new(void);
void kernel_types_free(struct kernel_types *types);
/* Before kernel_types_read: everything of this name will be found. Copied. -ENOMEM. */
int kernel_types_want(struct kernel_types *types, const char *name);
/* Reads a file of raw BTF. -EINVAL, -ENOTSUP: none that we understand; others as they come. */
int kernel_types_read(struct kernel_types *types, const char *path, struct error *error);

/* The number of what has this name, which was wanted, and kind (BTF_KIND_*); 0: it does not
 * exist. */
uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name);
/* Number of arguments of the tracepoint's function, its private data (always first) included; 0: no
 * such tracepoint. Wanted as "btf_trace_<tracepoint>". */
uint32_t kernel_types_tracepoint_arguments(const struct kernel_types *types,
					   const char *tracepoint);

/* Writes the structures, unions and enumerations that were found, with all that they contain, as
 * BTF of their own, in which every pointer is one to void: offsets and sizes of fields are the
 * kernel's, numbers of types are not. */
int kernel_types_write(const struct kernel_types *types, int fd, struct error *error);

#endif
