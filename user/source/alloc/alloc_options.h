/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the alloc source. */
#ifndef PKBPF_SOURCE_ALLOC_ALLOC_OPTIONS_H
#define PKBPF_SOURCE_ALLOC_ALLOC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option_row.h"

struct alloc_options {
	bool wanted;		 /* the command is to be started with the sampler */
	uint64_t interval_bytes; /* mean bytes between two samples of a thread; 0: the default */
	bool python_objects;	 /* Python's small objects come from malloc, too */
};

extern const struct option_row alloc_option_rows[];

#endif
