/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks of open regions of threads, and the rows that take what each region was. */
#ifndef PKBPF_SPAN_STACK_BPF_H
#define PKBPF_SPAN_STACK_BPF_H

#include "slot.bpf.h"
#include "span.bpf.h"
#include "span_region.bpf.h"
#include "task_filter.bpf.h"

/* A leave ends the regions above it that are this far down the same stack: a longjmp has left
 * them. */
#define SAME_STACK_BYTES (8U << 20)

/* How a region is left. */
enum {
	SPAN_LEAVE_SCOPE, /* the stack pointer tells which regions above it a jump has left */
	SPAN_LEAVE_TASK,  /* regions above it may be those of other tasks of the thread */
	SPAN_LEAVE_SITE,  /* pairs of one thread need not nest */
};

struct span_rows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_span_row);
};

struct span_row_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_span_row_key);
	__type(value, __u32);
};

struct span_ids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_span_id_key);
	__type(value, struct pkbpf_span_id);
};

struct span_limits_map { /* from when on regions of a name are counted as long ones */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_SPAN_LIMITS);
	__type(key, __u64);   /* hash of the name */
	__type(value, __u64); /* ns */
};

struct span_gaps_map { /* until when processes had no probes: older regions ended unseen, perhaps */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);   /* pid */
	__type(value, __u64); /* ns */
};

struct span_free_map { /* numbers of array elements that are free again */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
};

extern struct span_rows_map span_rows SEC(".maps");
extern struct span_row_index_map span_row_index SEC(".maps");
extern struct span_ids_map span_ids SEC(".maps");
extern struct span_limits_map span_limits SEC(".maps");
extern struct span_gaps_map span_gaps SEC(".maps");
extern struct span_free_map span_free_stacks SEC(".maps");
extern struct span_free_map span_free_rows SEC(".maps");
extern struct pkbpf_span_control span_control;
/* first array elements never used */
extern __u32 span_next_stack, span_next_row;

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
	if (!slot_take(&span_stacks, offsetof(struct pkbpf_span_stack, claims), &span_next_stack,
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
	stack->slow.wall_ns = 0;
	stack->called.is_set = 0;
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
	__u64 *limit_ns;

	key.name_hash = pkbpf_span_name_hash(words);
	known = bpf_map_lookup_elem(&span_row_index, &key);
	if (known)
		return *known;
	if (!slot_take(&span_rows, offsetof(struct pkbpf_span_row, claims), &span_next_row,
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
	limit_ns = bpf_map_lookup_elem(&span_limits, &key.name_hash);
	row->limit_ns = limit_ns ? *limit_ns : 0;
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

/* Takes the name that a site gives to its regions. */
static __always_inline void take_name(struct pkbpf_span_stack *stack,
				      const struct pkbpf_span_site *site)
{
	__builtin_memcpy(stack->name, site->name, sizeof(stack->name));
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

/* What began before is not known any more; 0: all is. */
static __always_inline __u64 gap_of(__u32 pid)
{
	__u64 *until_ns = span_control.has_gaps ? bpf_map_lookup_elem(&span_gaps, &pid) : NULL;

	return until_ns ? *until_ns : 0;
}

/* What tells calls of the kernel's functions from others. */
#define TOKEN_OF_KERNEL (1ULL << 60)

/* Takes calls of the kernel's functions off the top that have ended unseen: the kernel has only so
 * many places for returns. Stacks grow down: what is called now is below what goes on, or in the
 * same place as what has jumped to it, which is another function. */
static __always_inline void drop_kernel(struct pkbpf_span_stack *stack, __u64 stack_pointer,
					__u64 token)
{
	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		__u32 depth = stack->depth;
		struct pkbpf_span_frame *frame;

		if (!depth)
			break;
		frame = frame_at(stack, depth - 1);
		if (frame->token >> 32 != TOKEN_OF_KERNEL >> 32 ||
		    frame->stack_pointer > stack_pointer ||
		    (frame->stack_pointer == stack_pointer && frame->token != token))
			break;
		frame_lose(frame);
		stack->depth = depth - 1;
	}
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

static __always_inline void row_add_time(struct pkbpf_span_row *row, __u64 wall_ns)
{
	__u32 bucket = pkbpf_histogram_index(wall_ns);

	/* Two CPUs may write at once; one value is then missing from max, and only there. */
	if (wall_ns > row->max_ns)
		row->max_ns = wall_ns;
	if (bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&row->buckets[bucket], 1);
}

static __always_inline void row_count(struct pkbpf_span_row *row, __u64 wall_ns, __u64 items)
{
	__sync_fetch_and_add(&row->count, 1);
	__sync_fetch_and_add(&row->total_ns, wall_ns);
	if (items)
		__sync_fetch_and_add(&row->items, items);
	if (row->limit_ns && wall_ns > row->limit_ns)
		__sync_fetch_and_add(&row->over, 1);
	row_add_time(row, wall_ns);
}

static __always_inline void row_add_memory(struct pkbpf_span_row *row, __s64 before, __s64 now)
{
	__s64 most = before > now ? before : now;

	if (before <= 0 || now <= 0)
		return;
	__sync_fetch_and_add(&row->rss_readings, 1);
	__sync_fetch_and_add(&row->rss_sum_pages, (__u64)now);
	if (now != before)
		__sync_fetch_and_add(&row->rss_growth_pages, now - before);
	/* As max_ns: a value may be missing when two CPUs write. */
	if ((__u64)most > row->rss_max_pages)
		row->rss_max_pages = (__u64)most;
}

static __always_inline void row_add(struct pkbpf_span_row *row,
				    const struct pkbpf_span_frame *frame,
				    const struct pkbpf_span_reading *now)
{
	__u64 wall_ns = now->now_ns - frame->at.now_ns, part_ns[PKBPF_WAIT_STATES];

	if (frame->child_ns < wall_ns)
		__sync_fetch_and_add(&row->self_ns, wall_ns - frame->child_ns);
	if (frame->flags & PKBPF_SPAN_RECURSIVE) {
		__sync_fetch_and_add(&row->recursive, 1);
		row_add_time(row, wall_ns);
		return;
	}
	row_count(row, wall_ns, frame->items);
	row_add_memory(row, frame->at.rss_pages, now->rss_pages);
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

/* A jump has left the regions beyond the depth if what ends lies further up the same stack than the
 * innermost one that is known. */
static __always_inline bool deeper_were_left(struct pkbpf_span_stack *stack, __u64 stack_pointer)
{
	__u64 up = stack_pointer - frame_at(stack, PKBPF_SPAN_DEPTH - 1)->stack_pointer;

	return up && up <= SAME_STACK_BYTES;
}

/* Is any of what is above a region more than a call? */
static __always_inline bool has_regions_above(struct pkbpf_span_stack *stack, __u32 at)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		if (!(frame_at(stack, at + i)->flags & PKBPF_SPAN_FUNCTION))
			return true;
	}
	return false;
}

/* Takes a region from between others, which get the flags. */
static __always_inline void frame_remove(struct pkbpf_span_stack *stack, __u32 at, __u32 flags)
{
	__u32 depth = stack->depth;

	for (__u32 i = 1; i < PKBPF_SPAN_DEPTH; i++) {
		if (at + i >= depth)
			break;
		*frame_at(stack, at + i - 1) = *frame_at(stack, at + i);
		frame_at(stack, at + i - 1)->flags |= flags;
	}
	stack->depth = depth - 1;
}

/* Puts a region on top; the caller has made sure of the room. */
static __always_inline struct pkbpf_span_frame *
frame_open(struct pkbpf_span_stack *stack, __u32 row, __u64 token, __u64 stack_pointer)
{
	struct pkbpf_span_frame *frame = frame_at(stack, stack->depth);

	frame->row = row;
	frame->token = token;
	frame->stack_pointer = stack_pointer;
	frame->return_address = 0;
	frame->items = 0;
	frame->child_ns = 0;
	frame->flags = 0;
	stack->depth++;
	return frame;
}

/* Row of the innermost region; PKBPF_NO_ROW: none is open, or what is around it is not known. */
static __always_inline __u32 row_of_top(struct pkbpf_span_stack *stack)
{
	__u32 depth = stack->depth;
	struct pkbpf_span_frame *frame;

	if (!depth)
		return PKBPF_NO_ROW;
	frame = frame_at(stack, depth - 1);
	return frame->flags & PKBPF_SPAN_DETACHED ? PKBPF_NO_ROW : frame->row;
}

/* Keeps what a region was if it took long, until slow_send() of span_slow.bpf.h. */
static __always_inline void note_slow(struct pkbpf_span_stack *stack,
				      const struct pkbpf_span_frame *frame)
{
	__u64 wall_ns = stack->now.now_ns - frame->at.now_ns;
	__u64 limit_ns = frame->flags & PKBPF_SPAN_FUNCTION ? span_config.slow_function_ns
							    : span_config.slow_region_ns;

	if (wall_ns < limit_ns || frame->flags & PKBPF_SPAN_RECURSIVE)
		return;
	if (frame->flags & PKBPF_SPAN_INTERLEAVED ||
	    !parts_of(&frame->at, &stack->now, stack->slow.part_ns))
		__builtin_memset(stack->slow.part_ns, 0, sizeof(stack->slow.part_ns));
	stack->slow.start_ns = frame->at.now_ns;
	stack->slow.row = frame->row;
	stack->slow.wall_ns = wall_ns;
}

/* Keeps a call until slow_send() has its stack. */
static __always_inline void note_called(struct pkbpf_span_stack *stack, __u64 wall_ns)
{
	stack->called.wall_ns = wall_ns;
	stack->called.is_set = 1;
}

/* Adds a region that is left to its row, and to what its parent has inside. */
static __always_inline void frame_close(struct pkbpf_span_stack *stack, __u32 at)
{
	struct pkbpf_span_frame *frame = frame_at(stack, at);
	__u32 index = frame->row;
	struct pkbpf_span_row *row = bpf_map_lookup_elem(&span_rows, &index);

	if (row)
		row_add(row, frame, &stack->now);
	if (span_config.want_slow)
		note_slow(stack, frame);
	if (span_config.want_callers && frame->flags & PKBPF_SPAN_FUNCTION)
		note_called(stack, frame->flags & PKBPF_SPAN_RECURSIVE
					   ? 0
					   : stack->now.now_ns - frame->at.now_ns);
	if (at)
		frame_at(stack, at - 1)->child_ns += stack->now.now_ns - frame->at.now_ns;
}

/* Begins a region of the name in the stack that is known by a number of its process. */
static __always_inline void id_begin(struct pkbpf_span_stack *stack, __u64 id, __u64 items)
{
	struct pkbpf_span_id_key key = {.id = id, .pid = stack->pid};
	struct pkbpf_span_id region = {.items = items};

	region.row = row_get(stack, PKBPF_NO_ROW, PKBPF_REGION_BY_ID);
	region.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&span_ids, &key, &region, BPF_ANY))
		counter_add(PKBPF_COUNTER_REGION_IDS_FULL, 1);
}

/* Leaves the innermost region with this token, see span.bpf.c. Global functions. */
int span_pop(__u64 token, __u64 stack_pointer, __u32 way);
int span_push(__u64 name, __u64 items, __u64 token, __u64 stack_pointer, __u32 flags);
int span_begin_id(__u64 name, __u64 id, __u64 items);
int span_end_id(__u64 id);
int span_forget(__u64 until_ns);
int span_add_items(__u64 items);

#endif
