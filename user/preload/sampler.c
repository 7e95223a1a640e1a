// SPDX-License-Identifier: BSD-2-Clause
/* The slow path of the sampler: draws distances, keeps the set of live samples, hits the probes. */
#include "sampler.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "live_table.h"
#include "probe.h"
#include "sampling.h"

/* A process that takes more samples doubles its interval: a sample with its free costs about 5 us.
 */
#define MOST_SAMPLES_PER_SECOND 2000
#define NS_PER_SECOND		1000000000ULL

__thread struct sampler_thread sampler_thread;

static uint64_t interval = SAMPLER_DEFAULT_INTERVAL;
static bool is_fixed; /* the interval was chosen: no rate of samples changes it */
static bool is_disabled;
static uint64_t window_start_ns;
static uint32_t window_samples;

PROBE_SEMAPHORE(otel_memory, alloc);
PROBE_SEMAPHORE(otel_memory, free);

/* The arguments are in their registers when the function begins. */
static PROBE_FUNCTION void probe_alloc(void *address, size_t size, uint64_t weight)
{
	PROBE_SITE(otel_memory, alloc, PROBE_ARG0 " " PROBE_ARG1 " " PROBE_ARG2);
	PROBE_USES(address);
	PROBE_USES(size);
	PROBE_USES(weight);
}

static PROBE_FUNCTION void probe_free(void *address)
{
	PROBE_SITE(otel_memory, free, PROBE_ARG0);
	PROBE_USES(address);
}

/* 0: none is wanted. */
static uint64_t wanted_interval(void)
{
	static const char name[] = SAMPLER_INTERVAL_VARIABLE "=";
	uint64_t bytes = 0;

	for (char **entry = environ; entry && *entry; entry++) {
		size_t i = 0;

		while (name[i] && (*entry)[i] == name[i])
			i++;
		if (name[i])
			continue;
		for (; (*entry)[i] >= '0' && (*entry)[i] <= '9' && bytes < SAMPLING_MAX_INTERVAL;
		     i++)
			bytes = bytes * 10 + (uint64_t)((*entry)[i] - '0');
		break;
	}
	return bytes <= SAMPLING_MAX_INTERVAL ? bytes : 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	/* No system call, and with this clock no error. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void draw(struct sampler_thread *thread)
{
	thread->interval = __atomic_load_n(&interval, __ATOMIC_RELAXED);
	thread->left = sampling_distance(&thread->random, thread->interval);
}

static void begin_thread(struct sampler_thread *thread)
{
	thread->has_begun = true;
	thread->random = (uint64_t)(uintptr_t)thread ^ now_ns() * 0x9E3779B97F4A7C15ULL;
	draw(thread);
}

uint64_t sampler_choose(size_t size)
{
	struct sampler_thread *thread = &sampler_thread;
	uint64_t weight;

	if (is_disabled || size > PTRDIFF_MAX) /* larger ones fail */
		return 0;
	/* The distance to a thread's first point is one like any other: were it 0, short threads
	 * would count for too much. */
	if (!thread->has_begun) {
		begin_thread(thread);
		if (sampler_passes(size))
			return 0;
	}
	/* However many points the allocation contains, it is sampled once. The distance left after
	 * it is drawn anew, since an exponential distribution has no memory. */
	weight = size ? sampling_weight(size, thread->interval) : 0;
	draw(thread);
	return thread->is_busy || !otel_memory_alloc_semaphore ? 0 : weight;
}

/* Samples under the old interval keep their weights, so sums remain unbiased. */
static void limit_rate(void)
{
	uint64_t bytes = __atomic_load_n(&interval, __ATOMIC_RELAXED), now;
	uint32_t samples;

	if (is_fixed)
		return;
	now = now_ns();
	samples = __atomic_add_fetch(&window_samples, 1, __ATOMIC_RELAXED);
	if (now - __atomic_load_n(&window_start_ns, __ATOMIC_RELAXED) < NS_PER_SECOND) {
		if (samples != MOST_SAMPLES_PER_SECOND || bytes > SAMPLING_MAX_INTERVAL / 2)
			return;
		__atomic_store_n(&interval, bytes * 2, __ATOMIC_RELAXED);
	}
	/* A second begins anew after each doubling, so that a sudden burst doubles it again soon.
	 */
	__atomic_store_n(&window_start_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&window_samples, 0, __ATOMIC_RELAXED);
}

static void limit_live(void)
{
	static uint32_t limit = LIVE_MANY / 2;
	uint64_t bytes = __atomic_load_n(&interval, __ATOMIC_RELAXED);
	uint32_t many = __atomic_load_n(&limit, __ATOMIC_RELAXED);

	/* Each step gets half of the remaining room: samples of older intervals stay. */
	if (live_count() <= many || bytes > SAMPLING_MAX_INTERVAL / 2)
		return;
	__atomic_store_n(&limit, many + (2 * LIVE_MANY - many) / 4, __ATOMIC_RELAXED);
	__atomic_store_n(&interval, bytes * 2, __ATOMIC_RELAXED);
}

void sampler_allocated(void *address, size_t size, uint64_t weight)
{
	struct sampler_thread *thread = &sampler_thread;

	thread->is_busy = true;
	probe_alloc(address, size, weight);
	/* Without room for the address, its free would go unseen, which looks like a leak. Sums of
	 * what is alive become lower bounds. The interval is doubled long before. */
	if (!live_add(address))
		probe_free(address);
	limit_rate();
	limit_live();
	thread->is_busy = false;
}

void sampler_freed(void *address)
{
	if (live_remove(address))
		probe_free(address);
}

/* Without this, the children of a server would all sample the same allocations. */
static void begin_child(void)
{
	sampler_thread.random ^= now_ns() + (uint64_t)getpid() * 0x9E3779B97F4A7C15ULL;
	if (sampler_thread.has_begun)
		draw(&sampler_thread);
}

typedef void fork_function(void);

/* pthread_atfork() is linked into programs from glibc's archive, and is what musl has. By names
 * that are looked up, since no library may be named that a C library lacks. */
static void call_in_children(fork_function *child)
{
	int (*register_all)(fork_function *, fork_function *, fork_function *, void *) =
		dlsym(RTLD_NEXT, "__register_atfork");
	int (*at_fork)(fork_function *, fork_function *, fork_function *) =
		register_all ? NULL : dlsym(RTLD_NEXT, "pthread_atfork");

	if (register_all)
		register_all(NULL, NULL, child, NULL);
	else if (at_fork)
		at_fork(NULL, NULL, child);
}

void sampler_begin(bool disable)
{
	is_disabled = disable;
	if (disable)
		return;
	is_fixed = wanted_interval();
	interval = is_fixed ? wanted_interval() : SAMPLER_DEFAULT_INTERVAL;
	if (sampler_thread.has_begun)
		draw(&sampler_thread);
	call_in_children(begin_child);
}
