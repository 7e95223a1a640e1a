/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heap memory of megabytes, in large pages where the kernel gives them to who asks
 * (transparent_hugepage at madvise, the default of distributions, or always). A fault per small
 * page is cheap on bare metal, but ten microseconds where a hypervisor has to help: then half the
 * cost of a buffer that is filled once.
 */
#ifndef PKBPF_BASE_LARGE_MEMORY_H
#define PKBPF_BASE_LARGE_MEMORY_H

#include <stddef.h>

/* As malloc(); free() takes it back. */
void *large_malloc(size_t size);
/* The same for memory that the caller has from malloc() or realloc() and has not written yet; small
 * blocks stay as they are. */
void large_memory_advise(void *data, size_t size);

#endif
