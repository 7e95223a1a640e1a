/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls and lines of Python programs that were counted inside the interpreter: sums of all
 * processes. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_PYTHON_CALL_LIST_H
#define PKBPF_PROFILE_ACCOUNT_PYTHON_CALL_LIST_H

#include <stdint.h>

#include "base/array.h"
#include "base/hash_map.h"

#define PYTHON_CALL_ROWS_MAX 1048576

enum python_call_what {
	PYTHON_CALL_EDGE = 1, /* calls of a function by one caller */
	PYTHON_CALL_LINE,     /* count: how often it ran */
	/* Only a count: */
	PYTHON_CALL_PROCESSES,	  /* with counts */
	PYTHON_CALL_IDLE,	  /* interpreters that began no script */
	PYTHON_CALL_REFUSED,	  /* interpreters of another version, or without a GIL */
	PYTHON_CALL_UNREADABLE,	  /* processes with a file that is none or empty, or too many */
	PYTHON_CALL_LOST,	  /* calls that found no room */
	PYTHON_CALL_LOST_LINES,	  /* likewise */
	PYTHON_CALL_REPLACED,	  /* threads with a profile function of their own */
	PYTHON_CALL_INTERPRETERS, /* beside the main one of a process */
	PYTHON_CALL_UNHOOKED,	  /* threads: audit hooks of the program stood against it */
	PYTHON_CALL_WHATS,
};

struct python_call {
	uint32_t what; /* enum python_call_what */
	/* profile_string(), as cProfile has them; file "": a function in C */
	uint32_t name, file, line;
	uint32_t qualified; /* profile_string(); "": not known. No part of the key */
	/* The same of the caller; name "": none is known */
	uint32_t caller_name, caller_file, caller_line;
	uint32_t at; /* LINE: its number */
	uint64_t count;
	uint64_t primitive; /* EDGE: calls while the function was not running in the thread */
	uint64_t first;	    /* EDGE: calls while it was not running by way of this caller */
};

struct python_call_list { /* zero-initialized: empty */
	ARRAY_OF(struct python_call) items;
	struct hash_map numbers; /* hash of the key -> index */
};

/* Adds to the row with its key. -ENOMEM; -ENOSPC: there is no room. */
int python_call_list_add(struct python_call_list *list, const struct python_call *call);
/* Of a row that is only a count. */
uint64_t python_call_list_sum(const struct python_call_list *list, enum python_call_what what);

#endif
