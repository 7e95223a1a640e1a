/* SPDX-License-Identifier: BSD-2-Clause */
/* The libraries that are loaded into programs (preload/): the one that samples allocations, the one
 * that hands on regions, and the one that counts Python calls. */
#ifndef PKBPF_SOURCE_ALLOC_SAMPLER_LIBRARY_H
#define PKBPF_SOURCE_ALLOC_SAMPLER_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

#define SAMPLER_LIBRARY_NAME "libpkbpf-alloc.so"
/* The variable that holds its interval, as in preload/sampler.h. */
#define SAMPLER_LIBRARY_INTERVAL "PKBPF_ALLOC_INTERVAL"

/* Hands on the regions of NVTX and ITT. */
#define REGIONS_LIBRARY_NAME "libpkbpf-regions.so"

#define PYTHON_CALLS_LIBRARY_NAME "libpkbpf-python-calls.so"

/* Path of a library of ours: beside our own executable, as in a build tree, or where it is
 * installed. -ENOENT. */
int preload_library_find(const char *name, char *path, size_t size, struct error *error);
/* The same of the sampler. */
int sampler_library_find(char *path, size_t size, struct error *error);

#endif
