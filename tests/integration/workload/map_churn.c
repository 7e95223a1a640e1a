// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
// ldflags: -pthread
/*
 * map_churn SECONDS THREADS: threads map, touch and unmap memory, so that they wait for the lock of
 * the process's mappings; or one alone, which waits for nobody. Writes for how long all calls of
 * mmap() and munmap() took, in ns.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define THREADS_MAX 16
#define SIZE	    (1 << 20)

static long end_ns;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *run(void *calls_ns)
{
	while (now() < end_ns) {
		long begin = now();
		char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		if (memory == MAP_FAILED)
			abort();
		for (int i = 0; i < SIZE; i += 4096)
			memory[i] = 1;
		munmap(memory, SIZE);
		*(long *)calls_ns += now() - begin;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS_MAX];
	long calls_ns[THREADS_MAX] = {0}, sum_ns = 0;

	if (count < 1 || count > THREADS_MAX)
		return 2;
	end_ns = now() + (long)(atof(argv[1]) * 1e9);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, &calls_ns[i]);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum_ns += calls_ns[i];
	}
	printf("%ld\n", sum_ns);
	return 0;
}
