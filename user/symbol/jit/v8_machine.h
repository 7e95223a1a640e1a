/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The V8 of one process: names of the JavaScript functions in its stacks, with those inlined into
 * them, and lines. V8 moves and frees what describes them, so names come with the records of the
 * kernel side (pkbpf/v8.h). Lines and inlined functions are read when a place is first seen, if the
 * function is then still what the record says.
 *
 * Bounds: V8_MACHINE_MAX_FUNCTIONS, _SCRIPTS, _PLACES, _LINES of sources, of which each may have
 * V8_STRING_MAX_UNITS; what v8_budget.h lets be read in a second. Beyond these names or lines are
 * missing, and counted.
 */
#ifndef PKBPF_SYMBOL_JIT_V8_MACHINE_H
#define PKBPF_SYMBOL_JIT_V8_MACHINE_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"
#include "v8/v8_code.h"
#include "v8/v8_memory.h"

#define V8_MACHINE_MAX_FUNCTIONS (1U << 16)
#define V8_MACHINE_MAX_SCRIPTS	 (1U << 14)
#define V8_MACHINE_MAX_PLACES	 (1U << 17)
#define V8_MACHINE_MAX_LINES	 (8U << 20)

/* Where texts go, of all machines. */
struct v8_names {
	struct string_pool *strings;
	size_t bytes, max_bytes;
	/* functions without a name (max_bytes, unreadable), scripts and frames without lines */
	uint64_t dropped;
};

struct v8_place {
	uint32_t line_count;
	struct symbol_line *lines; /* innermost first; texts are in the pool */
};

/* A JavaScript frame of a stack. */
struct v8_site {
	uint64_t words[2]; /* pkbpf/v8.h */
	uint64_t pc;	   /* in compiled code (return addresses: less 1); 0: in V8's own */
	bool is_leaf;	   /* pc was interrupted */
};

struct v8_machine;

/* Borrows names, not sizes; memory.context has to outlive it. NULL: out of memory. */
struct v8_machine *v8_machine_new(const struct v8_memory *memory, const struct v8_layout *layout,
				  const struct v8_bytecode_sizes *sizes, struct v8_names *names);
void v8_machine_free(struct v8_machine *machine);
/* From now on (CLOCK_MONOTONIC) the record's function has its address and identity. */
void v8_machine_note(struct v8_machine *machine, const struct pkbpf_event_v8_function *record,
		     uint64_t now_ns);
/* Number of the place; UINT32_MAX: no record has named its function, or there is no room.
 * want_lines: lines of positions, too. */
uint32_t v8_machine_find(struct v8_machine *machine, const struct v8_site *site, bool want_lines,
			 uint64_t now_ns);
/* Number of functions that it keeps, each once. */
size_t v8_machine_function_count(const struct v8_machine *machine);
/* NULL: there is no such place. Valid until the next v8_machine_find(). */
const struct v8_place *v8_machine_place(const struct v8_machine *machine, uint32_t number);

#endif
