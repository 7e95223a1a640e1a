// SPDX-License-Identifier: BSD-2-Clause
// Waits for a line on stdin, then uses CPU, memory and threads in known amounts, says how much, and
// waits again. cflags: -O2 -pthread ldflags: -pthread
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY (64 << 20)

static void *spin(void *argument)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < 100000000; i++)
		sum += i;
	for (int i = 0; i < 50; i++)
		usleep(1000);
	return argument;
}

static void tell(const char *key, const struct rusage *before, const struct rusage *after)
{
	long long cpu_us = (after->ru_utime.tv_sec + after->ru_stime.tv_sec -
			    before->ru_utime.tv_sec - before->ru_stime.tv_sec) *
				   1000000LL +
			   after->ru_utime.tv_usec + after->ru_stime.tv_usec -
			   before->ru_utime.tv_usec - before->ru_stime.tv_usec;

	printf("{\"%s\": {\"cpu_ns\": %lld, \"minor\": %ld, \"voluntary\": %ld, \"involuntary\": "
	       "%ld}}\n",
	       key, cpu_us * 1000, after->ru_minflt - before->ru_minflt,
	       after->ru_nvcsw - before->ru_nvcsw, after->ru_nivcsw - before->ru_nivcsw);
	fflush(stdout);
}

int main(void)
{
	struct rusage before, after;
	pthread_t threads[3];
	char line[16];
	char *memory;

	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	getrusage(RUSAGE_SELF, &before);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, MEMORY, MADV_NOHUGEPAGE);
	memset(memory, 1, MEMORY);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, spin, NULL))
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	getrusage(RUSAGE_SELF, &after);
	tell("used", &before, &after);
	return !fgets(line, sizeof(line), stdin);
}
