// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
// ldflags: -pthread
/*
 * Marks regions of known content, and tells what it did:
 *
 * regions nest COUNT: steps that compute for 2 ms of CPU time and sleep for 3 ms.
 * regions clocks COUNT: computes for 4 ms and sleeps for 2 ms; tells the times by its own clocks.
 * regions memory COUNT: in each of them 4 MiB come, and in the one inside 1 MiB comes and goes.
 * regions storm THREADS COUNT: threads that enter and leave three regions, one in the other.
 * regions odd COUNT: leaves regions by longjmp, by the end of a thread, in a child, in coroutines,
 * in a signal handler, and more than are measured. Says what came out of it, which probes must not
 * change.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <pkbpf/pkbpf.h>

static unsigned int count;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Time that the thread has waited for a CPU. */
static uint64_t queue_ns(void)
{
	char text[128] = "";
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran, waited = 0;

	if (file) {
		if (fgets(text, sizeof(text), file))
			sscanf(text, "%llu %llu", &ran, &waited);
		fclose(file);
	}
	return waited;
}

static void compute(uint64_t cpu_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void nest(void)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("step");
		{
			PKBPF_REGION_ITEMS("compute", 32);
			compute(2000000);
		}
		pkbpf_enter("wait", 0);
		usleep(3000);
		pkbpf_items(3);
		pkbpf_leave();
	}
	printf("wall %llu\n", (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin_ns));
}

static void clocks(void)
{
	uint64_t wall_ns = 0, cpu_ns = 0, waited_ns = 0;

	for (unsigned int i = 0; i < count; i++) {
		wall_ns -= clock_ns(CLOCK_MONOTONIC);
		cpu_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID);
		waited_ns -= queue_ns();
		{
			PKBPF_REGION("clocked");
			compute(4000000);
			usleep(2000);
		}
		waited_ns += queue_ns();
		cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
		wall_ns += clock_ns(CLOCK_MONOTONIC);
	}
	printf("wall %llu cpu %llu queue %llu\n", (unsigned long long)wall_ns,
	       (unsigned long long)cpu_ns, (unsigned long long)waited_ns);
}

static void memory(void)
{
	for (unsigned int i = 0; i < count; i++) {
		char *some;

		PKBPF_REGION("grow");
		some = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		memset(some, 1, 4 << 20);
		{
			PKBPF_REGION_ITEMS("swing", 1);
			some = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memset(some, 1, 1 << 20);
			munmap(some, 1 << 20);
		}
	}
}

static void *storm_thread(void *sum)
{
	for (unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("outer");
		{
			PKBPF_REGION("middle");
			{
				PKBPF_REGION("inner");
				*(uint64_t *)sum += i;
			}
		}
	}
	return NULL;
}

static void storm(unsigned int thread_count)
{
	pthread_t *threads = calloc(thread_count, sizeof(*threads));
	uint64_t *sums = calloc(thread_count, sizeof(*sums)), sum = 0;

	for (unsigned int i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, storm_thread, &sums[i]);
	for (unsigned int i = 0; i < thread_count; i++) {
		pthread_join(threads[i], NULL);
		sum += sums[i];
	}
	printf("sum %llu\n", (unsigned long long)sum);
	free(threads);
	free(sums);
}

/* ---- odd ways out ---- */

static jmp_buf out;

static void jump(int depth);
static void (*volatile jump_deeper)(int depth) = jump;

static void jump(int depth)
{
	PKBPF_REGION("jumped");

	if (!depth)
		longjmp(out, 1);
	jump_deeper(depth - 1);
}

/* From beyond the depth that is measured. */
static void deep_jump(int depth);
static void (*volatile deep_jump_deeper)(int depth) = deep_jump;

static void deep_jump(int depth)
{
	PKBPF_REGION("deep_jumped");

	if (!depth)
		longjmp(out, 1);
	deep_jump_deeper(depth - 1);
}

static void deep_jumps(void)
{
	for (volatile unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("around_deep_jump");

		if (setjmp(out) == 0)
			deep_jump(39);
	}
}

static unsigned int jumps(void)
{
	volatile unsigned int done = 0;

	for (volatile unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("around_jump");

		if (setjmp(out) == 0)
			jump(3);
		done++;
	}
	return done;
}

static void *thread_in_region(void *unused)
{
	pkbpf_enter("ends_inside", 0);
	pthread_exit(unused);
}

static unsigned int children(void)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < 3; i++) {
		PKBPF_REGION("forks");
		int status;
		pid_t child = fork();

		if (child == 0) {
			{
				PKBPF_REGION("in_child");
			}
			_exit(7);
		}
		done += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
	}
	return done;
}

static ucontext_t main_context, contexts[2];
static unsigned int coroutine_sum;

static void coroutine(int number)
{
	for (unsigned int i = 0; i < count; i++) {
		pkbpf_begin("coroutine", (unsigned long)number + 1, 0);
		coroutine_sum += i;
		swapcontext(&contexts[number], number == 0 ? &contexts[1] : &main_context);
		pkbpf_end((unsigned long)number + 1);
	}
}

static unsigned int coroutines(void)
{
	static char stacks[2][65536];

	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	for (unsigned int i = 0; i < count; i++)
		swapcontext(&main_context, &contexts[0]);
	return coroutine_sum;
}

static volatile unsigned int handled;

static void handle(int signal_number)
{
	PKBPF_REGION("handler");

	(void)signal_number;
	handled++;
}

static __attribute__((noinline)) unsigned int deep(unsigned int depth)
{
	PKBPF_REGION("deep");

	return depth ? 1 + deep(depth - 1) : 1;
}

static void odd(void)
{
	pthread_t thread;

	printf("jumps %u\n", jumps());
	deep_jumps();
	for (unsigned int i = 0; i < 5; i++) {
		pthread_create(&thread, NULL, thread_in_region, NULL);
		pthread_join(thread, NULL);
	}
	fflush(stdout);
	printf("children %u\n", children());
	printf("coroutines %u\n", coroutines());
	signal(SIGUSR1, handle);
	for (unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("interrupted");
		raise(SIGUSR1);
	}
	printf("handled %u\n", handled);
	printf("deep %u\n", deep(39));
	for (unsigned int i = 0; i < count; i++) {
		PKBPF_REGION("afterwards");
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "nest";

	count = argc > 2 ? (unsigned int)atoi(argv[argc - 1]) : 10;
	if (strcmp(mode, "nest") == 0)
		nest();
	else if (strcmp(mode, "clocks") == 0)
		clocks();
	else if (strcmp(mode, "memory") == 0)
		memory();
	else if (strcmp(mode, "storm") == 0)
		storm((unsigned int)atoi(argv[2]));
	else
		odd();
	return 5;
}
