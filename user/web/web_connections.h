/* SPDX-License-Identifier: BSD-2-Clause */
/* Which connections make room for others: those of clients that take for ever to ask or to take
 * their answer (the server's own limit begins anew with each byte), and where there are too many,
 * the oldest that asks for nothing. So a new one always finds room. Any thread. */
#ifndef PKBPF_WEB_WEB_CONNECTIONS_H
#define PKBPF_WEB_WEB_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Beyond it a new connection ends another one. */
#define WEB_CONNECTIONS_KEPT 32
/* With those that are about to end; more are not watched. */
#define WEB_CONNECTIONS_MAX 128

enum web_connection_phase {
	WEB_CONNECTION_FREE,
	WEB_CONNECTION_ASKS,	 /* its request is not complete */
	WEB_CONNECTION_WAITS,	 /* for an answer of ours */
	WEB_CONNECTION_RECEIVES, /* the answer */
	WEB_CONNECTION_ENDS	 /* we have shut it down */
};

/* An IP address; all zero: a socket of the file system. */
struct web_address {
	uint8_t bytes[16];
};

struct web_connection {
	int fd;
	enum web_connection_phase phase;
	struct web_address address;
	uint64_t since_ns;
};

struct web_connections {
	pthread_mutex_t lock;
	struct web_connection items[WEB_CONNECTIONS_MAX];
};

void web_connections_init(struct web_connections *connections);
/* Shuts another one down if there are too many: before one that waits for us or receives, one that
 * asks; of these, of the address that has most, the oldest. NULL: there is no room all the same. fd
 * stays the server's until web_connection_forget(). */
struct web_connection *web_connection_add(struct web_connections *connections, int fd,
					  const struct web_address *address);
/* connection may be NULL in both. */
void web_connection_enter(struct web_connections *connections, struct web_connection *connection,
			  enum web_connection_phase phase);
void web_connection_forget(struct web_connections *connections, struct web_connection *connection);
/* Ends those that are too slow; returns how many. */
unsigned int web_connections_end_slow(struct web_connections *connections, uint64_t now_ns);
void web_connections_done(struct web_connections *connections);

#endif
