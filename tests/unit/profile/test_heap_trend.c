// SPDX-License-Identifier: BSD-2-Clause
/* Runs of 60 s in which one site allocates blocks of 200 bytes, sampled once in 64 KiB: only what
 * leaks may be called a leak. */
#include "profile/heap/heap_trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"

#define RUNS	 40
#define SECONDS	 60
#define SIZE	 200
#define INTERVAL 65536
/* 65,636 bytes for each sample of 200 */
#define WEIGHT	 65636
#define START_NS (100 * NS_PER_SECOND)

struct run {
	struct heap *heap;
	uint64_t next_address, random;
	bool has_ended;
};

static double uniform(struct run *run)
{
	run->random = run->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(run->random >> 11) / 9007199254740992.0;
}

struct sampled {
	uint64_t born_ns, end_ns; /* UINT64_MAX: it stays */
	uint64_t address;
	uint64_t size; /* of a block that is always sampled; 0: one of SIZE */
};

struct plan {
	struct sampled *items;
	size_t count;
};

/* One sample at a time (in seconds) that lives so long; 0: for ever. */
static void plan_sample(struct run *run, struct plan *plan, double at, double lives)
{
	struct sampled *item = &plan->items[plan->count++];

	item->born_ns = START_NS + (uint64_t)(at * 1e9);
	item->end_ns = lives > 0 ? item->born_ns + (uint64_t)(lives * 1e9) : UINT64_MAX;
	item->address = run->next_address += 16;
}

static int by_birth(const void *a, const void *b)
{
	const struct sampled *left = a, *right = b;

	return left->born_ns < right->born_ns ? -1 : left->born_ns > right->born_ns;
}

static int by_end(const void *a, const void *b)
{
	const struct sampled *left = *(struct sampled *const *)a;
	const struct sampled *right = *(struct sampled *const *)b;

	return left->end_ns < right->end_ns ? -1 : left->end_ns > right->end_ns;
}

static enum heap_trend play(struct run *run, struct plan *plan)
{
	uint64_t end_ns = START_NS + SECONDS * NS_PER_SECOND;
	struct sampled **ends = malloc((plan->count + 1) * sizeof(struct sampled *));
	size_t ended = 0, count, site_count;
	const struct heap_site *sites;
	double live = 0;

	qsort(plan->items, plan->count, sizeof(*plan->items), by_birth);
	for (count = 0; count < plan->count; count++)
		ends[count] = &plan->items[count];
	qsort(ends, count, sizeof(struct sampled *), by_end);
	for (size_t i = 0; i <= plan->count; i++) {
		uint64_t now_ns = i < plan->count ? plan->items[i].born_ns : end_ns;
		uint64_t size = i < plan->count ? plan->items[i].size : 0;

		while (ended < count && ends[ended]->end_ns <= now_ns) {
			heap_end(run->heap, 1, ends[ended]->address, ends[ended]->end_ns);
			ended++;
		}
		if (i < plan->count)
			heap_add(run->heap, &(struct heap_alloc){.process = 1,
								 .stack_id = 10,
								 .comm = "server",
								 .time_ns = now_ns,
								 .address = plan->items[i].address,
								 .size = size ? size : SIZE,
								 .weight = size ? size : WEIGHT});
	}
	sites = heap_sites(run->heap, &site_count);
	live = heap_level(run->heap, 1, 0).bytes;
	free(ends);
	return site_count ? heap_growth_of(run->heap, &sites[0],
					   &(struct heap_span){.end_ns = end_ns,
							       .live_bytes = live,
							       .has_ended = run->has_ended})
				    .trend
			  : HEAP_TREND_NONE;
}

typedef void plan_fn(struct run *run, struct plan *plan);

/* Exit frees what is left. */
static void free_all_at(struct plan *plan, double at)
{
	uint64_t at_ns = START_NS + (uint64_t)(at * 1e9);

	for (size_t i = 0; i < plan->count; i++)
		if (plan->items[i].end_ns > at_ns)
			plan->items[i].end_ns = at_ns;
}

/* How many of the runs, to the end of the process or not, have this trend. */
static int count_trend_at(plan_fn *make, bool has_ended, enum heap_trend trend)
{
	int found = 0;

	for (int i = 0; i < RUNS; i++) {
		struct run run = {.heap = heap_new(), .random = (uint64_t)i * 7919 + 1};
		struct plan plan = {.items = calloc(200000, sizeof(*plan.items))};

		make(&run, &plan);
		run.has_ended = has_ended;
		if (has_ended)
			free_all_at(&plan, SECONDS - 0.05);
		found += play(&run, &plan) == trend;
		free(plan.items);
		heap_free(run.heap);
	}
	return found;
}

static int count_trend(plan_fn *make, enum heap_trend trend)
{
	return count_trend_at(make, false, trend);
}

/* Each calls plan_sample for `rate` samples a second from `from` to `to`. */
static void steadily(struct run *run, struct plan *plan, double from, double to, double rate,
		     double lives)
{
	for (double at = from; at < to; at += 2 * uniform(run) / rate)
		plan_sample(run, plan, at, lives);
}

static void leak(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, SECONDS, 2, 0);
}

/* 95 of 100 blocks live for half a second. */
static void partial_leak(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, SECONDS, 38, 0.5);
	steadily(run, plan, 0, SECONDS, 2, 0);
}

/* Full after 24 s; then it trickles. */
static void filling_cache(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, 24, 10, 0);
	steadily(run, plan, 24, SECONDS, 0.3, 0);
}

static void queue(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, SECONDS, 30, 8);
}

static void pool(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, 2, 200, 0);
}

/* Requests of one second, twice as many at the end. */
static void growing_load(struct run *run, struct plan *plan)
{
	for (double at = 0; at < SECONDS; at += 2 * uniform(run) / (200 * (1 + at / SECONDS)))
		plan_sample(run, plan, at, 2);
}

/* 20 s on average: the run is too short for a balance. */
static void long_lives(struct run *run, struct plan *plan)
{
	for (double at = 0; at < SECONDS; at += 2 * uniform(run) / 10)
		plan_sample(run, plan, at, 40 * uniform(run) + 0.01);
}

static void churn(struct run *run, struct plan *plan)
{
	steadily(run, plan, 0, SECONDS, 500, 0.001);
}

/* realloc() moves the only block, a buffer of `size` bytes. */
static void buffer_of(struct run *run, struct plan *plan, double at, double lives, double size)
{
	plan_sample(run, plan, at, lives);
	plan->items[plan->count - 1].size = (uint64_t)size;
}

static void growing_buffer(struct run *run, struct plan *plan)
{
	for (int i = 0; i < SECONDS * 10; i++)
		buffer_of(run, plan, i / 10.0, i < SECONDS * 10 - 1 ? 0.1 : 0, 40960.0 * (i + 1));
}

static void doubling_buffer(struct run *run, struct plan *plan)
{
	for (double at = 1; at < SECONDS; at *= 2)
		buffer_of(run, plan, at, at * 2 < SECONDS ? at : 0, 1e6 * at);
}

/* Up and down every 7 s. */
static void breathing_buffer(struct run *run, struct plan *plan)
{
	for (int i = 0; i < SECONDS * 10; i++)
		buffer_of(run, plan, i / 10.0, i < SECONDS * 10 - 1 ? 0.1 : 0,
			  1e6 * (i % 70 + i / 60.0 + 1));
}

static void leaks_that_exit_frees_are_found(void **state)
{
	assert_true(count_trend_at(leak, true, HEAP_TREND_GROWS) >= 38);
	assert_true(count_trend_at(partial_leak, true, HEAP_TREND_GROWS) >= 38);
	assert_int_equal(count_trend_at(growing_buffer, true, HEAP_TREND_GROWS), RUNS);
}

static void buffers_that_only_grow_are_found(void **state)
{
	assert_int_equal(count_trend(growing_buffer, HEAP_TREND_GROWS), RUNS);
	assert_int_equal(count_trend(doubling_buffer, HEAP_TREND_GROWS), 0);
	assert_int_equal(count_trend(breathing_buffer, HEAP_TREND_GROWS), 0);
}

static void leaks_are_found(void **state)
{
	assert_true(count_trend(leak, HEAP_TREND_GROWS) >= 38);
	assert_true(count_trend(partial_leak, HEAP_TREND_GROWS) >= 38);
}

static void nothing_else_is_called_a_leak(void **state)
{
	plan_fn *const healthy[] = {filling_cache, queue, pool, growing_load, long_lives, churn};

	for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
		int found = count_trend(healthy[i], HEAP_TREND_GROWS) +
			    count_trend_at(healthy[i], true, HEAP_TREND_GROWS);

		if (found)
			fail_msg("%d of %d runs of healthy program %zu", found, RUNS, i);
	}
}

static void short_runs_tell_nothing(void **state)
{
	struct run run = {.heap = heap_new(), .random = 1};
	struct plan plan = {.items = calloc(200000, sizeof(*plan.items))};
	size_t count;

	leak(&run, &plan);
	play(&run, &plan);
	assert_int_equal(
		heap_growth_of(run.heap, heap_sites(run.heap, &count),
			       &(struct heap_span){.end_ns = START_NS + 29 * NS_PER_SECOND})
			.trend,
		HEAP_TREND_UNKNOWN);
	free(plan.items);
	heap_free(run.heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaks_are_found),
		cmocka_unit_test(leaks_that_exit_frees_are_found),
		cmocka_unit_test(buffers_that_only_grow_are_found),
		cmocka_unit_test(nothing_else_is_called_a_leak),
		cmocka_unit_test(short_runs_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
