/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of folded stacks: weights, callers, callees. One owner thread. */
#ifndef PKBPF_MCP_MCP_STACKS_H
#define PKBPF_MCP_MCP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"

struct mcp_weight {
	uint32_t name;	      /* in the names of the stacks */
	uint64_t self, total; /* total counts a stack once */
	uint32_t seen;	      /* number of the stack that counted last */
};

struct mcp_weights {
	ARRAY_OF(struct mcp_weight) items;
	struct hash_map by_name; /* name -> item */
};

struct mcp_stack {
	uint32_t first, count; /* in the frames; outermost first, without the program */
	uint64_t weight;
};

struct mcp_stacks { /* zero-initialised has none */
	struct string_pool *names;
	ARRAY_OF(uint32_t) frames;
	ARRAY_OF(bool) is_inside; /* by name, of those looked at: no place */
	ARRAY_OF(struct mcp_stack) stacks;
	uint64_t weight; /* of all */
};

/* Reads folded stacks, one a line: "program;outer;inner 12". Replaces separators in the text; NULL:
 * none.
 * Suffixes of frames become words: "read [kernel]". Places alone: frames inside of scheduling,
 * faults and entry, which all stacks of waits have, are left out. -EBADMSG: a line is none;
 * -ENOMEM. */
int mcp_stacks_read(char *text, bool places_alone, struct mcp_stacks *ret_stacks);
void mcp_stacks_done(struct mcp_stacks *stacks);

/* All functions, those with the largest self weight, or total weight, first. -ENOMEM. */
int mcp_stacks_weigh(const struct mcp_stacks *stacks, bool by_total,
		     struct mcp_weights *ret_weights);
/* Functions with this name, without words behind it; else those that have the text in their name.
 * Most total weight first. */
int mcp_stacks_find(const struct mcp_stacks *stacks, const char *name,
		    struct mcp_weights *ret_weights);

struct mcp_around {
	uint64_t self, total;
	/* total of each: the caller of the outermost call, the callee of the innermost one, and the
	 * innermost frame of stacks that hold it. */
	struct mcp_weights callers, callees, leaves;
};

int mcp_stacks_around(const struct mcp_stacks *stacks, uint32_t name,
		      struct mcp_around *ret_around);
void mcp_around_done(struct mcp_around *around);
void mcp_weights_done(struct mcp_weights *weights);

#endif
