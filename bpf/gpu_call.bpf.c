// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of the CUDA and HIP libraries. What a library calls in another one, or in itself, belongs
 * to the call of the program: of nested calls the outermost counts. Launches have a probe at their
 * entry only: whether a call that was held goes on is told by its return address, which is in its
 * place until then.
 */
#include "alloc_regs.bpf.h"
#include "function_exit.bpf.h"
#include "scratch_user.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"

#include <pkbpf/gpu_call.h>

struct pkbpf_gpu_control gpu_control = {};
/* Names that user space has to read; approximate. */
__u32 gpu_unread_names = 0;

#define GPU_TABLE(name_, type_, entries_, key_, value_)                                            \
	struct {                                                                                   \
		__uint(type, type_);                                                               \
		__uint(max_entries, entries_);                                                     \
		__type(key, key_);                                                                 \
		__type(value, value_);                                                             \
	} name_ SEC(".maps")

GPU_TABLE(gpu_sites, BPF_MAP_TYPE_ARRAY, PKBPF_GPU_SITES, __u32, struct pkbpf_span_site);
/* Threads that end in a call leave their entry behind. */
GPU_TABLE(gpu_threads, BPF_MAP_TYPE_LRU_HASH, PKBPF_GPU_THREADS, __u32, struct pkbpf_gpu_thread);
GPU_TABLE(gpu_blocks, BPF_MAP_TYPE_HASH, PKBPF_GPU_BLOCKS, struct pkbpf_gpu_block_key,
	  struct pkbpf_gpu_block);
/* Names of kernels of programs that have ended leave it. */
GPU_TABLE(gpu_kernels, BPF_MAP_TYPE_LRU_HASH, PKBPF_GPU_KERNELS, struct pkbpf_gpu_kernel_key,
	  struct pkbpf_gpu_kernel);
GPU_TABLE(gpu_rows, BPF_MAP_TYPE_HASH, PKBPF_GPU_ROWS, struct pkbpf_gpu_row_key,
	  struct pkbpf_gpu_row);
/* Of what found no room there, by process and function. */
GPU_TABLE(gpu_other_rows, BPF_MAP_TYPE_HASH, PKBPF_GPU_OTHER_ROWS, struct pkbpf_gpu_row_key,
	  struct pkbpf_gpu_row);
/* Of SCRATCH_GPU. */
GPU_TABLE(gpu_users, BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, __u32);

/* What a call adds to its rows. */
struct gpu_sums {
	__u64 ns, bytes, blocks, freed_bytes;
	__u32 count, unmeasured, freed;
	__u32 weight; /* calls for which each stands */
};

static __always_inline struct pkbpf_gpu_row *row_in(void *table,
						    const struct pkbpf_gpu_row_key *key)
{
	struct pkbpf_gpu_row *known = bpf_map_lookup_elem(table, key), first = {};

	if (known)
		return known;
	bpf_get_current_comm(first.comm, sizeof(first.comm));
	bpf_map_update_elem(table, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(table, key);
}

/* A function of its own: its stack is not above that of unwinding. Before 6.12 all functions on the
 * way down have 512 bytes. */
static __noinline int row_add(struct pkbpf_gpu_row_key *key, const struct gpu_sums *sums)
{
	__u64 weight = key->what == PKBPF_GPU_STACK ? sums->weight : 1;
	struct pkbpf_gpu_row *row;

	key->epoch = gpu_control.epoch;
	row = row_in(&gpu_rows, key);
	if (!row && key->what == PKBPF_GPU_STACK) {
		counter_add(PKBPF_COUNTER_GPU_STACKS_FULL, sums->count * weight);
		return 0;
	}
	if (!row) {
		key->detail = PKBPF_GPU_OTHERS;
		row = row_in(&gpu_other_rows, key);
	}
	if (!row) {
		counter_add(PKBPF_COUNTER_GPU_CALLS_LOST, sums->count);
		return 0;
	}
	if (sums->count)
		__sync_fetch_and_add(&row->count, sums->count * weight);
	if (sums->count && key->what == PKBPF_GPU_STACK)
		__sync_fetch_and_add(&row->samples, 1);
	if (sums->unmeasured)
		__sync_fetch_and_add(&row->unmeasured, sums->unmeasured * weight);
	if (sums->bytes)
		__sync_fetch_and_add(&row->bytes, sums->bytes * weight);
	if (sums->blocks)
		__sync_fetch_and_add(&row->blocks, sums->blocks * weight);
	if (sums->freed) {
		__sync_fetch_and_add(&row->freed, sums->freed * weight);
		__sync_fetch_and_add(&row->freed_bytes, sums->freed_bytes * weight);
	}
	if (sums->ns) {
		__sync_fetch_and_add(&row->ns, sums->ns * weight);
		if (sums->ns > row->max_ns)
			row->max_ns = sums->ns;
	}
	return 0;
}

/* Adds to the row of all calls, and to that of the stack, if it was read. */
static __always_inline void count_call(__u32 pid, const struct pkbpf_gpu_thread *call,
				       struct gpu_sums *sums)
{
	struct pkbpf_gpu_row_key key = {
		.detail = call->detail, .pid = pid, .pair = call->pair, .what = PKBPF_GPU_SUM};

	sums->weight = call->weight;
	row_add(&key, sums);
	if (!call->weight)
		return;
	key.detail = call->detail;
	key.stack_id = call->stack_id;
	key.what = PKBPF_GPU_STACK;
	row_add(&key, sums);
}

/* 0: this one is left out. */
static __always_inline __u32 choose_weight(__u32 pair)
{
	__u32 mask = gpu_control.masks[PKBPF_GPU_GROUP_OF(pair) & 7];

	return mask && bpf_get_prandom_u32() & mask ? 0 : mask + 1;
}

/* The number of the thread's stack; 0: unknown. */
static __always_inline __u64 read_stack(struct pt_regs *ctx, __u64 pid_tgid)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_GPU);
	__u32 zero = 0, *users = bpf_map_lookup_elem(&gpu_users, &zero);
	__u64 stack_id = 0;

	if (!scratch || !users || !scratch_enter(users))
		return 0;
	sample_begin_at(scratch, SCRATCH_GPU, PKBPF_PROFILE_ALLOC, pid_tgid, bpf_ktime_get_ns());
	alloc_read_stack(ctx, scratch);
	stack_id = stack_send(scratch, SCRATCH_GPU);
	scratch_leave(users);
	return stack_id;
}

static __always_inline __u64 user_word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
}

#if defined(__TARGET_ARCH_x86)

/* x, y and z of a grid. */
static __always_inline __u64 blocks_of(__u64 x, __u64 y, __u64 z)
{
	return (__u64)(__u32)x * (__u32)y * (__u32)z;
}

static __always_inline void read_launch(struct pt_regs *ctx, __u32 shape,
					struct pkbpf_gpu_thread *call)
{
	__u64 words[2] = {};

	switch (shape) {
	case PKBPF_GPU_KERNEL_DIM3:
		call->detail = PT_REGS_PARM1(ctx);
		call->bytes =
			blocks_of(PT_REGS_PARM2(ctx), PT_REGS_PARM2(ctx) >> 32, PT_REGS_PARM3(ctx));
		break;
	case PKBPF_GPU_HANDLE_XYZ:
		call->detail = PT_REGS_PARM1(ctx);
		call->bytes = blocks_of(PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), ctx->cx);
		break;
	default:
		call->detail = PT_REGS_PARM2(ctx);
		bpf_probe_read_user(words, sizeof(words), (void *)PT_REGS_PARM1(ctx));
		call->bytes = blocks_of(words[0], words[0] >> 32, words[1]);
		break;
	}
}

static __always_inline void read_copy(struct pt_regs *ctx, __u32 pair,
				      struct pkbpf_gpu_thread *call)
{
	__u64 way = PKBPF_GPU_WAY_OF(pair);

	call->bytes = PT_REGS_PARM3(ctx);
	switch (PKBPF_GPU_SHAPE_OF(pair)) {
	case PKBPF_GPU_BYTES_3_KIND_4:
		way = (__u32)ctx->cx;
		break;
	case PKBPF_GPU_BYTES_3_KIND_5:
		way = (__u32)ctx->r8;
		break;
	case PKBPF_GPU_AREA_5_6_KIND_7:
		call->bytes = ctx->r8 * ctx->r9;
		way = (__u32)user_word(PT_REGS_SP(ctx) + 8);
		break;
	case PKBPF_GPU_WORDS_3:
		call->bytes *= 4;
		break;
	}
	call->detail = way > PKBPF_GPU_SET ? PKBPF_GPU_ANY_WAY : way;
}

static __always_inline void read_arguments(struct pt_regs *ctx, struct pkbpf_gpu_thread *call)
{
	call->first = PT_REGS_PARM1(ctx);
	switch (PKBPF_GPU_GROUP_OF(call->pair)) {
	case PKBPF_GPU_LAUNCH:
		read_launch(ctx, PKBPF_GPU_SHAPE_OF(call->pair), call);
		break;
	case PKBPF_GPU_COPY:
		read_copy(ctx, call->pair, call);
		break;
	case PKBPF_GPU_ALLOC:
		call->bytes = PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_OUT_1_AREA_3_4
				      ? PT_REGS_PARM3(ctx) * ctx->cx
				      : PT_REGS_PARM2(ctx);
		break;
	case PKBPF_GPU_NAME:
		call->name = PT_REGS_PARM3(ctx);
		break;
	}
}

/* ---- what calls leave behind ---- */

static __noinline int name_kernel(__u32 pid, __u64 address, __u64 name)
{
	struct pkbpf_gpu_kernel_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_kernel kernel = {};

	long length = bpf_probe_read_user_str(kernel.name, sizeof(kernel.name), (void *)name);

	/* Nobody has touched that page yet, and this program must not wait for it. */
	if (length < 0) {
		kernel.unread = name;
		gpu_unread_names++;
	}
	if (length < 0 || length > 1)
		bpf_map_update_elem(&gpu_kernels, &key, &kernel, BPF_ANY);
	return 0;
}

static __noinline int keep_block(__u32 pid, const struct pkbpf_gpu_thread *call)
{
	struct pkbpf_gpu_block_key key = {.address = user_word(call->first), .pid = pid};
	struct pkbpf_gpu_block block = {.bytes = call->bytes,
					.stack_id = call->stack_id,
					.pair = call->pair,
					.weight = call->weight};

	if (key.address && bpf_map_update_elem(&gpu_blocks, &key, &block, BPF_ANY))
		counter_add(PKBPF_COUNTER_GPU_BLOCKS_FULL, 1);
	return 0;
}

/* What was allocated before there were probes is not known. */
static __noinline int free_block(__u32 pid, __u64 address)
{
	struct pkbpf_gpu_block_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_row_key row_key = {.pid = pid, .what = PKBPF_GPU_SUM};
	struct pkbpf_gpu_block *block = bpf_map_lookup_elem(&gpu_blocks, &key);
	struct gpu_sums sums = {.freed = 1};
	__u64 stack_id;

	if (!block)
		return 0;
	row_key.pair = block->pair;
	stack_id = block->stack_id;
	sums.weight = block->weight;
	sums.freed_bytes = block->bytes;
	if (bpf_map_delete_elem(&gpu_blocks, &key))
		return 0;
	row_add(&row_key, &sums);
	if (!sums.weight)
		return 0;
	row_key.detail = 0;
	row_key.stack_id = stack_id;
	row_key.what = PKBPF_GPU_STACK;
	row_add(&row_key, &sums);
	return 0;
}

static __noinline int count_error(__u32 pid, __u32 pair, __u32 code)
{
	struct pkbpf_gpu_row_key key = {
		.detail = code, .pid = pid, .pair = pair, .what = PKBPF_GPU_ERROR};
	struct gpu_sums sums = {.count = 1};

	row_add(&key, &sums);
	return 0;
}

/* ---- entries and exits ---- */

static __always_inline bool is_alive(const struct pkbpf_gpu_thread *call, __u64 stack_pointer)
{
	return call->return_address && stack_pointer < call->stack_pointer &&
	       user_word(call->stack_pointer) == call->return_address;
}

/* Is the current call inside of one that was seen? */
static __always_inline bool is_inside(struct pkbpf_gpu_thread *outer, __u32 pair,
				      __u64 stack_pointer)
{
	if (!is_alive(outer, stack_pointer))
		return false;
	/* A launch launches once: what follows is inside of that, or of another call of which the
	 * return address may only seem to be there. */
	if (outer->state == PKBPF_GPU_ONCE && PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_LAUNCH) {
		outer->stack_pointer = stack_pointer;
		outer->return_address = user_word(stack_pointer);
	}
	return true;
}

/* A call whose end is not seen. A function of its own: see row_add(). */
static __noinline int count_now(__u32 pid, struct pkbpf_gpu_thread *call)
{
	struct gpu_sums sums = {.bytes = call->bytes, .count = 1, .unmeasured = 1};
	__u32 group = PKBPF_GPU_GROUP_OF(call->pair);

	if (group == PKBPF_GPU_LAUNCH) {
		sums.blocks = call->bytes;
		sums.bytes = 0;
	}
	count_call(pid, call, &sums);
	return 0;
}

static __noinline int add_thread(__u32 tid)
{
	struct pkbpf_gpu_thread none = {};

	bpf_map_update_elem(&gpu_threads, &tid, &none, BPF_ANY);
	return 0;
}

/* The thread's entry, if what begins is no part of another call; NULL: it is, or no room. */
static __always_inline struct pkbpf_gpu_thread *begin_call(struct pt_regs *ctx, __u32 pair,
							   __u32 tid)
{
	struct pkbpf_gpu_thread *call = bpf_map_lookup_elem(&gpu_threads, &tid);

	if (call)
		return is_inside(call, pair, PT_REGS_SP(ctx)) ? NULL : call;
	add_thread(tid);
	call = bpf_map_lookup_elem(&gpu_threads, &tid);
	if (!call)
		counter_add(PKBPF_COUNTER_GPU_CALLS_LOST, 1);
	return call;
}

/* Writes in place: the stack above that of unwinding has no room. */
static __always_inline void enter(struct pt_regs *ctx, const struct pkbpf_span_site *site,
				  __u64 pid_tgid)
{
	__u32 pair = site->pair, group = PKBPF_GPU_GROUP_OF(pair);
	struct pkbpf_gpu_thread *call;

	if (PKBPF_GPU_SHAPE_OF(pair) == PKBPF_GPU_REGISTER) {
		name_kernel(pid_tgid >> 32, PT_REGS_PARM2(ctx), ctx->cx);
		return;
	}
	call = begin_call(ctx, pair, (__u32)pid_tgid);
	if (!call)
		return;
	call->pair = pair;
	call->detail = 0;
	call->bytes = 0;
	call->weight = 0;
	call->stack_id = 0;
	call->state = site->role == PKBPF_SITE_CALL ? PKBPF_GPU_OPEN
		      : group == PKBPF_GPU_LAUNCH   ? PKBPF_GPU_ONCE
						    : PKBPF_GPU_HELD;
	read_arguments(ctx, call);
	call->stack_pointer = PT_REGS_SP(ctx);
	call->return_address = user_word(call->stack_pointer);
	if (group != PKBPF_GPU_NAME) {
		call->weight = choose_weight(pair);
		if (call->weight)
			call->stack_id = read_stack(ctx, pid_tgid);
	}
	if (call->state == PKBPF_GPU_OPEN) {
		call->start_ns = bpf_ktime_get_ns();
	} else if (group != PKBPF_GPU_NAME) {
		count_now(pid_tgid >> 32, call);
		if (group == PKBPF_GPU_FREE)
			free_block(pid_tgid >> 32, call->first);
	}
}

/* A function of its own: see row_add(). */
static __noinline int end_call(struct pkbpf_gpu_thread *call, __u32 pid, __u32 result)
{
	struct gpu_sums sums = {.bytes = result ? 0 : call->bytes, .count = 1};

	sums.ns = bpf_ktime_get_ns() - call->start_ns;
	count_call(pid, call, &sums);
	return 0;
}

static __noinline int leave(struct pt_regs *ctx, __u32 pair, __u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid, pid = pid_tgid >> 32, result = (__u32)PT_REGS_RC(ctx);
	struct pkbpf_gpu_thread *call = bpf_map_lookup_elem(&gpu_threads, &tid);

	if (!call || call->state != PKBPF_GPU_OPEN || call->pair != pair ||
	    call->stack_pointer != PT_REGS_SP(ctx) || !call->return_address)
		return 0;
	call->return_address = 0;
	if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_NAME) {
		if (!result)
			name_kernel(pid, user_word(call->first), call->name);
		return 0;
	}
	end_call(call, pid, result);
	/* Nothing was copied or allocated. */
	if (result)
		count_error(pid, pair, result);
	else if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_ALLOC)
		keep_block(pid, call);
	else if (PKBPF_GPU_GROUP_OF(pair) == PKBPF_GPU_FREE)
		free_block(pid, call->first);
	return 0;
}

SEC("?uprobe")
int gpu_call(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&gpu_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	bool is_named;

	if (!site || !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	/* Kernels are registered when a program starts, perhaps before the interval. */
	is_named = PKBPF_GPU_GROUP_OF(site->pair) == PKBPF_GPU_NAME;
	if ((!gpu_control.start_ns || gpu_control.end_ns) && !is_named)
		return 0;
	if (site->role != PKBPF_SITE_RETURN)
		enter(ctx, site, pid_tgid);
	else if (is_exit(ctx, site))
		leave(ctx, site->pair, pid_tgid);
	return 0;
}

#else

SEC("?uprobe")
int gpu_call(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

#endif
