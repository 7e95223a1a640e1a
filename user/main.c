// SPDX-License-Identifier: BSD-2-Clause
/* Where the program begins and ends. */
#include <malloc.h>

#include "cli/cli.h"

/*
 * The large buffers of a run (symbol tables, unpacked debug sections) come one after another. glibc raises its
 * threshold for separate mappings with every one that is freed, until they all stay in the heap for good; fixed, each
 * gives its memory back before the next asks for some. Smaller ones, a table for each library of a program, use the same
 * memory in turn: what the heap gave back at its end it would soon fault in again, page by page.
 */
#define SEPARATE_MAPPING_BYTES (1 << 20)
#define KEPT_BYTES	       (4 << 20)
#define GROWTH_BYTES	       (1 << 20)

int main(int argc, char **argv)
{
	mallopt(M_MMAP_THRESHOLD, SEPARATE_MAPPING_BYTES);
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, GROWTH_BYTES);
	return cli_run(argc, argv);
}
