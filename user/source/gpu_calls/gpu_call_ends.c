// SPDX-License-Identifier: BSD-2-Clause
#include "source/gpu_calls/gpu_call_ends.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* A program on another CPU may write a time that is this old. */
#define SETTLED_NS NS_PER_SECOND

struct reset {
	uint32_t pid;
	struct pkbpf_gpu_reset value;
};

struct resets {
	ARRAY_OF(struct reset) items;
};

struct block_keys {
	ARRAY_OF(struct pkbpf_gpu_block_key) items;
};

bool gpu_block_is_gone(const struct pkbpf_gpu_block *block, const struct pkbpf_gpu_reset *reset)
{
	return reset->time_ns && block->time_ns < reset->time_ns;
}

static void find_resets(const struct gpu_call_ends *ends, struct resets *resets)
{
	uint32_t next, *previous = NULL, key;

	for (uint32_t i = 0; i < 2 * PKBPF_GPU_RESETS; i++) {
		struct reset *reset, found;

		if (bpf_map_get_next_key(ends->resets_fd, previous, &next))
			break;
		key = next;
		previous = &key;
		if (bpf_map_lookup_elem(ends->resets_fd, &key, &found.value) ||
		    !found.value.time_ns ||
		    (!found.value.has_ended && found.value.time_ns + SETTLED_NS <= ends->swept_ns))
			continue;
		reset = array_add(&resets->items);
		if (!reset)
			break;
		found.pid = key;
		*reset = found;
	}
}

static const struct reset *reset_of(const struct resets *resets, uint32_t pid)
{
	array_foreach(&resets->items, reset)
		if (reset->pid == pid)
			return reset;
	return NULL;
}

static int send_freed(const struct gpu_call_maps *maps, uint32_t pid,
		      const struct pkbpf_gpu_block *block, uint64_t now_ns,
		      struct event_buffer *buffer)
{
	struct pkbpf_gpu_row_key key = {.pid = pid, .pair = block->pair, .what = PKBPF_GPU_SUM};
	/* No call has freed it. */
	struct pkbpf_gpu_row row = {.freed_bytes = block->bytes};
	const struct process *process = process_table_find(maps->processes, pid);
	int err;

	if (process)
		memcpy(row.comm, process->comm, sizeof(row.comm));
	err = gpu_call_row_send(maps, &key, &row, now_ns, buffer);
	if (err || !block->weight)
		return err;
	key.what = PKBPF_GPU_STACK;
	key.stack_id = block->stack_id;
	row.freed_bytes *= block->weight;
	return gpu_call_row_send(maps, &key, &row, now_ns, buffer);
}

/* A program may use the address again meanwhile. */
static int take_block(const struct gpu_call_ends *ends, const struct gpu_call_maps *maps,
		      const struct pkbpf_gpu_block_key *key, const struct pkbpf_gpu_reset *reset,
		      uint64_t now_ns, struct event_buffer *buffer)
{
	struct pkbpf_gpu_block block;

	if (bpf_map_lookup_elem(ends->blocks_fd, key, &block) ||
	    !gpu_block_is_gone(&block, reset) ||
	    bpf_map_lookup_and_delete_elem(ends->blocks_fd, key, &block))
		return 0;
	if (gpu_block_is_gone(&block, reset))
		return send_freed(maps, key->pid, &block, now_ns, buffer);
	bpf_map_update_elem(ends->blocks_fd, key, &block, BPF_NOEXIST);
	return 0;
}

/* Keys of blocks of these processes; -ENOMEM. */
static int find_blocks(const struct gpu_call_ends *ends, const struct resets *resets,
		       struct block_keys *keys)
{
	struct pkbpf_gpu_block_key next, previous;
	bool more = bpf_map_get_next_key(ends->blocks_fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_BLOCKS; i++) {
		previous = next;
		more = bpf_map_get_next_key(ends->blocks_fd, &previous, &next) == 0;
		if (reset_of(resets, previous.pid)) {
			struct pkbpf_gpu_block_key *key = array_add(&keys->items);

			if (!key)
				return -ENOMEM;
			*key = previous;
		}
	}
	return 0;
}

int gpu_call_ends_send(struct gpu_call_ends *ends, const struct gpu_call_maps *maps,
		       uint64_t now_ns, struct event_buffer *buffer)
{
	struct resets resets = {0};
	struct block_keys keys = {0};
	int err = 0;

	find_resets(ends, &resets);
	if (resets.items.count)
		err = find_blocks(ends, &resets, &keys);
	array_foreach(&keys.items, key)
		if (!err)
			err = take_block(ends, maps, key, &reset_of(&resets, key->pid)->value,
					 now_ns, buffer);
	/* Its number may be given to another process. */
	array_foreach(&resets.items, reset)
		if (reset->value.has_ended)
			bpf_map_delete_elem(ends->resets_fd, &reset->pid);
	ends->swept_ns = now_ns;
	array_free(&resets.items);
	array_free(&keys.items);
	return err;
}

void gpu_call_ends_forget_names(int kernels_fd)
{
	struct pkbpf_gpu_kernel_key next, key;
	bool more = bpf_map_get_next_key(kernels_fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_KERNELS; i++) {
		key = next;
		more = bpf_map_get_next_key(kernels_fd, &key, &next) == 0;
		if (kill((pid_t)key.pid, 0) && errno == ESRCH)
			bpf_map_delete_elem(kernels_fd, &key);
	}
}

uint64_t gpu_call_ends_open_calls(int threads_fd)
{
	struct pkbpf_gpu_thread thread;
	uint32_t next, key;
	uint64_t count = 0;
	bool more = bpf_map_get_next_key(threads_fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_THREADS; i++) {
		key = next;
		if (bpf_map_lookup_elem(threads_fd, &key, &thread) == 0)
			count += thread.state == PKBPF_GPU_OPEN && thread.return_address &&
				 PKBPF_GPU_GROUP_OF(thread.pair) != PKBPF_GPU_NAME;
		more = bpf_map_get_next_key(threads_fd, &key, &next) == 0;
	}
	return count;
}
