/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of both sides as one call tree, with what vanished still in it. One owner thread. */
#ifndef PKBPF_DIFF_DIFF_TREE_H
#define PKBPF_DIFF_DIFF_TREE_H

#include "diff/comparison.h"

enum diff_colour {
	DIFF_COLOUR_SAME,
	DIFF_COLOUR_GREW,
	DIFF_COLOUR_GREW_MUCH, /* more than three times */
	DIFF_COLOUR_SHRANK,
	DIFF_COLOUR_SHRANK_MUCH,
};

/* In preorder, siblings from heaviest to lightest; the descendants of node i are i + 1 to end - 1.
 * The first is the root, its children are comms. */
struct diff_node {
	uint32_t text; /* in diff_names.texts; of the root 0 */
	uint32_t parent, end, depth;
	double total[DIFF_SIDES], self[DIFF_SIDES]; /* per unit of work */
	enum diff_colour colour;
	bool is_new, is_gone;
};

struct diff_tree {
	struct diff_node *nodes;
	size_t count;
	bool lacks_stacks; /* a side has events of the kind, and no stack: a report in JSON */
	bool is_part;	   /* its weights are not those of all that was counted, as in accounts */
};

/* A node has a colour when the function's total (of a comm: the process) changed significantly, and
 * the node in the same direction. -ENOMEM. */
int diff_tree_init(struct diff_tree *tree, const struct comparison *comparison, uint32_t kind);
void diff_tree_done(struct diff_tree *tree);
double diff_node_weight(const struct diff_node *node);

#endif
