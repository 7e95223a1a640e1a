// SPDX-License-Identifier: BSD-2-Clause
/* Joins stacks by their callers and chooses the paths that are shown. */
#include "report/path_tree.h"

#include <errno.h>
#include <string.h>

#include "base/hash_map.h"

/* A path goes on as long as so much of its weight does, in percent: the rest is no second path. */
#define PATH_PERCENT 90
/* A path of its own has at least this part of all, in percent: less changes nothing. */
#define LINE_PERCENT 2

void path_tree_done(struct path_tree *tree)
{
	array_free(&tree->nodes);
	array_free(&tree->added);
	array_free(&tree->keys);
	*tree = (struct path_tree){0};
}

static void add_weight(struct path_weight *sum, const struct path_weight *weight)
{
	sum->weight += weight->weight;
	sum->count += weight->count;
	if (weight->max > sum->max)
		sum->max = weight->max;
}

int path_tree_add(struct path_tree *tree, const uint32_t *keys, size_t count,
		  const struct path_weight *weight)
{
	struct path_added *added;

	add_weight(&tree->sum, weight);
	if (!count)
		return 0;
	if (count > UINT32_MAX || !array_reserve(&tree->keys, tree->keys.count + count))
		return -ENOMEM;
	added = array_add(&tree->added);
	if (!added)
		return -ENOMEM;
	*added = (struct path_added){.begin = tree->keys.count,
				     .length = (uint32_t)count,
				     .node = PATH_TREE_NONE,
				     .weight = *weight};
	memcpy(tree->keys.items + tree->keys.count, keys, count * sizeof(*keys));
	tree->keys.count += count;
	return 0;
}

/* ---- from paths to nodes, one level of callers after the other ---- */

struct level {
	ARRAY_OF(struct path_node) found; /* first_child: its number in the tree */
	struct hash_map number_of;	  /* parent << 32 | key -> in found */
};

/* What one path has at this depth. */
static bool find_at(struct level *level, const struct path_tree *tree, struct path_added *path,
		    uint32_t depth)
{
	uint32_t key = tree->keys.items[path->begin + depth];
	bool added;
	uint64_t *number = hash_map_get(&level->number_of, (uint64_t)path->node << 32 | key,
					level->found.count, &added);
	struct path_node *node;

	if (!number)
		return false;
	if (added) {
		node = array_add(&level->found);
		if (!node)
			return false;
		*node = (struct path_node){
			.key = key, .parent = path->node, .first_child = PATH_TREE_NONE};
	}
	path->node = (uint32_t)*number;
	add_weight(&level->found.items[path->node].sum, &path->weight);
	return true;
}

/* Takes a node in. Roots are siblings of the first one. */
static bool take(struct path_tree *tree, struct path_node *found)
{
	uint32_t number = (uint32_t)tree->nodes.count, *before = NULL;
	struct path_node *node = array_add(&tree->nodes);

	if (!node)
		return false;
	*node = *found;
	node->next_sibling = PATH_TREE_NONE;
	found->first_child = number;
	if (found->parent != PATH_TREE_NONE)
		before = &tree->nodes.items[found->parent].first_child;
	else if (number)
		before = &tree->nodes.items[0].next_sibling;
	if (before) {
		node->next_sibling = *before;
		*before = number;
	}
	return true;
}

/* A line has so much, and goes on to where so much of that is. */
static bool is_heavy(const struct path_tree *tree, const struct path_weight *sum)
{
	return (double)sum->weight * 100 * 100 >=
	       (double)tree->sum.weight * LINE_PERCENT * PATH_PERCENT;
}

/* Afterwards those of the paths are left, in their order, that go on; -ENOMEM. */
static int build_level(struct path_tree *tree, uint32_t depth)
{
	struct level level = {0};
	size_t left = 0;
	bool done = true;

	for (size_t i = 0; i < tree->added.count && done; i++)
		done = find_at(&level, tree, &tree->added.items[i], depth);
	for (size_t i = 0; i < level.found.count && done; i++)
		if (is_heavy(tree, &level.found.items[i].sum))
			done = take(tree, &level.found.items[i]);
	for (size_t i = 0; i < tree->added.count && done; i++) {
		struct path_added path = tree->added.items[i];

		path.node = level.found.items[path.node].first_child;
		if (path.node != PATH_TREE_NONE && path.length > depth + 1)
			tree->added.items[left++] = path;
	}
	tree->added.count = left;
	array_free(&level.found);
	hash_map_done(&level.number_of);
	return done ? 0 : -ENOMEM;
}

static int build(struct path_tree *tree)
{
	int err = 0;

	for (uint32_t depth = 0; tree->added.count && !err; depth++)
		err = build_level(tree, depth);
	array_free(&tree->added);
	array_free(&tree->keys);
	if (err)
		array_free(&tree->nodes);
	return err;
}

/* ---- lines ---- */

static const struct path_node *node_at(const struct path_tree *tree, uint32_t node)
{
	return &tree->nodes.items[node];
}

/* First child, or first root. */
static uint32_t first_below(const struct path_tree *tree, uint32_t node)
{
	if (node == PATH_TREE_NONE)
		return tree->nodes.count ? 0 : PATH_TREE_NONE;
	return node_at(tree, node)->first_child;
}

/* Of two nodes with the same weight the older one, so that a report is the same each time. */
static bool is_heavier(const struct path_tree *tree, uint32_t node, uint32_t than)
{
	uint64_t a = node_at(tree, node)->sum.weight, b;

	if (than == PATH_TREE_NONE)
		return true;
	b = node_at(tree, than)->sum.weight;
	return a > b || (a == b && node < than);
}

/* How far a line goes. */
static uint32_t end_of_path(const struct path_tree *tree, uint32_t first)
{
	uint64_t whole = node_at(tree, first)->sum.weight;
	uint32_t last = first;

	for (;;) {
		uint32_t heaviest = PATH_TREE_NONE;

		for (uint32_t child = first_below(tree, last); child != PATH_TREE_NONE;
		     child = node_at(tree, child)->next_sibling)
			if (is_heavier(tree, child, heaviest))
				heaviest = child;
		if (heaviest == PATH_TREE_NONE ||
		    (double)node_at(tree, heaviest)->sum.weight * 100 <
			    (double)whole * PATH_PERCENT)
			return last;
		last = heaviest;
	}
}

/* The heaviest node below the end of a line, or root, that is no line yet. */
static uint32_t heaviest_left(const struct path_tree *tree, const struct path_line *lines,
			      size_t count, size_t *ret_parent)
{
	uint32_t best = PATH_TREE_NONE;

	*ret_parent = count;
	for (size_t i = 0; i <= count; i++) {
		uint32_t above = i < count ? lines[i].last : PATH_TREE_NONE;

		for (uint32_t node = first_below(tree, above); node != PATH_TREE_NONE;
		     node = node_at(tree, node)->next_sibling) {
			if (node_at(tree, node)->is_taken || !is_heavier(tree, node, best))
				continue;
			best = node;
			*ret_parent = i;
		}
	}
	return best;
}

/* Where a new line goes: behind those that are below its parent, and heavier. */
static size_t place_of(const struct path_line *lines, size_t count, size_t parent)
{
	size_t at = parent + 1;

	if (parent == count)
		return count;
	while (at < count && lines[at].depth > lines[parent].depth)
		at++;
	return at;
}

/* The heaviest nodes at which paths part, `max` of them. */
static size_t choose_lines(struct path_tree *tree, size_t max, struct path_line *lines)
{
	size_t count = 0;

	array_foreach(&tree->nodes, node)
		node->is_taken = false;
	while (count < max) {
		size_t parent, at;
		uint32_t node = heaviest_left(tree, lines, count, &parent);

		if (node == PATH_TREE_NONE || (double)node_at(tree, node)->sum.weight * 100 <
						      (double)tree->sum.weight * LINE_PERCENT)
			break;
		at = place_of(lines, count, parent);
		memmove(lines + at + 1, lines + at, (count - at) * sizeof(*lines));
		lines[at] = (struct path_line){
			.first = node,
			.weighed = node,
			.last = end_of_path(tree, node),
			.depth = parent == count ? 0 : lines[parent].depth + 1,
		};
		tree->nodes.items[node].is_taken = true;
		count++;
	}
	return count;
}

static size_t end_of_lines_below(const struct path_line *lines, size_t count, size_t line)
{
	size_t end = line + 1;

	while (end < count && lines[end].depth > lines[line].depth)
		end++;
	return end;
}

static size_t count_lines_below(const struct path_line *lines, size_t end, size_t line)
{
	size_t below = 0;

	for (size_t i = line + 1; i < end; i++)
		below += lines[i].depth == lines[line].depth + 1;
	return below;
}

static uint64_t weight_of(const struct path_tree *tree, const struct path_line *line)
{
	return node_at(tree, line->weighed)->sum.weight;
}

/* A line with one below it that has most of its weight is the beginning of that. */
static size_t join_lines(const struct path_tree *tree, struct path_line *lines, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		size_t end = end_of_lines_below(lines, count, i),
		       below = count_lines_below(lines, end, i);

		lines[i].has_lines_below = below > 0;
		if (below != 1 || weight_of(tree, &lines[i + 1]) < weight_of(tree, &lines[i]) / 2)
			continue;
		lines[i + 1].first = lines[i].first;
		for (size_t j = i + 1; j < end; j++)
			lines[j].depth--;
		memmove(lines + i, lines + i + 1, (count - i - 1) * sizeof(*lines));
		count--;
	}
	return count;
}

/* Exchanges two neighbours, with what is below them, when the second is heavier. */
static bool exchange(const struct path_tree *tree, struct path_line *lines, size_t count,
		     size_t first)
{
	struct path_line kept[2 * PATH_TREE_LINES_MAX];
	size_t second = end_of_lines_below(lines, count, first), end;

	if (second == count || lines[second].depth != lines[first].depth ||
	    weight_of(tree, &lines[second]) <= weight_of(tree, &lines[first]))
		return false;
	end = end_of_lines_below(lines, count, second);
	memcpy(kept, lines + first, (second - first) * sizeof(*lines));
	memmove(lines + first, lines + second, (end - second) * sizeof(*lines));
	memcpy(lines + first + (end - second), kept, (second - first) * sizeof(*lines));
	return true;
}

/* Joined lines weigh less than where they began. */
static void sort_lines(const struct path_tree *tree, struct path_line *lines, size_t count)
{
	bool again;

	do {
		again = false;
		for (size_t i = 0; i < count; i++)
			again |= exchange(tree, lines, count, i);
	} while (again);
}

size_t path_tree_lines(struct path_tree *tree, size_t max,
		       struct path_line ret_lines[PATH_TREE_LINES_MAX])
{
	struct path_line lines[2 * PATH_TREE_LINES_MAX];
	size_t best = 0;

	if (build(tree))
		return 0;
	if (max > PATH_TREE_LINES_MAX)
		max = PATH_TREE_LINES_MAX;
	/* The more are chosen, the more are joined. */
	for (size_t more = max; more <= 2 * max; more++) {
		size_t chosen = choose_lines(tree, more, lines),
		       count = join_lines(tree, lines, chosen);

		if (count <= max) {
			memcpy(ret_lines, lines, count * sizeof(*lines));
			best = count;
		}
		if (chosen < more)
			break;
	}
	sort_lines(tree, ret_lines, best);
	return best;
}
