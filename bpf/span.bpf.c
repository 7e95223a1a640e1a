// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Regions: which ones each thread has open, and what each took. */
#include "slot.bpf.h"
#include "span.bpf.h"
#include "task_filter.bpf.h"

/* A leave ends the regions above it that are this far down the same stack: a longjmp has left
 * them. */
#define SAME_STACK_BYTES (8U << 20)

/* Where CPython keeps the text of a compact ASCII string: since 3.12, before, and in builds
 * without a global lock. bytes objects: likewise. */
#define PYTHON_TEXT_FIRST 40
#define PYTHON_TEXT_LAST  64
#define PYTHON_BYTES	  32
#define PYTHON_FREE_MORE  16
/* "pkbpf." and the first letter of an operation. */
#define PYTHON_PREFIX 6

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_span_row);
} span_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_span_row_key);
	__type(value, __u32);
} span_row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_span_id_key);
	__type(value, struct pkbpf_span_id);
} span_ids SEC(".maps");

struct { /* numbers of array elements that are free again */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} span_free_stacks SEC(".maps"), span_free_rows SEC(".maps");

const volatile struct pkbpf_span_config span_config = {};
struct pkbpf_span_control span_control = {};

/* first array elements never used */
static __u32 next_stack, next_row;

static __always_inline bool is_running(void)
{
	/* Accounts of threads exist only when the iterator has met all. */
	return span_control.start_ns && !span_control.end_ns &&
	       (!span_config.has_accounts || !offcpu_control.looking);
}

static __always_inline bool is_target(void)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	return is_running() && filter_current(pid_tgid >> 32, (__u32)pid_tgid);
}

static __always_inline struct pkbpf_span_stack *stack_find(__u32 tid)
{
	__u32 *index = bpf_map_lookup_elem(&span_threads, &tid);

	return index ? bpf_map_lookup_elem(&span_stacks, index) : NULL;
}

/* NULL, and counted: no room. */
static __always_inline struct pkbpf_span_stack *stack_get(__u32 pid, __u32 tid)
{
	struct pkbpf_span_stack *stack = stack_find(tid);
	__u32 index = 0;

	if (stack)
		return stack;
	if (!slot_take(&span_stacks, offsetof(struct pkbpf_span_stack, claims), &next_stack,
		       &span_free_stacks, &index)) {
		counter_add(PKBPF_COUNTER_REGION_THREADS_FULL, 1);
		return NULL;
	}
	stack = bpf_map_lookup_elem(&span_stacks, &index);
	if (!stack)
		return NULL;
	stack->pid = pid;
	stack->depth = 0;
	stack->deeper = 0;
	if (bpf_map_update_elem(&span_threads, &tid, &index, BPF_ANY)) {
		bpf_map_push_elem(&span_free_stacks, &index, 0);
		counter_add(PKBPF_COUNTER_REGION_THREADS_FULL, 1);
		return NULL;
	}
	stack->tid = tid; /* last: user space reads only stacks with a tid */
	return stack;
}

/* Tells user space about a new row, before anything refers to it. */
static __always_inline void name_row(const struct pkbpf_span_row *row, __u32 number)
{
	struct pkbpf_event_region_name record = {
		.header = {.size = sizeof(record),
			   .kind = PKBPF_EVENT_REGION_NAME,
			   .time_ns = bpf_ktime_get_ns()},
		.number = number,
		.parent = row->parent,
	};

	if (!span_config.want_frames)
		return;
	__builtin_memcpy(record.name, row->name, sizeof(record.name));
	/* Without a name its samples have no region. */
	bpf_ringbuf_output(&sample_ring, &record, sizeof(record), BPF_RB_NO_WAKEUP);
}

/* Returns the row of a region below another; makes it if it is the first. PKBPF_NO_ROW, and
 * counted: no room. */
static __always_inline __u32 row_get(struct pkbpf_span_stack *stack, __u32 parent, __u32 flags)
{
	const __u64 *words = (const __u64 *)stack->name;
	struct pkbpf_span_row_key key = {.pid = stack->pid, .parent = parent, .flags = flags};
	struct pkbpf_span_row *row;
	__u32 *known, index = 0;

#pragma unroll
	for (int i = 0; i < PKBPF_SPAN_NAME / 8; i++) {
		key.name_hash = (key.name_hash ^ words[i]) * 0x9E3779B97F4A7C15ULL;
		key.name_hash ^= key.name_hash >> 29;
	}
	known = bpf_map_lookup_elem(&span_row_index, &key);
	if (known)
		return *known;
	if (!slot_take(&span_rows, offsetof(struct pkbpf_span_row, claims), &next_row,
		       &span_free_rows, &index)) {
		counter_add(PKBPF_COUNTER_REGION_TABLE_FULL, 1);
		return PKBPF_NO_ROW;
	}
	row = bpf_map_lookup_elem(&span_rows, &index);
	if (!row)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&span_row_index, &key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&span_free_rows, &index, 0);
		known = bpf_map_lookup_elem(&span_row_index, &key); /* another CPU was faster */
		return known ? *known : PKBPF_NO_ROW;
	}
	row->parent = parent;
	row->flags = flags;
	__builtin_memcpy(row->name, stack->name, sizeof(row->name));
	row->pid = stack->pid; /* last: user space reads only rows with a pid */
	name_row(row, index);
	return index;
}

/* Reads the name of a region into its stack. A name that cannot be read is "?". */
static __always_inline void read_name(struct pkbpf_span_stack *stack, __u64 address)
{
	__builtin_memset(stack->name, 0, sizeof(stack->name));
	if (bpf_probe_read_user_str(stack->name, sizeof(stack->name), (void *)address) <= 1)
		stack->name[0] = '?';
}

static __always_inline struct pkbpf_span_frame *frame_at(struct pkbpf_span_stack *stack, __u32 at)
{
	/* The compiler may know that `at` is in bounds; the verifier of 5.10 has to see it. */
	barrier_var(at);
	return &stack->frames[at & (PKBPF_SPAN_DEPTH - 1)];
}

/* Regions that ended without being left. */
static __always_inline void frame_lose(const struct pkbpf_span_frame *frame)
{
	__u32 index = frame->row;
	struct pkbpf_span_row *row = bpf_map_lookup_elem(&span_rows, &index);

	if (row)
		__sync_fetch_and_add(&row->lost_end, 1);
}

/* A thread enters a region. A global function; always returns 0. */
__attribute__((noinline)) int span_push(__u64 name, __u64 items, __u64 token, __u64 stack_pointer)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 parent = PKBPF_NO_ROW, depth;
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_stack *stack;

	stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	if (!stack)
		return 0;
	depth = stack->depth;
	if (depth >= PKBPF_SPAN_DEPTH) {
		stack->deeper++;
		counter_add(PKBPF_COUNTER_REGION_TOO_DEEP, 1);
		return 0;
	}
	if (depth)
		parent = frame_at(stack, depth - 1)->row;
	read_name(stack, name);
	frame = frame_at(stack, depth);
	frame->row = row_get(stack, parent, 0);
	frame->token = token;
	frame->stack_pointer = stack_pointer;
	frame->items = items;
	frame->flags = 0;
	stack->depth = depth + 1;
	span_read(&frame->at, task, (__u32)pid_tgid);
	return 0;
}

/* The parts of a region's wall time. false: they are not known. */
static __always_inline bool parts_of(const struct pkbpf_span_reading *from,
				     const struct pkbpf_span_reading *to,
				     __u64 part_ns[PKBPF_WAIT_STATES])
{
	__u64 wall_ns = to->now_ns - from->now_ns, rest_ns = wall_ns;

	if (!from->first_ns || from->first_ns != to->first_ns)
		return false;
#pragma unroll
	for (int i = 1; i < PKBPF_WAIT_STATES; i++) {
		part_ns[i] = to->waited_ns[i] - from->waited_ns[i];
		/* Also where it is negative. */
		if (part_ns[i] > rest_ns)
			return false;
		rest_ns -= part_ns[i];
	}
	part_ns[PKBPF_WAIT_NONE] = rest_ns;
	return true;
}

static __always_inline void row_count(struct pkbpf_span_row *row, __u64 wall_ns, __u64 items)
{
	__u32 bucket = pkbpf_histogram_index(wall_ns);

	__sync_fetch_and_add(&row->count, 1);
	__sync_fetch_and_add(&row->total_ns, wall_ns);
	if (items)
		__sync_fetch_and_add(&row->items, items);
	/* Two CPUs may write at once; one value is then missing from max, and only there. */
	if (wall_ns > row->max_ns)
		row->max_ns = wall_ns;
	if (bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&row->buckets[bucket], 1);
}

static __always_inline void row_add(struct pkbpf_span_row *row,
				    const struct pkbpf_span_frame *frame,
				    const struct pkbpf_span_reading *now)
{
	__u64 part_ns[PKBPF_WAIT_STATES];

	row_count(row, now->now_ns - frame->at.now_ns, frame->items);
	if (frame->flags & PKBPF_SPAN_INTERLEAVED) {
		__sync_fetch_and_add(&row->interleaved, 1);
		return;
	}
	if (parts_of(&frame->at, now, part_ns)) {
#pragma unroll
		for (int i = 0; i < PKBPF_WAIT_STATES; i++)
			if (part_ns[i])
				__sync_fetch_and_add(&row->part_ns[i], part_ns[i]);
	}
	if (now->minor_faults != frame->at.minor_faults)
		__sync_fetch_and_add(&row->minor_faults,
				     now->minor_faults - frame->at.minor_faults);
	if (now->major_faults != frame->at.major_faults)
		__sync_fetch_and_add(&row->major_faults,
				     now->major_faults - frame->at.major_faults);
	if (now->read_bytes != frame->at.read_bytes)
		__sync_fetch_and_add(&row->read_bytes, now->read_bytes - frame->at.read_bytes);
	if (now->written_bytes != frame->at.written_bytes)
		__sync_fetch_and_add(&row->written_bytes,
				     now->written_bytes - frame->at.written_bytes);
}

/* Place of the innermost open region with this token; PKBPF_SPAN_DEPTH: none. */
static __always_inline __u32 frame_find(struct pkbpf_span_stack *stack, __u64 token)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i <= PKBPF_SPAN_DEPTH; i++) {
		if (i > depth)
			break;
		if (!token || frame_at(stack, depth - i)->token == token)
			return depth - i;
	}
	return PKBPF_SPAN_DEPTH;
}

/* The regions above `at` are down the same stack: a jump has left them. */
static __always_inline bool were_left(struct pkbpf_span_stack *stack, __u32 at, __u64 stack_pointer)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		if (stack_pointer - frame_at(stack, at + i)->stack_pointer > SAME_STACK_BYTES)
			return false;
	}
	return true;
}

/* Takes a region from between others. */
static __always_inline void frame_remove(struct pkbpf_span_stack *stack, __u32 at)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		*frame_at(stack, at + i - 1) = *frame_at(stack, at + i);
		frame_at(stack, at + i - 1)->flags |= PKBPF_SPAN_INTERLEAVED;
	}
	stack->depth = depth - 1;
}

/* A thread leaves the innermost region with this token. token 0: the innermost one. scoped: the
 * stack pointer tells which regions a jump has left. A global function; always returns 0. */
__attribute__((noinline)) int span_pop(__u64 token, __u64 stack_pointer, __u32 scoped)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), at, depth, index;
	struct pkbpf_span_stack *stack = stack_find(tid);
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_row *row;

	if (stack && stack->deeper) {
		stack->deeper--;
		return 0;
	}
	at = stack ? frame_find(stack, token) : PKBPF_SPAN_DEPTH;
	if (!stack || at >= PKBPF_SPAN_DEPTH) {
		counter_add(PKBPF_COUNTER_REGION_BEGUN_BEFORE, 1);
		return 0;
	}
	span_read(&stack->now, task, tid);
	depth = stack->depth;
	frame = frame_at(stack, at);
	if (at + 1 < depth && !(scoped && were_left(stack, at, stack_pointer)))
		frame->flags |= PKBPF_SPAN_INTERLEAVED;
	index = frame->row;
	row = bpf_map_lookup_elem(&span_rows, &index);
	if (row)
		row_add(row, frame, &stack->now);
	if (frame->flags & PKBPF_SPAN_INTERLEAVED) {
		frame_remove(stack, at);
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

static __always_inline void items_add(__u64 items)
{
	struct pkbpf_span_stack *stack = stack_find((__u32)bpf_get_current_pid_tgid());

	if (stack && stack->depth && !stack->deeper)
		frame_at(stack, stack->depth - 1)->items += items;
}

/* A process begins a region with a number of its own. A global function; always returns 0. */
__attribute__((noinline)) int span_begin_id(__u64 name, __u64 id, __u64 items)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_id_key key = {.id = id, .pid = pid_tgid >> 32};
	struct pkbpf_span_id region = {.items = items};
	struct pkbpf_span_stack *stack = stack_get(key.pid, (__u32)pid_tgid);

	if (!stack)
		return 0;
	read_name(stack, name);
	region.row = row_get(stack, PKBPF_NO_ROW, PKBPF_REGION_BY_ID);
	region.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&span_ids, &key, &region, BPF_ANY))
		counter_add(PKBPF_COUNTER_REGION_IDS_FULL, 1);
	return 0;
}

static __always_inline void end_id(__u64 id)
{
	struct pkbpf_span_id_key key = {.id = id, .pid = bpf_get_current_pid_tgid() >> 32};
	struct pkbpf_span_id *region = bpf_map_lookup_elem(&span_ids, &key);
	struct pkbpf_span_row *row;
	__u32 index;

	if (!region) {
		counter_add(PKBPF_COUNTER_REGION_BEGUN_BEFORE, 1);
		return;
	}
	index = region->row;
	row = bpf_map_lookup_elem(&span_rows, &index);
	if (row)
		row_count(row, bpf_ktime_get_ns() - region->start_ns, region->items);
	bpf_map_delete_elem(&span_ids, &key);
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
	if (is_target())
		span_push(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM1(ctx),
			  PT_REGS_SP(ctx));
	return 0;
}

SEC("?uprobe")
int span_leave(struct pt_regs *ctx)
{
	if (is_target())
		span_pop(PT_REGS_PARM1(ctx), PT_REGS_SP(ctx), 1);
	return 0;
}

SEC("?uprobe")
int span_items(struct pt_regs *ctx)
{
	if (is_target())
		items_add(PT_REGS_PARM1(ctx));
	return 0;
}

SEC("?uprobe")
int span_begin(struct pt_regs *ctx)
{
	if (is_target())
		span_begin_id(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx));
	return 0;
}

SEC("?uprobe")
int span_end(struct pt_regs *ctx)
{
	if (is_target())
		end_id(PT_REGS_PARM1(ctx));
	return 0;
}

/* ---- pkbpf.py: sys.audit(event, bytes) ---- */

/* Offset of the text in the event's string, which begins with "pkbpf."; 0: another event. The byte
 * after the prefix goes to *operation. */
static __always_inline __u32 python_text(__u64 string, char *operation)
{
	char text[8] = {};

	for (__u32 at = PYTHON_TEXT_FIRST; at <= PYTHON_TEXT_LAST; at += 8) {
		if (bpf_probe_read_user(text, sizeof(text), (void *)(string + at)))
			return 0;
		if (text[0] == 'p' && text[1] == 'k' && text[2] == 'b' && text[3] == 'p' &&
		    text[4] == 'f' && text[5] == '.') {
			*operation = text[PYTHON_PREFIX];
			return at;
		}
	}
	return 0;
}

/* The number behind the name: "name\0" "12". The name is in the thread's stack when the region is
 * entered; here it is read again, because names are short and most have no number. */
static __always_inline __u64 python_items(__u64 text)
{
	char name[PKBPF_SPAN_NAME], digits[24] = {};
	long length = bpf_probe_read_user_str(name, sizeof(name), (void *)text);
	__u64 items = 0;

	if (length <= 0 ||
	    bpf_probe_read_user_str(digits, sizeof(digits), (void *)(text + length)) <= 0)
		return 0;
	for (int i = 0; i < (int)sizeof(digits); i++) {
		if (digits[i] < '0' || digits[i] > '9')
			break;
		items = items * 10 + (digits[i] - '0');
	}
	return items;
}

SEC("?uprobe")
int span_python(struct pt_regs *ctx)
{
	__u64 arguments = PT_REGS_PARM2(ctx), count = PT_REGS_PARM3(ctx), strings[2], text;
	char operation = 0;
	__u32 at;

	if (!is_target() || count < 2 ||
	    bpf_probe_read_user(strings, sizeof(strings), (void *)arguments))
		return 0;
	at = python_text(strings[0], &operation);
	if (!at)
		return 0;
	/* Objects of builds without a global lock have a longer head. */
	text = strings[1] + PYTHON_BYTES +
	       (at >= PYTHON_TEXT_FIRST + PYTHON_FREE_MORE ? PYTHON_FREE_MORE : 0);
	switch (operation) {
	case 'e':
		span_push(text, python_items(text), strings[1], PT_REGS_SP(ctx));
		break;
	case 'l':
		span_pop(strings[1], PT_REGS_SP(ctx), 0);
		break;
	case 'i':
		items_add(python_items(text));
		break;
	case 'b':
		span_begin_id(text, strings[1], python_items(text));
		break;
	case 'd':
		end_id(strings[1]);
		break;
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
