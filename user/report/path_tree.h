/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks joined by their callers, and the few lines of them that hold most of the weight: each line
 * is a path of functions, and what several paths have in common is one line above them.
 */
#ifndef PKBPF_REPORT_PATH_TREE_H
#define PKBPF_REPORT_PATH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

#define PATH_TREE_NONE UINT32_MAX

struct path_weight {
	uint64_t weight, count;
	uint64_t max; /* largest single value, 0 unknown */
};

struct path_node {
	uint32_t key; /* of the caller of path_tree_add() */
	uint32_t parent, first_child, next_sibling;
	struct path_weight sum; /* with all below */
	bool is_taken;		/* begins a line */
};

struct path_added {
	size_t begin; /* in the keys */
	uint32_t length;
	uint32_t node; /* of its beginning that is in the tree so far */
	struct path_weight weight;
};

/* Nodes that are too light for any line are never made: of stacks without number few are not. */
struct path_tree {			  /* zero-initialised is empty */
	ARRAY_OF(struct path_node) nodes; /* from path_tree_lines() on */
	ARRAY_OF(struct path_added) added;
	ARRAY_OF(uint32_t) keys;
	struct path_weight sum;
};

/* Adds a path, root first, before any lines are asked for; an empty one counts in the sum alone.
 * -ENOMEM. */
int path_tree_add(struct path_tree *tree, const uint32_t *keys, size_t count,
		  const struct path_weight *weight);
void path_tree_done(struct path_tree *tree);

/* At most so many lines are chosen. */
#define PATH_TREE_LINES_MAX 32

/* A path from `first` to `last`; its weight is that of `weighed`, most of which `last` has. */
struct path_line {
	uint32_t first, weighed, last;
	unsigned int depth;
	bool has_lines_below;
};

/* The heaviest paths, callers before what they call. Returns their number, at most `max`; 0 also
 * without memory. */
size_t path_tree_lines(struct path_tree *tree, size_t max,
		       struct path_line ret_lines[PATH_TREE_LINES_MAX]);

#endif
