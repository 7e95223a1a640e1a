// SPDX-License-Identifier: BSD-2-Clause
/* Numbers peers by their addresses. */
#include "profile/account/peer_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

struct peer_table {
	ARRAY_OF(struct peer) items;
	struct hash_index index;
	uint64_t seed;
};

struct peer_table *peer_table_new(void)
{
	struct peer_table *table = calloc(1, sizeof(*table));

	if (table)
		table->seed = hash_random_seed();
	return table;
}

void peer_table_free(struct peer_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->items.count; i++)
		free((char *)table->items.items[i].host);
	array_free(&table->items);
	hash_index_done(&table->index);
	free(table);
}

static bool is_same(const void *context, uint32_t item, const void *wanted)
{
	const struct peer_table *table = context;

	return memcmp(&table->items.items[item].address, wanted,
		      sizeof(struct pkbpf_network_peer)) == 0;
}

static void complete(struct peer *known, const struct peer *peer)
{
	/* The process that answers at a UNIX socket is known later than the one that listens. */
	if (!known->pid || (peer->pid && peer->address.family == PKBPF_NETWORK_UNIX)) {
		known->pid = peer->pid;
		memcpy(known->comm, peer->comm, sizeof(known->comm));
	}
	if (!known->name[0])
		memcpy(known->name, peer->name, sizeof(known->name));
}

uint32_t peer_table_get(struct peer_table *table, const struct peer *peer)
{
	uint64_t hash = hash_bytes(&peer->address, sizeof(peer->address), table->seed);
	uint32_t item = hash_index_find(&table->index, hash, is_same, table, &peer->address);
	struct peer *added;

	if (item != HASH_INDEX_NONE) {
		complete(&table->items.items[item], peer);
		return item + 1;
	}
	if (!array_reserve(&table->items, table->items.count + 1) ||
	    !hash_index_add(&table->index, hash, (uint32_t)table->items.count))
		return PEER_NONE;
	added = array_add(&table->items);
	*added = *peer;
	/* A name belongs to the table in which it was looked up. */
	added->host = NULL;
	return (uint32_t)table->items.count;
}

void peer_table_complete(struct peer_table *table, const struct peer *peer)
{
	uint64_t hash = hash_bytes(&peer->address, sizeof(peer->address), table->seed);
	uint32_t item = hash_index_find(&table->index, hash, is_same, table, &peer->address);

	if (item != HASH_INDEX_NONE)
		complete(&table->items.items[item], peer);
}

const struct peer *peer_table_at(const struct peer_table *table, uint32_t number)
{
	return number && number <= table->items.count ? &table->items.items[number - 1] : NULL;
}

void peer_table_set_host(struct peer_table *table, uint32_t number, const char *host)
{
	struct peer *peer;
	char *copy;

	if (!number || number > table->items.count)
		return;
	copy = strdup(host);
	if (!copy)
		return;
	peer = &table->items.items[number - 1];
	free((char *)peer->host);
	peer->host = copy;
}

size_t peer_table_count(const struct peer_table *table)
{
	return table->items.count;
}
