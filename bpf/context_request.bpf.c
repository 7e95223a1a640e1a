// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests of threads: from the first look at which a thread's context has the id of a trace to the
 * first at which it has not. A thread is looked at when it leaves its CPU, and at CPU samples: its
 * context cannot change while it is off the CPU. Two readings of the thread's account divide the
 * time in between.
 */
#include "context.bpf.h"
#include "context_request.bpf.h"
#include "span.bpf.h"

int context_open(__u32 slot, __u32 at, __u64 begin_ns);
int context_close(__u32 slot, __u32 at, __u64 end_ns, __u64 edge_ns);

static __always_inline struct pkbpf_context_thread *context_thread_at(__u32 slot)
{
	return bpf_map_lookup_elem(&context_threads, &slot);
}

static __always_inline bool is_open(const struct pkbpf_context_thread *context)
{
	return context->trace[0] || context->trace[1];
}

/* Time that the thread has waited so far, by state. It is the current one, or its account is
 * complete. */
static __always_inline void read_waits(struct context_reading *reading, struct pkbpf_thread *thread)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_span_reading account = {};

	account.now_ns = thread->since_ns;
	if (thread->place == PKBPF_THREAD_ENDED) {
#pragma unroll
		for (int i = 1; i < PKBPF_WAIT_STATES; i++)
			account.waited_ns[i] = thread->time_ns[i];
	} else {
		span_read_account(&account, task, thread);
	}
#pragma unroll
	for (int i = 1; i < PKBPF_WAIT_STATES; i++)
		reading->waited_ns[i] = account.waited_ns[i];
}

/* The thread has a context with another id. Always returns 0. */
__attribute__((noinline)) int context_open(__u32 slot, __u32 at, __u64 begin_ns)
{
	struct pkbpf_context_thread *context;
	struct context_reading *reading;
	struct pkbpf_thread *thread;
	struct pkbpf_context_process *process;

	if (!context_config.requests)
		return 0;
	reading = context_reading_at(at);
	context = context_thread_at(slot);
	thread = thread_at(slot);
	if (!reading || !context || !thread)
		return 0;
	context->trace[0] = reading->record.trace[0];
	context->trace[1] = reading->record.trace[1];
	context->span = reading->record.span;
	context->edge_ns = 0;
	context->begin_ns = begin_ns;
	context->stay_ns = thread->since_ns;
	process = bpf_map_lookup_elem(&context_processes, &reading->pid);
	if (!context->looked_ns && process && thread->born_ns < process->since_ns)
		context->begin_ns = 0;
	read_waits(reading, thread);
#pragma unroll
	for (int i = 1; i < PKBPF_WAIT_STATES; i++)
		context->waited_ns[i] = reading->waited_ns[i];
	__builtin_memset(context->waits, 0, sizeof(context->waits));
	return 0;
}

/* Adds the last wait of the thread to the request that is open, by its stack, unless it began after
 * that wait. queue_ns: of the wait, in the run queue. Always returns 0. */
__attribute__((noinline)) int context_note_wait(__u32 slot, __u64 queue_ns)
{
	struct pkbpf_context_wait *least = NULL;
	struct pkbpf_context_thread *context;
	struct pkbpf_thread *thread;
	__u64 wait_ns;

	if (!context_config.requests)
		return 0;
	context = context_thread_at(slot);
	thread = thread_at(slot);
	if (!context || !thread || !is_open(context) || !thread->pending_ns || !thread->weight ||
	    !thread->stack_id || thread->state == PKBPF_WAIT_RUNQUEUE ||
	    context->stay_ns == thread->since_ns)
		return 0;
	wait_ns = thread->pending_ns;
	wait_ns -= queue_ns < wait_ns ? queue_ns : wait_ns;
#pragma unroll
	for (int i = 0; i < PKBPF_CONTEXT_REASONS; i++) {
		struct pkbpf_context_wait *wait = &context->waits[i];

		if (wait->stack_id == thread->stack_id) {
			wait->sum_ns += wait_ns;
			return 0;
		}
		if (!least || wait->sum_ns < least->sum_ns)
			least = wait;
	}
	if (!least)
		return 0;
	least->stack_id = thread->stack_id;
	least->others_ns = least->sum_ns;
	least->sum_ns += wait_ns;
	return 0;
}

/* Sends the request that is in a reading but for what it has in common with its thread. */
static __always_inline void send_request(struct context_reading *reading,
					 const struct pkbpf_context_thread *context,
					 const struct pkbpf_thread *thread,
					 const struct pkbpf_context_set *set)
{
	struct pkbpf_event_request *request = &reading->request;
	bool goes_on = thread->place == PKBPF_THREAD_ENDED;

	request->header.size = sizeof(*request);
	request->header.kind = PKBPF_EVENT_REQUEST;
	request->header.flags = goes_on ? PKBPF_REQUEST_OPEN : 0;
	request->header.time_ns = bpf_ktime_get_ns();
	__builtin_memcpy(request->trace, context->trace, sizeof(request->trace));
	__builtin_memcpy(request->span, &context->span, sizeof(request->span));
#pragma unroll
	for (int i = 0; i < PKBPF_CONTEXT_REASONS; i++) {
		request->reasons[i].stack_id = context->waits[i].stack_id;
		request->reasons[i].wait_ns =
			context->waits[i].sum_ns - context->waits[i].others_ns;
	}
	request->cgroup_id = goes_on ? thread->cgroup_id : bpf_get_current_cgroup_id();
	request->pid = thread->pid;
	request->tid = thread->tid;
	__builtin_memcpy(request->comm, thread->comm, sizeof(request->comm));
	if (set)
		__builtin_memcpy(request->labels, set->labels, sizeof(request->labels));
	else
		__builtin_memset(request->labels, 0, sizeof(request->labels));
	if (bpf_ringbuf_output(&sample_ring, request, sizeof(*request), BPF_RB_NO_WAKEUP))
		counter_add(PKBPF_COUNTER_REQUESTS_LOST, 1);
}

static __always_inline void add_to_set(struct pkbpf_context_set *set,
				       const struct pkbpf_event_request *request)
{
	__u32 bucket = pkbpf_histogram_index(request->wall_ns);

	__sync_fetch_and_add(&set->total_ns, request->wall_ns);
	__sync_fetch_and_add(&set->edge_ns, request->edge_ns);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		__sync_fetch_and_add(&set->part_ns[i], request->part_ns[i]);
	if (bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&set->buckets[bucket], 1);
	/* Two CPUs may write at once; one value is then missing from max, and only there. */
	if (request->wall_ns > set->max_ns)
		set->max_ns = request->wall_ns;
	__sync_fetch_and_add(&set->count, 1);
}

/* The request that the thread had open has ended; or the interval, if its account is complete.
 * Always returns 0. */
__attribute__((noinline)) int context_close(__u32 slot, __u32 at, __u64 end_ns, __u64 edge_ns)
{
	struct pkbpf_context_thread *context;
	struct context_reading *reading;
	struct pkbpf_thread *thread;
	struct pkbpf_event_request *request;
	struct pkbpf_context_set *set;
	__u64 rest_ns;
	__u32 number;

	if (!context_config.requests)
		return 0;
	reading = context_reading_at(at);
	context = context_thread_at(slot);
	thread = thread_at(slot);
	if (!reading || !context || !thread)
		return 0;
	if (!context->begin_ns) {
		counter_add(PKBPF_COUNTER_CONTEXT_BEGUN_BEFORE, 1);
		return 0;
	}
	request = &reading->request;
	request->start_ns = context->begin_ns;
	request->wall_ns = end_ns > context->begin_ns ? end_ns - context->begin_ns : 0;
	request->edge_ns = context->edge_ns + edge_ns;
	rest_ns = request->wall_ns;
	read_waits(reading, thread);
#pragma unroll
	for (int i = 1; i < PKBPF_WAIT_STATES; i++) {
		__u64 part_ns = reading->waited_ns[i] - context->waited_ns[i];

		if (part_ns > rest_ns)
			part_ns = rest_ns;
		request->part_ns[i] = part_ns;
		rest_ns -= part_ns;
	}
	request->part_ns[PKBPF_WAIT_NONE] = rest_ns;
	number = context->set - 1;
	set = bpf_map_lookup_elem(&context_sets, &number);
	if (!context->set || !number)
		counter_add(PKBPF_COUNTER_CONTEXT_NO_SET, 1);
	else if (set && thread->place == PKBPF_THREAD_ENDED)
		__sync_fetch_and_add(&set->open, 1);
	else if (set)
		add_to_set(set, request);
	if (request->wall_ns >= context_config.slow_ns)
		send_request(reading, context, thread, set);
	return 0;
}

/* What the context has become since the last look; `changed_ns`: the earliest moment of that. */
static __always_inline void change(__u32 slot, __u32 at, struct pkbpf_context_thread *context,
				   bool has, __u64 changed_ns, __u64 now_ns, __u32 moment)
{
	__u64 unknown_ns = now_ns > changed_ns ? now_ns - changed_ns : 0;
	bool was_open = is_open(context);

	if (moment == CONTEXT_AT_EXIT)
		unknown_ns = 0;
	/* Between two requests, half of the time belongs to each. Else all of it: a thread without
	 * a request waits for one. */
	if (was_open && has)
		unknown_ns /= 2;
	if (was_open)
		context_close(slot, at, has ? now_ns - unknown_ns : now_ns, unknown_ns);
	context->trace[0] = context->trace[1] = 0;
	context->set = 0;
	if (!has)
		return;
	context->set = context_set(at);
	context_open(slot, at, now_ns - unknown_ns);
	context->edge_ns = unknown_ns;
}

/* What a look at the current thread finds. `context`: in its slot. */
static __always_inline void look(__u32 slot, __u32 at, struct pkbpf_context_thread *context,
				 const struct pkbpf_thread *thread, __u64 now_ns, __u32 moment)
{
	const struct context_reading *reading = context_reading_at(at);
	int found = moment == CONTEXT_AT_EXIT ? 0 : context_find(at);
	__u64 changed_ns;
	bool has;

	/* What is not known is as it was. */
	if (!reading || found < 0)
		return;
	has = found && (reading->record.trace[0] || reading->record.trace[1]);
	if (has ? context->trace[0] != reading->record.trace[0] ||
			    context->trace[1] != reading->record.trace[1]
		: is_open(context)) {
		changed_ns = thread->place == PKBPF_THREAD_ON_CPU ? thread->since_ns : now_ns;
		if (changed_ns < context->looked_ns)
			changed_ns = context->looked_ns;
		change(slot, at, context, has, changed_ns, now_ns, moment);
	}
	context->looked_ns = now_ns;
}

__attribute__((noinline)) int context_look(__u32 slot, __u64 now_ns, __u32 moment)
{
	__u32 at, pid = bpf_get_current_pid_tgid() >> 32;
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_context_thread *context;
	struct pkbpf_thread *thread;

	if (!context_config.requests)
		return 0;
	context = context_thread_at(slot);
	thread = thread_at(slot);
	if (!context || !thread || context->is_busy ||
	    !bpf_map_lookup_elem(&context_processes, &pid))
		return 0;
	at = context_enter();
	if (at >= CONTEXT_READINGS)
		return 0;
	if (context->tid != thread->tid) {
		__builtin_memset(context, 0, sizeof(*context));
		context->tid = thread->tid;
	}
	context->is_busy = 1;
	barrier();
	if (moment != CONTEXT_AT_SAMPLE)
		context_note_wait(slot,
				  BPF_CORE_READ(task, sched_info.run_delay) - thread->run_delay_ns);
	look(slot, at, context, thread, now_ns, moment);
	barrier();
	context->is_busy = 0;
	context_leave(at);
	return 0;
}

/* true: the slot's thread has a request open. */
static __always_inline bool has_request(struct pkbpf_context_thread *context,
					const struct pkbpf_thread *thread)
{
	return context && thread && context->tid == thread->tid && is_open(context);
}

__attribute__((noinline)) int context_end(__u32 slot, __u64 stay_ns)
{
	struct pkbpf_context_thread *context;
	struct pkbpf_thread *thread;
	__u64 edge_ns;
	__u32 at;

	if (!context_config.requests)
		return 0;
	context = context_thread_at(slot);
	thread = thread_at(slot);
	if (!has_request(context, thread))
		return 0;
	at = context_enter();
	if (at >= CONTEXT_READINGS)
		return 0;
	/* A context cannot change while its thread is off the CPU. */
	if (stay_ns < context->looked_ns)
		stay_ns = context->looked_ns;
	edge_ns = thread->since_ns > stay_ns ? thread->since_ns - stay_ns : 0;
	context_close(slot, at, thread->since_ns, edge_ns);
	context->trace[0] = context->trace[1] = 0;
	context_leave(at);
	return 0;
}

__attribute__((noinline)) int context_forget(__u32 slot)
{
	struct pkbpf_context_thread *context;

	if (!context_config.requests)
		return 0;
	context = context_thread_at(slot);
	if (!has_request(context, thread_at(slot)))
		return 0;
	counter_add(PKBPF_COUNTER_CONTEXT_LEFT, 1);
	__builtin_memset(context, 0, sizeof(*context));
	return 0;
}

/* It does not call thread_find(): the verifier of 5.10 would follow what that calls, without the
 * maps, in runs without accounts of threads. */
__attribute__((noinline)) int context_look_at_sample(__u32 tid, __u64 now_ns)
{
	if (!context_config.requests || !offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	for (__u32 i = 0; i < PKBPF_THREAD_PROBES; i++) {
		__u32 slot = pkbpf_thread_slot(tid, i, offcpu_config.thread_mask);
		struct pkbpf_thread *thread = thread_at(slot);

		if (!thread || !thread->tid)
			return 0;
		if (thread->tid != tid || thread->place == PKBPF_THREAD_ENDED)
			continue;
		if (thread->place == PKBPF_THREAD_ON_CPU)
			context_look(slot, now_ns, CONTEXT_AT_SAMPLE);
		return 0;
	}
	return 0;
}
