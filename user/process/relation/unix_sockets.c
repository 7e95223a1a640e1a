// SPDX-License-Identifier: BSD-2-Clause
/* Asks the kernel's sock_diag. */
#include "process/relation/unix_sockets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"

#define SOCKETS_MAX 16384
#define REPLY_SIZE  65536
/* TCP_ESTABLISHED of include/net/tcp_states.h, which Unix sockets use, too. */
#define ESTABLISHED 1

struct unix_socket {
	uint64_t inode, peer_inode; /* 0: none */
	char path[UNIX_PATH_SIZE];  /* "" */
	bool has_data;
};

struct unix_sockets {
	ARRAY_OF(struct unix_socket) items;
	struct hash_map by_inode;
};

static void take_name(struct unix_socket *socket, const char *name, size_t size)
{
	size = size < sizeof(socket->path) ? size : sizeof(socket->path) - 1;
	memcpy(socket->path, name, size);
	if (size && !socket->path[0])
		socket->path[0] = '@';
}

static void take_socket(struct unix_sockets *sockets, const struct nlmsghdr *message)
{
	const struct unix_diag_msg *diag = NLMSG_DATA(message);
	const struct rtattr *attribute = (const void *)(diag + 1);
	size_t left = message->nlmsg_len - NLMSG_LENGTH(sizeof(*diag));
	struct unix_diag_rqlen queues;
	struct unix_socket *item;
	uint32_t peer;

	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*diag)) ||
	    sockets->items.count >= SOCKETS_MAX || diag->udiag_type != SOCK_STREAM)
		return;
	item = array_add(&sockets->items);
	if (!item)
		return;
	*item = (struct unix_socket){.inode = diag->udiag_ino};
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		size_t size = RTA_PAYLOAD(attribute);

		if (attribute->rta_type == UNIX_DIAG_NAME) {
			take_name(item, RTA_DATA(attribute), size);
		} else if (attribute->rta_type == UNIX_DIAG_PEER && size >= sizeof(peer)) {
			memcpy(&peer, RTA_DATA(attribute), sizeof(peer));
			item->peer_inode = peer;
		} else if (attribute->rta_type == UNIX_DIAG_RQLEN && size >= sizeof(queues)) {
			memcpy(&queues, RTA_DATA(attribute), sizeof(queues));
			item->has_data = queues.udiag_rqueue > 0;
		}
	}
	hash_map_put(&sockets->by_inode, item->inode, sockets->items.count - 1);
}

static void dump(struct unix_sockets *sockets, int fd)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {
		.header = {.nlmsg_len = sizeof(message),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = AF_UNIX,
			    .udiag_states = 1U << ESTABLISHED,
			    .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN},
	};
	_cleanup_free_ char *buffer = malloc(REPLY_SIZE);

	if (!buffer || send(fd, &message, sizeof(message), 0) < 0)
		return;
	for (;;) {
		ssize_t size = recv(fd, buffer, REPLY_SIZE, 0);
		const struct nlmsghdr *header = (const void *)buffer;
		size_t left = size > 0 ? (size_t)size : 0;

		if (!left)
			return;
		for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
				return;
			take_socket(sockets, header);
		}
	}
}

void unix_clients_each(int fd, void (*take)(void *context, const struct unix_client *client),
		       void *context)
{
	struct unix_sockets sockets = {.by_inode = {0}};

	dump(&sockets, fd);
	array_foreach(&sockets.items, item) {
		const uint64_t *index = hash_map_find(&sockets.by_inode, item->peer_inode);
		struct unix_client client = {item->inode, item->peer_inode, ""};

		if (item->path[0] || item->has_data || !index ||
		    !sockets.items.items[*index].path[0])
			continue;
		memcpy(client.path, sockets.items.items[*index].path, sizeof(client.path));
		take(context, &client);
	}
	array_free(&sockets.items);
	hash_map_done(&sockets.by_inode);
}
