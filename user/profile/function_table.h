/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a profile's frames. A frame has several functions when the compiler inlined;
 * a function has many frames (addresses). Exporters and reports show functions. */
#ifndef PKBPF_PROFILE_FUNCTION_TABLE_H
#define PKBPF_PROFILE_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum function_mark {
	FUNCTION_PLAIN,
	FUNCTION_KERNEL,
	FUNCTION_INLINED, /* into its caller; takes precedence over the others */
	FUNCTION_JIT,
	FUNCTION_PYTHON, /* or of Ruby */
	/* not a function: the reason why the stack ends here, or at its leaf the peer it is about
	 */
	FUNCTION_TRUNCATED,
};

/* Strings come from the target: not escaped, never NULL; "" is unknown. */
struct function {
	/* "ExecScan", "[libfoo.so+0x1234]", "[unknown]", "[truncated: no unwind info]"; Python's
	 * without lines: "Pool.run (pool.py)" */
	const char *name;
	const char *module; /* "libc.so.6" */
	const char *file;   /* with lines */
	const char *path;   /* of Python's, also without lines: the whole path of its file */
	uint32_t line;
	enum function_mark mark;
	bool named;   /* a symbol was found */
	bool is_ruby; /* FUNCTION_PYTHON: of that interpreter */
};

/* Kernel code, or no code at all. */
static inline bool function_is_outside(const struct function *function)
{
	return function->mark == FUNCTION_KERNEL || function->mark == FUNCTION_TRUNCATED;
}

/* The name of its file to show with a line: without folders that tell nothing. */
const char *function_file_name(const struct function *function);

struct function_table_options {
	bool lines; /* each line of a function is a function of its own */
	/* For tables of functions: inlined copies count as their function, and unresolved
	 * addresses as one "[libfoo.so]" per module. */
	bool merge;
	/* Each module is one function: a library, a program, the kernel, a file of Python. */
	bool modules;
};

struct function_table;

/* Takes a symbolized profile; strings are copied. NULL: out of memory. */
struct function_table *function_table_new(const struct profile *profile,
					  const struct function_table_options *options);
void function_table_free(struct function_table *table);
size_t function_table_count(const struct function_table *table);
const struct function *function_table_get(const struct function_table *table, uint32_t function);
/* Where a stack's innermost Python function is among its functions, leaf first; count: it has none.
 */
size_t function_table_find_python(const struct function_table *table, const uint32_t *functions,
				  size_t count);
/* Functions of a frame, innermost inlined one first; none of what is left out of stacks. */
const uint32_t *function_table_frame(const struct function_table *table, uint32_t frame,
				     size_t *ret_count);
/* The first `max` functions of a stack of the table's profile, leaf first; returns how many it
 * has. */
size_t function_table_stack(const struct function_table *table, const struct profile *profile,
			    uint32_t stack, uint32_t *ret_functions, size_t max);

#endif
