/* SPDX-License-Identifier: BSD-2-Clause */
/* One sampled address of Java code: the names that it has. */
#ifndef PKBPF_SYMBOL_JIT_HOTSPOT_PLACE_H
#define PKBPF_SYMBOL_JIT_HOTSPOT_PLACE_H

#include "base/string_pool.h"
#include "hotspot/hotspot_process.h"
#include "hotspot/hotspot_scopes.h"
#include "symbol/symbolizer.h"

#define HOTSPOT_PLACE_MAX_LINES HOTSPOT_MAX_INLINED

enum hotspot_place_state {
	HOTSPOT_PLACE_WAITING, /* its code is not listed yet */
	HOTSPOT_PLACE_NAMED,
	HOTSPOT_PLACE_UNNAMED,
};

struct hotspot_place {
	uint64_t address;    /* in the instruction: return addresses less 1 */
	uint64_t time_ns;    /* of the first sample */
	uint64_t checked_ns; /* of an interpreted method: its name was read then */
	enum hotspot_place_state state;
	enum symbol_result reason; /* of UNNAMED */
	bool is_glue;
	uint8_t line_count;
	struct symbol_line *lines; /* owned; texts are in the pool */
};

/* Where texts go. */
struct hotspot_place_names {
	struct string_pool *strings;
	size_t bytes, max_bytes;
	uint64_t dropped; /* places without a name because of max_bytes */
};

/* Reads the names of a place in a blob from the process, and lines if they are wanted. Generated
 * code between a call and what it calls is left out, as Java's own tools do; a place that is
 * nothing else is glue. call_stub_return: see hotspot_process.h. */
void hotspot_place_name(struct hotspot_place *place, struct hotspot_place_names *names,
			const struct hotspot_process *process, const struct hotspot_blob *blob,
			uint64_t call_stub_return, bool want_lines);
/* The same for a method in the interpreter, by its word (pkbpf/hotspot.h). is_at_bytecode: the word
 * says which one it is at. */
void hotspot_place_name_interpreted(struct hotspot_place *place, struct hotspot_place_names *names,
				    const struct hotspot_process *process, uint64_t word,
				    bool is_at_bytecode, bool want_lines);
void hotspot_place_done(struct hotspot_place *place);

#endif
