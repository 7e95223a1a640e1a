// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for maps of the kernel side
/* Tests what becomes of memory, names and calls of processes when they end, and how rows are sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/gpu_call_event.h"
#include "process_table_fixture.h"
#include "source/gpu_calls/gpu_call_ends.h"
#include "source/gpu_calls/gpu_functions.h"

#define S	 NS_PER_SECOND
#define NOBODY	 0x7ffffff0U
#define CAPACITY 16

/* ---- the maps ---- */

enum { BLOCKS_FD, RESETS_FD, THREADS_FD, KERNELS_FD, ROWS_FD, MAPS };

static struct map {
	size_t key_size, value_size, count;
	struct {
		uint8_t key[64], value[512];
	} items[CAPACITY];
} maps[MAPS];

/* What a program writes between a look and the removal; time 0: nothing. */
static struct pkbpf_gpu_block replacement;

static size_t place_of(const struct map *map, const void *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (memcmp(map->items[i].key, key, map->key_size) == 0)
			return i;
	return map->count;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	const struct map *map = &maps[fd];
	size_t at = key ? place_of(map, key) + 1 : 0;

	if (key && at > map->count)
		at = 0;
	if (at >= map->count)
		return -1;
	memcpy(next, map->items[at].key, map->key_size);
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct map *map = &maps[fd];
	size_t at = place_of(map, key);

	if (at == map->count)
		return -1;
	memcpy(value, map->items[at].value, map->value_size);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct map *map = &maps[fd];
	size_t at = place_of(map, key);

	if (at == map->count)
		return -1;
	map->items[at] = map->items[--map->count];
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct map *map = &maps[fd];
	size_t at = place_of(map, key);

	if (at < map->count && flags == BPF_NOEXIST)
		return -1;
	assert_true(at < CAPACITY);
	map->count += at == map->count;
	memcpy(map->items[at].key, key, map->key_size);
	memcpy(map->items[at].value, value, map->value_size);
	return 0;
}

int bpf_map_lookup_and_delete_elem(int fd, const void *key, void *value)
{
	if (replacement.time_ns)
		bpf_map_update_elem(fd, key, &replacement, BPF_ANY);
	return bpf_map_lookup_elem(fd, key, value) ? -1 : bpf_map_delete_elem(fd, key);
}

/* ---- */

static struct gpu_call_ends ends;
static struct event_buffer buffer;

static struct gpu_call_maps maps_of(struct fixture *fixture)
{
	return (struct gpu_call_maps){ROWS_FD, KERNELS_FD, fixture->table};
}

static int begin(void **state)
{
	memset(maps, 0, sizeof(maps));
	replacement = (struct pkbpf_gpu_block){0};
	maps[BLOCKS_FD].key_size = sizeof(struct pkbpf_gpu_block_key);
	maps[BLOCKS_FD].value_size = sizeof(struct pkbpf_gpu_block);
	maps[RESETS_FD].key_size = sizeof(uint32_t);
	maps[RESETS_FD].value_size = sizeof(struct pkbpf_gpu_reset);
	maps[THREADS_FD].key_size = sizeof(uint32_t);
	maps[THREADS_FD].value_size = sizeof(struct pkbpf_gpu_thread);
	maps[KERNELS_FD].key_size = sizeof(struct pkbpf_gpu_kernel_key);
	maps[KERNELS_FD].value_size = sizeof(struct pkbpf_gpu_kernel);
	maps[ROWS_FD].key_size = sizeof(struct pkbpf_gpu_row_key);
	maps[ROWS_FD].value_size = sizeof(struct pkbpf_gpu_row);
	ends = (struct gpu_call_ends){.blocks_fd = BLOCKS_FD, .resets_fd = RESETS_FD};
	return setup(state);
}

static int end(void **state)
{
	event_buffer_done(&buffer);
	buffer = (struct event_buffer){0};
	return teardown(state);
}

static uint32_t site_of(const char *name)
{
	const struct gpu_function *function = gpu_function_find(name);

	return PKBPF_GPU_SITE(function - gpu_function_at(0), function->group, function->shape,
			      function->way, gpu_function_layer(function));
}

static void add_block(uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns,
		      uint32_t weight)
{
	struct pkbpf_gpu_block_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_block block = {.bytes = bytes,
					.time_ns = time_ns,
					.pair = site_of("cudaMalloc"),
					.stack_id = 77,
					.weight = weight};

	assert_int_equal(bpf_map_update_elem(BLOCKS_FD, &key, &block, BPF_ANY), 0);
}

static void add_reset(uint32_t pid, uint64_t time_ns, bool has_ended)
{
	struct pkbpf_gpu_reset reset = {time_ns, has_ended};

	assert_int_equal(bpf_map_update_elem(RESETS_FD, &pid, &reset, BPF_ANY), 0);
}

/* Sums of the records in the buffer, which is empty then. */
static struct pkbpf_event_gpu_call take_sums(uint32_t what, size_t *ret_count)
{
	struct pkbpf_event_gpu_call sums = {.count = 0};
	const struct pkbpf_event_header *header;

	*ret_count = 0;
	for (size_t at = 0; at < buffer.size; at += header->size) {
		const struct pkbpf_event_gpu_call *call = (const void *)(buffer.data + at);

		header = (const void *)(buffer.data + at);
		if (header->kind != PKBPF_EVENT_GPU_CALL)
			continue;
		assert_int_equal(gpu_call_event_check(header), 0);
		if (call->what != what)
			continue;
		(*ret_count)++;
		sums.freed_bytes += call->freed_bytes;
		sums.count += call->count;
		memcpy(sums.kernel, call->kernel, sizeof(sums.kernel));
		memcpy(sums.function, call->function, sizeof(sums.function));
	}
	return sums;
}

static void a_process_that_ended_has_no_memory(void **state)
{
	struct gpu_call_maps at = maps_of(*state);
	struct pkbpf_event_gpu_call sums;
	size_t count;

	add_block(10, 0x1000, 100, 5, 4);
	add_block(10, 0x2000, 20, 6, 0);
	add_block(11, 0x1000, 3, 5, 1);
	add_reset(10, 9, true);
	add_reset(11, 0, false);
	assert_int_equal(gpu_call_ends_send(&ends, &at, 5 * S, &buffer), 0);
	sums = take_sums(PKBPF_GPU_SUM, &count);
	assert_int_equal(count, 2);
	assert_int_equal(sums.freed_bytes, 120);
	assert_int_equal(sums.count, 0);
	assert_string_equal(sums.function, "cudaMalloc");
	/* One stack was read, for four calls. */
	sums = take_sums(PKBPF_GPU_STACK, &count);
	assert_int_equal(count, 1);
	assert_int_equal(sums.freed_bytes, 400);
	assert_int_equal(maps[BLOCKS_FD].count, 1);
	/* The other one lives. */
	assert_int_equal(maps[RESETS_FD].count, 1);
}

static void a_reset_takes_what_was_there_before(void **state)
{
	struct gpu_call_maps at = maps_of(*state);
	size_t count;

	add_block(10, 0x1000, 100, 4 * S, 0);
	add_block(10, 0x2000, 7, 6 * S, 0);
	add_reset(10, 5 * S, false);
	for (int i = 0; i < 4; i++)
		assert_int_equal(gpu_call_ends_send(&ends, &at, (7 + i) * S, &buffer), 0);
	assert_int_equal(take_sums(PKBPF_GPU_SUM, &count).freed_bytes, 100);
	assert_int_equal(count, 1);
	assert_int_equal(maps[BLOCKS_FD].count, 1);
	assert_int_equal(maps[RESETS_FD].count, 1);
}

static void an_address_that_is_used_again_stays(void **state)
{
	struct gpu_call_maps at = maps_of(*state);
	size_t count;

	add_block(10, 0x1000, 100, 4 * S, 0);
	add_reset(10, 5 * S, false);
	replacement = (struct pkbpf_gpu_block){.bytes = 8, .time_ns = 6 * S};
	assert_int_equal(gpu_call_ends_send(&ends, &at, 7 * S, &buffer), 0);
	take_sums(PKBPF_GPU_SUM, &count);
	assert_int_equal(count, 0);
	assert_int_equal(maps[BLOCKS_FD].count, 1);
}

static void open_calls_are_those_that_will_end(void **state)
{
	const struct pkbpf_gpu_thread threads[] = {
		{.state = PKBPF_GPU_OPEN, .return_address = 1, .pair = site_of("cudaMalloc")},
		{.state = PKBPF_GPU_OPEN, .return_address = 0, .pair = site_of("cudaMalloc")},
		{.state = PKBPF_GPU_HELD, .return_address = 1, .pair = site_of("cudaMalloc")},
		{.state = PKBPF_GPU_OPEN,
		 .return_address = 1,
		 .pair = site_of("cuModuleGetFunction")},
	};

	for (uint32_t i = 0; i < 4; i++)
		bpf_map_update_elem(THREADS_FD, &i, &threads[i], BPF_ANY);
	assert_int_equal(gpu_call_ends_open_calls(THREADS_FD), 1);
	(void)state;
}

static void add_name(uint32_t pid, uint64_t address, const char *name)
{
	struct pkbpf_gpu_kernel_key key = {.address = address, .pid = pid};
	struct pkbpf_gpu_kernel kernel = {.unread = 0};

	/* As a program that lies would have it: without an end. */
	memset(kernel.name, 'x', sizeof(kernel.name));
	if (name)
		strcpy(kernel.name, name);
	bpf_map_update_elem(KERNELS_FD, &key, &kernel, BPF_ANY);
}

static void names_go_with_their_process(void **state)
{
	add_name((uint32_t)getpid(), 1, "mine");
	add_name(NOBODY, 1, "gone");
	gpu_call_ends_forget_names(KERNELS_FD);
	assert_int_equal(maps[KERNELS_FD].count, 1);
	assert_int_equal(((struct pkbpf_gpu_kernel_key *)maps[KERNELS_FD].items[0].key)->pid,
			 getpid());
	(void)state;
}

static void drain_one(struct fixture *fixture, uint32_t pid, uint64_t kernel, const char *function)
{
	struct gpu_call_maps at = maps_of(fixture);
	struct pkbpf_gpu_row_key key = {
		.detail = kernel, .pid = pid, .pair = site_of(function), .what = PKBPF_GPU_SUM};
	struct pkbpf_gpu_row row = {.count = 1};
	uint64_t samples[PKBPF_GPU_GROUPS] = {0};

	event_buffer_clear(&buffer);
	bpf_map_update_elem(ROWS_FD, &key, &row, BPF_ANY);
	assert_int_equal(gpu_call_rows_drain(&at, 1, S, &buffer, samples), 0);
	assert_int_equal(maps[ROWS_FD].count, 0);
}

static void a_child_has_the_names_of_its_parent(void **state)
{
	struct fixture *fixture = *state;
	size_t count;

	fake_process(fixture->machine, 10, 1, "train");
	fake_fork(fixture->machine, 10, 11);
	play(fixture);
	add_name(10, 0x4000, "_Z5scalePfi");
	drain_one(fixture, 11, 0x4000, "cudaLaunchKernel");
	assert_string_equal(take_sums(PKBPF_GPU_SUM, &count).kernel, "_Z5scalePfi");
	drain_one(fixture, 12, 0x4000, "cudaLaunchKernel");
	assert_string_equal(take_sums(PKBPF_GPU_SUM, &count).kernel, "");
}

/* Two of which the first 159 bytes are the same are told apart by their handles. */
static void long_names_keep_their_handle(void **state)
{
	const struct pkbpf_event_gpu_call *call;

	add_name(10, 0x4000, NULL);
	drain_one(*state, 10, 0x4000, "cuLaunchKernel");
	call = (const void *)buffer.data;
	assert_int_equal(gpu_call_event_check(&call->header), 0);
	assert_true(gpu_kernel_name_is_cut(call->kernel));
	assert_int_equal(call->detail, 0x4000);
	add_name(10, 0x5000, "short");
	drain_one(*state, 10, 0x5000, "cuLaunchKernel");
	call = (const void *)buffer.data;
	assert_string_equal(call->kernel, "short");
	assert_int_equal(call->detail, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_ended_has_no_memory),
		TEST(a_reset_takes_what_was_there_before),
		TEST(an_address_that_is_used_again_stays),
		TEST(open_calls_are_those_that_will_end),
		TEST(names_go_with_their_process),
		TEST(a_child_has_the_names_of_its_parent),
		TEST(long_names_keep_their_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
