/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other end of a socket: its address, and who of both is the client. */
#ifndef PKBPF_NETWORK_PEER_BPF_H
#define PKBPF_NETWORK_PEER_BPF_H

#include "shared.bpf.h"
#include "vmlinux_socket.h"

#include <pkbpf/network.h>

#include <bpf/bpf_endian.h>

/* include/linux/socket.h and include/linux/net.h: part of the system call interface */
#define AF_UNIX	 1
#define AF_INET	 2
#define AF_INET6 10

/* include/net/sock.h: bind() has named an address, a port. */
#define SOCK_BINDADDR_LOCK 4
#define SOCK_BINDPORT_LOCK 8

#define NAME_ROOM 128 /* a power of two, for the verifier */

/* Name of a UNIX socket, and the process that has it. */
struct network_name {
	char text[NAME_ROOM];
	__u32 bytes;
	__u32 pid;
	char comm[PKBPF_COMM_SIZE]; /* of that process */
};

/* An address is longer than its family by this. */
#define UNIX_FAMILY_BYTES 2

static __always_inline __u32 read_unix_address(struct unix_address *address,
					       struct network_name *name)
{
	__s32 length = address ? BPF_CORE_READ(address, len) - UNIX_FAMILY_BYTES : 0;
	__u32 bytes = length;

	if (length <= 0)
		return 0;
	if (bytes > PKBPF_NETWORK_NAME)
		bytes = PKBPF_NETWORK_NAME;
	bytes &= NAME_ROOM - 1;
	if (bpf_probe_read_kernel(name->text, bytes, &address->name[0].sun_path))
		return 0;
	name->bytes = bytes;
	return bytes;
}

static __always_inline __u64 hash_name(const struct network_name *name)
{
	const __u64 *words = (const __u64 *)name->text;
	__u64 hash = name->bytes;

#pragma unroll
	for (int i = 0; i < NAME_ROOM / 8; i++) {
		hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ULL;
		hash ^= hash >> 29;
	}
	return hash;
}

static __always_inline void read_process(struct pid *pid, struct network_name *name)
{
	struct hlist_node *link = pid ? BPF_CORE_READ(pid, tasks[1].first) : NULL;
	struct task_struct *task;

	if (!pid)
		return;
	name->pid = BPF_CORE_READ(pid, numbers[0].nr);
	if (!link)
		return;
	task = (void *)(link - 1) - bpf_core_field_offset(struct task_struct___links, pid_links);
	BPF_CORE_READ_INTO(&name->comm, task, comm);
}

/* A server's accepted sockets have the name of the one that listens; clients mostly have none. */
static __always_inline void peer_of_unix(struct sock *sk, struct pkbpf_network_peer *peer,
					 struct network_name *name)
{
	struct unix_sock *own = (void *)sk, *other = (void *)BPF_CORE_READ(own, peer);
	struct pid *pid = BPF_CORE_READ(sk, sk_peer_pid);
	__u64 hash;

	peer->family = PKBPF_NETWORK_UNIX;
	peer->protocol = BPF_CORE_READ(sk, sk_type);
	if (other && read_unix_address(BPF_CORE_READ(other, addr), name))
		peer->role = PKBPF_NETWORK_CLIENT;
	else if (read_unix_address(BPF_CORE_READ(own, addr), name))
		peer->role = PKBPF_NETWORK_SERVER;
	if (peer->role == PKBPF_NETWORK_SERVER)
		return (void)(*(__u64 *)peer->address = hash_name(name));
	read_process(pid, name);
	hash = peer->role ? hash_name(name) : name->pid;
	*(__u64 *)peer->address = hash;
}

/* A connection of before the interval: connect() marks the port that it chooses as not to be
 * shared with those of bind(). */
static __always_inline __u8 tcp_role(struct sock *sk)
{
	struct inet_bind_bucket *bucket =
		BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_bind_hash);

	return !bucket || BPF_CORE_READ(bucket, fastreuse) == -1 ? PKBPF_NETWORK_CLIENT
								 : PKBPF_NETWORK_SERVER;
}

/* IPv4 addresses within IPv6 become IPv4 addresses. */
static __always_inline bool is_mapped(const struct in6_addr *address)
{
	const __u32 *words = (const __u32 *)address;

	return !words[0] && !words[1] && words[2] == bpf_htonl(0xffff);
}

/* A socket without a peer whose port the kernel chose asks many; one that was bound is asked. */
static __always_inline __u8 datagram_role(struct sock *sk, __u16 peer_port)
{
	__u64 locks = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks);

	return peer_port || !(locks & (SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK))
		       ? PKBPF_NETWORK_CLIENT
		       : PKBPF_NETWORK_SERVER;
}

static __always_inline void peer_of_inet(struct sock *sk, __u8 role, bool is_ipv6,
					 struct pkbpf_network_peer *peer)
{
	__u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	struct in6_addr remote = {}, own = {};
	__u32 *words = (__u32 *)&remote, *own_words = (__u32 *)&own, *to = (__u32 *)peer->address;

	peer->protocol = BPF_CORE_READ(sk, sk_protocol);
	peer->net = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (is_ipv6) {
		BPF_CORE_READ_INTO(&remote, sk, __sk_common.skc_v6_daddr);
		BPF_CORE_READ_INTO(&own, sk, __sk_common.skc_v6_rcv_saddr);
	}
	if (!is_ipv6 || is_mapped(&remote)) {
		peer->family = PKBPF_NETWORK_IPV4;
		to[0] = is_ipv6 ? words[3] : BPF_CORE_READ(sk, __sk_common.skc_daddr);
		own_words[0] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		own_words[1] = own_words[2] = own_words[3] = 0;
	} else {
		peer->family = PKBPF_NETWORK_IPV6;
		__builtin_memcpy(peer->address, &remote, sizeof(peer->address));
	}
	if (to[0] == own_words[0] && to[1] == own_words[1] && to[2] == own_words[2] &&
	    to[3] == own_words[3] && (to[0] | to[1] | to[2] | to[3]))
		peer->flags = PKBPF_NETWORK_SAME_ADDRESS;
	if (peer->protocol != PKBPF_NETWORK_TCP)
		role = datagram_role(sk, port);
	else if (!role)
		role = tcp_role(sk);
	peer->role = role;
	peer->port = role == PKBPF_NETWORK_CLIENT ? bpf_ntohs(port)
						  : BPF_CORE_READ(sk, __sk_common.skc_num);
}

/* role: as it is known; PKBPF_NETWORK_UNKNOWN_ROLE: not. */
static __noinline int network_peer_of(struct sock *sk, __u8 role, struct pkbpf_network_peer *peer,
				      struct network_name *name)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (!peer || !name)
		return 0;
	if (family == AF_UNIX)
		peer_of_unix(sk, peer, name);
	else if (family == AF_INET || family == AF_INET6)
		peer_of_inet(sk, role, family == AF_INET6, peer);
	else
		peer->port = family; /* of PKBPF_NETWORK_OTHERS */
	return 0;
}

#endif
