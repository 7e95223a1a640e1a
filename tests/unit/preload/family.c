// SPDX-License-Identifier: BSD-2-Clause
/* Tests of the library as it stands before malloc: this program has it built in, with probes that
 * call functions of this file. */
#include "preload/probe.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void seen_alloc(void *address, size_t size, uint64_t weight);
static void seen_free(void *address);

#undef PROBE_SITE
#define PROBE_SITE(provider, name, arguments) PROBE_##name
#define PROBE_alloc			      seen_alloc(address, size, weight)
#define PROBE_free			      seen_free(address)

#include "preload/live_table.c"
#include "preload/sampler.c"

#include "preload/malloc.c"

#define SAMPLES 65536

static struct {
	void *address[SAMPLES];
	uint64_t weight[SAMPLES];
	size_t allocs, frees, unknown_frees;
	uint64_t bytes, alive;
	double variance; /* of bytes */
} seen;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void seen_alloc(void *address, size_t size, uint64_t weight)
{
	pthread_mutex_lock(&seen_lock);
	seen.address[seen.allocs % SAMPLES] = address;
	seen.weight[seen.allocs++ % SAMPLES] = weight;
	seen.bytes += weight;
	seen.alive += weight;
	seen.variance += (1 - (double)size / (double)weight) * (double)weight * (double)weight;
	pthread_mutex_unlock(&seen_lock);
}

static void seen_free(void *address)
{
	bool known = false;

	pthread_mutex_lock(&seen_lock);
	for (size_t i = seen.allocs; i-- > 0 && !known;) {
		known = seen.address[i % SAMPLES] == address;
		if (!known)
			continue;
		seen.address[i % SAMPLES] = NULL;
		seen.alive -= seen.weight[i % SAMPLES];
	}
	seen.unknown_frees += !known;
	seen.frees++;
	pthread_mutex_unlock(&seen_lock);
}

/* Listens from now on, with this interval. */
static void listen_with(uint64_t bytes)
{
	otel_memory_alloc_semaphore = 0;
	memset(&seen, 0, sizeof(seen));
	interval = bytes;
	/* The tests take more samples than a program may. */
	window_samples = MOST_SAMPLES_PER_SECOND + 1;
	draw(&sampler_thread);
	otel_memory_alloc_semaphore = 1;
}

static void stop_listening(void)
{
	otel_memory_alloc_semaphore = 0;
}

static bool is_about(uint64_t bytes, double variance, uint64_t truth)
{
	double error = (double)bytes - (double)truth;

	/* five standard deviations */
	return error * error <= 25 * variance;
}

static void *keep[100000];
/* The compiler must not leave out pairs of malloc and free. */
static void *volatile here;

static void sums_are_those_of_the_program(void **state)
{
	listen_with(4096);
	for (size_t i = 0; i < 50000; i++)
		keep[i] = malloc(100);
	for (size_t i = 0; i < 25000; i++)
		free(keep[i]);
	stop_listening();
	assert_true(seen.allocs > 800 && seen.allocs < 1700);
	assert_true(is_about(seen.bytes, seen.variance, 5000000));
	assert_true(is_about(seen.alive, seen.variance, 2500000));
	assert_int_equal(seen.unknown_frees, 0);
	for (size_t i = 25000; i < 50000; i++)
		free(keep[i]);
	/* Frees are seen to the end, whether somebody listens to allocations or not. */
	assert_int_equal(seen.frees, seen.allocs);
	assert_int_equal(seen.alive, 0);
}

static void large_blocks_are_exact(void **state)
{
	listen_with(4096);
	for (size_t i = 0; i < 20; i++)
		keep[i] = malloc(1 << 20);
	stop_listening();
	assert_int_equal(seen.allocs, 20);
	assert_int_equal(seen.bytes, 20 << 20);
	for (size_t i = 0; i < 20; i++)
		free(keep[i]);
	assert_int_equal(seen.alive, 0);
}

static void each_of_the_family_is_seen(void **state)
{
	void *address;

	listen_with(1);
	here = malloc(1000);
	assert_int_equal(seen.bytes, 1000);
	free(here);
	here = calloc(10, 100);
	assert_int_equal(seen.bytes, 2000);
	free(here);
	assert_int_equal(posix_memalign(&address, 64, 1000), 0);
	assert_int_equal(seen.bytes, 3000);
	free(address);
	here = aligned_alloc(64, 1024);
	assert_int_equal((uintptr_t)here % 64, 0);
	assert_int_equal(seen.bytes, 4024);
	free(here);
	here = memalign(128, 1000);
	assert_int_equal((uintptr_t)here % 128, 0);
	free(here);
	here = valloc(1000);
	free(here);
	here = pvalloc(1000);
	free(here);
	here = reallocarray(NULL, 10, 100);
	free(here);
	here = strdup("a string of its own");
	free(here);
	here = malloc(1000);
	free_sized(here, 1000);
	here = aligned_alloc(64, 1024);
	free_aligned_sized(here, 64, 1024);
	stop_listening();
	assert_int_equal(seen.allocs, 11);
	assert_int_equal(seen.frees, 11);
	assert_int_equal(seen.unknown_frees, 0);
	assert_int_equal(seen.alive, 0);
}

static void realloc_ends_one_and_begins_another(void **state)
{
	listen_with(1);
	here = malloc(1000);
	here = realloc(here, 2000);
	assert_int_equal(seen.allocs, 2);
	assert_int_equal(seen.frees, 1);
	assert_int_equal(seen.alive, 2000);
	/* In place as well. */
	here = realloc(here, 1500);
	assert_int_equal(seen.alive, 1500);
	interval = 1 << 30;
	draw(&sampler_thread);
	here = realloc(here, 3000);
	stop_listening();
	assert_int_equal(seen.alive, 0);
	free(here);
	assert_int_equal(seen.unknown_frees, 0);
}

static void what_fails_is_not_seen(void **state)
{
	volatile size_t huge = SIZE_MAX / 2 + 100, half = SIZE_MAX / 2;

	listen_with(1);
	errno = 0;
	assert_null(malloc(huge));
	assert_int_equal(errno, ENOMEM);
	assert_null(malloc(half - 4096));
	errno = 0;
	assert_null(calloc(half, 4));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(reallocarray(NULL, half, 4));
	assert_int_equal(errno, ENOMEM);
	stop_listening();
	assert_int_equal(seen.allocs, 0);
}

static void errno_stays(void **state)
{
	listen_with(1);
	errno = 4711;
	here = malloc(100);
	free(here);
	here = calloc(1, 100);
	here = realloc(here, 200);
	free(here);
	free(NULL);
	stop_listening();
	assert_int_equal(errno, 4711);
	assert_int_equal(seen.allocs, 3);
}

static void nothing_is_seen_when_nobody_listens(void **state)
{
	listen_with(1);
	stop_listening();
	here = malloc(1000);
	free(here);
	assert_int_equal(seen.allocs + seen.frees, 0);
}

#define THREADS	    1000
#define THREAD_SIZE 600

static void *allocate_little(void *result)
{
	*(void **)result = malloc(THREAD_SIZE);
	return NULL;
}

/* Were the first allocation of each thread sampled, they would count for a hundred times as much.
 */
static void short_threads_count_like_others(void **state)
{
	uint64_t before;

	listen_with(65536);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, allocate_little, &keep[i]), 0);
		pthread_join(thread, NULL);
	}
	stop_listening();
	before = seen.bytes;
	/* The C library adds little of its own for a thread. */
	assert_true(before < 40 * 65536UL);
	for (size_t i = 0; i < THREADS; i++)
		free(keep[i]);
	assert_int_equal(seen.unknown_frees, 0);
}

static void *churn(void *argument)
{
	for (size_t i = 0; i < 20000; i++) {
		void *address = malloc(200);

		/* freed by another thread */
		address = __atomic_exchange_n(&keep[i], address, __ATOMIC_ACQ_REL);
		free(address);
	}
	return argument;
}

static void frees_by_other_threads_are_found(void **state)
{
	pthread_t threads[4];

	memset(keep, 0, sizeof(keep));
	listen_with(2048);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	stop_listening();
	for (size_t i = 0; i < 20000; i++)
		free(keep[i]);
	assert_true(is_about(seen.bytes, seen.variance, 16000000));
	assert_int_equal(seen.unknown_frees, 0);
	assert_true(seen.alive < 100000); /* what the C library keeps for threads */
}

/* The children of a server must not all sample the same allocation. */
static void children_sample_on_their_own(void **state)
{
	int sampled = 0, status;

	listen_with(65536);
	for (int i = 0; i < 60; i++) {
		pid_t child = fork();

		if (!child) {
			size_t before = seen.allocs;

			for (size_t j = 0; j < 100; j++)
				keep[j] = malloc(455);
			_exit(seen.allocs > before ? 1 : 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		sampled += WEXITSTATUS(status);
	}
	stop_listening();
	/* Half of them are expected to; 60 equal children would be all or none. */
	assert_in_range(sampled, 8, 52);
}

static void allocate_in_handler(int number)
{
	free(malloc(100));
}

static void a_handler_inside_malloc_does_no_harm(void **state)
{
	signal(SIGUSR1, allocate_in_handler);
	listen_with(1);
	sampler_thread.is_busy = true;
	raise(SIGUSR1);
	sampler_thread.is_busy = false;
	stop_listening();
	assert_int_equal(seen.allocs, 0);
	assert_int_equal(seen.frees, 0);
}

static void the_next_allocator_may_crash(void **state)
{
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		listen_with(1);
		next.malloc = NULL;
		here = malloc(100);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void the_interval_follows_the_rate(void **state)
{
	listen_with(64);
	window_samples = 0;
	window_start_ns = now_ns();
	for (size_t i = 0; i < 200000; i++)
		free(here = malloc(100));
	stop_listening();
	assert_true(interval > 64);
	assert_true(is_about(seen.bytes, seen.variance, 20000000));
}

static void many_live_samples_double_the_interval(void **state)
{
	listen_with(16);
	for (size_t i = 0; i < 100000; i++)
		keep[i] = malloc(48);
	stop_listening();
	assert_true(interval > 16);
	assert_true(live_count() < LIVE_MANY * 2);
	for (size_t i = 0; i < 100000; i++)
		free(keep[i]);
	assert_int_equal(seen.unknown_frees, 0);
	assert_true(is_about(seen.bytes, seen.variance, 4800000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_program),
		cmocka_unit_test(large_blocks_are_exact),
		cmocka_unit_test(each_of_the_family_is_seen),
		cmocka_unit_test(realloc_ends_one_and_begins_another),
		cmocka_unit_test(what_fails_is_not_seen),
		cmocka_unit_test(errno_stays),
		cmocka_unit_test(nothing_is_seen_when_nobody_listens),
		cmocka_unit_test(short_threads_count_like_others),
		cmocka_unit_test(frees_by_other_threads_are_found),
		cmocka_unit_test(children_sample_on_their_own),
		cmocka_unit_test(a_handler_inside_malloc_does_no_harm),
		cmocka_unit_test(the_next_allocator_may_crash),
		cmocka_unit_test(the_interval_follows_the_rate),
		cmocka_unit_test(many_live_samples_double_the_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
