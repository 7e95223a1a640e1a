// SPDX-License-Identifier: BSD-2-Clause
/* The network source: messages, connections and times to answer by process and peer, summed in the
 * kernel and drained periodically. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/unused.h"
#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"
#include "source/network/network_tables.h"
#include "source/source.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

/* Bounds the delay of progress lines only; the final result is complete. */
#define DRAIN_INTERVAL_NS (1 * NS_PER_SECOND)
/* Looking for servers on this host reads the descriptors of all processes. */
#define LOOK_INTERVAL_NS (10 * NS_PER_SECOND)
/* Programs still running when their links close have finished after this time: they run with
 * preemption disabled. */
#define SETTLE_US 2000
/* Arguments of sched_switch with the state of the thread that leaves the CPU, see
 * kernel_compat.bpf.h. */
#define SWITCH_ARGUMENTS_WITH_STATE 5

/* Groups of programs, in the order of list_programs(): those that are always there; the end of all
 * system calls, where functions of pipes and UNIX sockets cannot be traced; these functions, of
 * pipes by their names since 6.16 and before; tracepoints of messages; functions for kernels
 * without those. */
enum {
	ALWAYS = 0,
	CALL = ALWAYS + 4,
	NEW_PIPES = CALL + 1,
	OLD_PIPES = NEW_PIPES + 4,
	ENDS = OLD_PIPES + 2,
	TRACEPOINTS = ENDS + 7,
	FUNCTIONS = TRACEPOINTS + 2,
	PROGRAMS = FUNCTIONS + 8,
};

struct source {
	struct session *session;
	struct network_tables *tables;
	struct bpf_link *links[PROGRAMS];
	bool is_attached;
	struct event_buffer buffer;
	uint64_t last_drain_ns, last_look_ns;
};

static void list_programs(struct pkbpf_bpf *skeleton, struct bpf_program *ret_programs[PROGRAMS])
{
	struct bpf_program *programs[PROGRAMS] = {
		skeleton->progs.network_switch,
		skeleton->progs.network_exec,
		skeleton->progs.network_state,
		skeleton->progs.network_retransmit,
		skeleton->progs.network_call,
		skeleton->progs.network_anon_pipe_read,
		skeleton->progs.network_anon_pipe_write,
		skeleton->progs.network_fifo_pipe_read,
		skeleton->progs.network_fifo_pipe_write,
		skeleton->progs.network_pipe_read,
		skeleton->progs.network_pipe_write,
		skeleton->progs.network_call_splice,
		skeleton->progs.network_call_sendfile64,
		skeleton->progs.network_call_vmsplice,
		skeleton->progs.network_unix_stream_connect,
		skeleton->progs.network_unix_dgram_connect,
		skeleton->progs.network_unix_accept,
		skeleton->progs.network_inet_stream_connect,
		skeleton->progs.network_receive,
		skeleton->progs.network_send,
		skeleton->progs.network_inet_recvmsg,
		skeleton->progs.network_inet6_recvmsg,
		skeleton->progs.network_unix_stream_recvmsg,
		skeleton->progs.network_unix_dgram_recvmsg,
		skeleton->progs.network_inet_sendmsg,
		skeleton->progs.network_inet6_sendmsg,
		skeleton->progs.network_unix_stream_sendmsg,
		skeleton->progs.network_unix_dgram_sendmsg,
	};

	memcpy(ret_programs, programs, sizeof(programs));
}

static void network_detach(struct source *source);

static void network_free(struct source *source)
{
	network_detach(source);
	network_tables_free(source->tables);
	event_buffer_done(&source->buffer);
	free(source);
}

static void network_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.network_rows,	    skeleton->maps.network_row_index,
		skeleton->maps.network_free_rows,   skeleton->maps.network_histograms,
		skeleton->maps.network_sockets,	    skeleton->maps.network_free_histograms,
		skeleton->maps.network_sleeps,	    skeleton->maps.network_labels,
		skeleton->maps.network_free_labels, skeleton->maps.network_thinnings,
		skeleton->maps.network_pipes,
	};
	struct bpf_program *programs[PROGRAMS];

	list_programs(skeleton, programs);
	for (size_t i = 0; i < PROGRAMS; i++)
		bpf_program__set_autoload(programs[i], wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

/* What a thread that sleeps in a system call may wait for. */
static void set_calls(struct pkbpf_network_config *config)
{
	static const struct {
		long number;
		enum pkbpf_network_call call;
	} calls[] = {
		{SYS_read, PKBPF_NETWORK_CALL_MOVE},
		{SYS_write, PKBPF_NETWORK_CALL_MOVE},
		{SYS_readv, PKBPF_NETWORK_CALL_MOVE},
		{SYS_writev, PKBPF_NETWORK_CALL_MOVE},
		{SYS_recvfrom, PKBPF_NETWORK_CALL_MOVE},
		{SYS_recvmsg, PKBPF_NETWORK_CALL_MOVE},
		{SYS_recvmmsg, PKBPF_NETWORK_CALL_MOVE},
		{SYS_sendto, PKBPF_NETWORK_CALL_MOVE},
		{SYS_sendmsg, PKBPF_NETWORK_CALL_MOVE},
		{SYS_sendmmsg, PKBPF_NETWORK_CALL_MOVE},
		{SYS_sendfile, PKBPF_NETWORK_CALL_MOVE},
		{SYS_splice, PKBPF_NETWORK_CALL_MOVE},
		{SYS_vmsplice, PKBPF_NETWORK_CALL_MOVE},
		{SYS_connect, PKBPF_NETWORK_CALL_ACCEPT},
		{SYS_accept, PKBPF_NETWORK_CALL_ACCEPT},
		{SYS_accept4, PKBPF_NETWORK_CALL_ACCEPT},
		{SYS_ppoll, PKBPF_NETWORK_CALL_POLL},
		{SYS_pselect6, PKBPF_NETWORK_CALL_POLL},
		{SYS_epoll_pwait, PKBPF_NETWORK_CALL_POLL},
		{SYS_epoll_pwait2, PKBPF_NETWORK_CALL_POLL},
		{SYS_io_uring_enter, PKBPF_NETWORK_CALL_POLL},
#ifdef SYS_poll
		{SYS_poll, PKBPF_NETWORK_CALL_POLL},
		{SYS_select, PKBPF_NETWORK_CALL_POLL},
		{SYS_epoll_wait, PKBPF_NETWORK_CALL_POLL},
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number < PKBPF_NETWORK_CALLS)
			config->call[calls[i].number] = (uint8_t)calls[i].call;
}

/* What ends of system calls tell of pipes and UNIX sockets. */
static void set_ends(struct pkbpf_network_config *config)
{
	static const struct {
		long number;
		enum pkbpf_network_end end;
	} ends[] = {
		{SYS_read, PKBPF_NETWORK_END_READ},
		{SYS_readv, PKBPF_NETWORK_END_READ},
		{SYS_write, PKBPF_NETWORK_END_WRITE},
		{SYS_writev, PKBPF_NETWORK_END_WRITE},
		{SYS_splice, PKBPF_NETWORK_END_SPLICE},
		{SYS_sendfile, PKBPF_NETWORK_END_COPY},
		{SYS_vmsplice, PKBPF_NETWORK_END_VMSPLICE},
		{SYS_connect, PKBPF_NETWORK_END_CONNECT},
		{SYS_accept, PKBPF_NETWORK_END_ACCEPT},
		{SYS_accept4, PKBPF_NETWORK_END_ACCEPT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i].number < PKBPF_NETWORK_CALLS)
			config->end[ends[i].number] = (uint8_t)ends[i].end;
}

/* Does the kernel have all functions of these programs? */
static bool has_functions(const struct kernel_types *types,
			  struct bpf_program *const programs[PROGRAMS], size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const char *function = strchr(bpf_program__section_name(programs[i]), '/');

		if (!function || !kernel_types_find(types, BTF_KIND_FUNC, function + 1))
			return false;
	}
	return true;
}

static void choose_group(struct bpf_program *const programs[PROGRAMS], size_t from, size_t to,
			 bool wanted)
{
	for (size_t i = from; i < to; i++)
		bpf_program__set_autoload(programs[i], wanted);
}

/* Tracepoints of messages where the kernel has them, else functions; functions of pipes and UNIX
 * sockets where it has them. false: the kernel lacks what all of them need. */
static bool choose_programs(struct session *session, const struct kernel_types *types)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	bool has_tracepoints = kernel_types_tracepoint_arguments(types, "sock_send_length") &&
			       kernel_types_tracepoint_arguments(types, "sock_recv_length");
	struct bpf_program *programs[PROGRAMS];
	bool has_new, has_ends;

	list_programs(skeleton, programs);
	choose_group(programs, TRACEPOINTS, FUNCTIONS, has_tracepoints);
	choose_group(programs, FUNCTIONS, PROGRAMS, !has_tracepoints);
	has_new = has_functions(types, programs, NEW_PIPES, OLD_PIPES);
	has_ends = has_functions(types, programs, ENDS, TRACEPOINTS) &&
		   tracing_programs_trace(types, "unix_stream_connect") &&
		   (has_new || has_functions(types, programs, OLD_PIPES, ENDS));
	choose_group(programs, NEW_PIPES, OLD_PIPES, has_ends && has_new);
	choose_group(programs, OLD_PIPES, ENDS, has_ends && !has_new);
	choose_group(programs, ENDS, TRACEPOINTS, has_ends);
	if (!has_tracepoints)
		log_warning(session_options(session)->log,
			    "network: messages of sendfile and splice are missing, since this "
			    "kernel does not tell them (before 6.3)");
	return kernel_types_tracepoint_arguments(types, "inet_sock_set_state") &&
	       (has_tracepoints ||
		kernel_types_find(types, BTF_KIND_FUNC, KERNEL_FUNCTION_SOCKET_STORAGE));
}

static int network_configure(struct session *session, _unused_ const struct source_options *options,
			     struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	const struct kernel_types *types = session_kernel_types(session);
	struct source *source;
	int err;

	if (!choose_programs(session, types))
		return error_set(error, ENOTSUP,
				 "cannot profile the network: this kernel cannot keep data of BPF "
				 "programs with sockets and threads (since Linux 5.13), or has no "
				 "TCP; omit network from -e");
	source = calloc(1, sizeof(*source));
	if (!source)
		return error_set(error, ENOMEM, "cannot prepare network profiling: out of memory");
	source->session = session;
	err = network_tables_configure(skeleton, &source->tables, error);
	if (err) {
		network_free(source);
		return err;
	}
	/* Stacks have numbers, but none is recognized before it is unwound (stack_maps.c). */
	bpf_map__set_autocreate(skeleton->maps.stacks_sent, true);
	set_calls((struct pkbpf_network_config *)&skeleton->rodata->network_config);
	set_ends((struct pkbpf_network_config *)&skeleton->rodata->network_config);
	skeleton->rodata->network_config.per_thread = session_options(session)->per_thread;
	skeleton->rodata->network_config.want_stacks =
		session_options(session)->want_kernel_stack ||
		session_options(session)->want_user_stack;
	skeleton->rodata->network_config.want_labels =
		bpf_program__autoload(skeleton->progs.offcpu_switch);
	skeleton->rodata->network_config.state_argument =
		kernel_types_tracepoint_arguments(types, "sched_switch") >=
		SWITCH_ARGUMENTS_WITH_STATE;
	*ret_source = source;
	return 0;
}

static int attach_group(struct source *source, struct bpf_program *const programs[PROGRAMS],
			size_t from, size_t to, struct error *error)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++)
		if (bpf_program__fd(programs[i]) >= 0)
			err = tracing_program_attach(programs[i], &source->links[i], error);
	return err;
}

static void detach_group(struct source *source, size_t from, size_t to)
{
	for (size_t i = to; i-- > from;) {
		bpf_link__destroy(source->links[i]);
		source->links[i] = NULL;
	}
}

/* Not every kernel whose types name a function lets it be traced; then the end of all system calls
 * tells the same. */
static int attach_ends(struct source *source, struct bpf_program *const programs[PROGRAMS],
		       struct error *error)
{
	if (bpf_program__fd(programs[ENDS]) >= 0) {
		if (!attach_group(source, programs, NEW_PIPES, TRACEPOINTS, NULL))
			return 0;
		detach_group(source, NEW_PIPES, TRACEPOINTS);
	}
	return attach_group(source, programs, CALL, NEW_PIPES, error);
}

static int network_attach(struct source *source, struct error *error)
{
	struct bpf_program *programs[PROGRAMS];
	int err = network_tables_open(source->tables, error);

	list_programs(session_skeleton(source->session), programs);
	err = err ? err : attach_group(source, programs, ALWAYS, CALL, error);
	err = err ? err : attach_ends(source, programs, error);
	err = err ? err : attach_group(source, programs, TRACEPOINTS, PROGRAMS, error);
	source->is_attached = !err;
	return err;
}

static void network_begin(struct source *source, uint64_t start_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->network_control.start_ns,
			 start_ns, __ATOMIC_RELEASE);
	source->last_drain_ns = source->last_look_ns = start_ns;
}

static void network_end(struct source *source, uint64_t end_ns)
{
	__atomic_store_n(&session_skeleton(source->session)->bss->network_control.end_ns, end_ns,
			 __ATOMIC_RELEASE);
}

static int network_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();
	bool look = false;
	int err;

	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	if (now_ns - source->last_look_ns >= LOOK_INTERVAL_NS) {
		source->last_look_ns = now_ns;
		look = true;
	}
	err = network_tables_drain(source->tables, look, &source->buffer);
	session_add_records(source->session, &source->buffer);
	return err;
}

static int network_cut(struct source *source, uint64_t until_ns)
{
	int err = network_tables_drain(source->tables, false, &source->buffer);

	source->last_drain_ns = until_ns;
	network_tables_forget_largest(source->tables);
	session_add_records(source->session, &source->buffer);
	return err;
}

static void network_detach(struct source *source)
{
	detach_group(source, 0, PROGRAMS);
	if (!source->is_attached)
		return;
	source->is_attached = false;
	usleep(SETTLE_US);
	/* The stream counts records that are missing for lack of memory. */
	network_tables_drain(source->tables, true, &source->buffer);
	session_add_records(source->session, &source->buffer);
}

static const char *network_event_name(_unused_ const struct source *source)
{
	return "sock_send_length";
}

const struct source_ops source_network = {
	.kind = PKBPF_PROFILE_NETWORK,
	.name = "network",
	.summary = "messages, connections and response times by peer; only if named",
	.by_request = true,
	.choose = network_choose,
	.configure = network_configure,
	.attach = network_attach,
	.begin = network_begin,
	.end = network_end,
	.poll = network_poll,
	.cut = network_cut,
	.detach = network_detach,
	.free = network_free,
	.event_name = network_event_name,
};
