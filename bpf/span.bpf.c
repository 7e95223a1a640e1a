// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Regions: which ones each thread has open, and what each took. */
#include "span_site.bpf.h"
#include "span_slow.bpf.h"

struct span_rows_map span_rows SEC(".maps");
struct span_row_index_map span_row_index SEC(".maps");
struct span_free_map span_free_stacks SEC(".maps");
struct span_free_map span_free_rows SEC(".maps");

struct span_limits_map span_limits SEC(".maps");
struct span_gaps_map span_gaps SEC(".maps");
struct span_ids_map span_ids SEC(".maps");
struct span_sites_map span_sites SEC(".maps");
struct span_slow_users_map span_slow_users SEC(".maps");
struct span_callers_map span_callers SEC(".maps");

const volatile struct pkbpf_span_config span_config = {};
struct span_address_map span_addresses SEC(".maps");
struct pkbpf_span_control span_control = {};
__u32 span_next_stack = 0, span_next_row = 0;

/* Drops what the thread had open while there were no probes: the oldest are at the bottom. A global
 * function; always returns 0. */
__attribute__((noinline)) int span_forget(__u64 until_ns)
{
	struct pkbpf_span_stack *stack = stack_find((__u32)bpf_get_current_pid_tgid());

	for (__u32 i = 0; stack && i < PKBPF_SPAN_DEPTH; i++) {
		__u32 depth = stack->depth;
		struct pkbpf_span_frame *frame;

		if (!depth)
			break;
		frame = frame_at(stack, depth - 1);
		if (frame->at.now_ns >= until_ns)
			break;
		frame_lose(frame);
		stack->depth = depth - 1;
		stack->deeper = 0;
	}
	return 0;
}

/* A thread enters a region. A global function; always returns 0. */
__attribute__((noinline)) int span_push(__u64 name, __u64 items, __u64 token, __u64 stack_pointer,
					__u32 flags)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = bpf_get_current_pid_tgid(), gap_ns = gap_of(pid_tgid >> 32);
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_stack *stack;
	__u32 row;

	if (gap_ns)
		span_forget(gap_ns);
	stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	if (!stack)
		return 0;
	if (stack->depth >= PKBPF_SPAN_DEPTH) {
		stack->deeper++;
		counter_add(PKBPF_COUNTER_REGION_TOO_DEEP, 1);
		return 0;
	}
	read_name(stack, name);
	row = row_get(stack, row_of_top(stack), 0);
	frame = frame_open(stack, row, token, stack_pointer);
	frame->items = items;
	frame->flags = flags;
	span_read(&frame->at, task, (__u32)pid_tgid);
	span_read_memory(&frame->at, task);
	return 0;
}

/* A thread leaves the innermost region with this token. token 0: the innermost one. A global
 * function; always returns 0. */
__attribute__((noinline)) int span_pop(__u64 token, __u64 stack_pointer, __u32 way)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = bpf_get_current_pid_tgid(), gap_ns = gap_of(pid_tgid >> 32);
	__u32 tid = (__u32)pid_tgid, at, depth;
	struct pkbpf_span_stack *stack;
	struct pkbpf_span_frame *frame;

	if (gap_ns)
		span_forget(gap_ns);
	stack = stack_find(tid);
	if (stack && stack->deeper) {
		if (way != SPAN_LEAVE_SCOPE || !deeper_were_left(stack, stack_pointer)) {
			stack->deeper--;
			return 0;
		}
		stack->deeper = 0;
	}
	at = stack ? frame_find(stack, token) : PKBPF_SPAN_DEPTH;
	if (!stack || at >= PKBPF_SPAN_DEPTH) {
		counter_add(PKBPF_COUNTER_REGION_BEGUN_BEFORE, 1);
		return 0;
	}
	span_read(&stack->now, task, tid);
	span_read_memory(&stack->now, task);
	depth = stack->depth;
	frame = frame_at(stack, at);
	if (way == SPAN_LEAVE_SITE || !has_regions_above(stack, at)) {
		/* Calls, and pairs of probes, go on and end by themselves. */
		frame_close(stack, at);
		frame_remove(stack, at, PKBPF_SPAN_DETACHED);
		return 0;
	}
	if (!(way == SPAN_LEAVE_SCOPE && were_left(stack, at, stack_pointer)))
		frame->flags |= PKBPF_SPAN_INTERLEAVED;
	frame_close(stack, at);
	if (frame->flags & PKBPF_SPAN_INTERLEAVED) {
		frame_remove(stack, at, PKBPF_SPAN_INTERLEAVED | PKBPF_SPAN_DETACHED);
		return 0;
	}
	for (__u32 i = 1; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		frame_lose(frame_at(stack, at + i));
	}
	stack->depth = at;
	return 0;
}

/* The innermost region has more items. A global function; always returns 0. */
__attribute__((noinline)) int span_add_items(__u64 items)
{
	struct pkbpf_span_stack *stack = stack_find((__u32)bpf_get_current_pid_tgid());

	if (stack && stack->depth && !stack->deeper)
		frame_at(stack, stack->depth - 1)->items += items;
	return 0;
}

/* A process begins a region with a number of its own. A global function; always returns 0. */
__attribute__((noinline)) int span_begin_id(__u64 name, __u64 id, __u64 items)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);

	if (!stack)
		return 0;
	read_name(stack, name);
	id_begin(stack, id, items);
	return 0;
}

/* Nobody's parts are known of it. */
static __always_inline void id_note_slow(const struct pkbpf_span_id *region, __u64 wall_ns)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);

	if (!stack)
		return;
	__builtin_memset(&stack->slow, 0, sizeof(stack->slow));
	stack->slow.start_ns = region->start_ns;
	stack->slow.row = region->row;
	stack->slow.wall_ns = wall_ns;
}

/* It ends, perhaps in another thread. A global function; always returns 0. */
__attribute__((noinline)) int span_end_id(__u64 id)
{
	struct pkbpf_span_id_key key = {.id = id, .pid = bpf_get_current_pid_tgid() >> 32};
	struct pkbpf_span_id *region = bpf_map_lookup_elem(&span_ids, &key);
	struct pkbpf_span_row *row;
	__u64 wall_ns;
	__u32 index;

	if (!region) {
		counter_add(PKBPF_COUNTER_REGION_BEGUN_BEFORE, 1);
		return 0;
	}
	index = region->row;
	row = bpf_map_lookup_elem(&span_rows, &index);
	wall_ns = bpf_ktime_get_ns() - region->start_ns;
	if (row && region->start_ns < gap_of(key.pid)) {
		/* It may be one of the same number that began unseen. */
		__sync_fetch_and_add(&row->lost_end, 1);
		bpf_map_delete_elem(&span_ids, &key);
		return 0;
	}
	if (row)
		row_count(row, wall_ns, region->items);
	if (span_config.want_slow && wall_ns >= span_config.slow_region_ns)
		id_note_slow(region, wall_ns);
	bpf_map_delete_elem(&span_ids, &key);
	return 0;
}

/* The thread's regions end here. */
static __always_inline void thread_end(__u32 tid)
{
	__u32 *known = bpf_map_lookup_elem(&span_threads, &tid), index;
	struct pkbpf_span_stack *stack;

	if (!known)
		return;
	index = *known;
	stack = bpf_map_lookup_elem(&span_stacks, &index);
	if (!stack)
		return;
	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		if (i >= stack->depth)
			break;
		frame_lose(frame_at(stack, i));
	}
	stack->tid = 0;
	stack->depth = 0;
	bpf_map_delete_elem(&span_threads, &tid);
	bpf_map_push_elem(&span_free_stacks, &index, 0);
}

/* ---- the stubs of pkbpf.h ---- */

SEC("?uprobe")
int span_enter(struct pt_regs *ctx)
{
	count_hit(ctx);
	if (is_target())
		span_push(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM1(ctx),
			  PT_REGS_SP(ctx), 0);
	return 0;
}

SEC("?uprobe")
int span_leave(struct pt_regs *ctx)
{
	count_hit(ctx);
	if (is_target()) {
		span_pop(PT_REGS_PARM1(ctx), PT_REGS_SP(ctx), SPAN_LEAVE_SCOPE);
		slow_send(ctx);
	}
	return 0;
}

SEC("?uprobe")
int span_items(struct pt_regs *ctx)
{
	count_hit(ctx);
	if (is_target())
		span_add_items(PT_REGS_PARM1(ctx));
	return 0;
}

SEC("?uprobe")
int span_begin(struct pt_regs *ctx)
{
	count_hit(ctx);
	if (is_target())
		span_begin_id(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx));
	return 0;
}

SEC("?uprobe")
int span_end(struct pt_regs *ctx)
{
	count_hit(ctx);
	if (is_target()) {
		span_end_id(PT_REGS_PARM1(ctx));
		slow_send(ctx);
	}
	return 0;
}

/* ---- ends of threads ---- */

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(span_exit, struct task_struct *task)
{
	thread_end(task->pid);
	return 0;
}

/* The thread that calls exec had this number before. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(span_exec, struct task_struct *task, __u32 old_tid)
{
	thread_end(old_tid);
	return 0;
}
