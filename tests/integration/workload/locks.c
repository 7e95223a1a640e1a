// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * locks contend: four threads, each of which holds the same lock for most of its time, awake and
 * asleep. locks idle: three of four threads wait for a condition that nobody ever brings about.
 * locks deadlock: two threads each wait for the lock that the other holds, and nothing else
 * happens. Each says so and goes on until it is killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have_one;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static volatile unsigned long counter;

__attribute__((noinline)) static void use_lock(void)
{
	const struct timespec while_held = {.tv_nsec = 500000};

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 20000; i++)
		counter++;
	nanosleep(&while_held, NULL);
	pthread_mutex_unlock(&mutex);
}

static void *contend(void *argument)
{
	for (;;)
		use_lock();
	return argument;
}

static void *idle(void *argument)
{
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	return argument;
}

static void take_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_mutex_lock(one);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(other);
}

static void *take_second_first(void *argument)
{
	take_both(&second, &mutex);
	return argument;
}

static int deadlock(void)
{
	pthread_t thread;

	pthread_barrier_init(&both_have_one, NULL, 2);
	if (pthread_create(&thread, NULL, take_second_first, NULL))
		return 1;
	puts("running");
	fflush(stdout);
	take_both(&mutex, &second);
	return 0;
}

int main(int argc, char **argv)
{
	int is_idle = argc > 1 && !strcmp(argv[1], "idle");
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "deadlock"))
		return deadlock();
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, is_idle ? idle : contend, NULL))
			return 1;
	puts("running");
	fflush(stdout);
	if (is_idle)
		pause();
	contend(NULL);
	return 0;
}
