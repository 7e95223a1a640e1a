/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of sockets our BPF programs use, by hand; see README.md in this folder. */
#ifndef PKBPF_VMLINUX_SOCKET_H
#define PKBPF_VMLINUX_SOCKET_H

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	union {
		struct {
			__be32 skc_daddr;
			__be32 skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
			__u16 skc_num;
		};
	};
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct upid {
	int nr;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

/* By kind: 1 is a process. */
struct pid {
	struct hlist_head tasks[4];
	struct upid numbers[1];
};

struct task_struct___links {
	struct hlist_node pid_links[4];
};

struct sock {
	struct sock_common __sk_common;
	struct {
		struct {
			int counter;
		} rmem_alloc;
	} sk_backlog;
	int sk_wmem_queued, sk_sndbuf;
	int sk_err;
	__u8 sk_shutdown;
	__u8 sk_userlocks : 4;
	__u16 sk_protocol;
	__u16 sk_type;
	struct socket *sk_socket;
	struct pid *sk_peer_pid;
};

struct socket {
	struct sock *sk;
};

struct inet_sock {
	struct sock sk;
};

struct inet_bind_bucket {
	signed char fastreuse;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct inet_bind_bucket *icsk_bind_hash;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 srtt_us;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino; /* 64 bits on all kernels that we load on */
};

struct file {
	unsigned int f_mode;
	struct inode *f_inode;
	void *private_data;
};

struct kiocb {
	struct file *ki_filp;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___files {
	struct files_struct *files;
};

#pragma clang attribute pop

#endif
