// SPDX-License-Identifier: BSD-2-Clause
/* Numbers peers by their addresses. */
#include "profile/account/peer_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/account/account.h"

struct peer_table {
	ARRAY_OF(struct peer) items;
	struct hash_index index;
	uint64_t seed;
};

static void init(void *account)
{
	struct peer_table *table = account;

	table->seed = hash_random_seed();
}

static void done(void *account)
{
	struct peer_table *table = account;

	array_foreach(&table->items, peer)
		free((char *)peer->host);
	array_free(&table->items);
	hash_index_done(&table->index);
}

struct peer_table *peer_table_new(void)
{
	return account_new(ACCOUNT_peers);
}

void peer_table_free(struct peer_table *table)
{
	account_free(ACCOUNT_peers, table);
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

/* ---- the account ---- */

#define ADDRESS_WORD(number_, word)                                                                \
	{                                                                                          \
		.number = (number_), .form = RECORDED_NUMBER,                                      \
		.offset = offsetof(struct peer, address.address) + (word) * sizeof(uint64_t),      \
		.size = sizeof(uint64_t)                                                           \
	}

static const struct recorded_column columns[] = {
	ADDRESS_WORD(1, 0),
	ADDRESS_WORD(2, 1),
	COLUMN(NUMBER, 3, struct peer, address.net),
	COLUMN(NUMBER, 4, struct peer, address.port),
	COLUMN(NUMBER, 5, struct peer, address.family),
	COLUMN(NUMBER, 6, struct peer, address.role),
	COLUMN(NUMBER, 7, struct peer, address.protocol),
	COLUMN(NUMBER, 8, struct peer, address.flags),
	COLUMN(NUMBER, 9, struct peer, pid),
	COLUMN(TEXT, 10, struct peer, comm),
	COLUMN(TEXT, 11, struct peer, name),
};
ALL_MEMBERS(struct pkbpf_network_peer, 28);
/* Without the name of its host, which is looked up when it is shown. */
ALL_MEMBERS(struct peer, 168);

static int64_t add_row(void *account, const void *row)
{
	uint32_t number = peer_table_get(account, row);

	return number == PEER_NONE ? -ENOMEM : (int64_t)number;
}

static bool is_valid(const void *row)
{
	const struct peer *peer = row;

	return peer->address.family <= PKBPF_NETWORK_PIPE &&
	       peer->address.role <= PKBPF_NETWORK_SERVER;
}

static const struct account_table table_of_peers = {
	.recorded = RECORDED_TABLE(80, struct peer, columns),
	.rows = ACCOUNT_ROWS(struct peer_table, items),
	.add = add_row,
	.is_valid = is_valid,
};

const struct account_ops account_ops_peers = {
	.size = sizeof(struct peer_table),
	.init = init,
	.done = done,
	.tables = &table_of_peers,
	.table_count = 1,
	.is_named = true,
};
