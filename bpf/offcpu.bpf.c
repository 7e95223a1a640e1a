// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Off-CPU time. At every context switch: where the leaving thread waits, and how long the arriving
 * thread has waited. */
#include "kernel_compat.bpf.h"
#include "context_request.bpf.h"
#include "shed.bpf.h"
#include "kernel_word.bpf.h"
#include "offcpu_choice.bpf.h"
#include "offcpu_lock_switch.bpf.h"
#include "offcpu_relation.bpf.h"
#include "offcpu_wait.bpf.h"
#include "resource.bpf.h"
#include "stack_id.bpf.h"
#include "python.bpf.h"
#include "stack_memo.bpf.h"
#include "task_filter.bpf.h"

/* One in this many recognized stacks is unwound all the same, to verify the recognition. */
#define MEMO_CHECK_EVERY 1024

/* Frames of the program and its caller. One more, the tracepoint's iterator, if other tracers are
 * attached. */
#define TRACEPOINT_FRAMES 2
/* All scheduler functions that may call __schedule() lie next to it in a section of their own. */
#define SCHEDULER_TEXT_BYTES 65536

const volatile struct pkbpf_offcpu_config offcpu_config = {};
struct pkbpf_offcpu_control offcpu_control = {};

static __always_inline bool far_apart(__u64 a, __u64 b)
{
	return a - b > SCHEDULER_TEXT_BYTES && b - a > SCHEDULER_TEXT_BYTES;
}

/* Reads the kernel stack without the frames of tracing. At a context switch it also drops
 * __schedule(), which is in every stack. */
static __always_inline void read_kernel_stack(void *ctx, struct sample_scratch *scratch)
{
	long size =
		bpf_get_stack(ctx, scratch->ips, PKBPF_MAX_KERNEL_FRAMES * 8, TRACEPOINT_FRAMES);
	__u32 drop = 8, rest;

	if (size < 0) {
		counter_add(PKBPF_COUNTER_KERNEL_STACK_FAILED, 1);
		return;
	}
	if (size > 24 && far_apart(scratch->ips[0], scratch->ips[1]) &&
	    !far_apart(scratch->ips[1], scratch->ips[2]))
		drop = 16;
	rest = size > drop ? size - drop : 0;
	/* Copies towards lower addresses, word by word upwards. */
	if (rest > PKBPF_MAX_KERNEL_FRAMES * 8 || !rest ||
	    bpf_probe_read_kernel(scratch->ips, rest, (char *)scratch->ips + drop))
		return;
	scratch->sample.n_kernel = rest / 8;
}

/* Unwinds the stack of the current task and returns its id; 0: it could not be sent. */
static __always_inline __u64 walk_stack(void *ctx, struct sample_scratch *scratch,
					bool is_kernel_thread)
{
	sample_begin(scratch, SCRATCH_OFFCPU, PKBPF_PROFILE_OFFCPU);
	scratch->unwind.log_wanted = 1;
	scratch->unwind.log_count = 0;
	if (config.want_kernel_stack)
		read_kernel_stack(ctx, scratch);
	if (config.want_user_stack && !is_kernel_thread)
		stack_read_user(ctx, scratch);
	return stack_send(scratch, SCRATCH_OFFCPU);
}

/* Threads change their comm, some of them for each job. */
static __always_inline void take_comm(struct memo_scratch *memo, struct pkbpf_thread *thread)
{
	__u64 *known = (__u64 *)thread->comm;

	bpf_get_current_comm(memo->comm, sizeof(memo->comm));
	known[0] = memo->comm[0];
	known[1] = memo->comm[1];
}

/* The native stack does not say which Python functions wait: a loop that calls four functions, each
 * of which sleeps, has one native stack. So the Python part is read for each wait, and counts as
 * the stack of another thread if it differs. */
static __always_inline void tell_python_apart(struct memo_scratch *memo,
					      struct pkbpf_thread *thread, __u64 now_ns)
{
	__u64 moment = process_moment(now_ns), hash;

	if (!config.want_python || thread->plain_moment == moment)
		return;
	hash = python_stack_hash(SCRATCH_OFFCPU, thread->pid, now_ns);
	if (hash == PYTHON_NOT_HERE) {
		thread->plain_moment = moment;
		return;
	}
	memo->born_ns ^= hash;
	memo->salt ^= hash & 0xff;
}

/* Finds the stack of the current task's wait: sets thread->stack_id and, unless the row depends on
 * the waker, thread->row. */
static __always_inline void stack_take(void *ctx, struct task_struct *task,
				       struct pkbpf_thread *thread, __u32 slot, __u64 now_ns)
{
	bool is_kernel_thread = task->flags & PF_KTHREAD, memorable;
	struct pkbpf_stack_memo *entry = NULL;
	struct sample_scratch *scratch;
	struct memo_scratch *memo;
	__u32 zero = 0, tid = thread->tid, state = thread->state;
	__u64 id, expected = 0;

	thread->row = PKBPF_NO_ROW;
	thread->stack_id = 0;
	thread->waker_id = 0;
	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!memo || state >= PKBPF_WAIT_STATES)
		return;
	take_comm(memo, thread);
	memorable = config.unwind_mode != PKBPF_UNWIND_FP && memo_begin(memo, ctx, task);
	if (memorable) {
		memo->mm = kernel_pointer(task, mm);
		/* A thread with another comm counts as another thread: its waits are in other
		 * rows. */
		memo->born_ns = thread->born_ns ^ pkbpf_comm_hash(memo->comm[0], memo->comm[1]) ^
				region_hash(region_of_thread(tid));
		memo->salt = state;
		if (is_kernel_thread || !config.want_user_stack)
			memo->ip = 0;
		else
			tell_python_apart(memo, thread, now_ns);
		entry = memo_at(memo_find(tid, now_ns));
		if (entry) {
			entry->hits++;
			entry->used_ns = now_ns;
			thread->stack_id = entry->stack_id;
			/* An entry that counts as verified only for a time needs no check. */
			if (entry->until_ns || entry->hits % MEMO_CHECK_EVERY) {
				thread->row = entry->rows[state];
				if (thread->row == PKBPF_NO_ROW && !offcpu_config.wakers) {
					thread->row =
						row_number(slot, entry->stack_id, 0, state, 0);
					entry->rows[state] = thread->row;
				}
				return;
			}
			expected = entry->stack_id;
		}
	}
	scratch = scratch_get(SCRATCH_OFFCPU);
	if (!scratch) {
		counter_add(PKBPF_COUNTER_EVENTS_NO_SCRATCH, 1);
		return;
	}
	id = walk_stack(ctx, scratch, is_kernel_thread);
	if (expected) {
		counter_add(PKBPF_COUNTER_OFFCPU_MEMO_CHECKED, 1);
		if (id != expected)
			counter_add(PKBPF_COUNTER_OFFCPU_MEMO_WRONG, 1);
	} else {
		counter_add(PKBPF_COUNTER_OFFCPU_STACKS_WALKED, 1);
	}
	if (!id)
		return;
	thread->stack_id = id;
	thread->cgroup_id = scratch->sample.cgroup_id;
	if (!offcpu_config.wakers)
		thread->row = row_number(slot, id, 0, state, 0);
	if (!memorable || id == expected)
		return;
	memo->scratch_slot = SCRATCH_OFFCPU;
	entry = memo_at(memo_store(tid, id, now_ns));
	if (entry)
		entry->rows[state] = thread->row;
}

/*
 * Starts the account of a thread at its arrival on this CPU. In general, a thread older than the
 * interval without an account has been on its CPU since the start: the iterator met all others, or
 * they were switched in before it did. But the thread may not have been a target then (by comm or
 * cgroup), or its account found no room. The same holds for a thread that was started in the
 * interval and has run before.
 */
static __always_inline void begin_late(struct pkbpf_thread *thread, __u64 came_ns)
{
	if (came_ns < thread->born_ns)
		came_ns = thread->born_ns;
	if (came_ns > thread->since_ns)
		thread->first_ns = thread->since_ns = came_ns;
}

/* Starts the account of a thread that was started in the interval and leaves a CPU for the first
 * time. Until its arrival it was in the run queue. The kernel's sum of that time lacks the time to
 * create the thread: tens of microseconds on some machines. */
static __always_inline void begin_born(struct task_struct *task, struct pkbpf_thread *thread,
				       __u64 came_ns, __u64 now_ns)
{
	__u64 queue_ns = task->sched_info.run_delay, life_ns = now_ns - thread->born_ns;

	if (came_ns > thread->born_ns && came_ns - thread->born_ns > queue_ns)
		queue_ns = came_ns - thread->born_ns;
	if (queue_ns > life_ns)
		queue_ns = life_ns;
	thread->first_ns = thread->born_ns;
	thread->pending_ns = queue_ns;
	thread->state = PKBPF_WAIT_RUNQUEUE;
	thread->row = PKBPF_NO_ROW;
	thread->weight = 1;
	thread->since_ns = thread->born_ns + queue_ns;
}

/* Makes an account for a thread that leaves a CPU for the first time; NULL: no target. */
static __always_inline struct pkbpf_thread *thread_admit(struct task_struct *task, __u64 came_ns,
							 __u64 now_ns, __u32 *slot)
{
	__u32 pid = task->tgid, tid = task->pid;
	struct pkbpf_thread *thread;
	__u64 start_ns = offcpu_control.start_ns;

	if (!offcpu_config.kernel_threads && (task->flags & PF_KTHREAD))
		return NULL;
	if (!filter_current(pid, tid))
		return NULL;
	thread = thread_create(task, start_ns, slot);
	if (!thread)
		return NULL;
	thread->cgroup_id = bpf_get_current_cgroup_id();
	if (thread->born_ns > start_ns && task->sched_info.pcount <= 1)
		begin_born(task, thread, came_ns, now_ns);
	else
		begin_late(thread, came_ns);
	thread->place = PKBPF_THREAD_ON_CPU;
	return thread;
}

/* Kernels hide the switches of some tasks from tracing, and also the switch to the next task. This
 * thread arrived unseen. It has been on the CPU for the time in the kernel's sum of its CPU
 * time. */
static __always_inline void repair_switch_in(struct task_struct *task, struct pkbpf_thread *thread,
					     __u64 now_ns)
{
	__u64 passed_ns = now_ns - thread->since_ns,
	      ran_ns = task->se.sum_exec_runtime - thread->ran_ns;

	if (ran_ns > passed_ns)
		ran_ns = passed_ns;
	thread->pending_ns = passed_ns - ran_ns;
	thread->since_ns = now_ns - ran_ns;
	counter_add(PKBPF_COUNTER_OFFCPU_UNSEEN_SWITCHES, 1);
}

/* The same for a thread that arrives although its leaving was not seen. Where it waited is
 * unknown. */
static __always_inline void repair_switch_out(struct task_struct *task, struct pkbpf_thread *thread,
					      __u32 slot, __u64 now_ns)
{
	__u64 passed_ns = now_ns - thread->since_ns,
	      ran_ns = task->se.sum_exec_runtime - thread->ran_ns;

	wait_finish(slot, task->sched_info.run_delay);
	if (ran_ns > passed_ns)
		ran_ns = passed_ns;
	thread->time_ns[PKBPF_WAIT_NONE] += ran_ns;
	thread->count[PKBPF_WAIT_NONE]++;
	thread->since_ns += ran_ns;
	thread->ran_ns = task->se.sum_exec_runtime;
	thread->run_delay_ns = task->sched_info.run_delay;
	thread->state = PKBPF_WAIT_SLEEP;
	thread->row = PKBPF_NO_ROW;
	thread->stack_id = 0;
	thread->waker_id = 0;
	thread->weight = 1;
	counter_add(PKBPF_COUNTER_OFFCPU_UNSEEN_SWITCHES, 1);
}

static __always_inline void account_close(struct pkbpf_thread *thread, __u32 slot,
					  struct task_struct *task, __u64 end_ns)
{
	wait_finish(slot, task->sched_info.run_delay);
	if (thread->place == PKBPF_THREAD_ON_CPU) {
		thread->time_ns[PKBPF_WAIT_NONE] += end_ns - thread->since_ns;
		thread->count[PKBPF_WAIT_NONE]++;
		thread->since_ns = end_ns;
	}
	thread->place = PKBPF_THREAD_ENDED;
}

/* Returns whether the thread has stopped being a target, by comm or cgroup, since it arrived. Its
 * account up to now is complete. */
static __always_inline bool has_left(void)
{
	return (config.match_comm || config.target_mode == PKBPF_TARGET_CGROUP) &&
	       !filter_current_group();
}

/* When a thread begins to exit, the kernel's sum of its CPU time lacks the time since its arrival:
 * for short threads, all of it. The sum is complete at the thread's last switch. It is stored here
 * in case the thread's free is not seen (bpf/resource.bpf.c). */
static __always_inline void complete_exit(struct task_struct *task)
{
	struct pkbpf_event_resource *exiting;
	__u32 tid = task->pid;

	if (!offcpu_config.want_resources)
		return;
	exiting = bpf_map_lookup_elem(&resource_exiting_threads, &tid);
	if (!exiting || exiting->thread_start_ns != task->start_time)
		return;
	exiting->run_ns = task->se.sum_exec_runtime;
	exiting->run_delay_ns = task->sched_info.run_delay;
}

static __always_inline void switch_out(void *ctx, struct task_struct *task, __u32 task_state,
				       bool preempted, __u64 came_ns, __u64 now_ns)
{
	struct pkbpf_thread *thread;
	__u32 slot;

	thread = thread_find(task->pid, &slot);
	if (!thread) {
		thread = thread_admit(task, came_ns, now_ns, &slot);
		if (!thread)
			return;
	}
	if (thread->place == PKBPF_THREAD_OFF_CPU) {
		repair_switch_in(task, thread, now_ns);
		if (offcpu_config.locks)
			lock_end(slot, now_ns);
	}
	if (has_left()) {
		if (context_config.requests)
			context_forget(slot);
		account_close(thread, slot, task, now_ns);
		return;
	}
	if (context_config.requests) {
		/* Also if its arrival was not seen: that has been repaired. */
		thread->place = PKBPF_THREAD_ON_CPU;
		context_look(slot, now_ns,
			     task_state & (TASK_DEAD | EXIT_DEAD_ZOMBIE) ? CONTEXT_AT_EXIT
									 : CONTEXT_AT_SWITCH);
	}
	wait_split(thread, slot, task->sched_info.run_delay);
	if (offcpu_config.locks) {
		lock_thread_begin(slot, task->prio);
		lock_step(slot, now_ns);
	}
	thread->time_ns[PKBPF_WAIT_NONE] += now_ns - thread->since_ns;
	thread->count[PKBPF_WAIT_NONE]++;
	thread->since_ns = now_ns;
	if (task_state & (TASK_DEAD | EXIT_DEAD_ZOMBIE)) {
		if (offcpu_config.locks)
			lock_forget_number(slot);
		thread->place = PKBPF_THREAD_ENDED;
		complete_exit(task);
		return;
	}
	if (offcpu_config.trace_ns)
		cause_begin(slot);
	thread->run_delay_ns = task->sched_info.run_delay;
	thread->ran_ns = task->se.sum_exec_runtime;
	if (preempted || !task_state) {
		thread->state = PKBPF_WAIT_RUNQUEUE;
		thread->involuntary++;
	} else {
		thread->state = wait_state_of(task, task_state);
		thread->voluntary++;
	}
	/* Read again from here on: otherwise the verifier follows each possible value of state and
	 * weight to the end. */
	barrier();
	wait_choose(task, thread, now_ns);
	barrier();
	if (thread->weight)
		stack_take(ctx, task, thread, slot, now_ns);
	if (thread->weight > 1)
		thread->taking_ns = bpf_ktime_get_ns() - now_ns;
	if (offcpu_config.locks && thread->state != PKBPF_WAIT_RUNQUEUE)
		lock_begin(slot, now_ns);
	thread->place = PKBPF_THREAD_OFF_CPU;
}

/* Makes an account for a thread that arrives before the iterator has met it: it has waited since
 * the start. wait_split() finds the run-queue part. */
static __always_inline void admit_unmet(struct task_struct *task, __u64 now_ns)
{
	__u64 start_ns = offcpu_control.start_ns;
	struct pkbpf_thread *thread;
	__u32 slot;

	if (BPF_CORE_READ(task, start_time) > start_ns ||
	    (!offcpu_config.kernel_threads && (task->flags & PF_KTHREAD)) || !filter_task(task))
		return;
	thread = thread_create(task, start_ns, &slot);
	if (!thread)
		return;
	thread->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	thread->state = PKBPF_WAIT_SLEEP;
	thread->flags = PKBPF_THREAD_OPEN;
	thread->weight = 1;
	thread->run_delay_ns = task->sched_info.run_delay;
	thread->pending_ns = now_ns > start_ns ? now_ns - start_ns : 1;
	thread->since_ns = now_ns;
	thread->place = PKBPF_THREAD_ON_CPU;
}

static __always_inline void switch_in(struct task_struct *other, struct task_struct *task,
				      __u64 came_ns, __u64 now_ns)
{
	struct pkbpf_thread *thread;
	__u32 slot;

	thread = thread_find(task->pid, &slot);
	if (!thread) {
		if (offcpu_control.looking)
			admit_unmet(task, now_ns);
		return;
	}
	if (thread->place == PKBPF_THREAD_ON_CPU)
		repair_switch_out(task, thread, slot, now_ns);
	if (offcpu_config.locks) {
		lock_step(slot, now_ns);
		lock_end(slot, now_ns);
	}
	/* Never 0, which means no wait. */
	thread->pending_ns = now_ns > thread->since_ns ? now_ns - thread->since_ns : 1;
	thread->since_ns = now_ns;
	thread->place = PKBPF_THREAD_ON_CPU;
	rival_sample(other, task, thread, came_ns, now_ns);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 came_ns, now_ns, *last;
	__u32 zero = 0;

	last = bpf_map_lookup_elem(&offcpu_last_switch, &zero);
	if (!last || !offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	now_ns = bpf_ktime_get_ns();
	came_ns = *last;
	*last = now_ns;
	if (prev->pid)
		switch_out(ctx, prev, switch_state(ctx, prev, offcpu_config.switch_has_state),
			   preempt, came_ns, now_ns);
	if (next->pid)
		switch_in(prev, next, came_ns, now_ns);
	return 0;
}

/* A thread that calls exec and is not the first of its process continues under the tid of the first
 * thread, which exited. The account of its old tid is complete. So is the account of a thread that
 * stops being a target: a worker, or a thread chosen by its previous comm. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(offcpu_exec, struct task_struct *task, __u32 old_tid)
{
	bool leaves = filter_is_leaving_worker(task->tgid, true) || !filter_current_group();
	struct pkbpf_thread *old, *thread;
	__u32 old_slot, slot;
	__u64 end_ns;

	if ((old_tid == (__u32)task->pid && !leaves && !context_config.requests) ||
	    !offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	old = thread_find(old_tid, &old_slot);
	if (!old)
		return 0;
	if (context_config.requests)
		context_forget(old_slot);
	if (old_tid == (__u32)task->pid && !leaves)
		return 0;
	end_ns = bpf_ktime_get_ns();
	if (old_tid == (__u32)task->pid) {
		account_close(old, old_slot, task, end_ns);
		return 0;
	}
	/* Its next account, if it was switched since it took over the tid. */
	thread = thread_find(task->pid, &slot);
	if (thread && thread->first_ns < end_ns)
		end_ns = thread->first_ns > old->since_ns ? thread->first_ns : old->since_ns;
	account_close(old, old_slot, task, end_ns);
	if (thread && leaves)
		account_close(thread, slot, task, bpf_ktime_get_ns());
	if (thread || leaves)
		return 0;
	thread = thread_create(task, end_ns, &slot);
	if (!thread)
		return 0;
	thread->cgroup_id = bpf_get_current_cgroup_id();
	thread->place = PKBPF_THREAD_ON_CPU;
	return 0;
}

/* Samples of threads that end waits. The program is attached only for moments, because wake-ups are
 * frequent and each costs time. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(offcpu_waker, struct task_struct *task)
{
	__u64 now_ns = bpf_ktime_get_ns(), value;
	struct sample_scratch *scratch;
	struct pkbpf_thread *thread;
	__u64 id = 0, current;
	__u32 slot;

	if (!offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	offcpu_control.wakeups++;
	/* Two CPUs that take the last one make it less than none. */
	if ((__s32)offcpu_control.waker_stacks <= 0)
		return 0;
	thread = thread_find(task->pid, &slot);
	if (!thread || thread->place != PKBPF_THREAD_OFF_CPU ||
	    thread->state == PKBPF_WAIT_RUNQUEUE || !thread->stack_id || !thread->weight)
		return 0;
	value = relation_value(now_ns - thread->since_ns, now_ns);
	scratch = value ? scratch_get(SCRATCH_OFFCPU) : NULL;
	if (!scratch)
		return 0;
	/* Two CPUs may take the same stack of the budget. */
	offcpu_control.waker_stacks--;
	current = bpf_get_current_pid_tgid();
	/* Non-targets have no unwind tables, and may only have been interrupted. 0: an interrupt of
	 * a timer or device on an idle CPU. */
	if (current)
		id = walk_stack(ctx, scratch,
				current_is_kernel_thread() ||
					!filter_current(current >> 32, (__u32)current));
	if (id || !current)
		relation_send(PKBPF_RELATION_WAKER, thread,
			      (struct task_struct *)bpf_get_current_task(), id, value, now_ns);
	return 0;
}

/* Finds the stack that ends a wait. Only with --wakers, because every wake-up costs an
 * unwinding. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(offcpu_wakeup, struct task_struct *task)
{
	struct sample_scratch *scratch;
	struct pkbpf_thread *thread;
	__u32 slot;
	__u64 id;

	if (!offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	thread = thread_find(task->pid, &slot);
	if (!thread || thread->place != PKBPF_THREAD_OFF_CPU ||
	    thread->state == PKBPF_WAIT_RUNQUEUE || !thread->weight)
		return 0;
	if (shed_control.no_wakers) {
		counter_add(PKBPF_COUNTER_OVERHEAD_WAKERS, 1);
		return 0;
	}
	scratch = scratch_get(SCRATCH_OFFCPU);
	if (!scratch) {
		counter_add(PKBPF_COUNTER_EVENTS_NO_SCRATCH, 1);
		return 0;
	}
	id = walk_stack(ctx, scratch, current_is_kernel_thread());
	thread->waker_id = id;
	return 0;
}
