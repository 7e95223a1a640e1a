// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-inline
// ldflags: -pthread
/*
 * Calls functions known numbers of times: by recursion, tail calls, longjmp, in coroutines, in
 * signal handlers, in children, and in many threads. Says what came out of it, which probes must
 * not change.
 *
 * calls COUNT [THREADS]
 * calls fast SECONDS: calls one function as often as it can; says how often, in thousands.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa)) /* neither inlined nor copied nor joined with another */
#endif
#define KEEP() __asm__ volatile("" ::: "memory")

static jmp_buf out;
static ucontext_t main_context, contexts[2];
static int coroutine_sum;

NOINLINE int leaf(int value)
{
	KEEP();
	return value + 1;
}

NOINLINE int fibonacci(int value)
{
	return value < 2 ? value : fibonacci(value - 1) + fibonacci(value - 2);
}

NOINLINE int even(int value);

NOINLINE int odd(int value)
{
	int result = value ? even(value - 1) : 0;

	KEEP();
	return result;
}

NOINLINE int even(int value)
{
	int result = value ? odd(value - 1) : 1;

	KEEP();
	return result;
}

NOINLINE int tail(int value)
{
	KEEP();
	return leaf(value * 2);
}

NOINLINE int many_ways(int value)
{
	switch (value % 8) {
	case 0:
		return leaf(value);
	case 1:
		return value;
	case 2:
		KEEP();
		return value * 3;
	case 3:
		return tail(value);
	case 4:
		KEEP();
		return leaf(value) + 4;
	case 5:
		KEEP();
		return value - 9;
	case 6:
		return leaf(leaf(value));
	}
	return -value;
}

NOINLINE void sleeper(void)
{
	usleep(2000);
	KEEP();
}

NOINLINE void jumper(int jumps)
{
	if (jumps)
		longjmp(out, 1);
	KEEP();
}

NOINLINE void deep(int depth)
{
	if (depth)
		deep(depth - 1);
	KEEP();
}

/* Every second value of red zones would be lost if a probe wrote below the stack pointer. */
NOINLINE int red_zone(int value)
{
	volatile int kept[16];

	for (int i = 0; i < 16; i++)
		kept[i] = value + i;
	KEEP();
	return kept[3] == value + 3 && kept[15] == value + 15;
}

NOINLINE void inside_coroutine(int number)
{
	coroutine_sum += number;
	swapcontext(&contexts[number], number ? &main_context : &contexts[1]);
	KEEP();
}

static void coroutine(int number, int count)
{
	for (int i = 0; i < count; i++)
		inside_coroutine(number);
}

static void coroutines(int count)
{
	static char stacks[2][65536];

	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))coroutine, 2, i, count);
	}
	for (int i = 0; i < count; i++)
		swapcontext(&main_context, &contexts[0]);
}

NOINLINE void handler(int signal)
{
	(void)signal;
	leaf(1);
}

static int good, left;

static void all(int count)
{
	for (volatile int i = 0; i < count; i++) {
		leaf(i);
		good += many_ways(i) > 0;
		good += red_zone(i);
		if (setjmp(out) == 0)
			jumper(i % 3 == 0);
		else
			left++;
	}
	good += fibonacci(10) + even(20);
	deep(50);
	sleeper();
	sleeper();
	coroutines(count / 10);
	for (volatile int i = 0; i < 5; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(leaf(5));
		good += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == 6;
		child = vfork();
		if (child == 0)
			_exit(leaf(6));
		good += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == 7;
		raise(SIGUSR1);
	}
}

static void *in_thread(void *count)
{
	int sum = 0;

	for (int i = 0; i < *(int *)count; i++)
		sum += tail(i);
	KEEP();
	return sum ? count : NULL;
}

NOINLINE uint64_t fast(uint64_t value)
{
	KEEP();
	return value * 3;
}

static void as_fast_as_it_can(double seconds)
{
	struct timespec begin, now;
	uint64_t count = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 1000; i++)
			fast(count++);
		/* A function of real programs does something between two calls: 5 million calls/s.
		 */
		for (volatile int i = 0; i < 60000; i++)
			;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) +
			 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
		 seconds);
	printf("%llu\n", (unsigned long long)count / 1000);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, thread_count = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t threads[256];

	if (argc > 2 && strcmp(argv[1], "fast") == 0) {
		as_fast_as_it_can(atof(argv[2]));
		return 0;
	}
	signal(SIGUSR1, handler);
	all(count);
	for (int i = 0; i < thread_count && i < 256; i++)
		pthread_create(&threads[i], NULL, in_thread, &count);
	for (int i = 0; i < thread_count && i < 256; i++)
		pthread_join(threads[i], NULL);
	printf("good %d left %d coroutines %d\n", good, left, coroutine_sum);
	return 0;
}
