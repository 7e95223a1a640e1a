/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled code: found by an address in it, and the functions and positions at that address. */
#ifndef PKBPF_V8_V8_CODE_H
#define PKBPF_V8_V8_CODE_H

#include "v8/v8_image.h"
#include "v8/v8_memory.h"
#include "v8/v8_positions.h"

/* The optimizing compilers inline no deeper. */
#define V8_MAX_INLINED 32

struct v8_code {
	uint64_t object; /* reference to the Code */
	uint64_t start;	 /* of its instructions */
	uint32_t size;	 /* of them, in bytes */
	bool is_baseline;
	bool is_optimized;
};

/* A function that is executed at an address, and where. */
struct v8_frame {
	uint64_t shared;  /* reference to its SharedFunctionInfo; 0: the code's own */
	int32_t position; /* in the source; -1: not known */
};

/* Searches backwards for the code that an address is in. -ENOENT: none within 512 KiB. */
int v8_code_find(const struct v8_memory *memory, const struct v8_layout *layout, uint64_t pc,
		 struct v8_code *ret_code);
/* Whether the same code is still there. */
bool v8_code_is_there(const struct v8_memory *memory, const struct v8_layout *layout,
		      const struct v8_code *code);
/* The function that optimized code was made of, as a reference. Errors: unreadable. */
int v8_code_function(const struct v8_memory *memory, const struct v8_layout *layout,
		     const struct v8_code *code, uint64_t *ret_shared);
/* Whether the baseline code is what a function has now. */
bool v8_code_is_baseline_of(const struct v8_memory *memory, const struct v8_code *code,
			    uint64_t shared);
/* What optimized code executes at an address (return addresses: less 1), innermost first. Returns
 * the number of frames, at least 1. */
size_t v8_code_frames(const struct v8_memory *memory, const struct v8_layout *layout,
		      const struct v8_code *code, uint64_t pc,
		      struct v8_frame ret_frames[V8_MAX_INLINED]);
/* The position of a bytecode of a function; -1: not known. */
int32_t v8_code_bytecode_position(const struct v8_memory *memory, const struct v8_layout *layout,
				  uint64_t shared, uint32_t offset);
/* The position of an address in a function's baseline code; -1: not known. */
int32_t v8_code_baseline_position(const struct v8_memory *memory, const struct v8_layout *layout,
				  const struct v8_bytecode_sizes *sizes, const struct v8_code *code,
				  uint64_t shared, uint64_t pc);

#endif
