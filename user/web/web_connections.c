// SPDX-License-Identifier: BSD-2-Clause
#include "web/web_connections.h"

#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define ASKS_MAX_NS	(10 * NS_PER_SECOND)
#define RECEIVES_MAX_NS (60 * NS_PER_SECOND)

void web_connections_init(struct web_connections *connections)
{
	memset(connections->items, 0, sizeof(connections->items));
	pthread_mutex_init(&connections->lock, NULL);
}

struct web_connection *web_connection_add(struct web_connections *connections, int fd)
{
	struct web_connection *added = NULL;

	pthread_mutex_lock(&connections->lock);
	for (int i = 0; i < WEB_CONNECTIONS_MAX && !added; i++)
		if (connections->items[i].phase == WEB_CONNECTION_FREE)
			added = &connections->items[i];
	if (added)
		*added = (struct web_connection){fd, WEB_CONNECTION_ASKS, clock_now_ns()};
	pthread_mutex_unlock(&connections->lock);
	return added;
}

void web_connection_enter(struct web_connections *connections, struct web_connection *connection,
			  enum web_connection_phase phase)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	connection->phase = phase;
	connection->since_ns = clock_now_ns();
	pthread_mutex_unlock(&connections->lock);
}

void web_connection_forget(struct web_connections *connections, struct web_connection *connection)
{
	web_connection_enter(connections, connection, WEB_CONNECTION_FREE);
}

static bool is_slow(const struct web_connection *connection, uint64_t now_ns)
{
	uint64_t most_ns = connection->phase == WEB_CONNECTION_ASKS	  ? ASKS_MAX_NS
			   : connection->phase == WEB_CONNECTION_RECEIVES ? RECEIVES_MAX_NS
									  : UINT64_MAX;

	return now_ns > connection->since_ns && now_ns - connection->since_ns > most_ns;
}

unsigned int web_connections_end_slow(struct web_connections *connections, uint64_t now_ns)
{
	unsigned int count = 0;

	pthread_mutex_lock(&connections->lock);
	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++) {
		struct web_connection *connection = &connections->items[i];

		if (!is_slow(connection, now_ns))
			continue;
		/* The server sees it end, and closes it. */
		shutdown(connection->fd, SHUT_RDWR);
		connection->since_ns = now_ns;
		count++;
	}
	pthread_mutex_unlock(&connections->lock);
	return count;
}

void web_connections_done(struct web_connections *connections)
{
	pthread_mutex_destroy(&connections->lock);
}
