// SPDX-License-Identifier: BSD-2-Clause
/* Writes the names of peers. */
#include "profile/account/peer_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "profile/account/port_service.h"

const char *peer_role(const struct peer *peer)
{
	if (peer->address.role == PKBPF_NETWORK_CLIENT)
		return "client";
	return peer->address.role == PKBPF_NETWORK_SERVER ? "server" : "unknown";
}

uint32_t peer_port(const struct peer *peer)
{
	bool is_internet = peer->address.family == PKBPF_NETWORK_IPV4 ||
			   peer->address.family == PKBPF_NETWORK_IPV6;

	return is_internet ? peer->address.port : 0;
}

const char *peer_protocol(const struct peer *peer)
{
	const struct pkbpf_network_peer *address = &peer->address;

	if (address->family == PKBPF_NETWORK_UNIX)
		return address->protocol == PKBPF_NETWORK_DATAGRAM ? "unix datagram" : "unix";
	if (address->family == PKBPF_NETWORK_PIPE)
		return "pipe";
	if (address->family == PKBPF_NETWORK_OTHERS)
		return "other";
	if (address->protocol == PKBPF_NETWORK_TCP)
		return "tcp";
	return address->protocol == PKBPF_NETWORK_UDP ? "udp" : "ip";
}

char *peer_address(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	static const uint8_t none[16];
	const struct pkbpf_network_peer *address = &peer->address;

	buffer[0] = '\0';
	if (memcmp(address->address, none, sizeof(none)) == 0)
		return buffer;
	if (address->family == PKBPF_NETWORK_IPV4)
		inet_ntop(AF_INET, address->address, buffer, PEER_TEXT_SIZE);
	else if (address->family == PKBPF_NETWORK_IPV6)
		inet_ntop(AF_INET6, address->address, buffer, PEER_TEXT_SIZE);
	return buffer;
}

static void unix_text(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	const char *name = peer->name[0] ? peer->name : "without a name";
	const char *clients = peer->address.role == PKBPF_NETWORK_SERVER ? " from clients" : "";

	snprintf(buffer, PEER_TEXT_SIZE, "%s %s%s", peer_protocol(peer), name, clients);
}

/* Pipes have no names, and programs have many: their other ends tell them apart. */
static void pipe_text(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	if (peer->pid)
		snprintf(buffer, PEER_TEXT_SIZE, "pipe of %s(%u)", peer->comm[0] ? peer->comm : "?",
			 peer->pid);
	else
		snprintf(buffer, PEER_TEXT_SIZE, "pipe, other end not used");
}

static void inet_text(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	bool is_ipv6 = peer->address.family == PKBPF_NETWORK_IPV6 && !peer->host;
	char address[PEER_TEXT_SIZE];

	peer_address(address, peer);
	if (peer->host)
		snprintf(address, sizeof(address), "%s", peer->host);
	/* It was never connected: each message names its peer. */
	if (peer->address.role == PKBPF_NETWORK_CLIENT && !peer->address.port)
		snprintf(buffer, PEER_TEXT_SIZE, "%s to several", peer_protocol(peer));
	else if (peer->address.role == PKBPF_NETWORK_SERVER)
		snprintf(buffer, PEER_TEXT_SIZE, "%s :%u from %.64s", peer_protocol(peer),
			 peer->address.port, address[0] ? address : "clients");
	else
		snprintf(buffer, PEER_TEXT_SIZE, "%s %s%.64s%s:%u", peer_protocol(peer),
			 is_ipv6 ? "[" : "", address[0] ? address : "any", is_ipv6 ? "]" : "",
			 peer->address.port);
}

/* Sockets of other families are distinguished by that alone, in place of the port. */
static char *others_text(char buffer[PEER_TEXT_SIZE], unsigned int family)
{
	static const struct {
		unsigned int family;
		const char *name;
	} names[] = {
		{0, "others"},	     {AF_NETLINK, "netlink"},	{AF_PACKET, "packets"},
		{AF_VSOCK, "vsock"}, {AF_ALG, "kernel crypto"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].family == family)
			return strcpy(buffer, names[i].name);
	snprintf(buffer, PEER_TEXT_SIZE, "address family %u", family);
	return buffer;
}

char *peer_text_plain(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	if (!peer)
		return strcpy(buffer, "unknown");
	if (peer->address.family == PKBPF_NETWORK_OTHERS)
		return others_text(buffer, peer->address.port);
	if (peer->address.family == PKBPF_NETWORK_UNIX)
		unix_text(buffer, peer);
	else if (peer->address.family == PKBPF_NETWORK_PIPE)
		pipe_text(buffer, peer);
	else
		inet_text(buffer, peer);
	return buffer;
}

const char *peer_service(const struct peer *peer)
{
	const struct pkbpf_network_peer *address = &peer->address;

	if (address->role != PKBPF_NETWORK_CLIENT ||
	    (address->family != PKBPF_NETWORK_IPV4 && address->family != PKBPF_NETWORK_IPV6))
		return NULL;
	return address->protocol == PKBPF_NETWORK_TCP || address->protocol == PKBPF_NETWORK_UDP
		       ? port_service(address->port, address->protocol == PKBPF_NETWORK_UDP)
		       : NULL;
}

char *peer_text(char buffer[PEER_TEXT_SIZE], const struct peer *peer)
{
	const char *service;
	size_t length;

	peer_text_plain(buffer, peer);
	if (!peer || peer->address.family == PKBPF_NETWORK_PIPE)
		return buffer;
	length = strlen(buffer);
	service = peer_service(peer);
	if (peer->comm[0])
		snprintf(buffer + length, PEER_TEXT_SIZE - length, " (%s)", peer->comm);
	else if (service)
		snprintf(buffer + length, PEER_TEXT_SIZE - length, " (%s?)", service);
	return buffer;
}
