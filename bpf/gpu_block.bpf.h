/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of GPUs that calls have allocated, until it is freed. */
#ifndef PKBPF_GPU_BLOCK_BPF_H
#define PKBPF_GPU_BLOCK_BPF_H

#include "gpu_call_arguments.bpf.h"
#include "gpu_call_rows.bpf.h"

/* What was freed counts for the row of its allocation. */
static __noinline int book_free(__u32 pid, const struct pkbpf_gpu_block *block)
{
	struct pkbpf_gpu_row_key key = {.pid = pid, .pair = block->pair, .what = PKBPF_GPU_SUM};
	struct gpu_sums sums = {.freed = 1, .freed_bytes = block->bytes, .weight = block->weight};

	row_add(&key, &sums);
	if (!sums.weight)
		return 0;
	key.detail = 0;
	key.stack_id = block->stack_id;
	key.what = PKBPF_GPU_STACK;
	row_add(&key, &sums);
	return 0;
}

/* Takes what a call frees from the table when it begins: while it lasts, another thread may get the
 * same address. What was allocated before there were probes is not known. */
static __noinline int take_block(__u32 pid, struct pkbpf_gpu_thread *call)
{
	struct pkbpf_gpu_block_key key = {.address = call->first, .pid = pid};
	struct pkbpf_gpu_block *block;

	key.is_handle = PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_HANDLE_1;
	call->has_freed = 0;
	block = bpf_map_lookup_elem(&gpu_blocks, &key);
	if (!block)
		return 0;
	call->freed = *block;
	call->has_freed = !bpf_map_delete_elem(&gpu_blocks, &key);
	return 0;
}

static __noinline int put_block_back(__u32 pid, struct pkbpf_gpu_thread *call)
{
	struct pkbpf_gpu_block_key key = {.address = call->first, .pid = pid};

	key.is_handle = PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_HANDLE_1;
	bpf_map_update_elem(&gpu_blocks, &key, &call->freed, BPF_NOEXIST);
	return 0;
}

/* What user space looks at to take blocks of processes that have ended from the table. */
static __noinline int note_owner(__u32 pid)
{
	struct pkbpf_gpu_reset none = {};

	if (!bpf_map_lookup_elem(&gpu_resets, &pid) &&
	    bpf_map_update_elem(&gpu_resets, &pid, &none, BPF_NOEXIST) &&
	    !bpf_map_lookup_elem(&gpu_resets, &pid))
		counter_add(PKBPF_COUNTER_GPU_BLOCKS_FULL, 1);
	return 0;
}

static __always_inline void forget_blocks(__u32 pid, bool has_ended)
{
	struct pkbpf_gpu_reset *reset = bpf_map_lookup_elem(&gpu_resets, &pid);

	if (!reset)
		return;
	reset->time_ns = bpf_ktime_get_ns();
	reset->has_ended = has_ended;
}

static __noinline int keep_block(__u32 pid, const struct pkbpf_gpu_thread *call)
{
	struct pkbpf_gpu_block_key key = {.address = user_word(call->first), .pid = pid};
	struct pkbpf_gpu_block block = {.bytes = call->bytes,
					.stack_id = call->stack_id,
					.pair = call->pair,
					.weight = call->weight};
	struct pkbpf_gpu_block *old;

	if (!key.address)
		return 0;
	key.is_handle = PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_OUT_1_HANDLE_2;
	old = bpf_map_lookup_elem(&gpu_blocks, &key);
	/* That one has gone in a way that was not seen. */
	if (old)
		book_free(pid, old);
	block.time_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&gpu_blocks, &key, &block, BPF_ANY))
		counter_add(PKBPF_COUNTER_GPU_BLOCKS_FULL, 1);
	else
		note_owner(pid);
	return 0;
}

static __always_inline void end_free(__u32 pid, struct pkbpf_gpu_thread *call, __u32 result)
{
	if (!result && PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_RESET)
		forget_blocks(pid, false);
	if (!call->has_freed)
		return;
	if (result)
		put_block_back(pid, call);
	else
		book_free(pid, &call->freed);
}

#endif
