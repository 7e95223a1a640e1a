/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection to a server, with or without TLS; all steps share one deadline. One thread. */
#ifndef PKBPF_HTTP_HTTP_CONNECTION_H
#define PKBPF_HTTP_HTTP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "http/http_message.h"

struct http_connection;

struct http_peer {
	const struct http_url *url;
	const char *socket_path; /* instead of the host; NULL: the host */
	uint64_t until_ns;	 /* CLOCK_MONOTONIC; the resolver has limits of its own */
	/* Asked some times a second; NULL: never. */
	bool (*is_cancelled)(void *context);
	void *context;
};

/* Borrows the peer. -EIO, -ETIMEDOUT, -ECANCELED, -ENOMEM with the sentence. */
int http_connection_open(const struct http_peer *peer, struct http_connection **ret_connection,
			 struct error *error);
int http_connection_send(struct http_connection *connection, const void *bytes, size_t size,
			 struct error *error);
/* What has come, at most size bytes; 0: the end. */
ssize_t http_connection_receive(struct http_connection *connection, void *bytes, size_t size,
				struct error *error);
void http_connection_close(struct http_connection *connection); /* NULL is fine */

#endif
