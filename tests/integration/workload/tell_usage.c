// SPDX-License-Identifier: BSD-2-Clause
// tell_usage SECONDS: runs, waits, touches memory and forks in turns, then says by getrusage() what
// it has used. cflags: -O2
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY (1 << 20)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void work(void)
{
	double end = now() + 0.03;
	char *memory =
		mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (now() < end)
		;
	if (memory == MAP_FAILED)
		exit(1);
	memset(memory, 1, MEMORY);
	munmap(memory, MEMORY);
	usleep(20000);
}

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (volatile int i = 0; i < 3000000; i++)
			;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static double seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	struct rusage own, children;

	for (int turn = 1; now() < end; turn++) {
		work();
		if (turn % 5 == 0)
			fork_one();
	}
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("{\"cpu_s\": %.6f, \"faults\": %ld, \"voluntary\": %ld}\n",
	       seconds(&own) + seconds(&children), own.ru_minflt + children.ru_minflt,
	       own.ru_nvcsw + children.ru_nvcsw);
	return 0;
}
