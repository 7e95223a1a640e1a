// SPDX-License-Identifier: BSD-2-Clause
/* Lays the call tree of a row out in lines. */
#include "top/top_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/kind_table.h"
#include "rows/human.h"

/* A function that has this part of everything is open until somebody closes it. */
#define OPEN_PERCENT 10
/* A callee that has this part of its caller stands below it, not beside its like. */
#define SAME_INDENT_PERCENT 95
#define INDENT_MAX	    30

static bool is_open(const struct top_tree *tree, const struct call_node *node, uint64_t whole,
		    uint64_t path)
{
	const uint64_t *turned = hash_map_find(&tree->turned, path);

	return turned ? *turned != 0 : node->total >= whole / 100 * OPEN_PERCENT;
}

static uint64_t path_of(const struct top_tree *tree, const struct call_node *node, uint64_t above)
{
	const char *name = call_tree_name(tree->tree, node);

	return hash_bytes(name, strlen(name), above);
}

static struct top_tree_line *add_line(struct top_tree *tree)
{
	if (!array_reserve_items((void **)&tree->lines, &tree->capacity, tree->count + 1,
				 sizeof(*tree->lines)))
		return NULL;
	return &tree->lines[tree->count++];
}

/* `above` is the line of the caller; NULL: there is none. Returns the node behind it, or behind
 * what it hides; 0: out of memory. */
static uint32_t lay_out_node(struct top_tree *tree, uint32_t index,
			     const struct top_tree_line *above)
{
	size_t count;
	const struct call_node *nodes = call_tree_nodes(tree->tree, &count), *node = &nodes[index];
	const struct call_node *caller = &nodes[node->parent];
	struct top_tree_line line = {
		.node = index,
		.has_children = node->end > index + 1,
		.path = path_of(tree, node, above ? above->path : 0),
	};
	struct top_tree_line *added;

	if (above) {
		bool same = node->total >= caller->total / 100 * SAME_INDENT_PERCENT;

		line.indent = above->indent + (same || above->indent >= INDENT_MAX ? 0 : 1);
	}
	line.is_open = line.has_children && is_open(tree, node, nodes[0].total, line.path);
	added = add_line(tree);
	if (!added)
		return 0;
	*added = line;
	return line.is_open ? index + 1 : node->end;
}

/* Nodes are in preorder: the line of a caller is the last one above with its node. */
static int lay_out(struct top_tree *tree)
{
	size_t count;
	const struct call_node *nodes = call_tree_nodes(tree->tree, &count);
	uint32_t index = 1;

	tree->count = 0;
	while (index < count) {
		struct top_tree_line caller = {0};
		const struct top_tree_line *above = NULL;
		size_t i = tree->count;

		while (i && tree->lines[i - 1].node != nodes[index].parent)
			i--;
		if (i) {
			/* Lines move when one is added. */
			caller = tree->lines[i - 1];
			above = &caller;
		}
		index = lay_out_node(tree, index, above);
		if (!index)
			return -ENOMEM;
	}
	if (tree->cursor >= tree->count)
		tree->cursor = tree->count ? tree->count - 1 : 0;
	return 0;
}

int top_tree_build(struct top_tree *tree, const struct resource_rows *rows,
		   const struct resource_row *row)
{
	size_t count, length;
	const struct row_weight *weights = resource_rows_weights(rows, row, &count);
	bool has_any = false;

	top_tree_clear(tree);
	tree->tree = call_tree_new(rows->functions);
	if (!tree->tree)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const uint32_t *stack;

		if (weights[i].kind != tree->kind || weights[i].stack.stack == ROW_NO_STACK)
			continue;
		stack = resource_rows_stack(rows, weights[i].stack.stack, &length);
		if (call_tree_add(tree->tree, row->name[0] ? row->name : row->container, stack,
				  length, weights[i].stack.weight) == CALL_TREE_NONE)
			return -ENOMEM;
		has_any = true;
	}
	if (!call_tree_finish(tree->tree))
		return -ENOMEM;
	if (has_any)
		return lay_out(tree);
	top_tree_clear(tree);
	return 0;
}

void top_tree_turn(struct top_tree *tree, bool open)
{
	if (tree->cursor >= tree->count)
		return;
	/* Forgotten choices are better than growing without end. */
	if (tree->turned.count > 4096)
		hash_map_done(&tree->turned);
	hash_map_put(&tree->turned, tree->lines[tree->cursor].path, open);
	/* Without memory the lines end early, and the next slice draws them anew. */
	lay_out(tree);
}

void top_tree_move(struct top_tree *tree, long by)
{
	long cursor = (long)tree->cursor + by;

	if (cursor >= (long)tree->count)
		cursor = (long)tree->count - 1;
	tree->cursor = cursor < 0 ? 0 : (size_t)cursor;
}

static void draw_line(const struct top_tree *tree, const struct top_tree_line *line,
		      struct top_line *out, bool under_cursor)
{
	size_t count;
	const struct call_node *nodes = call_tree_nodes(tree->tree, &count);
	const struct call_node *node = &nodes[line->node];
	const struct function *function = call_tree_function(tree->tree, node);
	enum top_attribute attribute =
		function && function->mark == FUNCTION_KERNEL ? TOP_DIM : TOP_PLAIN;
	char total[HUMAN_SIZE], self[HUMAN_SIZE], weight[HUMAN_SIZE];

	top_add(out, TOP_PLAIN, "%7s %7s %9s ", human_share(total, node->total, nodes[0].total),
		node->self ? human_share(self, node->self, nodes[0].total) : "",
		human_weight(weight, tree->kind, node->total));
	top_add(out, attribute, "%*s%s %s", (int)line->indent, "",
		!line->has_children ? " "
		: line->is_open	    ? "-"
				    : "+",
		call_tree_name(tree->tree, node));
	if (function && function->module[0] && out->columns + 12 < out->width)
		top_add(out, TOP_DIM, "  %s", function->module);
	if (under_cursor)
		top_mark_line(out, TOP_CURSOR);
}

void top_tree_draw(struct top_tree *tree, struct top_screen *screen, size_t below)
{
	size_t height = top_screen_left(screen);
	struct top_line *title = top_screen_line(screen);

	top_add(title, TOP_TITLE, "%7s %7s %9s   %s", "total", "self",
		kind_measure(kind_ops_of(tree->kind)), "function");
	top_mark_line(title, TOP_TITLE);
	if (!tree->count) {
		top_add(top_screen_line(screen), TOP_DIM, "  no %s of it",
			kind_ops_of(tree->kind)->count_unit);
		return;
	}
	height = height > below + 1 ? height - below - 1 : 1;
	if (tree->cursor < tree->first)
		tree->first = tree->cursor;
	if (tree->cursor >= tree->first + height)
		tree->first = tree->cursor - height + 1;
	for (size_t i = tree->first; i < tree->count && i < tree->first + height; i++)
		draw_line(tree, &tree->lines[i], top_screen_line(screen), i == tree->cursor);
}

void top_tree_clear(struct top_tree *tree)
{
	call_tree_free(tree->tree);
	tree->tree = NULL;
	tree->count = 0;
}

void top_tree_done(struct top_tree *tree)
{
	top_tree_clear(tree);
	free(tree->lines);
	hash_map_done(&tree->turned);
	*tree = (struct top_tree){.kind = tree->kind};
}
