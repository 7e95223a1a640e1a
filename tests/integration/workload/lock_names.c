// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * lock_names SECONDS: four threads take four locks in turn, each a while: a static one, a member of
 * a variable, an element of an array, and one of the heap, which has no name.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4
#define LOCKS	4

struct configuration {
	long values[3];
	pthread_mutex_t lock; /* +0x18 */
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
/* Exported, without bytes in the file. */
struct configuration configuration;
pthread_mutex_t shards[8];
static pthread_mutex_t *locks[LOCKS];
static long end_ns;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) static void visit(pthread_mutex_t *lock)
{
	const struct timespec pause = {.tv_nsec = 500000};

	pthread_mutex_lock(lock);
	nanosleep(&pause, NULL);
	pthread_mutex_unlock(lock);
}

static void *run(void *argument)
{
	(void)argument;
	while (now() < end_ns)
		for (int i = 0; i < LOCKS; i++)
			visit(locks[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	locks[0] = &cache_lock;
	locks[1] = &configuration.lock;
	locks[2] = &shards[3];
	locks[3] = calloc(1, sizeof(*locks[3]));
	end_ns = now() + (long)(atof(argv[1]) * 1e9);
	for (int i = 1; i < LOCKS; i++)
		pthread_mutex_init(locks[i], NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < LOCKS; i++)
		printf("%p\n", (void *)locks[i]);
	return 0;
}
