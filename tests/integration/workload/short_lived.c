// SPDX-License-Identifier: BSD-2-Clause
// short_lived COUNT [threads [sleeping]]: starts many processes, or threads, one after the other,
// each with a little work, or a little sleep, and says what they used together. cflags: -O2
// ldflags: -pthread
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(void)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < 400000; i++)
		sum += i;
}

static void *work_in_thread(void *unused)
{
	work();
	return unused;
}

static void *sleep_in_thread(void *unused)
{
	usleep(100);
	return unused;
}

static bool run_thread(void *(*body)(void *))
{
	pthread_t thread;

	return pthread_create(&thread, NULL, body, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool run_process(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid == 0) {
		work();
		_exit(0);
	}
	return waitpid(pid, NULL, 0) == pid;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2000;
	bool threads = argc > 2, sleeping = argc > 3;
	struct rusage used;
	cpu_set_t here;

	/* On one CPU a child has left it for the last time before its parent waits for it no more:
	 * on two, that switch is in getrusage()'s sum or not. */
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		return 1;
	for (int i = 0; i < count; i++) {
		if (!(threads ? run_thread(sleeping ? sleep_in_thread : work_in_thread)
			      : run_process()))
			return 1;
	}
	getrusage(threads ? RUSAGE_SELF : RUSAGE_CHILDREN, &used);
	printf("{\"count\": %d, \"cpu_ns\": %lld, \"minor\": %ld, \"voluntary\": %ld, "
	       "\"involuntary\": %ld}\n",
	       count,
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL,
	       used.ru_minflt, used.ru_nvcsw, used.ru_nivcsw);
	return 0;
}
