/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the network programs: what is known of a socket and of a thread, sums per process and
 * peer, histograms; and the functions that find and update rows. */
#ifndef PKBPF_NETWORK_BPF_H
#define PKBPF_NETWORK_BPF_H

#include "network_peer.bpf.h"
#include "offcpu.bpf.h"
#include "slot.bpf.h"
#include "task_filter.bpf.h"

/* The source sets all sizes except those of the LRU maps before the object is loaded. */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_network_row);
} network_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_network_key);
	__type(value, __u32);
} network_row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_network_histogram);
} network_histograms SEC(".maps");

struct network_free_map { /* numbers of array elements that user space has freed */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
};
struct network_free_map network_free_rows SEC(".maps");
struct network_free_map network_free_histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_network_peer);
	__type(value, __u32);
} network_labels SEC(".maps");
struct network_free_map network_free_labels SEC(".maps"); /* numbers that were never used */

struct network_socket {
	__u64 moment;	   /* process_moment() of the last look at its process and row */
	__u64 owner;	   /* pid and tid as in the key of its row */
	__u64 turn_ns;	   /* last message that has no answer yet; 0: none */
	__u64 begin_ns;	   /* of connect(); 0: not seen */
	__u32 row;	   /* of its owner; PKBPF_NETWORK_NO_ROW: no target */
	__u32 serial;	   /* of that row */
	__u32 retransmits; /* not in a row yet */
	__u8 role;	   /* enum pkbpf_network_role, when it is known from the connection */
	/* Bits NETWORK_FRESH and NETWORK_ACCEPTED. */
	__u8 flags;
	__u16 port; /* that accepted it; 0: not seen. A reset takes the socket's own. */
};

#define NETWORK_FRESH	 1 /* connected in the interval, and no message yet */
#define NETWORK_ACCEPTED 2 /* by a process that is not known yet */

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct network_socket);
} network_sockets SEC(".maps");

/* A sleep of a thread in a system call. */
struct network_sleep {
	__u64 start_ns;	    /* 0: awake */
	__u64 slept_ns;	    /* in this call */
	__u64 argument;	    /* first one of the call */
	__u64 run_delay_ns; /* of the thread, when the first sleep of the call began */
	__u32 call;	    /* its number */
	__u32 has_asked;    /* it has sent a SYN: the end of the connection is noted elsewhere */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct network_sleep);
} network_sleeps SEC(".maps");

const volatile struct pkbpf_network_config network_config = {};
struct pkbpf_network_control network_control = {};
__u32 network_next_row = 0, network_next_histogram = 0; /* never used up to here */
__u32 network_next_serial = 0;

static __always_inline bool network_in_interval(void)
{
	return network_control.start_ns && !network_control.end_ns;
}

/* Tells user space about a peer, before anything refers to its number. */
static __always_inline void send_peer(const struct pkbpf_network_row *row, __u32 label)
{
	struct pkbpf_event_peer *record = bpf_ringbuf_reserve(&sample_ring, sizeof(*record), 0);

	/* Without room, waits for it do not know their peer. */
	if (!record)
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_PEER;
	record->header.time_ns = bpf_ktime_get_ns();
	record->number = label;
	record->pid = row->peer_pid;
	record->peer = row->key.peer;
	__builtin_memcpy(record->comm, row->peer_comm, sizeof(record->comm));
	__builtin_memcpy(record->name, row->name, sizeof(record->name));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* The number by which waits and stacks refer to the peer of a new row; 0: none is left. */
static __always_inline __u32 label_of(const struct pkbpf_network_row *row)
{
	__u32 *known, label = 0;

	if (!network_config.want_labels && !network_config.want_stacks)
		return 0;
	known = bpf_map_lookup_elem(&network_labels, &row->key.peer);
	if (known)
		return *known;
	if (bpf_map_pop_elem(&network_free_labels, &label))
		return 0;
	/* When two CPUs meet a peer at once, it has two numbers. */
	bpf_map_update_elem(&network_labels, &row->key.peer, &label, BPF_ANY);
	send_peer(row, label);
	return label;
}

/* Threads may have names of their own. */
static __always_inline void network_process_comm(char *comm)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	task = BPF_CORE_READ(task, group_leader);
	bpf_core_read(comm, PKBPF_COMM_SIZE, &task->comm);
}

/* Returns the number of the row of a key; creates the row if it is the first.
 * PKBPF_NETWORK_NO_ROW: no room. */
static __noinline __u32 network_row_number(const struct pkbpf_network_key *key,
					   const struct network_name *name)
{
	__u32 *known = bpf_map_lookup_elem(&network_row_index, key), index = 0;
	struct pkbpf_network_row *row;

	if (known)
		return *known;
	if (!slot_take(&network_rows, offsetof(struct pkbpf_network_row, claims), &network_next_row,
		       &network_free_rows, &index))
		return PKBPF_NETWORK_NO_ROW;
	row = bpf_map_lookup_elem(&network_rows, &index);
	if (!row)
		return PKBPF_NETWORK_NO_ROW;
	row->key = *key;
	row->cgroup_id = bpf_get_current_cgroup_id();
	if (key->tid)
		current_comm((__u64 *)row->comm);
	else
		network_process_comm(row->comm);
	__builtin_memcpy(row->name, name->text, sizeof(row->name));
	row->name_bytes = name->bytes;
	row->peer_pid = name->pid;
	__builtin_memcpy(row->peer_comm, name->comm, sizeof(row->peer_comm));
	__sync_fetch_and_add(&network_next_serial, 1);
	row->serial = network_next_serial;
	if (bpf_map_update_elem(&network_row_index, key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&network_free_rows, &index, 0);
		known = bpf_map_lookup_elem(&network_row_index, key);
		return known ? *known : PKBPF_NETWORK_NO_ROW;
	}
	row->label = label_of(row);
	row->ready = 1;
	return index;
}

/* The current thread's number in keys. */
static __always_inline __u64 network_owner(__u64 pid_tgid)
{
	return network_config.per_thread ? pid_tgid : pid_tgid & ~0xffffffffULL;
}

/* The row of a process and peer. PKBPF_NETWORK_NO_ROW: the last rows are not for new peers. */
static __always_inline __u32 peer_row_number(const struct pkbpf_network_key *key,
					     const struct network_name *name)
{
	__u32 *known = bpf_map_lookup_elem(&network_row_index, key);

	if (known)
		return *known;
	if (network_next_row >= network_control.peer_rows && !network_control.has_freed)
		return PKBPF_NETWORK_NO_ROW;
	return network_row_number(key, name);
}

/* The row of a peer; of all others together, if there is no room for its own. is_first: count that.
 * PKBPF_NETWORK_NO_ROW: none. */
static __always_inline __u32 network_row_or_others(struct pkbpf_network_key *key,
						   struct network_name *name, bool is_first)
{
	__u32 number = peer_row_number(key, name);
	__u8 role = key->peer.role;

	if (number != PKBPF_NETWORK_NO_ROW)
		return number;
	__builtin_memset(&key->peer, 0, sizeof(key->peer));
	key->peer.role = role;
	name->bytes = 0;
	number = network_row_number(key, name);
	if (is_first)
		counter_add(number == PKBPF_NETWORK_NO_ROW ? PKBPF_COUNTER_NETWORK_LOST
							   : PKBPF_COUNTER_NETWORK_PEERS_FULL,
			    1);
	return number;
}

/* Finds the row of a socket that the current thread uses, and notes it. PKBPF_NETWORK_NO_ROW: no
 * target, or no room. */
static __noinline __u32 network_socket_look(struct sock *sk, struct network_socket *socket,
					    __u64 pid_tgid, __u64 now_ns)
{
	struct pkbpf_network_key key = {};
	struct network_name name = {};
	struct pkbpf_network_row *row;
	bool is_first = !socket->owner;
	__u32 number;

	socket->moment = process_moment(now_ns);
	socket->owner = network_owner(pid_tgid);
	socket->row = PKBPF_NETWORK_NO_ROW;
	if (!filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return PKBPF_NETWORK_NO_ROW;
	key.pid = pid_tgid >> 32;
	key.tid = (__u32)socket->owner;
	network_peer_of(sk, socket->role, &key.peer, &name);
	socket->role = key.peer.role;
	if (socket->role == PKBPF_NETWORK_SERVER && !key.peer.port)
		key.peer.port = socket->port;
	number = network_row_or_others(&key, &name, is_first);
	row = bpf_map_lookup_elem(&network_rows, &number);
	if (!row)
		return PKBPF_NETWORK_NO_ROW;
	socket->serial = row->serial;
	socket->row = number;
	return number;
}

/* The row that was found last; NULL: none, or it has been freed. */
static __always_inline struct pkbpf_network_row *
network_row_noted(const struct network_socket *socket)
{
	__u32 number = socket->row;
	struct pkbpf_network_row *row = bpf_map_lookup_elem(&network_rows, &number);

	return row && row->serial == socket->serial ? row : NULL;
}

/* The row of a socket that the current thread uses; NULL: no target. */
static __always_inline struct pkbpf_network_row *
network_row_of(struct sock *sk, struct network_socket *socket, __u64 pid_tgid, __u64 now_ns)
{
	struct pkbpf_network_row *row;
	__u32 number;

	if (socket->owner == network_owner(pid_tgid) && socket->moment == process_moment(now_ns)) {
		if (socket->row == PKBPF_NETWORK_NO_ROW)
			return NULL;
		row = network_row_noted(socket);
		if (row)
			return row;
	}
	number = network_socket_look(sk, socket, pid_tgid, now_ns);
	return bpf_map_lookup_elem(&network_rows, &number);
}

static __always_inline struct pkbpf_network_histogram *
network_histogram_of(struct pkbpf_network_lengths *lengths)
{
	__u32 number = lengths->histogram;

	if (number == PKBPF_NETWORK_NO_ROW)
		return NULL;
	if (!number) {
		if (!slot_take(&network_histograms,
			       offsetof(struct pkbpf_network_histogram, claims),
			       &network_next_histogram, &network_free_histograms, &number)) {
			lengths->histogram = PKBPF_NETWORK_NO_ROW;
			counter_add(PKBPF_COUNTER_HISTOGRAM_TABLE_FULL, 1);
			return NULL;
		}
		/* When two CPUs have their first length at once, one histogram is used no further,
		 * and the percentiles lack one length. */
		lengths->histogram = ++number;
	}
	number--;
	return bpf_map_lookup_elem(&network_histograms, &number);
}

static __noinline int network_add_length(struct pkbpf_network_lengths *lengths, __u64 length_ns)
{
	struct pkbpf_network_histogram *histogram;
	__u32 bucket = pkbpf_histogram_index(length_ns);

	if (!lengths)
		return 0;
	__sync_fetch_and_add(&lengths->count, 1);
	__sync_fetch_and_add(&lengths->total_ns, length_ns);
	if (length_ns > lengths->max_ns)
		lengths->max_ns = length_ns;
	histogram = network_histogram_of(lengths);
	if (histogram && bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&histogram->buckets[bucket], 1);
	return 0;
}

static __always_inline void network_add_failure(struct pkbpf_network_row *row, __u32 error)
{
	__u32 wanted = error + 1;

	for (int i = 0; i < PKBPF_NETWORK_FAILURE_KINDS; i++) {
		struct pkbpf_network_failure *failure = &row->failures[i];

		if (!failure->error)
			failure->error = wanted;
		if (failure->error == wanted || i == PKBPF_NETWORK_FAILURE_KINDS - 1) {
			__sync_fetch_and_add(&failure->count, 1);
			return;
		}
	}
}

#endif
