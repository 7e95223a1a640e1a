// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_connection.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http_tls.h"

/* How long a cancellation may go unnoticed. */
#define LOOK_MS 200

struct http_connection {
	const struct http_peer *peer;
	int fd;
	struct http_tls *tls; /* NULL: none */
};

/* ---- waiting ---- */

static int wait_for(struct http_connection *connection, short events, struct error *error)
{
	const struct http_peer *peer = connection->peer;
	struct pollfd wait = {.fd = connection->fd, .events = events};

	for (;;) {
		uint64_t now_ns = clock_now_ns();
		uint64_t left_ms =
			now_ns < peer->until_ns ? (peer->until_ns - now_ns) / NS_PER_MS : 0;
		int ready;

		if (!left_ms)
			return error_set(error, ETIMEDOUT, "no answer in time");
		if (peer->is_cancelled && peer->is_cancelled(peer->context))
			return error_set(error, ECANCELED, "given up");
		ready = poll(&wait, 1, left_ms < LOOK_MS ? (int)left_ms + 1 : LOOK_MS);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return error_set(error, EIO, "%s", strerror(errno));
	}
}

/* ---- connecting ---- */

static int finish_connect(struct http_connection *connection, struct error *error)
{
	socklen_t size = sizeof(int);
	int failed = 0, err;

	if (errno != EINPROGRESS && errno != EINTR)
		return error_set(error, EIO, "cannot connect: %s", strerror(errno));
	err = wait_for(connection, POLLOUT, error);
	if (err < 0)
		return err;
	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &failed, &size) < 0)
		failed = errno;
	return failed ? error_set(error, EIO, "cannot connect: %s", strerror(failed)) : 0;
}

static int connect_to(struct http_connection *connection, const struct sockaddr *address,
		      socklen_t size, struct error *error)
{
	connection->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connection->fd < 0)
		return error_set(error, EIO, "cannot make a socket: %s", strerror(errno));
	if (connect(connection->fd, address, size) == 0)
		return 0;
	return finish_connect(connection, error);
}

static int connect_to_path(struct http_connection *connection, const char *path,
			   struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(error, EIO, "the path of the socket is too long");
	strcpy(address.sun_path, path);
	return connect_to(connection, (const struct sockaddr *)&address, sizeof(address), error);
}

static void disconnect(struct http_connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
}

/* One address of a name after the other. */
static int connect_to_host(struct http_connection *connection, struct error *error)
{
	const struct http_url *url = connection->peer->url;
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
	const struct addrinfo *each;
	struct addrinfo *list;
	int err = getaddrinfo(url->host, url->port, &hints, &list);

	if (err)
		return error_set(error, EIO, "cannot find the host %s: %s", url->host,
				 gai_strerror(err));
	err = error_set(error, EIO, "the host %s has no address", url->host);
	for (each = list; each; each = each->ai_next) {
		disconnect(connection);
		err = connect_to(connection, each->ai_addr, each->ai_addrlen, error);
		if (err == 0 || err == -ETIMEDOUT || err == -ECANCELED)
			break;
	}
	freeaddrinfo(list);
	return err;
}

int http_connection_open(const struct http_peer *peer, struct http_connection **ret_connection,
			 struct error *error)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));
	int err;

	if (!connection)
		return error_set(error, ENOMEM, "out of memory");
	connection->peer = peer;
	connection->fd = -1;
	err = peer->socket_path ? connect_to_path(connection, peer->socket_path, error)
				: connect_to_host(connection, error);
	if (err == 0 && peer->url->is_https && !peer->socket_path)
		err = http_tls_new(connection->fd, peer->url->host, &connection->tls, error);
	while (err == 0 && connection->tls) {
		short events = 0;

		err = http_tls_shake_hands(connection->tls, &events, error);
		if (err != -EAGAIN)
			break;
		err = wait_for(connection, events, error);
	}
	if (err < 0) {
		http_connection_close(connection);
		return err;
	}
	*ret_connection = connection;
	return 0;
}

void http_connection_close(struct http_connection *connection)
{
	if (!connection)
		return;
	http_tls_free(connection->tls);
	disconnect(connection);
	free(connection);
}

/* ---- bytes ---- */

static ssize_t plain_send(struct http_connection *connection, const void *bytes, size_t size,
			  short *ret_events, struct error *error)
{
	ssize_t sent = send(connection->fd, bytes, size, MSG_NOSIGNAL);

	*ret_events = POLLOUT;
	if (sent >= 0)
		return sent;
	if (errno == EAGAIN || errno == EINTR)
		return -EAGAIN;
	return error_set(error, EIO, "cannot send: %s", strerror(errno));
}

int http_connection_send(struct http_connection *connection, const void *bytes, size_t size,
			 struct error *error)
{
	const char *at = bytes;

	while (size) {
		short events;
		ssize_t sent = connection->tls
				       ? http_tls_send(connection->tls, at, size, &events, error)
				       : plain_send(connection, at, size, &events, error);
		int err = sent == -EAGAIN ? wait_for(connection, events, error) : 0;

		if (err < 0 || (sent < 0 && sent != -EAGAIN))
			return err < 0 ? err : (int)sent;
		at += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

static ssize_t plain_receive(struct http_connection *connection, void *bytes, size_t size,
			     short *ret_events, struct error *error)
{
	ssize_t got = recv(connection->fd, bytes, size, 0);

	*ret_events = POLLIN;
	if (got >= 0)
		return got;
	if (errno == EAGAIN || errno == EINTR)
		return -EAGAIN;
	return error_set(error, EIO, "the connection broke: %s", strerror(errno));
}

ssize_t http_connection_receive(struct http_connection *connection, void *bytes, size_t size,
				struct error *error)
{
	for (;;) {
		short events;
		ssize_t got =
			connection->tls
				? http_tls_receive(connection->tls, bytes, size, &events, error)
				: plain_receive(connection, bytes, size, &events, error);
		int err;

		if (got != -EAGAIN)
			return got;
		err = wait_for(connection, events, error);
		if (err < 0)
			return err;
	}
}
