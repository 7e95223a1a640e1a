/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of Python calls, in a file of each process that both sides map or read: the library in
 * the interpreter (user/preload/python_calls.c) adds, pkbpf reads when the command has ended. What
 * was counted is there however the process ends.
 *
 * The file has a head and four areas of fixed places, of which only the beginning has memory.
 */
#ifndef PKBPF_PYTHON_CALLS_H
#define PKBPF_PYTHON_CALLS_H

#include <stdint.h>

/* DIRECTORY, or DIRECTORY:lines. */
#define PKBPF_PYTHON_CALLS_VARIABLE "PKBPF_PYTHON_CALLS"
#define PKBPF_PYTHON_CALLS_PREFIX   "calls-" /* of names of files; then PID-NUMBER */

#define PKBPF_PYTHON_CALLS_MAGIC 0x31434c4c41435950ULL /* "PYCALLC1" */

/* Row 0 of each area is none. */
#define PKBPF_PYTHON_FUNCTIONS 65536U
#define PKBPF_PYTHON_EDGES     262144U
#define PKBPF_PYTHON_LINES     524288U
#define PKBPF_PYTHON_STRINGS   (16U << 20)
#define PKBPF_PYTHON_NAME_MAX  511U  /* bytes of a name */
#define PKBPF_PYTHON_PATH_MAX  1023U /* of a path */

enum pkbpf_python_state {
	PKBPF_PYTHON_LOADED = 1, /* no script has begun */
	PKBPF_PYTHON_COUNTS,
	PKBPF_PYTHON_REFUSED, /* an interpreter with other structures */
};

struct pkbpf_python_head {
	uint64_t magic;
	uint32_t state;	  /* enum pkbpf_python_state */
	uint32_t pid;	  /* as the process sees it */
	uint32_t version; /* 0x030b for 3.11 */
	/* Rows in use, with row 0; bytes of strings. */
	uint32_t functions, edges, lines, strings;
	uint32_t has_lines;
	/* Calls and lines that found no room; calls of threads with too deep a stack. */
	uint64_t lost_calls, lost_lines;
	uint64_t replaced;     /* threads that have set a profile function of their own */
	uint64_t interpreters; /* begun beside the main one */
	uint64_t threads;      /* of these are counts */
	uint64_t unhooked;     /* threads that began without counts: audit hooks of the program */
};

struct pkbpf_python_function {
	/* In the strings; name 0: calls of it are lost; file 0: a function in C. */
	uint32_t name, file, qualified;
	uint32_t first_line;
};

/* Calls of one function by another one. */
struct pkbpf_python_edge {
	uint32_t caller, callee; /* rows of functions; caller 0: none is known */
	uint64_t calls;
	uint64_t primitive; /* of calls: the callee was not running in that thread */
	uint64_t first;	    /* of calls: not by way of this edge */
};

struct pkbpf_python_line {
	uint32_t function, line;
	uint64_t hits;
};

#define PKBPF_PYTHON_FUNCTIONS_AT 4096U
#define PKBPF_PYTHON_EDGES_AT                                                                      \
	(PKBPF_PYTHON_FUNCTIONS_AT +                                                               \
	 PKBPF_PYTHON_FUNCTIONS * (uint32_t)sizeof(struct pkbpf_python_function))
#define PKBPF_PYTHON_LINES_AT                                                                      \
	(PKBPF_PYTHON_EDGES_AT + PKBPF_PYTHON_EDGES * (uint32_t)sizeof(struct pkbpf_python_edge))
#define PKBPF_PYTHON_STRINGS_AT                                                                    \
	(PKBPF_PYTHON_LINES_AT + PKBPF_PYTHON_LINES * (uint32_t)sizeof(struct pkbpf_python_line))
#define PKBPF_PYTHON_FILE_BYTES (PKBPF_PYTHON_STRINGS_AT + PKBPF_PYTHON_STRINGS)

#endif
