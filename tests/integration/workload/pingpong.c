// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * pingpong SECONDS: two threads hand a byte to and fro on one CPU, as fast as they can, and then
 * tell the truth:
 *
 *	thread LIFE_NS CPU_NS SWITCHES
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct side {
	int in, out, serves;
};

static uint64_t end_ns;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static int receive(int fd)
{
	char byte;

	return (int)read(fd, &byte, 1);
}

__attribute__((noinline)) static void exchange(const struct side *side)
{
	while (now_ns(CLOCK_MONOTONIC) < end_ns && write(side->out, "x", 1) == 1 &&
	       receive(side->in) == 1)
		;
	/* Whoever ends first lets the other see the end of its pipe. */
	close(side->out);
}

static void *play(void *argument)
{
	uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
	const struct side *side = argument;
	struct rusage usage;

	if (!side->serves)
		receive(side->in);
	exchange(side);
	getrusage(RUSAGE_THREAD, &usage);
	printf("thread %llu %llu %ld\n", (unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin_ns),
	       (unsigned long long)now_ns(CLOCK_THREAD_CPUTIME_ID),
	       usage.ru_nvcsw + usage.ru_nivcsw);
	return NULL;
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	struct side sides[2];
	pthread_t threads[2];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof(cpu), &cpu))
		return 1;
	end_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t)((argc > 1 ? strtod(argv[1], NULL) : 1) * 1e9);
	sides[0] = (struct side){.in = back[0], .out = there[1], .serves = 1};
	sides[1] = (struct side){.in = there[0], .out = back[1]};
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, play, &sides[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
