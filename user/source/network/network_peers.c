// SPDX-License-Identifier: BSD-2-Clause
/* Peers of a capture, by number. */
#include "source/network/network_peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "event/peer_event.h"
#include "process/relation/port_owners.h"
#include "process/relation/relation_writer.h"

/* Peers of a whole capture that have numbers of their own. */
#define PEERS 65536U

struct numbered_peer {
	struct pkbpf_network_peer address;
	uint32_t client; /* a process that talks to it */
	uint32_t pid;	 /* at the other end; 0: unknown */
	char comm[PKBPF_COMM_SIZE + 1];
	/* Of a UNIX socket: the process that listens. The one that answers may be another. */
	uint32_t listener;
	char listener_comm[PKBPF_COMM_SIZE + 1];
	bool is_new; /* its process is known, and has not been sent */
};

struct network_peers {
	ARRAY_OF(struct numbered_peer) items; /* by number - 1 */
	struct hash_index index;
	uint64_t seed;
	/* Servers of this host: protocol, namespace and port of those that clients talk to */
	struct hash_map wanted;	   /* server_key() -> number of the first such peer */
	size_t looked_at;	   /* peers before this one have been looked for */
	struct hash_map listeners; /* hash of a UNIX socket's name -> number of its peer - 1 */
};

struct network_peers *network_peers_new(void)
{
	struct network_peers *peers = calloc(1, sizeof(*peers));

	if (peers)
		peers->seed = hash_random_seed();
	return peers;
}

void network_peers_free(struct network_peers *peers)
{
	if (!peers)
		return;
	array_free(&peers->items);
	hash_index_done(&peers->index);
	hash_map_done(&peers->wanted);
	hash_map_done(&peers->listeners);
	free(peers);
}

static bool is_same(const void *context, uint32_t item, const void *wanted)
{
	const struct network_peers *peers = context;

	return memcmp(&peers->items.items[item].address, wanted,
		      sizeof(struct pkbpf_network_peer)) == 0;
}

static bool is_loopback(const struct pkbpf_network_peer *address)
{
	static const uint8_t six[16] = {[15] = 1};

	return address->family == PKBPF_NETWORK_IPV4
		       ? address->address[0] == 127
		       : address->family == PKBPF_NETWORK_IPV6 &&
				 memcmp(address->address, six, sizeof(six)) == 0;
}

/* A server in the network namespace of its client. */
static bool is_local_server(const struct pkbpf_network_peer *address)
{
	return address->role == PKBPF_NETWORK_CLIENT && address->port &&
	       address->family < PKBPF_NETWORK_UNIX &&
	       (address->flags & PKBPF_NETWORK_SAME_ADDRESS || is_loopback(address));
}

static uint64_t server_key(const struct pkbpf_network_peer *address)
{
	return (uint64_t)address->net << 32 | (uint64_t)address->protocol << 16 | address->port;
}

/* A server by the name of its UNIX socket. */
static bool is_named_server(const struct pkbpf_network_peer *address)
{
	return address->role == PKBPF_NETWORK_CLIENT && address->family == PKBPF_NETWORK_UNIX;
}

static uint64_t name_key(const struct pkbpf_network_peer *address)
{
	uint64_t hash;

	memcpy(&hash, address->address, sizeof(hash));
	return hash;
}

/* The name of a UNIX socket as text: names of the abstract namespace begin with a NUL byte. */
static void copy_name(struct peer_view *view, const volatile struct pkbpf_network_row *row)
{
	uint32_t bytes = row->name_bytes;

	if (bytes > PKBPF_NETWORK_NAME)
		bytes = PKBPF_NETWORK_NAME;
	memcpy(view->name, (const void *)row->name, bytes);
	if (bytes && !view->name[0])
		view->name[0] = '@';
}

static int send_peer(const struct numbered_peer *peer, uint32_t number, struct peer_view *view,
		     struct event_buffer *buffer)
{
	view->time_ns = clock_now_ns();
	view->number = number;
	view->peer = peer->address;
	view->pid = peer->pid;
	memcpy(view->comm, peer->comm, sizeof(view->comm));
	return peer_event_encode(buffer, view);
}

/* Who writes to a pipe may be there before who reads. */
static void complete(struct numbered_peer *peer, const volatile struct pkbpf_network_row *row)
{
	if (peer->pid || !row->peer_pid || peer->address.family != PKBPF_NETWORK_PIPE)
		return;
	peer->pid = row->peer_pid;
	memcpy(peer->comm, (const void *)row->peer_comm, PKBPF_COMM_SIZE);
	peer->is_new = true;
}

static uint32_t find(const struct network_peers *peers, const struct pkbpf_network_peer *address,
		     uint64_t *ret_hash)
{
	*ret_hash = hash_bytes(address, sizeof(*address), peers->seed);
	return hash_index_find(&peers->index, *ret_hash, is_same, peers, address);
}

uint32_t network_peers_number(struct network_peers *peers,
			      const volatile struct pkbpf_network_row *row,
			      struct event_buffer *buffer)
{
	struct numbered_peer peer = {.client = row->key.pid, .pid = row->peer_pid};
	struct peer_view view = {0};
	uint64_t hash;
	uint32_t item;

	memcpy(&peer.address, (const void *)&row->key.peer, sizeof(peer.address));
	item = find(peers, &peer.address, &hash);
	/* The others are one, without a name; those that are known stay what they are. */
	if (item == HASH_INDEX_NONE && peers->items.count >= PEERS) {
		peer.address = (struct pkbpf_network_peer){.role = peer.address.role};
		item = find(peers, &peer.address, &hash);
	}
	if (item != HASH_INDEX_NONE) {
		complete(&peers->items.items[item], row);
		return item + 1;
	}
	item = (uint32_t)peers->items.count;
	copy_name(&view, row);
	memcpy(peer.comm, (const void *)row->peer_comm, PKBPF_COMM_SIZE);
	if (!array_reserve(&peers->items, peers->items.count + 1) ||
	    send_peer(&peer, item + 1, &view, buffer) || !hash_index_add(&peers->index, hash, item))
		return 0;
	if (is_local_server(&peer.address))
		hash_map_get(&peers->wanted, server_key(&peer.address), item, &(bool){false});
	if (is_named_server(&peer.address) && peer.pid) {
		peer.listener = peer.pid;
		memcpy(peer.listener_comm, peer.comm, sizeof(peer.listener_comm));
		hash_map_get(&peers->listeners, name_key(&peer.address), item, &(bool){false});
	}
	*array_add(&peers->items) = peer;
	return item + 1;
}

static void name_server(struct network_peers *peers, const struct pkbpf_network_peer *server,
			uint32_t pid, const char *comm)
{
	array_foreach(&peers->items, peer) {
		if (peer->pid || !is_local_server(&peer->address) ||
		    server_key(&peer->address) != server_key(server))
			continue;
		peer->pid = pid;
		memcpy(peer->comm, comm, PKBPF_COMM_SIZE);
		peer->is_new = true;
	}
	hash_map_remove(&peers->wanted, server_key(server));
}

static void set_process(struct numbered_peer *peer, uint32_t pid, const char *comm)
{
	if (peer->pid == pid)
		return;
	peer->pid = pid;
	memcpy(peer->comm, comm, PKBPF_COMM_SIZE);
	peer->is_new = true;
}

/* A process that has accepted from a UNIX socket. Where the listener does so, too, or has the same
 * name, as servers with a process for each connection, it stands for all of them. */
static void note_named_server(struct network_peers *peers, const struct pkbpf_network_peer *server,
			      uint32_t pid, const char *comm)
{
	const uint64_t *item = hash_map_find(&peers->listeners, name_key(server));
	struct numbered_peer *peer = item ? &peers->items.items[*item] : NULL;

	if (!peer)
		return;
	if (pid == peer->listener) {
		set_process(peer, pid, peer->listener_comm);
		hash_map_remove(&peers->listeners, name_key(server));
	} else if (peer->pid == peer->listener &&
		   strncmp(comm, peer->listener_comm, PKBPF_COMM_SIZE) != 0) {
		set_process(peer, pid, comm);
	}
}

void network_peers_note_server(struct network_peers *peers,
			       const volatile struct pkbpf_network_row *row)
{
	struct pkbpf_network_peer server;
	char comm[PKBPF_COMM_SIZE + 1] = "";

	memcpy(&server, (const void *)&row->key.peer, sizeof(server));
	if (server.role != PKBPF_NETWORK_SERVER)
		return;
	memcpy(comm, (const void *)row->comm, PKBPF_COMM_SIZE);
	if (server.family == PKBPF_NETWORK_UNIX)
		return note_named_server(peers, &server, row->key.pid, comm);
	if (!hash_map_find(&peers->wanted, server_key(&server)))
		return;
	name_server(peers, &server, row->key.pid, comm);
}

void network_peers_look(struct network_peers *peers)
{
	const struct hash_map_slot *slot;
	struct port_owners *owners;
	size_t cursor = 0;

	if (peers->looked_at == peers->items.count || !peers->wanted.count)
		return;
	peers->looked_at = peers->items.count;
	owners = port_owners_new();
	while (owners && (slot = hash_map_next(&peers->wanted, &cursor))) {
		const struct numbered_peer *peer = &peers->items.items[slot->value];

		port_owners_want(owners, peer->client, peer->address.net,
				 peer->address.protocol == PKBPF_NETWORK_UDP, peer->address.port);
	}
	if (owners)
		port_owners_look(owners);
	for (size_t i = 0; owners && i < peers->items.count; i++) {
		const struct numbered_peer *peer = &peers->items.items[i];
		uint32_t pid =
			peer->pid || !is_local_server(&peer->address)
				? 0
				: port_owners_pid(owners, peer->address.net,
						  peer->address.protocol == PKBPF_NETWORK_UDP,
						  peer->address.port);
		char comm[PKBPF_COMM_SIZE + 1] = "";

		if (!pid)
			continue;
		relation_read_comm(pid, comm);
		name_server(peers, &peer->address, pid, comm);
	}
	port_owners_free(owners);
}

int network_peers_send_named(struct network_peers *peers, struct event_buffer *buffer)
{
	for (size_t i = 0; i < peers->items.count; i++) {
		struct numbered_peer *peer = &peers->items.items[i];
		struct peer_view view = {0};

		if (!peer->is_new)
			continue;
		if (send_peer(peer, (uint32_t)i + 1, &view, buffer))
			return -ENOMEM;
		peer->is_new = false;
	}
	return 0;
}
