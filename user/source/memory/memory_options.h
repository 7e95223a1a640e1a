/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the memory source. */
#ifndef PKBPF_SOURCE_MEMORY_MEMORY_OPTIONS_H
#define PKBPF_SOURCE_MEMORY_MEMORY_OPTIONS_H

#include <stdint.h>

#include "base/option_row.h"

struct memory_options {
	uint64_t every_ns; /* between two readings of the memory of all processes, at least */
};

/* Rows about struct source_options; the last one has no name. */
extern const struct option_row memory_option_rows[];

struct source_options;
void memory_options_init(struct source_options *options);

#endif
