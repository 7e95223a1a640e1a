// SPDX-License-Identifier: BSD-2-Clause
/* Joins the sockets of /proc/PID/net with the descriptors of processes. */
#include "process/relation/port_owners.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "process/relation/relation_writer.h"

#define NETS_MAX  16
#define LINES_MAX 65536
#define FDS_MAX	  262144
#define LISTEN	  10 /* include/net/tcp_states.h */

struct net {
	uint32_t number, pid;
};

struct port_owners {
	ARRAY_OF(struct net) nets;
	struct hash_map wanted; /* key_of() -> pid of the owner; 0: not found yet */
	struct hash_map inodes; /* socket -> key_of() */
};

static uint64_t key_of(uint32_t net, bool is_udp, uint16_t port)
{
	return (uint64_t)net << 32 | (uint64_t)is_udp << 16 | port;
}

struct port_owners *port_owners_new(void)
{
	return calloc(1, sizeof(struct port_owners));
}

void port_owners_free(struct port_owners *owners)
{
	if (!owners)
		return;
	array_free(&owners->nets);
	hash_map_done(&owners->wanted);
	hash_map_done(&owners->inodes);
	free(owners);
}

void port_owners_want(struct port_owners *owners, uint32_t pid, uint32_t net, bool is_udp,
		      uint16_t port)
{
	struct net *new;

	hash_map_put(&owners->wanted, key_of(net, is_udp, port), 0);
	array_foreach(&owners->nets, known) {
		if (known->number == net)
			return;
	}
	new = owners->nets.count < NETS_MAX ? array_add(&owners->nets) : NULL;
	if (new)
		*new = (struct net){net, pid};
}

/* A line of /proc/net/tcp or udp: "sl local:port remote:port state … inode". A server's socket
 * has no peer. */
static void take_line(struct port_owners *owners, uint32_t net, bool is_udp, const char *line)
{
	unsigned int port, remote_port, state;
	uint64_t inode, key;

	if (sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*s %*s %*s %*s %*s %" SCNu64,
		   &port, &remote_port, &state, &inode) != 4)
		return;
	key = key_of(net, is_udp, (uint16_t)port);
	if (inode && !remote_port && (is_udp || state == LISTEN) &&
	    hash_map_find(&owners->wanted, key))
		hash_map_put(&owners->inodes, inode, key);
}

/* The process that was named may have exited; in our own namespace, any will do. */
static FILE *open_sockets(const struct net *net, const char *name)
{
	struct stat own;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", net->pid, name);
	file = fopen(path, "re");
	if (file || stat("/proc/self/ns/net", &own) || own.st_ino != net->number)
		return file;
	snprintf(path, sizeof(path), "/proc/self/net/%s", name);
	return fopen(path, "re");
}

static void read_sockets(struct port_owners *owners, const struct net *net, const char *name)
{
	_cleanup_fclose_ FILE *file = open_sockets(net, name);
	char line[512];

	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++)
		take_line(owners, net->number, name[0] == 'u', line);
}

struct asking {
	struct port_owners *owners;
	uint32_t pid;
};

static void take_inode(void *context, uint64_t inode)
{
	const struct asking *asking = context;
	uint64_t *key = hash_map_find(&asking->owners->inodes, inode);
	uint64_t *owner = key ? hash_map_find(&asking->owners->wanted, *key) : NULL;

	/* The first one, of a server and its workers, is mostly the oldest. */
	if (owner && !*owner)
		*owner = asking->pid;
}

void port_owners_look(struct port_owners *owners)
{
	static const char *const names[] = {"tcp", "tcp6", "udp", "udp6"};
	_cleanup_free_ uint32_t *pids = NULL;
	size_t pid_count, fds = 0;

	array_foreach(&owners->nets, net) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			read_sockets(owners, net, names[i]);
	}
	if (!owners->inodes.count)
		return;
	pid_count = relation_list_pids("/proc", &pids);
	for (size_t i = 0; i < pid_count && fds < FDS_MAX; i++)
		fds += relation_each_socket(pids[i], FDS_MAX - fds, take_inode,
					    &(struct asking){owners, pids[i]});
}

uint32_t port_owners_pid(const struct port_owners *owners, uint32_t net, bool is_udp, uint16_t port)
{
	const uint64_t *pid = hash_map_find(&owners->wanted, key_of(net, is_udp, port));

	return pid ? (uint32_t)*pid : 0;
}
