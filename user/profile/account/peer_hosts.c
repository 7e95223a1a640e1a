// SPDX-License-Identifier: BSD-2-Clause
#include "profile/account/peer_hosts.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "profile/account/peer_text.h"

/* Seconds of the resolver for one server, which it asks once. */
#define ANSWER_SECONDS 1

static bool is_inet(const struct peer *peer)
{
	char text[PEER_TEXT_SIZE];

	return (peer->address.family == PKBPF_NETWORK_IPV4 ||
		peer->address.family == PKBPF_NETWORK_IPV6) &&
	       peer_address(text, peer)[0];
}

/* One of those to look up. */
struct asked {
	const struct peer *peer; /* of the table, which does not grow meanwhile */
	uint32_t number;
};

static int by_address(const void *left, const void *right)
{
	const struct pkbpf_network_peer *a = &((const struct asked *)left)->peer->address;
	const struct pkbpf_network_peer *b = &((const struct asked *)right)->peer->address;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->address, b->address, sizeof(a->address));
}

static struct asked *collect(const struct peer_table *table, size_t *ret_count)
{
	size_t all = peer_table_count(table), count = 0;
	struct asked *asked = calloc(all + 1, sizeof(*asked));

	for (uint32_t i = 1; asked && i <= all; i++)
		if (is_inet(peer_table_at(table, i)))
			asked[count++] = (struct asked){peer_table_at(table, i), i};
	if (asked)
		qsort(asked, count, sizeof(*asked), by_address);
	*ret_count = count;
	return asked;
}

static bool ask(const struct peer *peer, char *host, size_t size)
{
	struct sockaddr_in ipv4 = {.sin_family = AF_INET};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};

	memcpy(&ipv4.sin_addr, peer->address.address, sizeof(ipv4.sin_addr));
	memcpy(&ipv6.sin6_addr, peer->address.address, sizeof(ipv6.sin6_addr));
	if (peer->address.family == PKBPF_NETWORK_IPV4)
		return !getnameinfo((struct sockaddr *)&ipv4, sizeof(ipv4), host, (socklen_t)size,
				    NULL, 0, NI_NAMEREQD);
	return !getnameinfo((struct sockaddr *)&ipv6, sizeof(ipv6), host, (socklen_t)size, NULL, 0,
			    NI_NAMEREQD);
}

int peer_hosts_find(struct peer_table *table, uint64_t limit_ns, size_t *ret_left)
{
	uint64_t end_ns = clock_now_ns() + limit_ns;
	size_t count;
	struct asked *asked = collect(table, &count);
	char host[NI_MAXHOST] = "";

	*ret_left = 0;
	if (!asked)
		return -ENOMEM;
	if (res_init() == 0) {
		_res.retrans = ANSWER_SECONDS;
		_res.retry = 1;
	}
	for (size_t i = 0; i < count; i++) {
		bool is_new = !i || by_address(&asked[i - 1], &asked[i]) != 0;

		if (is_new && clock_now_ns() >= end_ns) {
			host[0] = '\0';
			(*ret_left)++;
		} else if (is_new && !ask(asked[i].peer, host, sizeof(host))) {
			host[0] = '\0';
		}
		if (host[0])
			peer_table_set_host(table, asked[i].number, host);
	}
	free(asked);
	return 0;
}
