/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sleeps of threads in system calls, and whether a message or connection ended them. */
#ifndef PKBPF_NETWORK_WAIT_BPF_H
#define PKBPF_NETWORK_WAIT_BPF_H

#include "network.bpf.h"
#include "task_regs.bpf.h"

/* The system call of a thread, as its registers have it side by side. */
struct call {
#if defined(__TARGET_ARCH_x86)
	__u64 argument; /* rdi */
	__u64 number;	/* orig_rax */
#else
	__u64 argument; /* orig_x0 */
	__s32 number;
#endif
};

#if defined(__TARGET_ARCH_x86)
#define CALL_AT AT_DI
_Static_assert(AT_ORIG_AX == AT_DI + 1, "side by side");
#else
#define CALL_AT (AT_SYSCALL - 1)
#endif

/* Reads the system call of the current thread. false: it cannot be read. */
static __always_inline bool read_call(struct call *ret_call)
{
	const struct pt_regs *regs;

	if (!task_pt_regs_exists())
		return !bpf_probe_read_kernel(ret_call, sizeof(*ret_call),
					      (void *)(task_regs_address() + CALL_AT * 8));
	regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
#if defined(__TARGET_ARCH_x86)
	ret_call->argument = regs->di;
	ret_call->number = regs->orig_ax;
#else
	ret_call->argument = regs->orig_x0;
	ret_call->number = regs->syscallno;
#endif
	return true;
}

/* Does the sleep belong to the message? A thread that slept in another call than that of the
 * message slept for this socket if it waited for any of several, and reads from this one first; or
 * if it waited for the connection, and the message is its first. */
static __always_inline bool slept_for(const struct network_sleep *sleep, bool is_received,
				      bool is_fresh)
{
	__u32 number = sleep->call & (PKBPF_NETWORK_CALLS - 1);
	struct call call = {};

	if (sleep->call >= PKBPF_NETWORK_CALLS)
		return false;
	switch (network_config.call[number]) {
	case PKBPF_NETWORK_CALL_MOVE:
		return read_call(&call) && (__u32)call.number == sleep->call &&
		       call.argument == sleep->argument;
	case PKBPF_NETWORK_CALL_POLL:
		return is_received || is_fresh;
	case PKBPF_NETWORK_CALL_ACCEPT:
		return is_fresh;
	}
	return false;
}

/* The last wait of the current thread was for this peer. The program of context switches adds it to
 * its sums at the next switch. */
static __always_inline void label_wait(const struct pkbpf_network_row *row)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (!network_config.want_labels)
		return;
	/* Not thread_find(): kernels before 6.8 verify global functions that are never called, too,
	 * and without off-CPU time there is no table of threads. */
	for (__u32 i = 0; i < PKBPF_THREAD_PROBES; i++) {
		struct pkbpf_thread *thread =
			thread_at(pkbpf_thread_slot(tid, i, offcpu_config.thread_mask));

		if (!thread || !thread->tid)
			return;
		if (thread->tid != tid || thread->place == PKBPF_THREAD_ENDED)
			continue;
		if (thread->pending_ns && thread->state == PKBPF_WAIT_SLEEP)
			thread->peer = row->label;
		return;
	}
}

/* How long the task has waited for a CPU; 0: this kernel does not count it. */
static __always_inline __u64 run_delay_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* The part of a sleep of the current thread after its wake-up, in which it waited for a CPU: as
 * off-CPU time counts it. */
static __always_inline __u64 queued_ns(const struct network_sleep *sleep, __u64 slept_ns)
{
	__u64 queued = run_delay_of(bpf_get_current_task_btf()) - sleep->run_delay_ns;

	return queued < slept_ns ? queued : slept_ns;
}

static __always_inline void take_sleep(struct pkbpf_network_row *row, bool is_received,
				       bool is_fresh)
{
	struct network_sleep *sleep = bpf_task_storage_get(
		&network_sleeps, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 slept_ns = sleep ? sleep->slept_ns : 0;

	if (!slept_ns)
		return;
	slept_ns -= queued_ns(sleep, slept_ns);
	if (slept_for(sleep, is_received, is_fresh)) {
		network_add_length(&row->waits, slept_ns);
		sleep->slept_ns = 0;
		label_wait(row);
	}
}

static __always_inline void falls_asleep(struct task_struct *prev, struct network_sleep *sleep,
					 __u64 now_ns)
{
	struct call call = {};

	if (!read_call(&call))
		return;
	/* Another call: nothing has come of the last sleep. */
	if ((__u32)call.number != sleep->call || call.argument != sleep->argument)
		sleep->slept_ns = 0;
	if (!sleep->slept_ns)
		sleep->run_delay_ns = run_delay_of(prev);
	sleep->call = (__u32)call.number;
	sleep->argument = call.argument;
	sleep->start_ns = now_ns;
}

#endif
