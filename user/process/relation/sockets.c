// SPDX-License-Identifier: BSD-2-Clause
/* Finds connections on which a process waits for its peer: it has sent after it last received,
 * and it opened the connection. From the kernel's sock_diag, like ss(8). */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "process/relation/relation_writer.h"
#include "process/relation/unix_sockets.h"

#define LOOKS	      5
#define LOOK_PAUSE_NS 20000000
/* Limits for all processes together. */
#define FDS_MAX	     65536
#define SOCKETS_MAX  16384
#define NETWORKS_MAX 8
/* Up to this many processes have their descriptors read each time. */
#define FEW 256
/* Tick of the time stamps, at 250 Hz. */
#define TICK_MS 4
/* Unacknowledged bytes: more than a few packets in flight. */
#define FULL_BYTES (64 << 10)
/* TCP states, include/net/tcp_states.h. */
#define ESTABLISHED 1
#define LISTEN	    10

/* Addresses are those of IPv6: an IPv4 address is mapped into them, as by the kernel for a socket
 * of both. */
struct tcp_socket {
	uint64_t inode;
	uint8_t network; /* number of its namespace */
	bool is_unix;
	uint16_t port, peer_port;
	uint32_t address[4], peer_address[4];
	bool listens, awaits, may_await, is_full;
};

struct peer {
	uint32_t pid;
	enum pkbpf_relation relation;
	struct tcp_socket socket;  /* one of its sockets */
	char path[UNIX_PATH_SIZE]; /* of a Unix socket, whose inode is that of the other end */
	uint32_t looks;		   /* number of checks in which it waited */
	uint32_t last_look;
};

struct sockets {
	const struct relation_writer *writer;
	struct hash_map owners;		 /* inode -> pid, of all processes */
	ARRAY_OF(struct tcp_socket) tcp; /* of all namespaces */
	ARRAY_OF(struct peer) peers;
	size_t fds;
	uint8_t network;		      /* whose sockets are read */
	uint8_t served[(UINT16_MAX + 1) / 8]; /* bits of ports that somebody in it listens on */
};

struct asking {
	struct sockets *sockets;
	uint32_t pid;
};

static void take_inode(void *context, uint64_t inode)
{
	const struct asking *asking = context;

	if (!hash_map_find(&asking->sockets->owners, inode))
		hash_map_put(&asking->sockets->owners, inode, asking->pid);
}

static void read_owner(struct sockets *sockets, uint32_t pid)
{
	sockets->fds += relation_each_socket(pid, FDS_MAX - sockets->fds, take_inode,
					     &(struct asking){sockets, pid});
}

static void copy_address(uint32_t to[4], uint8_t family, const uint32_t from[4])
{
	if (family == AF_INET)
		memcpy(to, (const uint32_t[]){0, 0, htonl(0xffff), from[0]}, 4 * sizeof(*to));
	else
		memcpy(to, from, 4 * sizeof(*to));
}

static void take_socket(struct sockets *sockets, const struct nlmsghdr *message)
{
	const struct inet_diag_msg *diag = NLMSG_DATA(message);
	const struct rtattr *attribute = (const void *)(diag + 1);
	size_t left = message->nlmsg_len - NLMSG_LENGTH(sizeof(*diag));
	struct tcp_socket *item;
	struct tcp_info info = {0};

	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*diag)) || sockets->tcp.count >= SOCKETS_MAX)
		return;
	item = array_add(&sockets->tcp);
	if (!item)
		return;
	*item = (struct tcp_socket){
		.inode = diag->idiag_inode,
		.network = sockets->network,
		.port = ntohs(diag->id.idiag_sport),
		.peer_port = ntohs(diag->id.idiag_dport),
		.listens = diag->idiag_state == LISTEN,
	};
	copy_address(item->address, diag->idiag_family, diag->id.idiag_src);
	copy_address(item->peer_address, diag->idiag_family, diag->id.idiag_dst);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		size_t size = RTA_PAYLOAD(attribute);

		if (attribute->rta_type == INET_DIAG_INFO)
			memcpy(&info, RTA_DATA(attribute),
			       size < sizeof(info) ? size : sizeof(info));
	}
	if (item->listens || diag->idiag_state != ESTABLISHED)
		return;
	item->is_full = diag->idiag_wqueue >= FULL_BYTES;
	/* Values are milliseconds ago. Received but unread data is an answer. */
	item->awaits = !diag->idiag_rqueue && info.tcpi_last_data_sent < info.tcpi_last_data_recv;
	/* Time stamps have ticks of some milliseconds. */
	item->may_await = !diag->idiag_rqueue &&
			  info.tcpi_last_data_sent <= info.tcpi_last_data_recv + TICK_MS;
	/* The first request of a connection has no earlier answer. */
	if (!diag->idiag_rqueue && info.tcpi_bytes_acked > 1 && !info.tcpi_bytes_received)
		item->awaits = true;
}

static void dump(struct sockets *sockets, int fd, uint8_t family)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} message = {
		.header = {.nlmsg_len = sizeof(message),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			    .idiag_states = 1U << ESTABLISHED | 1U << LISTEN},
	};
	_cleanup_free_ char *buffer = malloc(65536);

	if (!buffer || send(fd, &message, sizeof(message), 0) < 0)
		return;
	for (;;) {
		ssize_t size = recv(fd, buffer, 65536, 0);
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

struct opening {
	uint32_t pid;
	int fd; /* -1: none */
};

/* Runs in a thread of its own: entering the namespace is not undone. */
static void *enter_and_open(void *context)
{
	struct opening *opening = context;
	_cleanup_close_ int network = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/ns/net", opening->pid);
	network = open(path, O_RDONLY | O_CLOEXEC);
	if (network >= 0 && setns(network, CLONE_NEWNET) == 0)
		opening->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return NULL;
}

/* Opens a netlink socket in the network namespace of a process; -1: failed. */
static int open_in_network(uint32_t pid)
{
	struct timeval patience = {.tv_sec = 1};
	struct opening opening = {.pid = pid, .fd = -1};
	pthread_t thread;

	if (pthread_create(&thread, NULL, enter_and_open, &opening))
		return -1;
	pthread_join(thread, NULL);
	if (opening.fd >= 0)
		setsockopt(opening.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return opening.fd;
}

/* A table: one process may have thousands of sockets. */
static void note_served(struct sockets *sockets)
{
	memset(sockets->served, 0, sizeof(sockets->served));
	array_foreach(&sockets->tcp, socket) {
		if (socket->listens && socket->network == sockets->network)
			sockets->served[socket->port / 8] |= (uint8_t)(1U << socket->port % 8);
	}
}

static bool is_served_here(const struct sockets *sockets, const struct tcp_socket *socket)
{
	return sockets->served[socket->port / 8] >> socket->port % 8 & 1;
}

static void count_peer(struct sockets *sockets, uint32_t pid, enum pkbpf_relation relation,
		       const struct tcp_socket *socket, uint32_t look)
{
	struct peer *new;

	array_foreach(&sockets->peers, peer) {
		/* Connections to one receiver differ in their local ports. */
		if (peer->pid != pid || peer->relation != relation ||
		    memcmp(peer->socket.peer_address, socket->peer_address,
			   sizeof(socket->peer_address)) != 0 ||
		    peer->socket.peer_port != socket->peer_port)
			continue;
		peer->looks += peer->last_look != look;
		peer->last_look = look;
		return;
	}
	new = sockets->peers.count < 1024 ? array_add(&sockets->peers) : NULL;
	if (new)
		*new = (struct peer){.pid = pid,
				     .relation = relation,
				     .socket = *socket,
				     .looks = 1,
				     .last_look = look};
}

struct looking {
	struct sockets *sockets;
	uint32_t look;
};

/* Unix sockets have no time stamps: whether something was sent is not known. */
static void count_unix(void *context, const struct unix_client *client)
{
	struct looking *looking = context;
	struct sockets *sockets = looking->sockets;
	const uint64_t *owner = hash_map_find(&sockets->owners, client->inode);
	struct peer *new;

	if (!owner || !relation_writer_wants(sockets->writer, (uint32_t)*owner))
		return;
	array_foreach(&sockets->peers, peer) {
		if (peer->pid != *owner || strcmp(peer->path, client->path) != 0)
			continue;
		peer->looks += peer->last_look != looking->look;
		peer->last_look = looking->look;
		return;
	}
	new = sockets->peers.count < 1024 ? array_add(&sockets->peers) : NULL;
	if (!new)
		return;
	*new = (struct peer){
		.pid = (uint32_t)*owner,
		.relation = PKBPF_RELATION_REPLY_IF_READING,
		.socket = {.is_unix = true, .inode = client->server_inode},
		.looks = 1,
		.last_look = looking->look,
	};
	memcpy(new->path, client->path, sizeof(new->path));
}

static void take_look(struct sockets *sockets, const struct tcp_socket *socket, uint32_t number)
{
	const uint64_t *owner = hash_map_find(&sockets->owners, socket->inode);

	if (!owner || socket->listens || !relation_writer_wants(sockets->writer, (uint32_t)*owner))
		return;
	if (socket->is_full)
		count_peer(sockets, (uint32_t)*owner, PKBPF_RELATION_RECEIVER, socket, number);
	if (socket->is_full || is_served_here(sockets, socket))
		return;
	if (socket->awaits)
		count_peer(sockets, (uint32_t)*owner, PKBPF_RELATION_REPLY, socket, number);
	if (socket->may_await)
		count_peer(sockets, (uint32_t)*owner, PKBPF_RELATION_REPLY_IF_READING, socket,
			   number);
}

static void look(struct sockets *sockets, const int *networks, size_t network_count,
		 uint32_t number)
{
	sockets->tcp.count = 0;
	for (size_t i = 0; i < network_count; i++) {
		size_t first = sockets->tcp.count;

		sockets->network = (uint8_t)i;
		dump(sockets, networks[i], AF_INET);
		dump(sockets, networks[i], AF_INET6);
		note_served(sockets);
		unix_clients_each(networks[i], count_unix, &(struct looking){sockets, number});
		for (size_t j = first; j < sockets->tcp.count; j++)
			take_look(sockets, &sockets->tcp.items[j], number);
	}
}

static bool is_same(const uint32_t left[4], const uint32_t right[4])
{
	return memcmp(left, right, 4 * sizeof(*left)) == 0;
}

static bool is_ipv4(const uint32_t address[4])
{
	return !address[0] && !address[1] && address[2] == htonl(0xffff);
}

/* 0.0.0.0 or ::, which takes connections of both. */
static bool is_any(const uint32_t address[4])
{
	return !address[0] && !address[1] && !address[3] &&
	       (!address[2] || address[2] == htonl(0xffff));
}

static bool is_loopback(const uint32_t address[4])
{
	static const uint8_t ipv6[16] = {[15] = 1};

	return is_ipv4(address) ? ntohl(address[3]) >> 24 == 127
				: memcmp(address, ipv6, sizeof(ipv6)) == 0;
}

/* Whether the address of the other end is one of the socket's own namespace, as far as its sockets
 * show. */
static bool is_peer_here(const struct sockets *sockets, const struct tcp_socket *socket)
{
	if (is_loopback(socket->peer_address) || is_same(socket->address, socket->peer_address))
		return true;
	array_foreach(&sockets->tcp, other) {
		if (other->network == socket->network &&
		    is_same(other->address, socket->peer_address))
			return true;
	}
	return false;
}

static bool is_other_end(const struct tcp_socket *other, const struct tcp_socket *socket)
{
	return !other->listens && other->network == socket->network &&
	       other->port == socket->peer_port && other->peer_port == socket->port &&
	       is_same(other->address, socket->peer_address) &&
	       is_same(other->peer_address, socket->address);
}

static bool may_have_accepted(const struct tcp_socket *listener, const struct tcp_socket *socket)
{
	return listener->listens && listener->network == socket->network &&
	       listener->port == socket->peer_port &&
	       (is_any(listener->address) || is_same(listener->address, socket->peer_address));
}

static uint32_t owner_of(const struct sockets *sockets, uint64_t inode)
{
	const uint64_t *owner = hash_map_find(&sockets->owners, inode);

	return owner ? (uint32_t)*owner : 0;
}

/* The process at the other end, when it is in the same network namespace; 0: unknown, as at the
 * other end of a bridge, whose addresses are translated. */
static uint32_t pid_of_peer(const struct sockets *sockets, const struct tcp_socket *socket)
{
	uint32_t pid;

	if (socket->is_unix)
		return owner_of(sockets, socket->inode);
	array_foreach(&sockets->tcp, other) {
		if (is_other_end(other, socket) && (pid = owner_of(sockets, other->inode)))
			return pid;
	}
	if (!is_peer_here(sockets, socket))
		return 0;
	/* Short-lived connections may have closed and their ports been reused, so its listening
	 * socket counts, too. */
	array_foreach(&sockets->tcp, listener) {
		if (may_have_accepted(listener, socket) &&
		    (pid = owner_of(sockets, listener->inode)))
			return pid;
	}
	return 0;
}

static void write_peer(const struct sockets *sockets, const struct peer *peer)
{
	char address[INET6_ADDRSTRLEN] = "", text[UNIX_PATH_SIZE];
	const uint32_t *binary = peer->socket.peer_address;
	bool ipv4 = is_ipv4(binary);

	inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? binary + 3 : binary, address, sizeof(address));
	if (peer->socket.is_unix)
		snprintf(text, sizeof(text), "%s", peer->path);
	else
		snprintf(text, sizeof(text), ipv4 ? "%s:%u" : "[%s]:%u", address,
			 peer->socket.peer_port);
	relation_write(sockets->writer,
		       &(struct relation_view){.relation = peer->relation,
					       .pid = peer->pid,
					       .other_pid = pid_of_peer(sockets, &peer->socket),
					       .count = peer->looks,
					       .value = LOOKS,
					       .text = text});
}

/* Opens one netlink socket for each of their network namespaces. */
static size_t open_networks(const struct relation_writer *writer, int networks[NETWORKS_MAX])
{
	ino_t known[NETWORKS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < writer->pid_count && count < NETWORKS_MAX; i++) {
		struct stat status;
		char path[64];
		size_t j = 0;
		int fd;

		snprintf(path, sizeof(path), "/proc/%u/ns/net", writer->pids[i]);
		if (stat(path, &status))
			continue;
		while (j < count && known[j] != status.st_ino)
			j++;
		if (j < count)
			continue;
		fd = open_in_network(writer->pids[i]);
		if (fd < 0)
			continue;
		known[count] = status.st_ino;
		networks[count++] = fd;
	}
	return count;
}

/* Looks several times: a queue that is full once says nothing. */
static void look_again(struct sockets *sockets)
{
	const struct relation_writer *writer = sockets->writer;
	const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NS};
	int networks[NETWORKS_MAX];
	size_t count = open_networks(writer, networks);

	for (uint32_t i = 0; i < LOOKS; i++) {
		if (i)
			nanosleep(&pause, NULL);
		/* Connections may be new. */
		for (size_t j = 0; i && j < writer->pid_count && writer->pid_count <= FEW; j++)
			read_owner(sockets, writer->pids[j]);
		look(sockets, networks, count, i);
	}
	for (size_t i = 0; i < count; i++)
		close(networks[i]);
}

/* The other ends on this host have owners, too. */
static void write_peers(struct sockets *sockets)
{
	_cleanup_free_ uint32_t *everybody = NULL;
	size_t count = sockets->peers.count ? relation_list_pids("/proc", &everybody) : 0;

	for (size_t i = 0; i < count && sockets->fds < FDS_MAX; i++)
		read_owner(sockets, everybody[i]);
	array_foreach(&sockets->peers, peer)
		write_peer(sockets, peer);
}

void relation_sockets(const struct relation_writer *writer)
{
	struct sockets sockets = {.writer = writer};

	for (size_t i = 0; i < writer->pid_count; i++)
		read_owner(&sockets, writer->pids[i]);
	if (sockets.owners.count) {
		look_again(&sockets);
		write_peers(&sockets);
	}
	hash_map_done(&sockets.owners);
	array_free(&sockets.tcp);
	array_free(&sockets.peers);
}
