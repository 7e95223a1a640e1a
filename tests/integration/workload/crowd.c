// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/* crowd THREADS SECONDS [again]: that many threads sleep in the same place, all at once, for that
 * long, once or again and again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds;
static int again;

__attribute__((noinline)) static void sleep_in_crowd(void)
{
	struct timespec time = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&time, NULL);
	__asm__ volatile("");
}

static void *member(void *unused)
{
	do
		sleep_in_crowd();
	while (again);
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_attr_t attributes;
	pthread_t *threads;

	seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	again = argc > 3 && strcmp(argv[3], "again") == 0;
	threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, member, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("crowd of %d slept %g seconds each\n", count, seconds);
	return 0;
}
