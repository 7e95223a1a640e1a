// SPDX-License-Identifier: BSD-2-Clause
// Adds stacks up into a call tree.
#include "profile/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string_pool.h"

/* In an item: it is the name of a thread, and no function. */
#define THREAD (1U << 31)

/* An added stack: the name of its thread, then its functions from the root on; reversed: from the
 * leaf on, then that name. */
struct path {
	size_t start; /* in call_tree.items */
	uint32_t length;
	uint32_t leaf; /* number of its node, once there are any */
	uint64_t weight;
};

struct call_tree {
	const struct function_table *functions;
	struct call_tree_options options;
	struct string_pool *threads;
	ARRAY_OF(uint32_t) items; /* of all paths; empty once finished */
	ARRAY_OF(struct path) paths;
	/* In the order of paths at first, end being the number of nodes of each subtree: a parent
	 * comes before its children, and these behind each other. */
	ARRAY_OF(struct call_node) nodes;
	ARRAY_OF(uint32_t) stack; /* of the row being added */
};

uint32_t call_tree_add(struct call_tree *tree, const char *thread, const uint32_t *functions,
		       size_t count, uint64_t weight)
{
	uint32_t name = string_pool_add(tree->threads, thread), *items;
	struct path *path;

	if (name >= THREAD || count >= UINT32_MAX || tree->paths.count >= CALL_TREE_NONE ||
	    !array_reserve(&tree->items, tree->items.count + count + 1))
		return CALL_TREE_NONE;
	path = array_add(&tree->paths);
	if (!path)
		return CALL_TREE_NONE;
	*path = (struct path){
		.start = tree->items.count, .length = (uint32_t)count + 1, .weight = weight};
	items = &tree->items.items[tree->items.count];
	tree->items.count += path->length;
	items[tree->options.reversed ? count : 0] = name | THREAD;
	for (size_t i = 0; i < count; i++)
		items[tree->options.reversed ? i : count - i] = functions[i];
	return (uint32_t)(tree->paths.count - 1);
}

static void add_functions(struct call_tree *tree, const uint32_t *functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *last =
			tree->stack.count ? &tree->stack.items[tree->stack.count - 1] : NULL;

		if (!tree->options.joined || !last || *last != functions[i])
			tree->stack.items[tree->stack.count++] = functions[i];
	}
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
		add_functions(tree, list, function_count);
	}
	return call_tree_add(tree, profile_string(profile, row->comm), tree->stack.items,
			     tree->stack.count, row->weight) != CALL_TREE_NONE;
}

/* ---- paths to nodes: in sorted order, a path shares its beginning with the previous one ---- */

static uint32_t shared_length(const struct call_tree *tree, const struct path *a,
			      const struct path *b)
{
	const uint32_t *left = &tree->items.items[a->start], *right = &tree->items.items[b->start];
	uint32_t least = a->length < b->length ? a->length : b->length, same = 0;

	while (same < least && left[same] == right[same])
		same++;
	return same;
}

static int compare_paths(const void *left, const void *right, void *context)
{
	const struct call_tree *tree = context;
	const struct path *a = &tree->paths.items[*(const uint32_t *)left];
	const struct path *b = &tree->paths.items[*(const uint32_t *)right];
	uint32_t same = shared_length(tree, a, b), x, y;

	if (same == a->length || same == b->length)
		return a->length < b->length ? -1 : a->length > b->length;
	x = tree->items.items[a->start + same];
	y = tree->items.items[b->start + same];
	return x < y ? -1 : 1;
}

/* open: nodes of the previous path, by depth; open[0] is the root. */
static bool add_nodes(struct call_tree *tree, const struct path *path, uint32_t same,
		      uint32_t *open)
{
	for (uint32_t i = same; i < path->length; i++) {
		uint32_t item = tree->items.items[path->start + i];
		struct call_node *node = array_add(&tree->nodes);

		if (!node)
			return false;
		*node = (struct call_node){
			.type = item & THREAD ? CALL_NODE_THREAD : CALL_NODE_FUNCTION,
			.depth = i + 1,
			.item = item & ~THREAD,
			.parent = open[i],
			.end = 1,
		};
		open[i + 1] = (uint32_t)(tree->nodes.count - 1);
	}
	return true;
}

static uint32_t longest_path(const struct call_tree *tree)
{
	uint32_t longest = 0;

	array_foreach(&tree->paths, path)
		if (path->length > longest)
			longest = path->length;
	return longest;
}

/* Room for all nodes at once: an array that grows has its items twice for a while. */
static bool reserve_nodes(struct call_tree *tree, const uint32_t *order, uint32_t count)
{
	const struct path *before = NULL;
	size_t needed = 1;

	for (uint32_t i = 0; i < count; i++) {
		const struct path *path = &tree->paths.items[order[i]];

		needed += path->length - (before ? shared_length(tree, before, path) : 0);
		before = path;
	}
	return array_reserve(&tree->nodes, needed);
}

static bool make_nodes(struct call_tree *tree)
{
	uint32_t count = (uint32_t)tree->paths.count;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	uint32_t *open = calloc((size_t)longest_path(tree) + 1, sizeof(*open));
	const struct path *before = NULL;
	bool done = order && open;

	for (uint32_t i = 0; done && i < count; i++)
		order[i] = i;
	if (done && count)
		qsort_r(order, count, sizeof(*order), compare_paths, tree);
	done = done && reserve_nodes(tree, order, count);
	if (done)
		*array_add(&tree->nodes) = (struct call_node){.type = CALL_NODE_ROOT, .end = 1};
	for (uint32_t i = 0; done && i < count; i++) {
		struct path *path = &tree->paths.items[order[i]];

		done = add_nodes(tree, path, before ? shared_length(tree, before, path) : 0, open);
		path->leaf = open[path->length];
		tree->nodes.items[path->leaf].self += path->weight;
		before = path;
	}
	free(order);
	free(open);
	return done;
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

/* Heaviest first; equal weights by name, so that equal profiles give equal output. */
static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct call_tree *tree = context;
	const struct call_node *a = &tree->nodes.items[*(const uint32_t *)left];
	const struct call_node *b = &tree->nodes.items[*(const uint32_t *)right];
	int order;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = strcmp(name_of(tree, a->type, a->item), name_of(tree, b->type, b->item));
	return order ? order : a->item < b->item ? -1 : a->item > b->item;
}

/* Sums and sizes of subtrees. Parents come before their children. */
static void add_totals(struct call_tree *tree)
{
	for (size_t i = tree->nodes.count; i-- > 0;) {
		struct call_node *node = &tree->nodes.items[i];
		struct call_node *parent = &tree->nodes.items[node->parent];

		node->total += node->self;
		if (!i)
			break;
		parent->total += node->total;
		parent->end += node->end;
	}
}

struct children {
	ARRAY_OF(uint32_t) items;
};

/* Gives the children of a node their places, heaviest first. */
static bool place_children(struct call_tree *tree, uint32_t parent, uint32_t *places,
			   struct children *children)
{
	const struct call_node *nodes = tree->nodes.items;
	uint32_t end = parent + nodes[parent].end, next = places[parent] + 1;

	children->items.count = 0;
	for (uint32_t child = parent + 1; child < end; child += nodes[child].end) {
		uint32_t *item = array_add(&children->items);

		if (!item)
			return false;
		*item = child;
	}
	if (children->items.count > 1)
		qsort_r(children->items.items, children->items.count, sizeof(uint32_t),
			compare_siblings, tree);
	array_foreach(&children->items, child) {
		places[*child] = next;
		next += nodes[*child].end;
	}
	return true;
}

/* Brings each node to its place, where the one that was there goes on to its own. */
static void move_nodes(struct call_tree *tree, uint32_t *places)
{
	struct call_node *nodes = tree->nodes.items;

	for (size_t i = 0; i < tree->nodes.count; i++) {
		while (places[i] != i) {
			uint32_t place = places[i];
			struct call_node moved = nodes[i];

			nodes[i] = nodes[place];
			nodes[place] = moved;
			places[i] = places[place];
			places[place] = place;
		}
	}
}

static bool place_nodes(struct call_tree *tree)
{
	struct children children = {0};
	uint32_t *places = malloc(tree->nodes.count * sizeof(*places));
	bool done = places;

	if (places)
		places[0] = 0;
	for (uint32_t i = 0; done && i < tree->nodes.count; i++)
		done = place_children(tree, i, places, &children);
	array_free(&children.items);
	for (size_t i = 0; done && i < tree->nodes.count; i++) {
		struct call_node *node = &tree->nodes.items[i];

		node->parent = places[node->parent];
		node->end += places[i];
	}
	if (done) {
		array_foreach(&tree->paths, path)
			path->leaf = places[path->leaf];
		move_nodes(tree, places);
	}
	free(places);
	return done;
}

bool call_tree_finish(struct call_tree *tree)
{
	bool done = make_nodes(tree);

	array_free(&tree->items);
	array_free(&tree->stack);
	if (done) {
		add_totals(tree);
		done = place_nodes(tree);
	}
	if (!done)
		array_free(&tree->nodes);
	return done;
}

struct call_tree *call_tree_new(const struct function_table *functions)
{
	struct call_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->functions = functions;
	tree->threads = string_pool_new();
	if (!tree->threads) {
		free(tree);
		return NULL;
	}
	return tree;
}

struct call_tree *call_tree_of_profile(const struct profile *profile,
				       const struct function_table *functions,
				       enum pkbpf_profile_kind kind,
				       const struct call_tree_options *options)
{
	struct call_tree *tree = call_tree_new(functions);
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	bool done = tree;

	if (tree && options)
		tree->options = *options;
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
	array_free(&tree->items);
	array_free(&tree->paths);
	array_free(&tree->nodes);
	array_free(&tree->stack);
	string_pool_free(tree->threads);
	free(tree);
}

const struct call_node *call_tree_nodes(const struct call_tree *tree, size_t *ret_count)
{
	*ret_count = tree->nodes.count;
	return tree->nodes.items;
}

uint32_t call_tree_place(const struct call_tree *tree, uint32_t added)
{
	return tree->paths.items[added].leaf;
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
