// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fomit-frame-pointer
/*
 * change_image FILE PROGRAM ARGUMENT…: waits for the file, forks a child, and both use a CPU for
 * 0.3 s of their own before they execute the program, which goes on with what CPU time they have
 * used: the child at once, the parent when the child has ended. All on one CPU.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) unsigned int before_exec(unsigned int x)
{
	for (double until = cpu_seconds() + 0.3; cpu_seconds() < until;)
		for (volatile int i = 0; i < 100000; i++)
			x = x * 1664525U + 1013904223U;
	return x;
}

int main(int argc, char **argv)
{
	cpu_set_t one;
	pid_t child;

	if (argc < 3)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	while (access(argv[1], F_OK))
		usleep(1000);
	child = fork();
	if (child < 0)
		return 1;
	printf("%s %d\n", child ? "parent" : "child", (int)getpid());
	fflush(stdout);
	if (child)
		waitpid(child, NULL, 0);
	if (before_exec((unsigned int)argc) != 1)
		execv(argv[2], argv + 2);
	return 1;
}
