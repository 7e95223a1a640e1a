// SPDX-License-Identifier: BSD-2-Clause
/* The frame step: whole walks of stopped processes against libdwfl. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "live_tables.h"

static volatile int sink;

__attribute__((noinline)) static int recurse_plain(int depth, void (*stop)(void));

__attribute__((noinline)) static int recurse_alloca(int depth, void (*stop)(void))
{
	size_t size = 16 + (size_t)(depth & 63);
	volatile char *room = alloca(size);
	int result;

	room[0] = (char)depth;
	result = recurse_plain(depth - 1, stop);
	sink += room[0];
	return result + 1;
}

__attribute__((noinline)) static int recurse_big(int depth, void (*stop)(void))
{
	volatile char room[5000];
	int result;

	room[depth] = 1;
	result = recurse_plain(depth - 1, stop);
	sink += room[depth];
	return result + 1;
}

__attribute__((noinline)) static int recurse_plain(int depth, void (*stop)(void))
{
	int result;

	if (depth <= 0) {
		stop();
		return sink;
	}
	result = depth % 3 == 0	  ? recurse_alloca(depth - 1, stop)
		 : depth % 7 == 0 ? recurse_big(depth - 1, stop)
				  : recurse_plain(depth - 1, stop);
	sink += result;
	return result + 1;
}

static void run_recursion(int depth)
{
	sink += recurse_plain(depth, stopped_child_stop);
}

static void on_signal(int number)
{
	recurse_plain(5, stopped_child_stop);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

static void run_signal(int on_own_stack)
{
	static char stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal};

	if (on_own_stack) {
		action.sa_flags = SA_ONSTACK;
		sigaltstack(&other, NULL);
	}
	sigaction(SIGUSR1, &action, NULL);
	sink += recurse_plain(9, raise_signal);
}

static int compare_and_stop(const void *a, const void *b)
{
	stopped_child_stop();
	return 0;
}

static void run_callback(int argument)
{
	int items[64] = {0};

	qsort(items, 64, sizeof(items[0]), compare_and_stop);
}

/* Until the main thread sleeps in pthread_join(): three looks in a row, for it may sleep for a
 * moment on its way there. */
static void wait_for_main_thread(void)
{
	char path[64], line[512];
	int asleep = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	for (int i = 0; i < 1000 && asleep < 3; i++) {
		FILE *file = fopen(path, "re");
		const char *state =
			file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;

		asleep = state && state[2] == 'S' ? asleep + 1 : 0;
		if (file)
			fclose(file);
		usleep(10000);
	}
}

static void *run_thread_body(void *argument)
{
	wait_for_main_thread();
	sink += recurse_plain(20, stopped_child_stop);
	return NULL;
}

/* The process is looked at through its main thread, which waits for the one that stops. */
static void run_joining(int argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_thread_body, NULL);
	pthread_join(thread, NULL);
}

static size_t count_interrupted(const uint64_t *ips, size_t count)
{
	size_t interrupted = 0;

	for (size_t i = 0; i < count; i++)
		interrupted += pkbpf_is_interrupted(ips[i]);
	return interrupted;
}

static void check_against_dwfl(void (*run)(int argument), int argument, size_t at_least)
{
	static uint64_t ours[PKBPF_MAX_USER_FRAMES], theirs[PKBPF_MAX_USER_FRAMES];
	struct unwind_walk_options options = {.exact = false};
	struct unwind_walk_result result;
	struct stopped_child child;
	struct live_tables live;
	size_t count;

	if (!stopped_child_start(&child, run, argument))
		skip();
	live_tables_open(&live, &child);
	result = unwind_walk(&live_tables_ops, &live, child.regs, &options, ours,
			     PKBPF_MAX_USER_FRAMES);
	count = stopped_child_dwfl_frames(&child, theirs, PKBPF_MAX_USER_FRAMES);
	assert_in_range(result.end, PKBPF_END_ROOT, PKBPF_END_LAST_COMPLETE);
	assert_in_range(count, at_least, PKBPF_MAX_USER_FRAMES);
	assert_int_equal(result.depth, count);
	assert_int_equal(result.guessed, 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ours[i], theirs[i]);
	assert_int_equal(count_interrupted(ours, count), run == run_signal);
	live_tables_close(&live);
	stopped_child_end(&child);
}

static void walks_recursion_like_libdwfl(void **state)
{
	static const int depths[] = {0, 7, 47, 124, 500};

	for (size_t i = 0; i < ARRAY_SIZE(depths); i++)
		check_against_dwfl(run_recursion, depths[i], (size_t)depths[i] + 5);
}

static void walks_through_signal_handlers_like_libdwfl(void **state)
{
	check_against_dwfl(run_signal, 0, 20);
	check_against_dwfl(run_signal, 1, 20);
}

static void walks_through_library_callbacks_like_libdwfl(void **state)
{
	check_against_dwfl(run_callback, 0, 8);
}

static void walks_waiting_threads_like_libdwfl(void **state)
{
	check_against_dwfl(run_joining, 0, 5);
}

static void stops_at_the_limit(void **state)
{
	struct unwind_walk_options options = {.exact = false};
	struct unwind_walk_result result;
	struct stopped_child child;
	struct live_tables live;
	uint64_t ips[10];

	if (!stopped_child_start(&child, run_recursion, 50))
		skip();
	live_tables_open(&live, &child);
	result = unwind_walk(&live_tables_ops, &live, child.regs, &options, ips, 10);
	assert_int_equal(result.end, PKBPF_END_MAX_DEPTH);
	assert_int_equal(result.depth, 10);
	live_tables_close(&live);
	stopped_child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_recursion_like_libdwfl),
		cmocka_unit_test(walks_through_signal_handlers_like_libdwfl),
		cmocka_unit_test(walks_through_library_callbacks_like_libdwfl),
		cmocka_unit_test(walks_waiting_threads_like_libdwfl),
		cmocka_unit_test(stops_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
