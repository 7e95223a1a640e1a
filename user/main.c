// SPDX-License-Identifier: BSD-2-Clause
/* Where the program begins and ends. */
#include <malloc.h>

#include "cli/cli.h"

/*
 * The large buffers of a run (symbol tables, unpacked debug sections) come one after another. glibc raises its
 * threshold for separate mappings with every one that is freed, until they all stay in the heap for good; fixed, each
 * gives its memory back before the next asks for some.
 */
#define SEPARATE_MAPPING_BYTES (128 * 1024)

int main(int argc, char **argv)
{
	mallopt(M_MMAP_THRESHOLD, SEPARATE_MAPPING_BYTES);
	mallopt(M_ARENA_MAX, 2);
	return cli_run(argc, argv);
}
