/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes through pipes, connections of UNIX sockets, and connections of TCP that fail before a
 * packet is sent, all at the end of their system call. No tracepoint of the kernel is
 * nearer; network_function.bpf.h has what costs less where functions can be traced. Included by one
 * program file, because its map is here. */
#ifndef PKBPF_NETWORK_CALL_BPF_H
#define PKBPF_NETWORK_CALL_BPF_H

#include "kernel_word.bpf.h"
#include "network_stack.bpf.h"
#include "network_wait.bpf.h"
#include "syscall_compat.bpf.h"

/* include/uapi/linux/stat.h, include/linux/fs.h */
#define S_IFMT	    0170000
#define S_IFIFO	    0010000
#define S_IFSOCK    0140000
#define FMODE_WRITE 2

/* errno of connect() that are no failures: it goes on, or has been done, or is repeated. */
#define EINTR	    4
#define EFAULT	    14
#define EALREADY    114
#define EINPROGRESS 115
#define ERESTART    512 /* from this one on the kernel's own */
#define EISCONN	    106

/* Frames of tracing above the end of a system call. */
#define CALL_FRAMES 3

/* Who used an end of a pipe last. */
struct network_pipe_end {
	__u64 moment; /* as in struct network_socket */
	__u64 owner;
	__u32 pid; /* 0: nobody yet */
	__u32 row; /* PKBPF_NETWORK_NO_ROW: no target */
	__u32 serial;
	__u32 reserved;
	char comm[PKBPF_COMM_SIZE];
};

struct network_pipe {
	struct network_pipe_end reader, writer;
};

/* inode number and file system of a pipe or FIFO, as in the address of its peer */
struct network_pipe_id {
	__u64 inode, device;
};

/* 112 bytes each. Beyond that the pipe that was used the longest ago forgets its users. */
#define PIPES 8192

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PIPES);
	__type(key, struct network_pipe_id);
	__type(value, struct network_pipe);
} network_pipes SEC(".maps");

/* Address of the file of a descriptor of the current thread, and its inode's type. */
struct call_file {
	struct file *file;
	struct inode *inode;
	__u32 type; /* 0: it cannot be read */
};

/* Not inlined, so that each word needs no memory of its own. */
static __noinline __u64 probe_word(const void *address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), address);
	return word;
}

/* In place where the kernel allows it: every read() and write() of a file or socket pays for it. */
static __always_inline __u64 call_word(const void *address)
{
	return config.word_type ? kernel_word(address) : probe_word(address);
}

static __always_inline void find_file(__u32 fd, struct call_file *ret_file)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct files_struct *files =
		(void *)call_word((char *)task + bpf_core_field_offset(task->files));
	struct fdtable *table =
		(void *)call_word((char *)files + bpf_core_field_offset(files->fdt));
	char *pointers, *file, *inode;

	ret_file->type = 0;
	if (!files || !table ||
	    fd >= (__u32)call_word((char *)table + bpf_core_field_offset(table->max_fds)))
		return;
	pointers = (char *)call_word((char *)table + bpf_core_field_offset(table->fd));
	file = (char *)call_word(pointers + fd * sizeof(file));
	if (!file)
		return;
	inode = (char *)call_word(file + bpf_core_field_offset(struct file, f_inode));
	ret_file->file = (void *)file;
	ret_file->inode = (void *)inode;
	ret_file->type =
		(__u16)call_word(inode + bpf_core_field_offset(struct inode, i_mode)) & S_IFMT;
}

/* ---- pipes ---- */

/* Notes the current thread as the user of one end. Always returns 0. */
static __noinline int pipe_end_look(struct network_pipe_end *end,
				    const struct network_pipe_end *other,
				    const struct network_pipe_id *id, __u64 now_ns, bool is_sent)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_network_key key = {};
	struct network_name name = {};
	struct pkbpf_network_row *row;
	bool is_first;
	__u32 number;

	if (!end || !other || !id)
		return 0;
	is_first = end->owner != network_owner(pid_tgid);
	end->moment = process_moment(now_ns);
	end->owner = network_owner(pid_tgid);
	end->pid = pid_tgid >> 32;
	end->row = PKBPF_NETWORK_NO_ROW;
	network_process_comm(end->comm);
	if (!filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	key.pid = pid_tgid >> 32;
	key.tid = (__u32)end->owner;
	key.peer.family = PKBPF_NETWORK_PIPE;
	key.peer.protocol = is_sent ? PKBPF_NETWORK_SENT : PKBPF_NETWORK_RECEIVED;
	__builtin_memcpy(key.peer.address, id, sizeof(key.peer.address));
	name.pid = other->pid;
	__builtin_memcpy(name.comm, other->comm, sizeof(name.comm));
	number = network_row_or_others(&key, &name, is_first);
	row = bpf_map_lookup_elem(&network_rows, &number);
	if (!row)
		return 0;
	end->serial = row->serial;
	end->row = number;
	return 0;
}

static __always_inline struct pkbpf_network_row *row_of_end(const struct network_pipe_end *end)
{
	__u32 number = end->row;
	struct pkbpf_network_row *row = bpf_map_lookup_elem(&network_rows, &number);

	return row && row->serial == end->serial ? row : NULL;
}

/* Who writes first does not know yet who will read. */
static __always_inline void name_peer(struct pkbpf_network_row *row,
				      const struct network_pipe_end *peer)
{
	if (!row || row->peer_pid || !peer->pid || row->key.peer.family != PKBPF_NETWORK_PIPE)
		return;
	__builtin_memcpy(row->peer_comm, peer->comm, sizeof(row->peer_comm));
	row->peer_pid = peer->pid;
}

/* Not inlined, so that its memory is not that of what follows. Always returns 0. */
static __noinline int pipe_create(const struct network_pipe_id *id)
{
	struct network_pipe none = {};

	if (!id)
		return 0;
	none.reader.row = none.writer.row = PKBPF_NETWORK_NO_ROW;
	bpf_map_update_elem(&network_pipes, id, &none, BPF_NOEXIST);
	return 0;
}

static __always_inline struct network_pipe *pipe_of(const struct network_pipe_id *id)
{
	struct network_pipe *pipe = bpf_map_lookup_elem(&network_pipes, id);

	if (pipe)
		return pipe;
	pipe_create(id);
	return bpf_map_lookup_elem(&network_pipes, id);
}

/* Bytes that the current thread has read from a pipe, or written to it. Returns 1 + the number of
 * the row; 0: none. */
static __noinline __u32 pipe_moved(const struct network_pipe_id *id, __u64 bytes, bool is_sent,
				   __u64 now_ns)
{
	struct network_pipe *pipe = id ? pipe_of(id) : NULL;
	struct network_pipe_end *end, *other;
	struct pkbpf_network_row *row;

	if (!pipe)
		return 0;
	end = is_sent ? &pipe->writer : &pipe->reader;
	other = is_sent ? &pipe->reader : &pipe->writer;
	if (end->owner != network_owner(bpf_get_current_pid_tgid()) ||
	    end->moment != process_moment(now_ns) ||
	    (end->row != PKBPF_NETWORK_NO_ROW && !row_of_end(end)))
		pipe_end_look(end, other, id, now_ns, is_sent);
	name_peer(row_of_end(other), end);
	row = row_of_end(end);
	if (!row)
		return 0;
	name_peer(row, other);
	take_sleep(row, !is_sent, false);
	__sync_fetch_and_add(is_sent ? &row->sent : &row->received, 1);
	__sync_fetch_and_add(is_sent ? &row->sent_bytes : &row->received_bytes, bytes);
	return 1 + end->row;
}

/* ---- connections of UNIX sockets ---- */

/* The row of a peer of the current thread, without noting it with the socket: connections are rarer
 * than messages. */
static __always_inline struct pkbpf_network_row *row_of_call(struct pkbpf_network_key *key,
							     struct network_name *name)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 number;

	if (!filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return NULL;
	key->pid = pid_tgid >> 32;
	key->tid = (__u32)network_owner(pid_tgid);
	number = network_row_or_others(key, name, true);
	return bpf_map_lookup_elem(&network_rows, &number);
}

static __always_inline struct sock *file_socket(const struct call_file *file)
{
	struct file *of = file->file;
	struct socket *socket = BPF_CORE_READ(of, private_data);

	return BPF_CORE_READ(socket, sk);
}

static __always_inline bool is_unix(struct sock *sk)
{
	return sk && BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX;
}

/* The peer that connect() was asked for, in the form of those that are connected. The address is in
 * the memory of the process, or in the kernel's copy. */
static __always_inline void read_asked(const void *address, __u32 length, bool is_copy,
				       struct sock *sk, struct pkbpf_network_peer *peer,
				       struct network_name *name)
{
	const char *path = (const char *)address + UNIX_FAMILY_BYTES;
	__u32 bytes = length - UNIX_FAMILY_BYTES;
	long size;

	peer->family = PKBPF_NETWORK_UNIX;
	peer->protocol = BPF_CORE_READ(sk, sk_type);
	peer->role = PKBPF_NETWORK_CLIENT;
	if (length <= UNIX_FAMILY_BYTES || bytes > PKBPF_NETWORK_NAME)
		return;
	/* A path ends with its NUL byte, whatever the length; other names may contain some. */
	size = is_copy ? bpf_probe_read_kernel_str(name->text, PKBPF_NETWORK_NAME, path)
		       : bpf_probe_read_user_str(name->text, PKBPF_NETWORK_NAME, path);
	if (size > 1)
		name->bytes = size;
	else if (!(is_copy ? bpf_probe_read_kernel(name->text, bytes & (NAME_ROOM - 1), path)
			   : bpf_probe_read_user(name->text, bytes & (NAME_ROOM - 1), path)))
		name->bytes = bytes;
	*(__u64 *)peer->address = hash_name(name);
}

static __always_inline bool is_connect_failure(__u32 error)
{
	return error < ERESTART && error != EINTR && error != EFAULT && error != EISCONN &&
	       error != EALREADY && error != EINPROGRESS;
}

/* How long the current thread has slept in its system call. */
static __always_inline __u64 slept_in_call(void)
{
	struct network_sleep *sleep =
		bpf_task_storage_get(&network_sleeps, bpf_get_current_task_btf(), NULL, 0);
	struct call call = {};

	if (!sleep || !sleep->slept_ns || !read_call(&call) || (__u32)call.number != sleep->call ||
	    call.argument != sleep->argument)
		return 0;
	return sleep->slept_ns;
}

static __noinline int unix_connected(struct sock *sk, const void *address, __u32 length,
				     bool is_copy, __s32 result)
{
	struct pkbpf_network_key key = {};
	struct network_name name = {};
	struct pkbpf_network_row *row;

	if (result && !is_connect_failure(-result))
		return 0;
	if (result)
		read_asked(address, length, is_copy, sk, &key.peer, &name);
	else
		network_peer_of(sk, PKBPF_NETWORK_UNKNOWN_ROLE, &key.peer, &name);
	row = row_of_call(&key, &name);
	if (!row)
		return 0;
	if (result)
		network_add_failure(row, -result);
	else
		network_add_length(&row->connects, slept_in_call());
	return 0;
}

static __noinline int unix_accepted(struct sock *sk)
{
	struct pkbpf_network_key key = {};
	struct network_name name = {};
	struct pkbpf_network_row *row;

	network_peer_of(sk, PKBPF_NETWORK_UNKNOWN_ROLE, &key.peer, &name);
	row = row_of_call(&key, &name);
	if (row)
		__sync_fetch_and_add(&row->accepts, 1);
	return 0;
}

/* ---- connections of TCP that fail at once ---- */

#define EPIPE	     32
#define ECONNABORTED 103
#define ECONNRESET   104
#define ETIMEDOUT    110
#define ECONNREFUSED 111

/* A second call of connect() may return the peer's answer, or its absence. */
static __always_inline bool is_answer(__u32 error)
{
	return error == ECONNREFUSED || error == ETIMEDOUT || error == ECONNABORTED ||
	       error == ECONNRESET || error == EPIPE;
}

/* struct sockaddr_in, and sockaddr_in6, which has one more word before the address */
struct inet_asked {
	__u16 family, port;
	__u32 words[6];
};

/* Without a route nothing is sent, so no state of the socket changes. */
static __noinline int inet_connected(struct sock *sk, const void *address, bool is_copy,
				     __s32 result)
{
	struct network_sleep *sleep =
		bpf_task_storage_get(&network_sleeps, bpf_get_current_task_btf(), NULL, 0);
	bool has_asked = sleep && sleep->has_asked;
	struct pkbpf_network_key key = {};
	struct network_name name = {};
	struct inet_asked asked = {};
	struct pkbpf_network_row *row;
	__u32 *to = (__u32 *)key.peer.address;

	if (sleep)
		sleep->has_asked = 0;
	if (has_asked || result >= 0 || !is_connect_failure(-result) || is_answer(-result) ||
	    BPF_CORE_READ(sk, sk_protocol) != PKBPF_NETWORK_TCP)
		return 0;
	/* An IPv4 address is shorter than struct inet_asked. */
	if (is_copy ? bpf_probe_read_kernel(&asked, 8, address)
		    : bpf_probe_read_user(&asked, 8, address))
		return 0;
	if (asked.family == AF_INET6 &&
	    (is_copy ? bpf_probe_read_kernel(&asked, sizeof(asked) - 4, address)
		     : bpf_probe_read_user(&asked, sizeof(asked) - 4, address)))
		return 0;
	key.peer.protocol = PKBPF_NETWORK_TCP;
	key.peer.role = PKBPF_NETWORK_CLIENT;
	key.peer.net = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	key.peer.port = bpf_ntohs(asked.port);
	if (asked.family == AF_INET || is_mapped((void *)&asked.words[1])) {
		key.peer.family = PKBPF_NETWORK_IPV4;
		to[0] = asked.family == AF_INET ? asked.words[0] : asked.words[4];
	} else {
		key.peer.family = PKBPF_NETWORK_IPV6;
		__builtin_memcpy(key.peer.address, &asked.words[1], sizeof(key.peer.address));
	}
	row = row_of_call(&key, &name);
	if (row)
		network_add_failure(row, -result);
	return 0;
}

/* ---- system calls ---- */

#if defined(__TARGET_ARCH_x86)
#define CALL_NUMBER(regs) ((__u32)(regs)->orig_ax)
#define CALL_FIRST(regs)  ((regs)->di)
#define CALL_SECOND(regs) ((regs)->si)
#define CALL_THIRD(regs)  ((regs)->dx)
#else
#define CALL_NUMBER(regs) ((__u32)(regs)->syscallno)
#define CALL_FIRST(regs)  ((regs)->orig_x0)
#define CALL_SECOND(regs) ((regs)->user_regs.regs[1])
#define CALL_THIRD(regs)  ((regs)->user_regs.regs[2])
#endif

static __always_inline __u32 file_moved(const struct call_file *file, __u64 bytes, bool is_sent)
{
	char *inode = (char *)file->inode;
	char *super = (char *)call_word(inode + bpf_core_field_offset(struct inode, i_sb));
	struct network_pipe_id id = {
		.inode = call_word(inode + bpf_core_field_offset(struct inode, i_ino)),
		.device =
			(__u32)call_word(super + bpf_core_field_offset(struct super_block, s_dev)),
	};

	return pipe_moved(&id, bytes, is_sent, bpf_ktime_get_ns());
}

/* No tracepoint covers splice() from a socket, and its peer cannot be looked up here: the bytes
 * alone are counted. */
static __noinline int count_spliced(__u64 bytes)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	if (filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		counter_add(PKBPF_COUNTER_NETWORK_SPLICED, bytes);
	return 0;
}

/* splice() moves bytes between two files, of which either may be a pipe. */
static __always_inline __u32 moved_between(__u32 from, __u32 to, __u64 bytes, bool *ret_sent)
{
	struct call_file file;
	__u32 row = 0;

	if (from != PKBPF_NETWORK_NO_ROW) {
		find_file(from, &file);
		if (file.type == S_IFIFO)
			row = file_moved(&file, bytes, false);
		else if (file.type == S_IFSOCK)
			count_spliced(bytes);
	}
	find_file(to, &file);
	if (file.type == S_IFIFO)
		row = *ret_sent = file_moved(&file, bytes, true);
	return row;
}

/* Counts what has come of a call, by its kind. Returns 1 + the row of a pipe, for the stack. */
static __always_inline __u32 call_ends(struct pt_regs *regs, __u32 kind, __s64 result,
				       bool *ret_sent)
{
	bool is_splice = kind == PKBPF_NETWORK_END_SPLICE;
	__u32 first = CALL_FIRST(regs);
	struct call_file file;

	if (is_splice || kind == PKBPF_NETWORK_END_COPY)
		return result <= 0 || is_compat()
			       ? 0
			       : moved_between(is_splice ? first : PKBPF_NETWORK_NO_ROW,
					       is_splice ? (__u32)CALL_THIRD(regs) : first, result,
					       ret_sent);
	if (kind == PKBPF_NETWORK_END_CONNECT ? result > 0 : result < 0)
		return 0;
	find_file(kind == PKBPF_NETWORK_END_ACCEPT ? (__u32)result : first, &file);
	if (file.type == S_IFIFO && result > 0 && !is_compat()) {
		struct file *of = file.file;

		*ret_sent = kind == PKBPF_NETWORK_END_WRITE;
		if (kind == PKBPF_NETWORK_END_VMSPLICE)
			*ret_sent = BPF_CORE_READ(of, f_mode) & FMODE_WRITE;
		return file_moved(&file, result, *ret_sent);
	}
	if (file.type == S_IFSOCK && kind >= PKBPF_NETWORK_END_CONNECT && !is_compat()) {
		struct sock *sk = file_socket(&file);

		if (!is_unix(sk) && kind == PKBPF_NETWORK_END_CONNECT)
			inet_connected(sk, (void *)CALL_SECOND(regs), false, result);
		else if (is_unix(sk) && kind == PKBPF_NETWORK_END_CONNECT)
			unix_connected(sk, (void *)CALL_SECOND(regs), CALL_THIRD(regs), false,
				       result);
		else if (is_unix(sk))
			unix_accepted(sk);
	}
	return 0;
}

/* Counts what a system call has done, and takes its stack. */
static __always_inline int call_done(void *ctx, struct pt_regs *regs, __u32 kind, __s64 result,
				     __u32 skipped)
{
	struct pkbpf_network_row *row;
	bool is_sent = false;
	__u32 found;

	if (!network_in_interval())
		return 0;
	found = call_ends(regs, kind, result, &is_sent);
	if (!found--)
		return 0;
	row = bpf_map_lookup_elem(&network_rows, &found);
	if (row)
		take_message_stack(ctx, row, result, is_sent, bpf_ktime_get_ns(), skipped);
	return 0;
}

SEC("?tp_btf/sys_exit")
int network_call(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	__u32 number = CALL_NUMBER(regs), kind;

	if (number >= PKBPF_NETWORK_CALLS)
		return 0;
	kind = network_config.end[number & (PKBPF_NETWORK_CALLS - 1)];
	return kind ? call_done(ctx, regs, kind, (__s64)ctx[1], CALL_FRAMES) : 0;
}

#endif
