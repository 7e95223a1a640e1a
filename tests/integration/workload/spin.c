// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fno-omit-frame-pointer
/* Uses one CPU for as many seconds as its argument says, in spin_here called by main. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) unsigned int spin_here(unsigned int x)
{
	for (volatile int i = 0; i < 1000000; i++)
		x = x * 1664525U + 1013904223U;
	return x;
}

int main(int argc, char **argv)
{
	double until = argc > 1 ? strtod(argv[1], NULL) : 1;
	unsigned int x = 1;

	while (cpu_seconds() < until)
		x = spin_here(x);
	fprintf(stderr, "%s", x == 0 ? " " : ""); /* the work must not be optimized away */
	return argc > 2 ? atoi(argv[2]) : 0;
}
