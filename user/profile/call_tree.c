// SPDX-License-Identifier: BSD-2-Clause
// Adds stacks up into a call tree.
#include "profile/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"

/* Nodes as they are found: children by hash, in any order. */
struct growing_node {
	enum call_node_type type;
	uint32_t item;
	uint32_t parent;
	uint64_t total, self;
};

struct call_tree {
	const struct function_table *functions;
	struct string_pool *threads;
	ARRAY_OF(struct growing_node) growing; /* empty once finished */
	struct hash_map children;	       /* parent and item -> number in growing */
	ARRAY_OF(struct call_node) nodes;
	uint32_t *places;	  /* number in growing -> in nodes */
	ARRAY_OF(uint32_t) stack; /* the one that is being added */
};

static uint32_t child_of(struct call_tree *tree, uint32_t parent, enum call_node_type type,
			 uint32_t item)
{
	/* Functions stand below anything but the root, names of threads below it alone: the parent
	 * tells which of both the item is. */
	uint64_t key = (uint64_t)parent << 32 | item, *known;
	struct growing_node *node;
	bool added;

	known = hash_map_get(&tree->children, key, tree->growing.count, &added);
	if (!known)
		return CALL_TREE_NONE;
	if (!added)
		return (uint32_t)*known;
	node = array_add(&tree->growing);
	if (!node)
		return CALL_TREE_NONE;
	*node = (struct growing_node){.type = type, .item = item, .parent = parent};
	return (uint32_t)(tree->growing.count - 1);
}

uint32_t call_tree_add(struct call_tree *tree, const char *thread, const uint32_t *functions,
		       size_t count, uint64_t weight)
{
	uint32_t name = string_pool_add(tree->threads, thread), node;

	if (name == STRING_POOL_NONE)
		return CALL_TREE_NONE;
	node = child_of(tree, 0, CALL_NODE_THREAD, name);
	while (count-- > 0 && node != CALL_TREE_NONE)
		node = child_of(tree, node, CALL_NODE_FUNCTION, functions[count]);
	if (node != CALL_TREE_NONE)
		tree->growing.items[node].self += weight;
	return node;
}

static bool add_row(struct call_tree *tree, const struct profile *profile,
		    const struct profile_row *row)
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(profile, row->stack, &frame_count);

	tree->stack.count = 0;
	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *list =
			function_table_frame(tree->functions, frames[i], &function_count);

		if (!array_reserve(&tree->stack, tree->stack.count + function_count))
			return false;
		memcpy(&tree->stack.items[tree->stack.count], list, function_count * sizeof(*list));
		tree->stack.count += function_count;
	}
	return call_tree_add(tree, profile_string(profile, row->comm), tree->stack.items,
			     tree->stack.count, row->weight) != CALL_TREE_NONE;
}

static const char *name_of(const struct call_tree *tree, enum call_node_type type, uint32_t item)
{
	switch (type) {
	case CALL_NODE_ROOT:
		break;
	case CALL_NODE_THREAD:
		return string_pool_get(tree->threads, item);
	case CALL_NODE_FUNCTION:
		return function_table_get(tree->functions, item)->name;
	}
	return "all";
}

/* Siblings together, the heaviest first; equal ones by name, so that equal profiles give equal
 * pictures. */
static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct call_tree *tree = context;
	const struct growing_node *a = &tree->growing.items[*(const uint32_t *)left];
	const struct growing_node *b = &tree->growing.items[*(const uint32_t *)right];
	int order;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = strcmp(name_of(tree, a->type, a->item), name_of(tree, b->type, b->item));
	return order ? order : a->item < b->item ? -1 : a->item > b->item;
}

/* Where the children of each node lie in the sorted order. */
struct sorted_children {
	uint32_t *order;  /* numbers in growing */
	uint32_t *starts; /* by parent; one more at the end */
};

static bool sort_children(struct call_tree *tree, struct sorted_children *sorted)
{
	size_t count = tree->growing.count;

	sorted->order = malloc(count * sizeof(*sorted->order));
	sorted->starts = calloc(count + 1, sizeof(*sorted->starts));
	if (!sorted->order || !sorted->starts)
		return false;
	/* The root is nobody's child. */
	for (size_t i = 1; i < count; i++) {
		sorted->order[i - 1] = (uint32_t)i;
		sorted->starts[tree->growing.items[i].parent + 1]++;
	}
	for (size_t i = 0; i < count; i++)
		sorted->starts[i + 1] += sorted->starts[i];
	qsort_r(sorted->order, count - 1, sizeof(*sorted->order), compare_siblings, tree);
	return true;
}

/* Copies the nodes in preorder. A node's place is known before those of its children, so no stack
 * is needed: what has been placed says where to go on. */
static void lay_out(struct call_tree *tree, const struct sorted_children *sorted,
		    uint32_t *next_child)
{
	uint32_t from = 0; /* in growing */

	memcpy(next_child, sorted->starts, tree->growing.count * sizeof(*next_child));
	tree->nodes.items[0] = (struct call_node){.type = CALL_NODE_ROOT,
						  .total = tree->growing.items[0].total,
						  .self = tree->growing.items[0].self};
	tree->nodes.count = 1;
	tree->places[0] = 0;
	for (;;) {
		uint32_t at = tree->places[from];

		if (next_child[from] < sorted->starts[from + 1]) {
			uint32_t child = sorted->order[next_child[from]++];
			const struct growing_node *node = &tree->growing.items[child];

			tree->nodes.items[tree->nodes.count] =
				(struct call_node){.type = node->type,
						   .item = node->item,
						   .parent = at,
						   .depth = tree->nodes.items[at].depth + 1,
						   .total = node->total,
						   .self = node->self};
			tree->places[child] = (uint32_t)tree->nodes.count++;
			from = child;
			continue;
		}
		tree->nodes.items[at].end = (uint32_t)tree->nodes.count;
		if (!from)
			return;
		from = tree->growing.items[from].parent;
	}
}

/* Parents are found before their children. */
static void add_totals(struct call_tree *tree)
{
	for (size_t i = tree->growing.count; i-- > 0;) {
		struct growing_node *node = &tree->growing.items[i];

		node->total += node->self;
		if (i)
			tree->growing.items[node->parent].total += node->total;
	}
}

bool call_tree_finish(struct call_tree *tree)
{
	struct sorted_children sorted = {0};
	uint32_t *next_child = malloc(tree->growing.count * sizeof(*next_child));
	bool done;

	hash_map_done(&tree->children);
	array_free(&tree->stack);
	add_totals(tree);
	tree->places = malloc(tree->growing.count * sizeof(*tree->places));
	done = next_child && tree->places && array_reserve(&tree->nodes, tree->growing.count) &&
	       sort_children(tree, &sorted);
	if (done)
		lay_out(tree, &sorted, next_child);
	array_free(&tree->growing);
	free(sorted.order);
	free(sorted.starts);
	free(next_child);
	return done;
}

struct call_tree *call_tree_new(const struct function_table *functions)
{
	struct call_tree *tree = calloc(1, sizeof(*tree));
	struct growing_node *root;

	if (!tree)
		return NULL;
	tree->functions = functions;
	tree->threads = string_pool_new();
	root = array_add(&tree->growing);
	if (!tree->threads || !root) {
		call_tree_free(tree);
		return NULL;
	}
	root->type = CALL_NODE_ROOT;
	return tree;
}

struct call_tree *call_tree_of_profile(const struct profile *profile,
				       const struct function_table *functions,
				       enum pkbpf_profile_kind kind)
{
	struct call_tree *tree = call_tree_new(functions);
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	bool done = tree;

	for (size_t i = 0; i < count && done; i++)
		done = rows[i].kind != kind || add_row(tree, profile, &rows[i]);
	if (done && call_tree_finish(tree))
		return tree;
	call_tree_free(tree);
	return NULL;
}

void call_tree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	hash_map_done(&tree->children);
	array_free(&tree->growing);
	array_free(&tree->nodes);
	array_free(&tree->stack);
	string_pool_free(tree->threads);
	free(tree->places);
	free(tree);
}

const struct call_node *call_tree_nodes(const struct call_tree *tree, size_t *ret_count)
{
	*ret_count = tree->nodes.count;
	return tree->nodes.items;
}

uint32_t call_tree_place(const struct call_tree *tree, uint32_t added)
{
	return tree->places[added];
}

const char *call_tree_name(const struct call_tree *tree, const struct call_node *node)
{
	return name_of(tree, node->type, node->item);
}

const struct function *call_tree_function(const struct call_tree *tree,
					  const struct call_node *node)
{
	return node->type == CALL_NODE_FUNCTION ? function_table_get(tree->functions, node->item)
						: NULL;
}
