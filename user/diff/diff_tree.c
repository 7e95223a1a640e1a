// SPDX-License-Identifier: BSD-2-Clause
#include "diff/diff_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"

#define MUCH	 3.0
#define OUTLINED 0.01 /* of all: narrower frames have no outline of what is new or gone */
#define PART	 0.005

struct path {
	const uint32_t *texts;
	size_t count;
	const struct diff_row *row;
};

struct building {
	const struct comparison *comparison;
	uint32_t kind;
	ARRAY_OF(struct path) paths;
	ARRAY_OF(struct diff_node) nodes; /* in the order of paths */
	uint32_t *order;		  /* of nodes: children beside each other, heaviest first */
	uint32_t *first;		  /* of a node's children in it */
	struct hash_map changed[2];	  /* text of a comm, of a function -> verdict */
};

double diff_node_weight(const struct diff_node *node)
{
	return node->total[DIFF_BASE] + node->total[DIFF_NEW];
}

/* ---- nodes in the order of paths ---- */

static int compare_paths(const void *left, const void *right)
{
	const struct path *a = left, *b = right;
	size_t least = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < least; i++)
		if (a->texts[i] != b->texts[i])
			return a->texts[i] < b->texts[i] ? -1 : 1;
	return a->count < b->count ? -1 : a->count > b->count;
}

static bool find_paths(struct building *building)
{
	const struct comparison *comparison = building->comparison;

	array_foreach(&comparison->rows, row) {
		struct path *path;

		if (row->key.level != DIFF_STACK || row->key.kind != building->kind)
			continue;
		path = array_add(&building->paths);
		if (!path)
			return false;
		path->texts =
			stack_table_get(comparison->names->stacks, row->key.name, &path->count);
		path->row = row;
	}
	if (building->paths.count)
		qsort(building->paths.items, building->paths.count, sizeof(struct path),
		      compare_paths);
	return true;
}

static size_t shared_length(const struct path *a, const struct path *b)
{
	size_t same = 0;

	while (a && same < a->count && same < b->count && a->texts[same] == b->texts[same])
		same++;
	return same;
}

/* open: nodes of the path before, by depth. */
static bool add_path(struct building *building, const struct path *path, size_t same,
		     uint32_t *open)
{
	struct diff_node *leaf;

	for (size_t i = same; i < path->count; i++) {
		struct diff_node *node = array_add(&building->nodes);

		if (!node)
			return false;
		node->text = path->texts[i];
		node->parent = open[i];
		node->depth = (uint32_t)i + 1;
		open[i + 1] = (uint32_t)building->nodes.count - 1;
	}
	leaf = &building->nodes.items[open[path->count]];
	for (int side = 0; side < DIFF_SIDES; side++)
		leaf->self[side] += path->row->sides[side].value;
	return true;
}

static bool add_nodes(struct building *building)
{
	const struct path *before = NULL;
	size_t longest = 0;
	uint32_t *open;
	bool added = array_add(&building->nodes) != NULL;

	array_foreach(&building->paths, path)
		longest = path->count > longest ? path->count : longest;
	open = calloc(longest + 1, sizeof(*open));
	for (size_t i = 0; open && added && i < building->paths.count; i++) {
		const struct path *path = &building->paths.items[i];

		added = add_path(building, path, shared_length(before, path), open);
		before = path;
	}
	added = added && open;
	free(open);
	for (size_t i = building->nodes.count; added && i-- > 0;) {
		struct diff_node *node = &building->nodes.items[i];

		for (int side = 0; side < DIFF_SIDES; side++) {
			node->total[side] += node->self[side];
			if (i)
				building->nodes.items[node->parent].total[side] +=
					node->total[side];
		}
	}
	return added;
}

/* ---- siblings by weight ---- */

static int compare_nodes(const void *left, const void *right, void *context)
{
	const struct building *building = context;
	const struct diff_node *a = &building->nodes.items[*(const uint32_t *)left];
	const struct diff_node *b = &building->nodes.items[*(const uint32_t *)right];
	const struct string_pool *texts = building->comparison->names->texts;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (diff_node_weight(a) != diff_node_weight(b))
		return diff_node_weight(a) > diff_node_weight(b) ? -1 : 1;
	return strcmp(string_pool_get(texts, a->text), string_pool_get(texts, b->text));
}

static bool sort_children(struct building *building)
{
	uint32_t count = (uint32_t)building->nodes.count;

	building->order = malloc((count + 1) * sizeof(uint32_t));
	building->first = calloc((size_t)count + 1, sizeof(uint32_t));
	if (!building->order || !building->first)
		return false;
	for (uint32_t i = 1; i < count; i++)
		building->order[i] = i;
	if (count > 2)
		qsort_r(building->order + 1, count - 1, sizeof(uint32_t), compare_nodes, building);
	for (uint32_t i = count; i-- > 1;)
		building->first[building->nodes.items[building->order[i]].parent] = i;
	return true;
}

/* The node that follows in the final order: the first child, else the next sibling of itself or of
 * the nearest ancestor that has one; 0: none. at: place of a node in the order. */
static uint32_t next_in_preorder(const struct building *building, const uint32_t *at, uint32_t node)
{
	const struct diff_node *nodes = building->nodes.items;

	if (building->first[node])
		return building->order[building->first[node]];
	for (; node; node = nodes[node].parent) {
		uint32_t next = at[node] + 1;

		if (next < building->nodes.count &&
		    nodes[building->order[next]].parent == nodes[node].parent)
			return building->order[next];
	}
	return 0;
}

static bool lay_out(const struct building *building, struct diff_tree *tree)
{
	size_t count = building->nodes.count;
	uint32_t *at = calloc(count, sizeof(*at)), *places = calloc(count, sizeof(*places));
	uint32_t node = 0;

	tree->nodes = calloc(count, sizeof(*tree->nodes));
	for (uint32_t i = 1; at && i < count; i++)
		at[building->order[i]] = i;
	while (at && places && tree->nodes && tree->count < count) {
		struct diff_node *placed = &tree->nodes[tree->count];

		*placed = building->nodes.items[node];
		placed->parent = places[placed->parent];
		places[node] = (uint32_t)tree->count++;
		node = next_in_preorder(building, at, node);
	}
	for (size_t i = tree->count; i-- > 0;) {
		struct diff_node *placed = &tree->nodes[i];

		if (!placed->end)
			placed->end = (uint32_t)i + 1;
		if (i && tree->nodes[placed->parent].end < placed->end)
			tree->nodes[placed->parent].end = placed->end;
	}
	free(at);
	free(places);
	return tree->count == count;
}

/* ---- colours ---- */

static bool find_changes(struct building *building)
{
	array_foreach(&building->comparison->rows, row) {
		bool is_function = row->key.level == DIFF_TOTAL;

		if (row->key.kind != building->kind || !diff_is_significant(row) ||
		    (!is_function && row->key.level != DIFF_PROCESS))
			continue;
		if (!hash_map_put(&building->changed[is_function], row->key.name, row->change > 0))
			return false;
	}
	return true;
}

static void colour(const struct building *building, struct diff_node *node)
{
	double base = node->total[DIFF_BASE], new = node->total[DIFF_NEW];
	const uint64_t *grew = hash_map_find(&building->changed[node->depth > 1], node->text);

	/* Of what is seen, whether it can be told from noise or not; small stacks come and go. */
	if (diff_node_weight(node) >= OUTLINED * diff_node_weight(building->nodes.items)) {
		node->is_new = base <= 0;
		node->is_gone = new <= 0;
	}
	if (!node->depth || !grew || (*grew ? new <= base : new >= base))
		return;
	if (*grew)
		node->colour = new > MUCH *base ? DIFF_COLOUR_GREW_MUCH : DIFF_COLOUR_GREW;
	else
		node->colour = base > MUCH * new ? DIFF_COLOUR_SHRANK_MUCH : DIFF_COLOUR_SHRANK;
}

static void compare_to_all(struct diff_tree *tree, const struct comparison *comparison,
			   uint32_t kind)
{
	const struct diff_row *all =
		comparison_find(comparison, &(struct diff_key){kind, DIFF_ALL, 0});

	for (int side = 0; all && side < DIFF_SIDES; side++) {
		double counted = all->sides[side].value, seen = tree->nodes[0].total[side];

		tree->lacks_stacks |= counted > 0 && seen <= 0;
		tree->is_part |= fabs(counted - seen) > PART * counted;
	}
}

int diff_tree_init(struct diff_tree *tree, const struct comparison *comparison, uint32_t kind)
{
	struct building building = {.comparison = comparison, .kind = kind};
	bool built;

	*tree = (struct diff_tree){0};
	built = find_paths(&building) && add_nodes(&building) && sort_children(&building) &&
		lay_out(&building, tree) && find_changes(&building);
	for (size_t i = 0; built && i < tree->count; i++)
		colour(&building, &tree->nodes[i]);
	if (built)
		compare_to_all(tree, comparison, kind);
	array_free(&building.paths);
	array_free(&building.nodes);
	free(building.order);
	free(building.first);
	hash_map_done(&building.changed[0]);
	hash_map_done(&building.changed[1]);
	if (!built)
		diff_tree_done(tree);
	return built ? 0 : -ENOMEM;
}

void diff_tree_done(struct diff_tree *tree)
{
	free(tree->nodes);
	*tree = (struct diff_tree){0};
}
