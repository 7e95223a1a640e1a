/* SPDX-License-Identifier: BSD-2-Clause */
/* A call tree: stacks merged from their roots, one node per function in its caller. The level
 * below the root is the thread or process name. Reversed: merged from their leaves, one node per
 * caller in what it calls, the name last. One owner thread. */
#ifndef PKBPF_PROFILE_CALL_TREE_H
#define PKBPF_PROFILE_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/function_table.h"
#include "profile/profile.h"

enum call_node_type {
	CALL_NODE_ROOT,
	CALL_NODE_THREAD,
	CALL_NODE_FUNCTION,
};

/* Nodes are in preorder, siblings from heaviest to lightest. The descendants of node i are i + 1
 * to end - 1. */
struct call_node {
	uint32_t type : 2; /* enum call_node_type */
	uint32_t depth : 30;
	uint32_t item;	 /* of a function: function_table_get() */
	uint32_t parent; /* of the root: itself */
	uint32_t end;
	uint64_t total, self; /* weights; self: of stacks that end here */
};

#define CALL_TREE_NONE UINT32_MAX

struct call_tree_options {
	bool reversed;
	bool joined; /* a function that calls itself is one node */
};

struct call_tree;

/* functions: borrowed. NULL: out of memory. */
struct call_tree *call_tree_new(const struct function_table *functions);
void call_tree_free(struct call_tree *tree);
/* Adds a stack of functions, leaf first, of a thread with this name. Returns a handle for
 * call_tree_place(); CALL_TREE_NONE: out of memory. */
uint32_t call_tree_add(struct call_tree *tree, const char *thread, const uint32_t *functions,
		       size_t count, uint64_t weight);
/* Builds the nodes; call it once, after all stacks are added. Before, there are no nodes. false:
 * out of memory. */
bool call_tree_finish(struct call_tree *tree);

/* The finished tree of one profile kind; options NULL: from the root, nothing joined. NULL: out of
 * memory. */
struct call_tree *call_tree_of_profile(const struct profile *profile,
				       const struct function_table *functions,
				       enum pkbpf_profile_kind kind,
				       const struct call_tree_options *options);

/* At least one, the root. */
const struct call_node *call_tree_nodes(const struct call_tree *tree, size_t *ret_count);
/* The node where an added stack ends. */
uint32_t call_tree_place(const struct call_tree *tree, uint32_t added);
/* Name of the thread or function, "all" for the root; not escaped. */
const char *call_tree_name(const struct call_tree *tree, const struct call_node *node);
/* NULL when the node is no function. */
const struct function *call_tree_function(const struct call_tree *tree,
					  const struct call_node *node);

#endif
