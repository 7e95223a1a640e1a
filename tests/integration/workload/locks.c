// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * locks contend: four threads, each of which holds the same lock for most of its time, awake and asleep.
 * locks idle: three of four threads wait for a condition that nobody ever brings about.
 * Either says so and goes on until it is killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
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

int main(int argc, char **argv)
{
	int is_idle = argc > 1 && !strcmp(argv[1], "idle");
	pthread_t thread;

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
