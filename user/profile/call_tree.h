/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call tree of one kind of event: all stacks added up from their roots, one node per function
 * in its caller. Below the root stands the name of the thread. Read-only once made; one owner
 * thread.
 */
#ifndef PKBPF_PROFILE_CALL_TREE_H
#define PKBPF_PROFILE_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/function_table.h"
#include "profile/profile.h"

enum call_node_type {
	CALL_NODE_ROOT,
	CALL_NODE_COMM,	    /* item: profile_string() */
	CALL_NODE_FUNCTION, /* item: function_table_get() */
};

/* Nodes lie in preorder, siblings from the heaviest to the lightest: those below node i are i + 1
 * to end - 1. */
struct call_node {
	enum call_node_type type;
	uint32_t item;
	uint32_t parent; /* of the root: itself */
	uint32_t end;
	uint32_t depth;
	uint64_t total, self; /* weight, self is that of stacks that end here */
};

struct call_tree;

/* functions: of this profile, borrowed. NULL: out of memory. */
struct call_tree *call_tree_new(const struct profile *profile,
				const struct function_table *functions,
				enum pkbpf_profile_kind kind);
void call_tree_free(struct call_tree *tree);
/* At least one, the root. */
const struct call_node *call_tree_nodes(const struct call_tree *tree, size_t *ret_count);
/* The name of the thread or of the function, "all" at the root; as strangers wrote it. */
const char *call_tree_name(const struct call_tree *tree, const struct call_node *node);
/* NULL where the node is no function. */
const struct function *call_tree_function(const struct call_tree *tree,
					  const struct call_node *node);

#endif
