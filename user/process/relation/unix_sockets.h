/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of Unix sockets to a server's. */
#ifndef PKBPF_PROCESS_RELATION_UNIX_SOCKETS_H
#define PKBPF_PROCESS_RELATION_UNIX_SOCKETS_H

#include <stdint.h>

#define UNIX_PATH_SIZE 109

struct unix_client {
	uint64_t inode, server_inode;
	char path[UNIX_PATH_SIZE]; /* of the server; "@…": abstract */
};

/* Calls back for each connected stream socket without a name whose other end has one and that has
 * nothing to read: it is the client's end. fd: of NETLINK_SOCK_DIAG. */
void unix_clients_each(int fd, void (*take)(void *context, const struct unix_client *client),
		       void *context);

#endif
