/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers of a profile. Distributions of the kind NETWORK name one by its number, in place of a
 * device. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_PEER_TABLE_H
#define PKBPF_PROFILE_ACCOUNT_PEER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/network.h>

#define PEER_NONE 0

struct peer {
	struct pkbpf_network_peer address; /* tells peers apart */
	uint32_t pid;			   /* process at the other end; 0: unknown */
	char comm[PKBPF_COMM_SIZE + 1];	   /* of that process; not escaped; "" unknown */
	char name[PKBPF_NETWORK_NAME + 1]; /* of a UNIX socket; not escaped; "" none */
	const char *host; /* what its address is called; not escaped; NULL unknown */
};

struct peer_table;

/* NULL: out of memory. */
struct peer_table *peer_table_new(void);
void peer_table_free(struct peer_table *table);
/* The number of a peer, from 1; what is not known of it yet is taken from this one. PEER_NONE: out
 * of memory. */
uint32_t peer_table_get(struct peer_table *table, const struct peer *peer);
/* Takes what is not known yet of a peer that has a number; others stay without one. */
void peer_table_complete(struct peer_table *table, const struct peer *peer);
/* NULL: there is no such number. Valid until the next get. */
const struct peer *peer_table_at(const struct peer_table *table, uint32_t number);
/* Names the host of a peer; no effect without memory. The name is copied. */
void peer_table_set_host(struct peer_table *table, uint32_t number, const char *host);
size_t peer_table_count(const struct peer_table *table);

#endif
