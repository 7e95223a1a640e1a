// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * slow_writes DEVICE: writes to it what it is told to, past the page cache, and says how long that
 * took.
 *
 * Each line of input, "main OFFSET SIZE" or "thread OFFSET SIZE", is answered by "TID NANOSECONDS";
 * who writes is told apart by write_of_main and write_of_thread in the stack.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_SIZE (1 << 20)

static int device;
static void *bytes;

struct wish {
	long long offset, size;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void write_and_tell(const struct wish *wish)
{
	uint64_t begin_ns = now_ns(), end_ns;

	if (pwrite(device, bytes, (size_t)wish->size, wish->offset) != wish->size) {
		perror("pwrite");
		exit(1);
	}
	end_ns = now_ns();
	printf("%d %llu\n", gettid(), (unsigned long long)(end_ns - begin_ns));
	fflush(stdout);
}

static __attribute__((noinline)) void write_of_main(const struct wish *wish)
{
	write_and_tell(wish);
	__asm__ volatile("" ::: "memory"); /* a call, no jump */
}

static __attribute__((noinline)) void *write_of_thread(void *wish)
{
	write_and_tell(wish);
	__asm__ volatile("" ::: "memory");
	return NULL;
}

int main(int argc, char **argv)
{
	char who[16];
	struct wish wish;
	pthread_t thread;

	device = argc == 2 ? open(argv[1], O_WRONLY | O_DIRECT | O_CLOEXEC) : -1;
	if (device < 0 || posix_memalign(&bytes, 4096, MAX_SIZE)) {
		fprintf(stderr, "slow_writes: cannot open the device\n");
		return 1;
	}
	memset(bytes, 'x', MAX_SIZE);
	while (scanf("%15s %lld %lld", who, &wish.offset, &wish.size) == 3) {
		if (wish.size > MAX_SIZE)
			return 1;
		if (strcmp(who, "main") == 0) {
			write_of_main(&wish);
			continue;
		}
		if (pthread_create(&thread, NULL, write_of_thread, &wish))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}
