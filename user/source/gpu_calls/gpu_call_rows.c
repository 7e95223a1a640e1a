// SPDX-License-Identifier: BSD-2-Clause
#include "source/gpu_calls/gpu_call_rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include <pkbpf/gpu_call.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "event/gpu_call_event.h"
#include "source/gpu_calls/gpu_functions.h"

#define NAME_PAGE_BYTES 4096
#define ANCESTORS_MAX	8

struct keys {
	ARRAY_OF(struct pkbpf_gpu_row_key) items;
};

/* A program adds rows meanwhile, and the walk may begin anew: bounded, and no key is there twice by
 * what is deleted after the walk. */
static int find_keys(int map_fd, struct keys *keys)
{
	struct pkbpf_gpu_row_key next, *previous = NULL;

	for (uint32_t i = 0; i < 2 * PKBPF_GPU_ROWS; i++) {
		struct pkbpf_gpu_row_key *key;

		if (bpf_map_get_next_key(map_fd, previous, &next))
			return 0;
		key = array_add(&keys->items);
		if (!key)
			return -ENOMEM;
		*key = next;
		previous = key;
	}
	return 0;
}

/* A host function is code, which has a name as all code has: a stack of one frame stands for it.
 * Handles of drivers are no code. */
static int send_kernel(const struct pkbpf_gpu_row_key *key, uint64_t now_ns,
		       struct event_buffer *buffer, uint64_t *ret_id)
{
	uint64_t words[] = {key->pid, key->detail}, address = key->detail;
	const struct stack_view stack = {
		.stack_id = hash_bytes(words, sizeof(words), 0x6b65726e656cULL) | 1,
		.pid = key->pid,
		.user_end = PKBPF_END_UNVERIFIED,
		.user_ips = &address,
		.user_count = 1,
	};

	*ret_id = stack.stack_id;
	return event_encode_stack(buffer, now_ns, &stack);
}

/* A child has what its parent had registered. */
static void find_name(const struct gpu_call_maps *maps, const struct pkbpf_gpu_row_key *key,
		      struct pkbpf_event_gpu_call *record)
{
	struct pkbpf_gpu_kernel_key kernel_key = {.address = key->detail, .pid = key->pid};
	struct pkbpf_gpu_kernel kernel;

	for (int i = 0; i < ANCESTORS_MAX && kernel_key.pid; i++) {
		const struct process *process;

		if (bpf_map_lookup_elem(maps->kernels_fd, &kernel_key, &kernel) == 0 &&
		    !kernel.unread) {
			kernel.name[sizeof(kernel.name) - 1] = '\0';
			snprintf(record->kernel, sizeof(record->kernel), "%s", kernel.name);
			return;
		}
		process = process_table_find(maps->processes, kernel_key.pid);
		kernel_key.pid = process ? process->parent_pid : 0;
	}
}

/* What the thread calls its default stream may be one of its own. */
static uint64_t stream_of(const struct pkbpf_gpu_row_key *key)
{
	if (key->what != PKBPF_GPU_STREAM)
		return 0;
	if (key->stack_id == PKBPF_GPU_STREAM_NONE &&
	    PKBPF_GPU_WAY_OF(key->pair) & PKBPF_GPU_OF_THREAD)
		return PKBPF_GPU_STREAM_PER_THREAD;
	return key->stack_id == PKBPF_GPU_STREAM_LEGACY ? PKBPF_GPU_STREAM_NONE : key->stack_id;
}

int gpu_call_row_send(const struct gpu_call_maps *maps, const struct pkbpf_gpu_row_key *key,
		      const struct pkbpf_gpu_row *row, uint64_t now_ns, struct event_buffer *buffer)
{
	const struct gpu_function *function = gpu_function_at(PKBPF_GPU_CALL_OF(key->pair));
	struct pkbpf_event_gpu_call record = {
		.header.time_ns = now_ns,
		.stack_id = key->what == PKBPF_GPU_STREAM ? 0 : key->stack_id,
		.stream = stream_of(key),
		.detail = key->detail,
		.pid = key->pid,
		.group = PKBPF_GPU_GROUP_OF(key->pair),
		.what = key->what,
		.count = row->count,
		.unmeasured = row->unmeasured,
		.ns = row->ns,
		.max_ns = row->max_ns,
		.bytes = row->bytes,
		.blocks = row->blocks,
		.freed = row->freed,
		.freed_bytes = row->freed_bytes,
		.samples = row->samples,
		.runs = row->runs,
		.run_ns = row->run_ns,
		.run_max_ns = row->run_max_ns,
	};
	uint64_t kernel_id = 0;
	bool is_kernel = record.group == PKBPF_GPU_LAUNCH && key->what != PKBPF_GPU_ERROR &&
			 key->detail != PKBPF_GPU_OTHERS;
	int err = 0;

	if (!function)
		return 0;
	if (record.group == PKBPF_GPU_LAUNCH && key->what != PKBPF_GPU_ERROR)
		record.unmeasured = row->count;
	snprintf(record.function, sizeof(record.function), "%s", function->name);
	memcpy(record.comm, row->comm, sizeof(record.comm));
	if (is_kernel)
		find_name(maps, key, &record);
	/* Ways of launches: of a driver. */
	if (is_kernel && !(PKBPF_GPU_WAY_OF(key->pair) & PKBPF_GPU_OF_DRIVER)) {
		err = send_kernel(key, now_ns, buffer, &kernel_id);
		record.kernel_id = kernel_id;
		record.detail = 0;
	} else if (is_kernel && record.kernel[0] && !gpu_kernel_name_is_cut(record.kernel)) {
		record.detail = 0;
	}
	return err ? err : gpu_call_event_encode(buffer, &record);
}

int gpu_call_rows_drain(const struct gpu_call_maps *maps, uint32_t until, uint64_t now_ns,
			struct event_buffer *buffer, uint64_t *samples)
{
	struct pkbpf_gpu_row row;
	struct keys keys = {0};
	int err = find_keys(maps->rows_fd, &keys);

	array_foreach(&keys.items, key) {
		/* One that was met twice is gone. */
		if (err || (int32_t)(key->epoch - until) >= 0 ||
		    bpf_map_lookup_elem(maps->rows_fd, key, &row))
			continue;
		err = gpu_call_row_send(maps, key, &row, now_ns, buffer);
		if (err)
			continue;
		if (key->what == PKBPF_GPU_STACK)
			samples[PKBPF_GPU_GROUP_OF(key->pair) % PKBPF_GPU_GROUPS] += row.samples;
		bpf_map_delete_elem(maps->rows_fd, key);
	}
	array_free(&keys.items);
	return err;
}

static bool read_name(uint32_t pid, struct pkbpf_gpu_kernel *kernel)
{
	struct iovec to = {kernel->name, sizeof(kernel->name) - 1};
	struct iovec from = {(void *)(uintptr_t)kernel->unread, to.iov_len};
	uint64_t page_left = NAME_PAGE_BYTES - kernel->unread % NAME_PAGE_BYTES;
	ssize_t length = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);

	/* Nothing may be behind its page. */
	if (length < 0 && page_left < from.iov_len) {
		from.iov_len = page_left;
		length = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
	}
	if (length <= 0)
		return false;
	kernel->name[length] = '\0';
	kernel->unread = 0;
	return true;
}

void gpu_call_names_read(int kernels_fd)
{
	struct pkbpf_gpu_kernel_key next, key;
	struct pkbpf_gpu_kernel kernel;
	bool more = bpf_map_get_next_key(kernels_fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_KERNELS; i++) {
		key = next;
		more = bpf_map_get_next_key(kernels_fd, &key, &next) == 0;
		if (bpf_map_lookup_elem(kernels_fd, &key, &kernel) == 0 && kernel.unread &&
		    read_name(key.pid, &kernel))
			bpf_map_update_elem(kernels_fd, &key, &kernel, BPF_EXIST);
	}
}

static void each_launch_stack(int launches_fd, source_stack_fn *take, void *context)
{
	struct pkbpf_gpu_launch_key next, key;
	struct pkbpf_gpu_launch launch;
	bool more = bpf_map_get_next_key(launches_fd, NULL, &next) == 0;

	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_LAUNCHES_OPEN; i++) {
		key = next;
		if (bpf_map_lookup_elem(launches_fd, &key, &launch) == 0 && launch.stack_id)
			take(context, launch.stack_id);
		more = bpf_map_get_next_key(launches_fd, &key, &next) == 0;
	}
}

void gpu_call_rows_each_stack(const struct gpu_call_stacks *of, source_stack_fn *take,
			      void *context)
{
	struct pkbpf_gpu_block_key next, previous;
	struct pkbpf_gpu_block block;
	struct keys keys = {0};
	bool more = bpf_map_get_next_key(of->blocks_fd, NULL, &next) == 0;

	/* Without memory some lose their stack. */
	find_keys(of->rows_fd, &keys);
	array_foreach(&keys.items, key)
		if (key->what != PKBPF_GPU_STREAM)
			take(context, key->stack_id);
	array_free(&keys.items);
	for (uint32_t i = 0; more && i < 2 * PKBPF_GPU_BLOCKS; i++) {
		previous = next;
		if (bpf_map_lookup_elem(of->blocks_fd, &next, &block) == 0 && block.stack_id)
			take(context, block.stack_id);
		more = bpf_map_get_next_key(of->blocks_fd, &previous, &next) == 0;
	}
	each_launch_stack(of->launches_fd, take, context);
}
