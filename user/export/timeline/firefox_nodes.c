// SPDX-License-Identifier: BSD-2-Clause
/* Open addressing over the places of nodes, whose keys are the nodes themselves. */
#include "export/timeline/firefox_nodes.h"

#define FIRST_SLOTS 64

/* The slot of a node, or the free one where it belongs. */
static size_t find_slot(const struct firefox_nodes *nodes, struct firefox_node wanted)
{
	size_t at = hash_bytes(&wanted, sizeof(wanted), nodes->seed);

	for (;; at++) {
		const struct firefox_node *there;

		at &= nodes->slot_count - 1;
		if (!nodes->slots[at])
			return at;
		there = &nodes->items.items[nodes->slots[at] - 1];
		if (there->function == wanted.function && there->prefix == wanted.prefix)
			return at;
	}
}

/* At most three quarters full. */
static bool make_room(struct firefox_nodes *nodes)
{
	size_t wanted = nodes->slot_count ? 2 * nodes->slot_count : FIRST_SLOTS;
	uint32_t *slots;

	if (nodes->items.count < nodes->slot_count / 4 * 3)
		return true;
	slots = nodes->items.count < UINT32_MAX / 2 ? calloc(wanted, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	free(nodes->slots);
	nodes->slots = slots;
	nodes->slot_count = wanted;
	nodes->seed = hash_random_seed();
	for (size_t i = 0; i < nodes->items.count; i++)
		slots[find_slot(nodes, nodes->items.items[i])] = (uint32_t)i + 1;
	return true;
}

uint32_t firefox_nodes_get(struct firefox_nodes *nodes, uint32_t function, uint32_t prefix)
{
	struct firefox_node wanted = {function, prefix}, *item;
	size_t slot;

	if (!make_room(nodes))
		return 0;
	slot = find_slot(nodes, wanted);
	if (nodes->slots[slot])
		return nodes->slots[slot];
	item = array_add(&nodes->items);
	if (!item)
		return 0;
	*item = wanted;
	return nodes->slots[slot] = (uint32_t)nodes->items.count;
}

void firefox_nodes_done(struct firefox_nodes *nodes)
{
	array_free(&nodes->items);
	free(nodes->slots);
	nodes->slots = NULL;
	nodes->slot_count = 0;
}
