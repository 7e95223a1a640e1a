/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that take for ever to ask or to take their answer: the server's own limit begins anew
 * with each byte. Any thread. */
#ifndef PKBPF_WEB_WEB_CONNECTIONS_H
#define PKBPF_WEB_WEB_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* More are not watched. */
#define WEB_CONNECTIONS_MAX 64

enum web_connection_phase {
	WEB_CONNECTION_FREE,
	WEB_CONNECTION_ASKS,	/* its request is not whole */
	WEB_CONNECTION_WAITS,	/* for an answer of ours */
	WEB_CONNECTION_RECEIVES /* the answer */
};

struct web_connection {
	int fd;
	enum web_connection_phase phase;
	uint64_t since_ns;
};

struct web_connections {
	pthread_mutex_t lock;
	struct web_connection items[WEB_CONNECTIONS_MAX];
};

void web_connections_init(struct web_connections *connections);
/* NULL: there are too many. fd stays the server's until web_connection_forget(). */
struct web_connection *web_connection_add(struct web_connections *connections, int fd);
/* connection may be NULL in both. */
void web_connection_enter(struct web_connections *connections, struct web_connection *connection,
			  enum web_connection_phase phase);
void web_connection_forget(struct web_connections *connections, struct web_connection *connection);
/* Ends those that are too slow; returns how many. */
unsigned int web_connections_end_slow(struct web_connections *connections, uint64_t now_ns);
void web_connections_done(struct web_connections *connections);

#endif
