// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-inline -fno-optimize-sibling-calls
/*
 * move_code SECONDS: moves half of its own code elsewhere with mremap(), which nothing announces,
 * and uses a CPU there.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE 4096

/* Pages of their own, that refer to nothing outside: they run wherever they are. */
__attribute__((section(".moved"), aligned(PAGE))) unsigned int moved_inner(unsigned int x)
{
	for (int i = 0; i < 1000000; i++)
		x = x * 1664525U + 1013904223U;
	return x;
}

__attribute__((section(".moved"))) unsigned int moved_outer(unsigned int x)
{
	return moved_inner(x) + 1;
}

__attribute__((section(".moved"), aligned(PAGE))) void moved_end(void)
{
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	size_t size = (size_t)((uintptr_t)moved_end - (uintptr_t)moved_inner);
	double until = seconds() + (argc > 1 ? atof(argv[1]) : 1);
	unsigned int (*outer)(unsigned int), x = 1;
	char *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED ||
	    mremap((void *)moved_inner, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, room) != room)
		return 1;
	outer = (unsigned int (*)(unsigned int))(
		uintptr_t)(room + ((uintptr_t)moved_outer - (uintptr_t)moved_inner));
	while (seconds() < until)
		x = outer(x);
	return x == 0;
}
