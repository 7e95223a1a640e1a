// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// hollow PAGES: works for a millisecond below a function whose local variables fill so many pages,
// which nobody touches.
#include <alloca.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static __attribute__((noinline)) void work_below_hollow(void)
{
	long long end_ns = now_ns() + 1000000;

	while (now_ns() < end_ns)
		sum++;
}

static __attribute__((noinline)) void be_hollow(char *path)
{
	work_below_hollow();
	path[0] = 1;
}

int main(int argc, char **argv)
{
	char *path = alloca((size_t)(argc > 1 ? atoi(argv[1]) : 8) * 4096);

	be_hollow(path);
	return path[0] != 1;
}
