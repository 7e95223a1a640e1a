/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the block I/O source. */
#ifndef PKBPF_SOURCE_BLOCKIO_BLOCKIO_OPTIONS_H
#define PKBPF_SOURCE_BLOCKIO_BLOCKIO_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/option_row.h"

struct blockio_options {
	uint64_t slow_ns;  /* requests of this latency or more are slow; UINT64_MAX: none */
	size_t slow_count; /* number of slowest requests reported individually */
	uint64_t trace_ns; /* requests of this latency or more are all sent, too; 0: none */
};

/* Rows about struct source_options; the last one has no name. */
extern const struct option_row blockio_option_rows[];

struct source_options;
void blockio_options_init(struct source_options *options);

#endif
