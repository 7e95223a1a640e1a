/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of the zoo does what it is called: its modes are chosen by the name it is run under. */
#ifndef PKBPF_ZOO_PLANTED_H
#define PKBPF_ZOO_PLANTED_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

struct mode {
	const char *name;
	void (*run)(int argc, char **argv);
};

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static NOINLINE __attribute__((unused)) void burn_us(uint64_t us)
{
	uint64_t end = now_ns() + us * 1000;
	volatile uint64_t x = 1;

	do {
		for (int i = 0; i < 200; i++)
			x = x * 6364136223846793005ULL + 1;
	} while (now_ns() < end);
}

static inline void start_threads(int count, void *(*run)(void *))
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, run, (void *)(intptr_t)i))
			exit(2);
}

static inline int run_mode(const struct mode *modes, size_t count, int argc, char **argv)
{
	const char *name = basename(argv[0]);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(modes[i].name, name)) {
			modes[i].run(argc, argv);
			return 0;
		}
	fprintf(stderr, "%s: no such program\n", name);
	return 2;
}

#endif
