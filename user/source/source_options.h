/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the sources: one struct for each, filled by its rows of the option table
 * (source_ops.options). */
#ifndef PKBPF_SOURCE_SOURCE_OPTIONS_H
#define PKBPF_SOURCE_SOURCE_OPTIONS_H

#include "source/alloc/alloc_options.h"
#include "source/blockio/blockio_options.h"
#include "source/context/context_options.h"
#include "source/gpu_calls/gpu_call_options.h"
#include "source/memory/memory_options.h"
#include "source/offcpu/lock_options.h"
#include "source/offcpu/offcpu_options.h"
#include "source/regions/region_options.h"

struct source_options {
	struct offcpu_options offcpu;
	struct blockio_options blockio;
	struct region_options regions;
	struct alloc_options alloc;
	struct gpu_call_options gpu_calls;
	struct memory_options memory;
	struct context_options context;
	struct lock_options locks;
};

/* Sets the defaults. */
void source_options_init(struct source_options *options);

#endif
