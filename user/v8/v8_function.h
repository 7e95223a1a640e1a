/* SPDX-License-Identifier: BSD-2-Clause */
/* A JavaScript function, as its SharedFunctionInfo describes it. */
#ifndef PKBPF_V8_V8_FUNCTION_H
#define PKBPF_V8_V8_FUNCTION_H

#include "v8/v8_layout.h"
#include "v8/v8_memory.h"

#define V8_NAME_BYTES 256
/* In the place of a name that cannot be read. */
#define V8_NAME_UNREADABLE "(name unreadable)"

struct v8_function {
	uint64_t identity; /* pkbpf_v8_identity_of() */
	uint64_t script;   /* reference */
	int32_t script_id;
	int32_t start, end;	  /* in its source, in units; -1: not known */
	char name[V8_NAME_BYTES]; /* "": it has none; or V8_NAME_UNREADABLE */
};

/* What the SharedFunctionInfo at a reference is at this moment; 0: none can be read. */
uint64_t v8_function_identity(const struct v8_memory *memory, const struct v8_layout *layout,
			      uint64_t shared);
/* -ENOENT: there is no function of a script; -ESTALE: it was replaced while it was read. */
int v8_function_read(const struct v8_memory *memory, const struct v8_layout *layout,
		     uint64_t shared, struct v8_function *ret_function);

#endif
