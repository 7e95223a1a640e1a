/* SPDX-License-Identifier: BSD-2-Clause */
/* The library that samples allocations inside a program (preload/). */
#ifndef PKBPF_SOURCE_ALLOC_SAMPLER_LIBRARY_H
#define PKBPF_SOURCE_ALLOC_SAMPLER_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

#define SAMPLER_LIBRARY_NAME "libpkbpf-alloc.so"
/* The variable that holds its interval, as in preload/sampler.h. */
#define SAMPLER_LIBRARY_INTERVAL "PKBPF_ALLOC_INTERVAL"

/* Its path: beside our own executable, as in a build tree, or where it is installed. -ENOENT. */
int sampler_library_find(char *path, size_t size, struct error *error);

#endif
