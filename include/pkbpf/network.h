/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layouts shared by the network programs and their source. */
#ifndef PKBPF_NETWORK_H
#define PKBPF_NETWORK_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>

#define PKBPF_NETWORK_NO_ROW 0xffffffffU

enum {
	PKBPF_EVENT_PEER = 80, /* struct pkbpf_event_peer */
};

/* Numbers of peers that the kernel side has sent itself begin here. */
#define PKBPF_NETWORK_LABEL 0x40000000U

/* measure of totals of kind NETWORK; device is the number of an earlier PEER record. Part of the
 * recording format. */
enum pkbpf_network_measure {
	/* state: enum pkbpf_network_direction; count and total: messages; bytes */
	PKBPF_NETWORK_MESSAGES = 0,
	/* Connections that the process opened; total: ns until they were established. */
	PKBPF_NETWORK_CONNECTS = 1,
	PKBPF_NETWORK_ACCEPTS = 2, /* accepted connections that the process used or closed */
	/* state: errno of connections and messages that failed; 0: given up by the process */
	PKBPF_NETWORK_FAILURES = 3,
	PKBPF_NETWORK_RETRANSMITS = 4, /* segments */
	/* Smoothed round-trip times, read about once a second per connection; total: ns */
	PKBPF_NETWORK_ROUND_TRIPS = 5,
	/* From the last message to the first one that follows in the other direction; total: ns;
	 * state: enum pkbpf_network_role: a server took that long to answer, or as one the process
	 * itself */
	PKBPF_NETWORK_RESPONSES = 6,
	/* Sleeps of threads that a message or connection of the peer ended; total: ns; state: enum
	 * pkbpf_network_role */
	PKBPF_NETWORK_WAITS = 7,
	/* max: most bytes in a queue of a socket; state: enum pkbpf_network_direction */
	PKBPF_NETWORK_QUEUES = 8,
	/* Messages that stack_id stands for, estimated from a sample: count; total: bytes; state:
	 * enum pkbpf_network_direction */
	PKBPF_NETWORK_STACKS = 9,
};

enum pkbpf_network_direction {
	PKBPF_NETWORK_SENT = 1,
	PKBPF_NETWORK_RECEIVED = 2,
};

enum pkbpf_network_family {
	/* Peers that are not told apart: of other families, or beyond the capacity. */
	PKBPF_NETWORK_OTHERS = 0,
	PKBPF_NETWORK_IPV4 = 1, /* address: 4 bytes */
	PKBPF_NETWORK_IPV6 = 2,
	PKBPF_NETWORK_UNIX = 3, /* address: 8 bytes of a hash of the name */
	/* pipes and FIFOs; address: inode number and file system, 8 bytes each; protocol: enum
	 * pkbpf_network_direction of the process, since its other end is another peer */
	PKBPF_NETWORK_PIPE = 4,
};

enum pkbpf_network_protocol {
	PKBPF_NETWORK_TCP = 6,
	PKBPF_NETWORK_UDP = 17,
	/* of UNIX sockets: SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET */
	PKBPF_NETWORK_STREAM = 1,
	PKBPF_NETWORK_DATAGRAM = 2,
	PKBPF_NETWORK_SEQPACKET = 5,
};

/* What the process is to the peer. */
enum pkbpf_network_role {
	PKBPF_NETWORK_UNKNOWN_ROLE = 0, /* UNIX sockets without a name */
	PKBPF_NETWORK_CLIENT = 1,	/* port: the peer's */
	PKBPF_NETWORK_SERVER = 2,	/* port: the process's own; the peer's varies */
};

/* flags of a peer */
#define PKBPF_NETWORK_SAME_ADDRESS 1 /* the peer has the address of the process: it is local */

struct pkbpf_network_peer {
	__u8 address[16];
	__u32 net; /* inode number of the network namespace; 0: unknown, or UNIX */
	__u16 port;
	__u8 family;   /* enum pkbpf_network_family */
	__u8 role;     /* enum pkbpf_network_role */
	__u8 protocol; /* enum pkbpf_network_protocol */
	__u8 flags;
	__u16 reserved;
};

/* of struct sockaddr_un */
#define PKBPF_NETWORK_NAME 108

/* A peer that later totals refer to by number. The numbers of one capture are never reused. */
struct pkbpf_event_peer {
	struct pkbpf_event_header header;
	__u32 number; /* from 1 */
	__u32 pid;    /* process at the other end, on this host; 0: unknown */
	struct pkbpf_network_peer peer;
	char comm[PKBPF_COMM_SIZE]; /* of that process */
	/* of a UNIX socket; "@" at the beginning stands for a NUL byte. NUL-terminated. */
	char name[PKBPF_NETWORK_NAME + 4];
	__u32 reserved;
};

_Static_assert(sizeof(struct pkbpf_network_peer) == 28, "part of a map key, without padding");
_Static_assert(sizeof(struct pkbpf_event_peer) == 16 + 8 + 28 + 16 + 112 + 4, "wire size");

struct pkbpf_network_key {
	__u32 pid;
	__u32 tid; /* 0: the process's threads together */
	struct pkbpf_network_peer peer;
};

struct pkbpf_network_lengths {
	__u64 count, total_ns, max_ns;
	__u32 histogram; /* 1 + its number; 0: none yet; PKBPF_NETWORK_NO_ROW: no room */
	__u32 reserved;
};

#define PKBPF_NETWORK_FAILURE_KINDS 4

struct pkbpf_network_failure {
	__u32 count;
	/* 1 + errno; 0: unused. The last element counts all that have no other. */
	__u32 error;
};

/* Sums of one process and peer; all CPUs add to it. */
struct pkbpf_network_row {
	struct pkbpf_network_key key;
	__u32 serial; /* a row that is used again has another one */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	char name[PKBPF_NETWORK_NAME + 4]; /* as in pkbpf_event_peer; the first byte may be NUL */
	__u32 name_bytes;
	__u32 peer_pid; /* of the other end of a UNIX socket; 0: unknown */
	char peer_comm[PKBPF_COMM_SIZE];
	__u32 ready; /* 1: user space may read the row */
	__u32 label; /* number of a PEER record of the kernel side; 0: none */
	__u64 sent, sent_bytes, received, received_bytes;
	__u64 accepts, retransmits;
	struct pkbpf_network_lengths connects, round_trips, responses, waits;
	__u32 send_queue_max, receive_queue_max;
	struct pkbpf_network_failure failures[PKBPF_NETWORK_FAILURE_KINDS];
	__u32 reserved2;
	/* must be last: it keeps its value when the fields before it are cleared, see
	 * slot_take() */
	__u32 claims;
};

struct pkbpf_network_histogram {
	__u32 buckets[PKBPF_HISTOGRAM_BUCKETS];
	__u32 reserved;
	__u32 claims; /* must be last, as in a row */
};

_Static_assert(sizeof(struct pkbpf_network_row) % 8 == 0, "map value");
_Static_assert(sizeof(struct pkbpf_network_histogram) % 8 == 0, "map value");

/* What a thread that sleeps in a system call may wait for. */
enum pkbpf_network_call {
	PKBPF_NETWORK_CALL_OTHER = 0,
	PKBPF_NETWORK_CALL_MOVE = 1,   /* a message of the descriptor in its first argument */
	PKBPF_NETWORK_CALL_POLL = 2,   /* a message of any of several sockets */
	PKBPF_NETWORK_CALL_ACCEPT = 3, /* a connection, of which the next message is */
};

/* What the end of a system call tells of pipes and UNIX sockets. */
enum pkbpf_network_end {
	PKBPF_NETWORK_END_OTHER = 0,
	PKBPF_NETWORK_END_READ = 1,
	PKBPF_NETWORK_END_WRITE = 2,
	PKBPF_NETWORK_END_SPLICE = 3,	/* from the first argument to the third */
	PKBPF_NETWORK_END_COPY = 4,	/* to the first argument */
	PKBPF_NETWORK_END_VMSPLICE = 5, /* in the direction that the descriptor has */
	PKBPF_NETWORK_END_CONNECT = 6,
	PKBPF_NETWORK_END_ACCEPT = 7,
};

#endif
