// SPDX-License-Identifier: BSD-2-Clause
#include "profile/heap/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static int setup(void **state)
{
	*state = heap_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	heap_free(*state);
	return 0;
}

static void add(struct heap *heap, uint32_t process, uint64_t stack, uint64_t address,
		uint64_t time_ns)
{
	assert_int_equal(heap_add(heap, &(struct heap_alloc){.process = process,
							     .stack_id = stack,
							     .comm = "server",
							     .time_ns = time_ns,
							     .address = address,
							     .size = 100,
							     .weight = 1000}),
			 0);
}

static void count_block(void *context, const struct heap_site *site, const struct heap_block *block)
{
	*(uint64_t *)context += block->weight;
}

static uint64_t alive(const struct heap *heap, uint32_t process)
{
	uint64_t bytes = 0;

	heap_each_live(heap, process, count_block, &bytes);
	return bytes;
}

static const struct heap_site *site_of(const struct heap *heap, uint32_t process, uint64_t stack)
{
	size_t count;
	const struct heap_site *sites = heap_sites(heap, &count);

	for (size_t i = 0; i < count; i++)
		if (sites[i].process == process && sites[i].stack_id == stack)
			return &sites[i];
	fail_msg("no site %lu of process %u", stack, process);
	return NULL;
}

static void sums_are_by_site_and_process(void **state)
{
	struct heap *heap = *state;

	add(heap, 1, 10, 0x1000, 1);
	add(heap, 1, 10, 0x2000, 2);
	add(heap, 1, 11, 0x3000, 3);
	add(heap, 2, 10, 0x1000, 4);
	assert_int_equal(alive(heap, 1), 3000);
	assert_int_equal(alive(heap, 2), 1000);
	assert_int_equal(alive(heap, HEAP_NO_PROCESS), 4000);
	assert_int_equal(site_of(heap, 1, 10)->born.samples, 2);
	assert_int_equal(site_of(heap, 1, 10)->born.objects, 20);
	/* (1 - 1/10) * 1000^2 each */
	assert_int_equal(site_of(heap, 1, 10)->live.variance, 1800000);
	heap_end(heap, 1, 0x1000, 5);
	assert_int_equal(site_of(heap, 1, 10)->born.bytes, 2000);
	assert_int_equal(site_of(heap, 1, 10)->live.bytes, 1000);
	assert_int_equal(site_of(heap, 1, 10)->brief.samples, 1);
	assert_int_equal(alive(heap, 2), 1000);
}

static void ends_only_what_is_there(void **state)
{
	struct heap *heap = *state;

	heap_end(heap, 1, 0x1000, 1);
	add(heap, 1, 10, 0x1000, 10);
	heap_end(heap, 1, 0x2000, 11);
	heap_end(heap, 2, 0x1000, 11);
	assert_int_equal(alive(heap, 1), 1000);
	/* A free that comes late is of the allocation that was there before. */
	heap_end(heap, 1, 0x1000, 9);
	assert_int_equal(alive(heap, 1), 1000);
	heap_end(heap, 1, 0x1000, 12);
	assert_int_equal(alive(heap, 1), 0);
}

/* No leak may come of a free that was lost. */
static void a_second_allocation_at_an_address_ends_the_first(void **state)
{
	struct heap *heap = *state;

	add(heap, 1, 10, 0x1000, 1);
	add(heap, 1, 11, 0x1000, 2);
	assert_int_equal(alive(heap, 1), 1000);
	assert_int_equal(site_of(heap, 1, 10)->live.samples, 0);
	assert_int_equal(site_of(heap, 1, 11)->live.samples, 1);
}

static void exec_leaves_nothing_alive(void **state)
{
	struct heap *heap = *state;

	add(heap, 1, 10, 0x1000, 1);
	heap_forget(heap, 1, 0);
	assert_int_equal(alive(heap, 1), 0);
	assert_int_equal(site_of(heap, 1, 10)->live.samples, 0);
	assert_int_equal(site_of(heap, 1, 10)->born.samples, 1);
	add(heap, 1, 10, 0x1000, 2);
	assert_int_equal(alive(heap, 1), 1000);
}

static void a_removed_process_leaves_the_others(void **state)
{
	struct heap *heap = *state;
	size_t cursor = 0;

	add(heap, 1, 10, 0x1000, 1);
	add(heap, 2, 20, 0x1000, 1);
	add(heap, 3, 30, 0x1000, 1);
	heap_remove(heap, 1);
	assert_int_equal(alive(heap, HEAP_NO_PROCESS), 2000);
	add(heap, 4, 40, 0x1000, 1);
	add(heap, 3, 30, 0x2000, 1);
	assert_int_equal(alive(heap, 3), 2000);
	assert_int_equal(site_of(heap, 4, 40)->born.samples, 1);
	heap_remove(heap, 3);
	heap_remove(heap, 2);
	assert_int_equal(heap_next_process(heap, &cursor), 4);
	assert_int_equal(heap_next_process(heap, &cursor), HEAP_NO_PROCESS);
}

static void the_peak_keeps_its_sites(void **state)
{
	struct heap *heap = *state;

	for (uint64_t i = 1; i <= 100; i++)
		add(heap, 1, 10, i * 16, i);
	for (uint64_t i = 1; i <= 100; i++)
		heap_end(heap, 1, i * 16, 200 + i);
	add(heap, 1, 11, 0x1000, 400);
	assert_int_equal(heap_level(heap, 1, 500).bytes, 1000);
	assert_int_equal(heap_level(heap, 1, 500).peak_bytes, 100000);
	assert_int_equal(heap_level(heap, 1, 500).peak_ns, 100);
	/* It rises for 99 ns and stays for 101, falls for 99, and is 1,000 from 400 on. */
	assert_int_equal(heap_level(heap, 1, 500).mean_bytes,
			 (1000 * 4950 + 100000 * 101 + 1000 * 4950 + 1000 * 100) / 499);
	/* Nothing ends before its last change. */
	assert_int_equal(heap_level(heap, 1, 100).mean_bytes,
			 (1000 * 4950 + 100000 * 101 + 1000 * 4950) / 399);
	assert_int_equal(heap_level(heap, 7, 500).mean_bytes, 0);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 10)), 100000);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 11)), 0);
}

/* To the last block of the highest of many peaks, of sites that change before, then and after. */
static void each_site_has_what_it_held_at_the_peak(void **state)
{
	struct heap *heap = *state;
	uint64_t now = 1, next = 16;

	add(heap, 1, 10, 0x100000, now);
	for (int wave = 1; wave <= 40; wave++) {
		for (int i = 0; i < wave; i++)
			add(heap, 1, 11 + (uint64_t)i % 2, next + 16 * (uint64_t)i, ++now);
		for (int i = 0; i < wave; i++)
			heap_end(heap, 1, next + 16 * (uint64_t)i, ++now);
		next += 16 * (uint64_t)wave;
	}
	assert_int_equal(heap_level(heap, 1, now).peak_bytes, 41000);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 10)), 1000);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 11)), 20000);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 12)), 20000);
	add(heap, 1, 13, 0x200000, ++now);
	heap_forget(heap, 1, ++now);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 10)), 1000);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 13)), 0);
}

static uint32_t place_of_tens(void *context, const struct heap_site *site)
{
	assert_null(context);
	return site->stack_id < 100 ? (uint32_t)(site->stack_id / 10) : UINT32_MAX;
}

/* Stacks 10 and 11 are one place, as 20 to 29 are; 100 and 101 have none, and stay two. */
static void sites_of_one_place_become_one(void **state)
{
	static const uint64_t stacks[] = {10, 11, 20, 100, 21, 101, 29};
	struct heap *heap = *state;

	for (uint64_t i = 0; i < 7; i++)
		add(heap, 1, stacks[i], 0x1000 * (i + 1), 10 + i);
	heap_end(heap, 1, 0x1000 * 5, 30);
	add(heap, 2, 21, 0x1000, 40);
	heap_merge_sites(heap, 1, place_of_tens, NULL);
	assert_int_equal(site_of(heap, 1, 10)->born.samples, 2);
	assert_int_equal(site_of(heap, 1, 10)->live.bytes, 2000);
	assert_int_equal(site_of(heap, 1, 11)->born.samples, 0);
	assert_int_equal(site_of(heap, 1, 20)->born.bytes, 3000);
	assert_int_equal(site_of(heap, 1, 20)->live.bytes, 2000);
	assert_int_equal(site_of(heap, 1, 20)->live.samples, 2);
	assert_int_equal(heap_bytes_at_peak(heap, site_of(heap, 1, 20)), 3000);
	assert_int_equal(site_of(heap, 1, 21)->live.samples, 0);
	assert_int_equal(site_of(heap, 1, 100)->born.samples, 1);
	assert_int_equal(site_of(heap, 1, 101)->born.samples, 1);
	/* Another process is another heap, and live allocations keep their own sites. */
	assert_int_equal(site_of(heap, 2, 21)->born.samples, 1);
	assert_int_equal(alive(heap, 1), 6000);
	heap_merge_sites(heap, 7, place_of_tens, NULL);
}

/* What was held until an exec counts for that time. */
static void the_mean_has_the_time_before_an_exec(void **state)
{
	struct heap *heap = *state;

	add(heap, 1, 10, 16, 100);
	heap_forget(heap, 1, 300);
	assert_int_equal(heap_level(heap, 1, 500).bytes, 0);
	assert_int_equal(heap_level(heap, 1, 500).mean_bytes, 500);
}

static double born_and_alive(const struct heap_site *site)
{
	double sum = 0;

	for (size_t i = 0; i < HEAP_GENERATIONS; i++)
		sum += site->alive[i].bytes;
	return sum;
}

static void generations_grow_with_the_run(void **state)
{
	struct heap *heap = *state;
	const struct heap_site *site;
	double ended = 0;

	for (uint64_t i = 0; i < 60; i++)
		add(heap, 1, 10, (i + 1) * 16, (i + 1) * NS_PER_SECOND);
	assert_int_equal(heap_generation_ns(heap), 4 * NS_PER_SECOND);
	for (uint64_t i = 0; i < 30; i++)
		heap_end(heap, 1, (i + 1) * 16, 61 * NS_PER_SECOND);
	site = site_of(heap, 1, 10);
	assert_int_equal(born_and_alive(site), 30000);
	assert_int_equal(site->alive[0].samples, 0);
	assert_non_null(site->endings);
	for (size_t i = 0; i < HEAP_GENERATIONS; i++)
		ended += site->endings->born_ended[i][15].bytes;
	assert_int_equal(ended, 30000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(sums_are_by_site_and_process),
		TEST(ends_only_what_is_there),
		TEST(a_second_allocation_at_an_address_ends_the_first),
		TEST(exec_leaves_nothing_alive),
		TEST(a_removed_process_leaves_the_others),
		TEST(the_peak_keeps_its_sites),
		TEST(each_site_has_what_it_held_at_the_peak),
		TEST(sites_of_one_place_become_one),
		TEST(the_mean_has_the_time_before_an_exec),
		TEST(generations_grow_with_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
