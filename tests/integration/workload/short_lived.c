// SPDX-License-Identifier: BSD-2-Clause
// Starts many processes one after the other, each with a little work, and says what they used together.
// cflags: -O2
#define _GNU_SOURCE
#include <sched.h>
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

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2000;
	struct rusage used;
	cpu_set_t here;

	/* On one CPU a child has left it for the last time before its parent waits for it no more: on two, that switch is in
	 * getrusage()'s sum or not. */
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		return 1;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			work();
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("{\"count\": %d, \"cpu_ns\": %lld, \"minor\": %ld, \"voluntary\": %ld, \"involuntary\": %ld}\n", count,
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL,
	       used.ru_minflt, used.ru_nvcsw, used.ru_nivcsw);
	return 0;
}
