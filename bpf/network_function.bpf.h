/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes through pipes, and connections of UNIX sockets, where functions of the kernel that do
 * nothing else return: no other system call pays for them. Included by one program file. */
#ifndef PKBPF_NETWORK_FUNCTION_BPF_H
#define PKBPF_NETWORK_FUNCTION_BPF_H

#include "network_call.bpf.h"

/* include/uapi/linux/magic.h: file system of pipes without a name */
#define PIPEFS_MAGIC 0x50495045

/* Frames of tracing above a function that is traced: the program, and its caller. */
#define FUNCTION_FRAMES 2

/* is_inner: the function is called for FIFOs, too, by the one that is traced for them. */
static __always_inline int pipe_function(void *ctx, struct kiocb *call, __s64 result, bool is_sent,
					 bool is_inner)
{
	struct pkbpf_network_row *row;
	struct network_pipe_id id;
	struct super_block *super;
	struct inode *inode;
	__u64 now_ns;
	__u32 found;

	if (result <= 0 || !network_in_interval())
		return 0;
	inode = call->ki_filp->f_inode;
	super = inode->i_sb;
	if (is_inner && super->s_magic != PIPEFS_MAGIC)
		return 0;
	id.inode = inode->i_ino;
	id.device = super->s_dev;
	now_ns = bpf_ktime_get_ns();
	found = pipe_moved(&id, result, is_sent, now_ns);
	if (!found--)
		return 0;
	row = bpf_map_lookup_elem(&network_rows, &found);
	if (row)
		take_message_stack(ctx, row, result, is_sent, now_ns, FUNCTION_FRAMES);
	return 0;
}

#define PIPE_FUNCTION(function, is_sent, is_inner)                                                 \
	SEC("?fexit/" #function)                                                                   \
	int network_##function(__u64 *ctx)                                                         \
	{                                                                                          \
		return pipe_function(ctx, (void *)ctx[0], (__s64)ctx[2], is_sent, is_inner);       \
	}

/* since 6.16 */
PIPE_FUNCTION(anon_pipe_read, false, true)
PIPE_FUNCTION(anon_pipe_write, true, true)
PIPE_FUNCTION(fifo_pipe_read, false, false)
PIPE_FUNCTION(fifo_pipe_write, true, false)
/* before */
PIPE_FUNCTION(pipe_read, false, false)
PIPE_FUNCTION(pipe_write, true, false)

/* These move bytes in ways of their own. Functions that only a 64-bit system call has, with its
 * registers. */
#if defined(__TARGET_ARCH_x86)
#define SYSTEM_CALL "__x64_sys_"
#else
#define SYSTEM_CALL "__arm64_sys_"
#endif
#define CALL_FUNCTION(call, kind)                                                                  \
	SEC("?fexit/" SYSTEM_CALL #call)                                                           \
	int network_call_##call(__u64 *ctx)                                                        \
	{                                                                                          \
		return call_done(ctx, (void *)ctx[0], kind, (__s64)ctx[1], FUNCTION_FRAMES);       \
	}

CALL_FUNCTION(splice, PKBPF_NETWORK_END_SPLICE)
CALL_FUNCTION(sendfile64, PKBPF_NETWORK_END_COPY)
CALL_FUNCTION(vmsplice, PKBPF_NETWORK_END_VMSPLICE)

#define CONNECT_FUNCTION(function)                                                                 \
	SEC("?fexit/" #function)                                                                   \
	int network_##function(__u64 *ctx)                                                         \
	{                                                                                          \
		struct socket *socket = (void *)ctx[0];                                            \
                                                                                                   \
		if (network_in_interval())                                                         \
			unix_connected(socket->sk, (void *)ctx[1], (__u32)ctx[2], true,            \
				       (__s32)ctx[4]);                                             \
		return 0;                                                                          \
	}

CONNECT_FUNCTION(unix_stream_connect)
CONNECT_FUNCTION(unix_dgram_connect)

SEC("?fexit/inet_stream_connect")
int network_inet_stream_connect(__u64 *ctx)
{
	struct socket *socket = (void *)ctx[0];

	if (network_in_interval())
		inet_connected(socket->sk, (void *)ctx[1], true, (__s32)ctx[4]);
	return 0;
}

/* Where its result is depends on the kernel; but only what it has accepted has a socket. */
SEC("?fexit/unix_accept")
int network_unix_accept(__u64 *ctx)
{
	struct socket *socket = (void *)ctx[1];
	struct sock *sk = socket->sk;

	if (sk && network_in_interval())
		unix_accepted(sk);
	return 0;
}

#endif
