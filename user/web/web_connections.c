// SPDX-License-Identifier: BSD-2-Clause
#include "web/web_connections.h"

#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define ASKS_MAX_NS	(10 * NS_PER_SECOND)
#define RECEIVES_MAX_NS (60 * NS_PER_SECOND)
/* With so many about to end, those that come wait for their threads. */
#define ENDING_MAX   (WEB_CONNECTIONS_MAX / 2)
#define END_PAUSE_NS (2 * NS_PER_MS)

void web_connections_init(struct web_connections *connections)
{
	memset(connections->items, 0, sizeof(connections->items));
	pthread_mutex_init(&connections->lock, NULL);
}

static bool is_kept(const struct web_connection *connection)
{
	return connection->phase != WEB_CONNECTION_FREE && connection->phase != WEB_CONNECTION_ENDS;
}

static unsigned int count_of(const struct web_connections *connections,
			     const struct web_address *address)
{
	unsigned int count = 0;

	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
		count += is_kept(&connections->items[i]) &&
			 memcmp(&connections->items[i].address, address, sizeof(*address)) == 0;
	return count;
}

static unsigned int count_ending(const struct web_connections *connections)
{
	unsigned int count = 0;

	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
		count += connections->items[i].phase == WEB_CONNECTION_ENDS;
	return count;
}

/* Should a end before b? */
static bool ends_before(const struct web_connections *connections, const struct web_connection *a,
			const struct web_connection *b)
{
	bool a_asks = a->phase == WEB_CONNECTION_ASKS, b_asks = b->phase == WEB_CONNECTION_ASKS;
	unsigned int a_count = count_of(connections, &a->address);
	unsigned int b_count = count_of(connections, &b->address);

	if (a_asks != b_asks)
		return a_asks;
	return a_count != b_count ? a_count > b_count : a->since_ns < b->since_ns;
}

static void make_room(struct web_connections *connections)
{
	struct web_connection *first = NULL;
	unsigned int count = 0;

	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++) {
		struct web_connection *each = &connections->items[i];

		if (!is_kept(each))
			continue;
		count++;
		if (!first || ends_before(connections, each, first))
			first = each;
	}
	if (count < WEB_CONNECTIONS_KEPT)
		return;
	/* The server sees it end, and closes it. */
	shutdown(first->fd, SHUT_RDWR);
	first->phase = WEB_CONNECTION_ENDS;
}

struct web_connection *web_connection_add(struct web_connections *connections, int fd,
					  const struct web_address *address)
{
	static const struct timespec pause = {.tv_nsec = END_PAUSE_NS};
	struct web_connection *added = NULL;
	unsigned int ending;

	pthread_mutex_lock(&connections->lock);
	make_room(connections);
	ending = count_ending(connections);
	for (int i = 0; i < WEB_CONNECTIONS_MAX && !added; i++)
		if (connections->items[i].phase == WEB_CONNECTION_FREE)
			added = &connections->items[i];
	if (added)
		*added = (struct web_connection){.fd = fd,
						 .phase = WEB_CONNECTION_ASKS,
						 .address = *address,
						 .since_ns = clock_now_ns()};
	pthread_mutex_unlock(&connections->lock);
	if (ending > ENDING_MAX)
		nanosleep(&pause, NULL);
	return added;
}

void web_connection_enter(struct web_connections *connections, struct web_connection *connection,
			  enum web_connection_phase phase)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	/* What was shut down stays so until the server has closed it. */
	if (connection->phase != WEB_CONNECTION_ENDS || phase == WEB_CONNECTION_FREE) {
		connection->phase = phase;
		connection->since_ns = clock_now_ns();
	}
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
		shutdown(connection->fd, SHUT_RDWR);
		connection->phase = WEB_CONNECTION_ENDS;
		count++;
	}
	pthread_mutex_unlock(&connections->lock);
	return count;
}

void web_connections_done(struct web_connections *connections)
{
	pthread_mutex_destroy(&connections->lock);
}
