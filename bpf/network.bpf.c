// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Network: messages, connections and their failures, times to answer, and sleeps that a message
 * ended; by process and peer. */
#include "network_function.bpf.h"

/* include/net/tcp_states.h; unchanged since these exist */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT	2
#define TCP_SYN_RECV	3
#define TCP_FIN_WAIT1	4
#define TCP_CLOSE	7
#define TCP_LAST_ACK	9

/* flags of recvmsg() that leave the message where it is, or read another queue */
#define MSG_PEEK     0x2
#define MSG_ERRQUEUE 0x2000

#define SOCK_DGRAM 2

/* Frames of tracing above the tracepoint of a message: the program, its caller, and a function that
 * is there for the tracepoint alone. */
#define TRACEPOINT_FRAMES 3

/* errno of the network, and two that are common to all files. */
#define ENETDOWN      100
#define ENOTCONN      107
#define EHOSTUNREACH  113
#define EADDRNOTAVAIL 99

static __always_inline bool is_network_error(__u32 error)
{
	return error == EPIPE || (error >= ENETDOWN && error <= EHOSTUNREACH && error != EISCONN &&
				  error != ENOTCONN);
}

static __always_inline struct network_socket *socket_of(struct sock *sk, __u64 flags)
{
	return bpf_sk_storage_get(&network_sockets, sk, NULL, flags);
}

/* The state of a socket that the current thread uses; NULL: no target, or no memory. */
static __always_inline struct network_socket *socket_in_use(struct sock *sk, __u64 pid_tgid)
{
	struct network_socket *socket = socket_of(sk, 0);

	if (socket || !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return socket;
	socket = socket_of(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!socket)
		counter_add(PKBPF_COUNTER_NETWORK_LOST, 1);
	return socket;
}

/* The first use of a connection that the kernel has accepted. */
static __always_inline void take_news(struct network_socket *socket, struct pkbpf_network_row *row)
{
	__u32 retransmits = socket->retransmits;

	if (retransmits) {
		socket->retransmits = 0;
		__sync_fetch_and_add(&row->retransmits, retransmits);
	}
	if (socket->flags & NETWORK_ACCEPTED)
		__sync_fetch_and_add(&row->accepts, 1);
	socket->flags = 0;
}

static __always_inline void take_round_trip(struct sock *sk, struct pkbpf_network_row *row)
{
	__u64 ns;

	if (row->key.peer.protocol != PKBPF_NETWORK_TCP)
		return;
	/* The kernel keeps eight times the average. */
	ns = (__u64)BPF_CORE_READ((struct tcp_sock *)sk, srtt_us) * 1000 / 8;
	if (!ns)
		return;
	__sync_fetch_and_add(&row->round_trips.count, 1);
	__sync_fetch_and_add(&row->round_trips.total_ns, ns);
	if (ns > row->round_trips.max_ns)
		row->round_trips.max_ns = ns;
}

/* Adds the time between a message and the first one that follows in the other direction. */
static __always_inline void take_turn(struct network_socket *socket, struct pkbpf_network_row *row,
				      bool is_question, __u64 now_ns)
{
	__u64 turn_ns = socket->turn_ns;

	if (is_question) {
		socket->turn_ns = now_ns;
	} else if (turn_ns) {
		socket->turn_ns = 0;
		if (now_ns > turn_ns)
			network_add_length(&row->responses, now_ns - turn_ns);
	}
}

static __always_inline void add_sent(struct sock *sk, struct pkbpf_network_row *row, __u64 bytes)
{
	__u32 queue = sk->sk_wmem_queued;

	__sync_fetch_and_add(&row->sent, 1);
	__sync_fetch_and_add(&row->sent_bytes, bytes);
	if (queue > row->send_queue_max)
		row->send_queue_max = queue;
}

static __always_inline void add_received(struct sock *sk, struct pkbpf_network_row *row,
					 __u64 bytes)
{
	__u32 queue = sk->sk_backlog.rmem_alloc.counter;

	__sync_fetch_and_add(&row->received, 1);
	__sync_fetch_and_add(&row->received_bytes, bytes);
	if (queue > row->receive_queue_max)
		row->receive_queue_max = queue;
}

/* May the thread have slept for this message? One that it sends to a TCP socket with much room
 * did not wait for room. The first message each second makes the thread known, see
 * network_switch(). */
static __always_inline bool may_have_slept(struct sock *sk, bool is_sent, bool is_fresh)
{
	return !is_sent || is_fresh || sk->sk_protocol != PKBPF_NETWORK_TCP ||
	       sk->sk_wmem_queued > sk->sk_sndbuf >> 2;
}

/* A message of the current thread, or an attempt. result: bytes, or a negative errno. */
static __always_inline int moved(void *ctx, struct sock *sk, __s32 result, bool is_sent,
				 __u32 skipped)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), now_ns, moment;
	struct network_socket *socket;
	struct pkbpf_network_row *row;
	bool is_fresh, is_looked;

	if (!network_in_interval() || (result < 0 && !is_network_error(-result)))
		return 0;
	socket = socket_in_use(sk, pid_tgid);
	if (!socket)
		return 0;
	now_ns = bpf_ktime_get_ns();
	moment = socket->moment;
	row = network_row_of(sk, socket, pid_tgid, now_ns);
	if (!row)
		return 0;
	is_looked = moment != socket->moment;
	if (is_looked)
		take_round_trip(sk, row);
	is_fresh = socket->flags & NETWORK_FRESH;
	if (socket->flags | socket->retransmits)
		take_news(socket, row);
	if (is_looked || may_have_slept(sk, is_sent, is_fresh))
		take_sleep(row, !is_sent, is_fresh);
	if (result < 0) {
		network_add_failure(row, -result);
		return 0;
	}
	/* The end of a stream is no message. */
	if (!result && sk->sk_type != SOCK_DGRAM)
		return 0;
	if (socket->role != PKBPF_NETWORK_UNKNOWN_ROLE)
		take_turn(socket, row, is_sent == (socket->role == PKBPF_NETWORK_CLIENT), now_ns);
	if (is_sent)
		add_sent(sk, row, result);
	else
		add_received(sk, row, result);
	take_message_stack(ctx, row, result, is_sent, now_ns, skipped);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int network_send(__u64 *ctx)
{
	return moved(ctx, (void *)ctx[0], (__s32)ctx[1], true, TRACEPOINT_FRAMES);
}

SEC("?tp_btf/sock_recv_length")
int network_receive(__u64 *ctx)
{
	if (ctx[2] & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	return moved(ctx, (void *)ctx[0], (__s32)ctx[1], false, TRACEPOINT_FRAMES);
}

/* Kernels before 6.3 have no such tracepoints: there the functions behind all system calls that
 * send and receive are traced. sendfile() and splice() take other ways. */
#define MESSAGE_FUNCTION(function, result_at, flags_at, is_sent)                                   \
	SEC("?fexit/" #function)                                                                   \
	int network_##function(__u64 *ctx)                                                         \
	{                                                                                          \
		struct socket *socket = (void *)ctx[0];                                            \
                                                                                                   \
		if (!(is_sent) && ctx[flags_at] & (MSG_PEEK | MSG_ERRQUEUE))                       \
			return 0;                                                                  \
		return moved(ctx, socket->sk, (__s32)ctx[result_at], is_sent, FUNCTION_FRAMES);    \
	}

MESSAGE_FUNCTION(inet_sendmsg, 3, 2, true)
MESSAGE_FUNCTION(inet6_sendmsg, 3, 2, true)
MESSAGE_FUNCTION(unix_stream_sendmsg, 3, 2, true)
MESSAGE_FUNCTION(unix_dgram_sendmsg, 3, 2, true)
MESSAGE_FUNCTION(inet_recvmsg, 4, 3, false)
MESSAGE_FUNCTION(inet6_recvmsg, 4, 3, false)
MESSAGE_FUNCTION(unix_stream_recvmsg, 4, 3, false)
MESSAGE_FUNCTION(unix_dgram_recvmsg, 4, 3, false)

/* In the system call that connects. */
static __always_inline void connect_begins(struct sock *sk, __u64 now_ns)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct network_socket *socket = socket_in_use(sk, pid_tgid);
	struct network_sleep *sleep;

	if (!socket)
		return;
	socket->role = PKBPF_NETWORK_CLIENT;
	socket->owner = 0;
	socket->turn_ns = 0;
	if (!network_row_of(sk, socket, pid_tgid, now_ns))
		return;
	socket->begin_ns = now_ns;
	/* So that a sleep in this call is noted. */
	sleep = bpf_task_storage_get(&network_sleeps, bpf_get_current_task_btf(), NULL,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (sleep)
		sleep->has_asked = 1;
}

/* Anywhere: mostly in the interrupt that brought the answer. */
static __always_inline void connect_ends(struct sock *sk, bool is_connected, __u64 now_ns)
{
	struct network_socket *socket = socket_of(sk, 0);
	struct pkbpf_network_row *row;
	__u32 error = sk->sk_err;
	__u64 begin_ns;

	if (!socket || !socket->begin_ns)
		return;
	begin_ns = socket->begin_ns;
	socket->begin_ns = 0;
	row = network_row_noted(socket);
	if (!row)
		return;
	if (is_connected) {
		socket->flags |= NETWORK_FRESH;
		network_add_length(&row->connects, now_ns > begin_ns ? now_ns - begin_ns : 0);
		return;
	}
	/* Without an error either the process has closed the socket, which shuts it down, or all
	 * its ports are in use. */
	if (!error && !sk->sk_shutdown && !sk->__sk_common.skc_num)
		error = EADDRNOTAVAIL;
	network_add_failure(row, error);
}

static __always_inline void accepted(struct sock *sk)
{
	struct network_socket *socket = socket_of(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!socket)
		return;
	socket->role = PKBPF_NETWORK_SERVER;
	socket->flags = NETWORK_FRESH | NETWORK_ACCEPTED;
	socket->port = sk->__sk_common.skc_num;
}

/* The current thread closes a connection. It has accepted it, if it has a file. */
static __always_inline void closes(struct sock *sk, __u64 now_ns)
{
	struct network_socket *socket = socket_of(sk, 0);
	struct pkbpf_network_row *row;

	if (!socket || !sk->sk_socket)
		return;
	row = network_row_of(sk, socket, bpf_get_current_pid_tgid(), now_ns);
	if (!row)
		return;
	take_round_trip(sk, row);
	if (socket->flags | socket->retransmits)
		take_news(socket, row);
}

SEC("?tp_btf/inet_sock_set_state")
int network_state(__u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	__u32 before = (__u32)ctx[1], after = (__u32)ctx[2];
	__u64 now_ns;

	if (!network_in_interval() || sk->sk_protocol != PKBPF_NETWORK_TCP)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (after == TCP_SYN_SENT)
		connect_begins(sk, now_ns);
	else if (before == TCP_SYN_SENT && (after == TCP_ESTABLISHED || after == TCP_CLOSE))
		connect_ends(sk, after == TCP_ESTABLISHED, now_ns);
	else if (before == TCP_SYN_RECV && after == TCP_ESTABLISHED)
		accepted(sk);
	else if (after == TCP_FIN_WAIT1 || after == TCP_LAST_ACK)
		closes(sk, now_ns);
	return 0;
}

/* In an interrupt, or in whatever thread it hit. */
SEC("?tp_btf/tcp_retransmit_skb")
int network_retransmit(__u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct pkbpf_network_row *row;
	struct network_socket *socket;

	if (!network_in_interval())
		return 0;
	socket = socket_of(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!socket)
		return 0;
	row = network_row_noted(socket);
	if (row)
		__sync_fetch_and_add(&row->retransmits, 1);
	else
		__sync_fetch_and_add(&socket->retransmits, 1);
	return 0;
}

/* Sleeps of threads that have used the network before, or executed a program. */
SEC("?tp_btf/sched_switch")
int network_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct network_sleep *sleep;
	__u64 now_ns = 0;

	if (!network_in_interval())
		return 0;
	/* Who is preempted does not sleep, and the idle task never does. */
	if (!ctx[0] && prev->pid && switch_state(ctx, prev, network_config.state_argument)) {
		sleep = bpf_task_storage_get(&network_sleeps, prev, NULL, 0);
		if (sleep) {
			now_ns = bpf_ktime_get_ns();
			falls_asleep(prev, sleep, now_ns);
		}
	}
	if (!next->pid)
		return 0;
	sleep = bpf_task_storage_get(&network_sleeps, next, NULL, 0);
	if (sleep && sleep->start_ns) {
		sleep->slept_ns += (now_ns ? now_ns : bpf_ktime_get_ns()) - sleep->start_ns;
		sleep->start_ns = 0;
	}
	return 0;
}

/* So that the first sleep of a program counts, too. No storage can be made in a context switch. */
SEC("?tp_btf/sched_process_exec")
int network_exec(void *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	if (filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		bpf_task_storage_get(&network_sleeps, bpf_get_current_task_btf(), NULL,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}
