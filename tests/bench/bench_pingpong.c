// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes that hand a byte to and fro on one CPU: the worst case for anything that looks at
 * context switches.
 *
 *	bench_pingpong pipe|futex CPU DEPTH RATE	RATE: switches per second, 0: as many as
 *							possible
 *
 * Every 100 ms a line "SWITCHES/S CPU_NS_PER_SWITCH" of the last window. CPU time, not wall time,
 * is what a tracer adds to when other programs use the CPU as well. DEPTH calls lie below the one
 * that waits; there are no frame pointers.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_NS 100000000ULL
#define BATCH	  20

struct channel {
	int in, out;
	atomic_int *mine, *theirs;
};

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void wait_until(atomic_int *word, int value)
{
	while (atomic_load(word) != value)
		syscall(SYS_futex, word, FUTEX_WAIT, !value, NULL, NULL, 0);
}

static void set_word(atomic_int *word, int value)
{
	atomic_store(word, value);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

__attribute__((noinline)) static int receive(const struct channel *channel)
{
	char byte = 0;

	if (channel->mine) {
		wait_until(channel->mine, 1);
		atomic_store(channel->mine, 0);
		return 1;
	}
	return (int)read(channel->in, &byte, 1);
}

__attribute__((noinline)) static int send_on(const struct channel *channel)
{
	if (channel->theirs) {
		set_word(channel->theirs, 1);
		return 1;
	}
	return (int)write(channel->out, "x", 1);
}

__attribute__((noinline)) static int exchange(const struct channel *channel)
{
	return send_on(channel) == 1 && receive(channel) == 1;
}

__attribute__((noinline)) static int descend(const struct channel *channel, int depth)
{
	volatile char frame[48];
	int result;

	frame[0] = (char)depth;
	result = depth ? descend(channel, depth - 1) : exchange(channel);
	return result + (frame[0] & 0);
}

static void echo_forever(const struct channel *channel)
{
	while (receive(channel) == 1 && send_on(channel) == 1)
		;
}

static void pause_until(uint64_t time_ns)
{
	struct timespec time = {.tv_sec = (time_t)(time_ns / 1000000000),
				.tv_nsec = (long)(time_ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

int main(int argc, char **argv)
{
	int there[2], back[2], depth = argc > 3 ? atoi(argv[3]) : 4;
	uint64_t rate = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	int futex = argc > 1 && strcmp(argv[1], "futex") == 0;
	atomic_int *words =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct channel us = {0}, them = {0};
	clockid_t their_clock;
	cpu_set_t cpu;
	pid_t child;

	CPU_ZERO(&cpu);
	CPU_SET((size_t)(argc > 2 ? atoi(argv[2]) : 0), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) || pipe(there) || pipe(back) ||
	    words == MAP_FAILED)
		return 1;
	us = (struct channel){back[0], there[1], futex ? &words[0] : NULL,
			      futex ? &words[16] : NULL};
	them = (struct channel){there[0], back[1], futex ? &words[16] : NULL,
				futex ? &words[0] : NULL};
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		echo_forever(&them);
		_exit(0);
	}
	clock_getcpuclockid(child, &their_clock);
	for (;;) {
		uint64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns, trips = 0;
		uint64_t cpu_ns =
			read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + read_clock_ns(their_clock);

		while (now_ns < begin_ns + WINDOW_NS) {
			for (int i = 0; i < BATCH; i++)
				descend(&us, depth);
			trips += BATCH;
			now_ns = read_clock_ns(CLOCK_MONOTONIC);
			if (rate && trips * 2 * 1000000000 / rate > now_ns - begin_ns)
				pause_until(begin_ns + trips * 2 * 1000000000 / rate);
		}
		cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + read_clock_ns(their_clock) -
			 cpu_ns;
		printf("%.0f %.1f\n", (double)trips * 2e9 / (double)(now_ns - begin_ns),
		       (double)cpu_ns / (double)(trips * 2));
		fflush(stdout);
	}
}
