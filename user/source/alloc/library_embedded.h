/* SPDX-License-Identifier: BSD-2-Clause */
/* The libraries that are part of a program in one file. */
#ifndef PKBPF_SOURCE_ALLOC_LIBRARY_EMBEDDED_H
#define PKBPF_SOURCE_ALLOC_LIBRARY_EMBEDDED_H

#include "source/alloc/library_unpack.h"

/* NULL: there is none of this name, as in a build with libraries of its own. */
const struct library_bytes *library_embedded(const char *name);

#endif
