/* SPDX-License-Identifier: BSD-2-Clause */
/* Python functions with their counted calls and the times of samples and waits, as cProfile has
 * them. */
#ifndef PKBPF_ROWS_PYTHON_CALLS_H
#define PKBPF_ROWS_PYTHON_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define PYTHON_CALLS_NONE SIZE_MAX

/* Strings are the profile's: not escaped, never NULL. */
struct python_function {
	const char *name, *qualified; /* qualified: as name where it is not known */
	const char *file;	      /* "": a function in C, which has no times */
	uint32_t line;		      /* the first one */
	uint64_t calls, primitive;    /* primitive: while it was not running in the thread */
	/* Of stacks whose innermost Python function it is, and of all with it. */
	uint64_t self_ns, total_ns;
};

struct python_caller {
	size_t function, caller; /* places of functions; caller PYTHON_CALLS_NONE: not known */
	uint64_t calls, first;	 /* first: while it was not running by way of this caller */
	uint64_t self_ns, total_ns;
};

struct python_line {
	size_t function;
	uint32_t line;
	uint64_t hits;
};

struct python_calls_rows {
	struct python_function *functions; /* most self time first, then most calls */
	size_t function_count;
	struct python_caller *callers; /* by function, most calls first */
	size_t caller_count;
	struct python_line *lines; /* most hits first */
	size_t line_count;
	uint64_t calls, primitive;
	bool has_samples, has_waits; /* of which times are */
	uint64_t sums[PYTHON_CALL_WHATS];
};

/* -ENOMEM. Takes a symbolized profile, and borrows from it. */
int python_calls_rows_make(struct python_calls_rows *rows, const struct profile *profile);
void python_calls_rows_done(struct python_calls_rows *rows);
/* What the counts leave out, as sentences for people; "": nothing. */
void python_calls_notes(const struct python_calls_rows *rows, char *text, size_t size);
/* "app.py:12(run)", "{built-in method builtins.len}": as pstats prints it. Not escaped. */
#define PYTHON_FUNCTION_TEXT_SIZE 640
const char *python_function_text(char text[PYTHON_FUNCTION_TEXT_SIZE],
				 const struct python_function *function);

#endif
