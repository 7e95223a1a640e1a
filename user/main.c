// SPDX-License-Identifier: BSD-2-Clause
/* Where the program begins and ends. */
#include <malloc.h>
#include <nss.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/large_memory.h"
#include "base/roomy_stack.h"
#include "cli/cli.h"

/*
 * The large buffers of a run (symbol tables, unpacked debug sections) come one after another. glibc
 * raises its threshold for separate mappings with every one that is freed, until they all stay in
 * the heap for good; fixed, each gives its memory back before the next asks for some. Smaller ones,
 * a table for each library of a program, use the same memory in turn: what the heap gave back at
 * its end it would soon fault in again, page by page.
 */
#define SEPARATE_MAPPING_BYTES (1 << 20)
#define KEPT_BYTES	       (12 << 20)
#define GROWTH_BYTES	       (1 << 20)
/* A heap begins anywhere: three whole large pages at least. */
#define FIRST_HEAP_BYTES (8 << 20)

/* Most of what a run needs fits into the heap's first megabytes: in large pages that is three
 * faults instead of a thousand, which took a tenth of a short run. */
static void prepare_heap(void)
{
	void *first;

	mallopt(M_MMAP_THRESHOLD, SEPARATE_MAPPING_BYTES);
	/* The thread that builds tables shares the heap: it would have one in small pages. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, FIRST_HEAP_BYTES);
	first = malloc(1);
	large_memory_advise(first, (size_t)((char *)sbrk(0) - (char *)first));
	free(first);
	mallopt(M_TOP_PAD, GROWTH_BYTES);
}

#ifdef PKBPF_STATIC
/* Modules of the machine's name services bring a second C library along, which crashes in a program
 * without libraries (nss_systemd: Debian's default). What is in files and DNS needs none. */
static void choose_name_services(void)
{
	static const char *const of_files[] = {"passwd",   "group",	"initgroups",
					       "services", "protocols", "networks"};

	for (size_t i = 0; i < ARRAY_SIZE(of_files); i++)
		__nss_configure_lookup(of_files[i], "files");
	__nss_configure_lookup("hosts", "files dns");
}
#else
static void choose_name_services(void)
{
}
#endif

int main(int argc, char **argv)
{
	choose_name_services();
	prepare_heap();
	return roomy_stack_run(cli_run, argc, argv);
}
