/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers the peers of a capture, sends a record of each, and finds the processes at the other end
 * of those on this host. */
#ifndef PKBPF_SOURCE_NETWORK_NETWORK_PEERS_H
#define PKBPF_SOURCE_NETWORK_NETWORK_PEERS_H

#include <stdint.h>

#include <pkbpf/network.h>

#include "event/encoder.h"

struct network_peers;

/* NULL: out of memory. */
struct network_peers *network_peers_new(void);
void network_peers_free(struct network_peers *peers);
/* Returns the number of a row's peer, and appends its record when it is new; 0: out of memory. */
uint32_t network_peers_number(struct network_peers *peers,
			      const volatile struct pkbpf_network_row *row,
			      struct event_buffer *buffer);
/* A row of a server, which may be the other end of a peer. */
void network_peers_note_server(struct network_peers *peers,
			       const volatile struct pkbpf_network_row *row);
/* Looks in procfs for the servers that are still unknown; reads the descriptors of all processes
 * if there are any. */
void network_peers_look(struct network_peers *peers);
/* Appends a record of each peer whose process has become known. -ENOMEM: the next call does. */
int network_peers_send_named(struct network_peers *peers, struct event_buffer *buffer);

#endif
