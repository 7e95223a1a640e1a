/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of libraries by which programs mark regions. */
#ifndef PKBPF_SOURCE_REGIONS_LIBRARY_MARKS_H
#define PKBPF_SOURCE_REGIONS_LIBRARY_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/regions/function_match.h"

struct library_mark {
	struct function_pattern pattern;
	const char *region;    /* its name where the program gives none that can be read */
	uint32_t role;	       /* PKBPF_SITE_ENTER, PKBPF_SITE_LEAVE */
	uint8_t name_argument; /* ENTER: from 0 */
	bool has_attributes;   /* the argument is a record of NVTX, which has the name */
};

/* NULL at the end. */
const struct library_mark *library_mark_at(size_t index);

#endif
