// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * bursts ROUNDS MILLISECONDS: two threads hand a byte to and fro on one CPU, as fast as they can,
 * for a time; then one of them sleeps once for as long, which the other waits for. In the end the
 * truth of the sleeps:
 *
 *	rest COUNT NS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static volatile int keep;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static int receive(int fd)
{
	char byte;
	int got = (int)read(fd, &byte, 1);

	keep++; /* no tail call */
	return got;
}

__attribute__((noinline)) static void *answer(void *argument)
{
	while (receive(there[0]) == 1 && write(back[1], "x", 1) == 1)
		;
	return argument;
}

__attribute__((noinline)) static void burst(uint64_t ns)
{
	uint64_t end_ns = now_ns() + ns;

	while (now_ns() < end_ns && write(there[1], "x", 1) == 1 && receive(back[0]) == 1)
		;
	keep++;
}

__attribute__((noinline)) static uint64_t rest(uint64_t ns)
{
	struct timespec length = {.tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000)};
	uint64_t begin_ns = now_ns();

	nanosleep(&length, NULL);
	return now_ns() - begin_ns;
}

int main(int argc, char **argv)
{
	uint64_t length_ns, rested_ns = 0;
	pthread_t other;
	cpu_set_t cpu;
	int rounds;

	if (argc != 3)
		return 2;
	rounds = atoi(argv[1]);
	length_ns = strtoull(argv[2], NULL, 10) * 1000000;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    pthread_create(&other, NULL, answer, NULL))
		return 1;
	for (int i = 0; i < rounds; i++) {
		burst(length_ns);
		rested_ns += rest(length_ns);
	}
	close(there[1]);
	pthread_join(other, NULL);
	printf("rest %d %llu\n", rounds, (unsigned long long)rested_ns);
	return 0;
}
