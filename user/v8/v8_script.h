/* SPDX-License-Identifier: BSD-2-Clause */
/* A script: its name, and where the lines of its source begin. */
#ifndef PKBPF_V8_V8_SCRIPT_H
#define PKBPF_V8_V8_SCRIPT_H

#include "base/array.h"
#include "v8/v8_layout.h"
#include "v8/v8_memory.h"

#define V8_PATH_BYTES	    1024
#define V8_SCRIPT_MAX_LINES (4U << 20)

struct v8_script {
	int32_t id;
	int32_t line_offset;	  /* of its first line, from 0 */
	char path[V8_PATH_BYTES]; /* "" of eval() and new Function() */
	uint32_t source_length;	  /* of what the lines were read of */
	ARRAY_OF(uint32_t) lines; /* where each one but the first begins; none: not known */
	bool has_lines;
};

/* The source is read, too. -ESTALE: it was replaced while it was read. Without a source, there are
 * no lines. */
int v8_script_read(const struct v8_memory *memory, const struct v8_layout *layout, uint64_t script,
		   struct v8_script *ret_script);
void v8_script_done(struct v8_script *script);
/* Its path and the length of its source: together a key of the script. */
int v8_script_identify(const struct v8_memory *memory, uint64_t script, uint32_t *ret_length,
		       char ret_path[V8_PATH_BYTES]);
/* The line, from 1 to INT32_MAX, of a position; 0: not known. */
uint32_t v8_script_line(const struct v8_script *script, int32_t position);

#endif
