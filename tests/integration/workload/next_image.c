// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fomit-frame-pointer -fno-pie
// ldflags: -no-pie
/* next_image MILLISECONDS: uses a CPU that long, at an address at which brief_image has other
 * code. */
#include <stdlib.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* So far behind the start of the code that it lies within brief_image's wide(). */
__attribute__((noinline, aligned(16384))) unsigned int work(unsigned int x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 1664525U + 1013904223U + (x >> 7);
	return x;
}

int main(int argc, char **argv)
{
	unsigned int x = (unsigned int)argc;

	for (double until = cpu_ms() + (argc > 1 ? atof(argv[1]) : 1); cpu_ms() < until;)
		x = work(x);
	return x == 1;
}
