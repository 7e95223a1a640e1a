// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * Threads that wait for known times, each in a chain of its own (chain_NAME -> wait_NAME), and then
 * tell the truth:
 *
 *	thread NAME TID WAITS WAITED_NS CPU_NS LIFE_NS
 *	process VOLUNTARY INVOLUNTARY	switches, counted by the kernel
 *
 * waits COUNT MS FOLDER [NAME…]: every chain waits COUNT times about MS milliseconds; names choose
 * chains.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned int count, period_ms;
static const char *folder;

struct chain {
	const char *name;
	void (*run)(struct chain *chain);
	pthread_t thread;
	uint64_t waited_ns, begin_ns;
	unsigned int waits;
	int selected;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void begin_wait(struct chain *chain)
{
	chain->begin_ns = now_ns(CLOCK_MONOTONIC);
}

static void end_wait(struct chain *chain)
{
	chain->waited_ns += now_ns(CLOCK_MONOTONIC) - chain->begin_ns;
	chain->waits++;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

#define CHAIN(name)                                                                                \
	static __attribute__((noinline)) void wait_##name(struct chain *chain);                    \
	static __attribute__((noinline)) void chain_##name(struct chain *chain)                    \
	{                                                                                          \
		for (unsigned int i = 0; i < count; i++)                                           \
			wait_##name(chain);                                                        \
		__asm__ volatile("");                                                              \
	}                                                                                          \
	static void wait_##name(struct chain *chain)

CHAIN(sleep)
{
	begin_wait(chain);
	sleep_ms(period_ms);
	end_wait(chain);
}

CHAIN(poll)
{
	begin_wait(chain);
	poll(NULL, 0, (int)period_ms);
	end_wait(chain);
}

/* A partner thread writes a byte, or passes the baton, every period. */
static int pipe_ends[2];

static void *write_bytes(void *unused)
{
	for (unsigned int i = 0; i < count; i++) {
		sleep_ms(period_ms);
		if (write(pipe_ends[1], "x", 1) != 1)
			break;
	}
	return unused;
}

CHAIN(pipe)
{
	char byte;

	begin_wait(chain);
	if (read(pipe_ends[0], &byte, 1) != 1)
		abort();
	end_wait(chain);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t baton_passed = PTHREAD_COND_INITIALIZER;
static unsigned int batons;

static void *pass_batons(void *unused)
{
	for (unsigned int i = 0; i < count; i++) {
		sleep_ms(period_ms);
		pthread_mutex_lock(&mutex);
		batons++;
		pthread_cond_signal(&baton_passed);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

CHAIN(futex)
{
	begin_wait(chain);
	pthread_mutex_lock(&mutex);
	while (!batons)
		pthread_cond_wait(&baton_passed, &mutex);
	batons--;
	pthread_mutex_unlock(&mutex);
	end_wait(chain);
}

/* Writes until the disk has it. How long that takes is the disk's affair. */
CHAIN(fsync)
{
	static char block[262144];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/waits-fsync", folder);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	memset(block, (int)chain->waits + 1, sizeof(block));
	if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		abort();
	begin_wait(chain);
	fsync(fd);
	end_wait(chain);
	close(fd);
}

/* Touches a page of a file that is not in memory. */
CHAIN(pagein)
{
	size_t size = 4 << 20;
	volatile char *memory;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/waits-fsync-pagein", folder);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd < 0 || ftruncate(fd, 0) || fallocate(fd, 0, 0, (off_t)size) ||
	    pwrite(fd, "x", 1, 0) != 1)
		abort();
	for (size_t i = 0; i < size; i += 4096)
		if (pwrite(fd, "x", 1, (off_t)i) != 1)
			abort();
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		abort();
	begin_wait(chain);
	for (size_t i = 0; i < size; i += 1 << 20)
		(void)memory[i];
	end_wait(chain);
	munmap((void *)memory, size);
	close(fd);
}

/* Two of these share one CPU: each waits on the run queue while the other computes. */
static atomic_uint spinners_ready;

CHAIN(spin)
{
	uint64_t until;

	if (chain->waits == 0) {
		cpu_set_t cpu;

		CPU_ZERO(&cpu);
		CPU_SET(0, &cpu);
		sched_setaffinity(0, sizeof(cpu), &cpu);
		spinners_ready++;
		while (spinners_ready % 2)
			sched_yield();
		chain->begin_ns = now_ns(CLOCK_MONOTONIC);
	}
	until = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)period_ms * 1000000;
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	chain->waits++;
}

/* One wait for the whole time. */
static __attribute__((noinline)) void wait_blocked(struct chain *chain)
{
	begin_wait(chain);
	sleep_ms(count * period_ms);
	end_wait(chain);
}

static __attribute__((noinline)) void chain_blocked(struct chain *chain)
{
	wait_blocked(chain);
	__asm__ volatile("");
}

static struct chain chains[] = {
	{.name = "sleep", .run = chain_sleep},	   {.name = "poll", .run = chain_poll},
	{.name = "pipe", .run = chain_pipe},	   {.name = "futex", .run = chain_futex},
	{.name = "fsync", .run = chain_fsync},	   {.name = "pagein", .run = chain_pagein},
	{.name = "spin", .run = chain_spin},	   {.name = "spin", .run = chain_spin},
	{.name = "blocked", .run = chain_blocked},
};

#define CHAINS (sizeof(chains) / sizeof(chains[0]))

static void *run_chain(void *argument)
{
	struct chain *chain = argument;
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC), end_ns, cpu_ns;

	pthread_setname_np(pthread_self(), chain->name);
	chain->run(chain);
	cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	end_ns = now_ns(CLOCK_MONOTONIC);
	printf("thread %s %ld %u %llu %llu %llu\n", chain->name, syscall(SYS_gettid), chain->waits,
	       (unsigned long long)chain->waited_ns, (unsigned long long)cpu_ns,
	       (unsigned long long)(end_ns - start_ns));
	return NULL;
}

static int selected(const char *name, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return argc <= 4;
}

int main(int argc, char **argv)
{
	pthread_t partners[2];
	struct rusage usage;

	if (argc < 4)
		return 2;
	count = (unsigned int)atoi(argv[1]);
	period_ms = (unsigned int)atoi(argv[2]);
	folder = argv[3];
	if (pipe(pipe_ends))
		return 1;
	if (selected("pipe", argc, argv))
		pthread_create(&partners[0], NULL, write_bytes, NULL);
	if (selected("futex", argc, argv))
		pthread_create(&partners[1], NULL, pass_batons, NULL);
	for (size_t i = 0; i < CHAINS; i++) {
		chains[i].selected = selected(chains[i].name, argc, argv);
		if (!chains[i].selected)
			continue;
		pthread_create(&chains[i].thread, NULL, run_chain, &chains[i]);
	}
	for (size_t i = 0; i < CHAINS; i++)
		if (chains[i].selected)
			pthread_join(chains[i].thread, NULL);
	getrusage(RUSAGE_SELF, &usage);
	printf("process %ld %ld\n", usage.ru_nvcsw, usage.ru_nivcsw);
	return 0;
}
