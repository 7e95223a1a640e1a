/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources: one row of PKBPF_PROFILE_KIND_LIST each, and those that belong to no kind. */
#ifndef PKBPF_SOURCE_SOURCE_TABLE_H
#define PKBPF_SOURCE_SOURCE_TABLE_H

#include "source/source.h"

#define X(constant, number, name) extern const struct source_ops source_##name;
PKBPF_PROFILE_KIND_LIST(X)
#undef X

extern const struct source_ops source_regions;
extern const struct source_ops source_gpu_calls;
extern const struct source_ops source_contexts;

#endif
