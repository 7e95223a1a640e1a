/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of the calling process at one time, in C or C++, as pkbpf.snapshot() has it in Python:
 *
 *	#include <pkbpf/pkbpf_snapshot.h>
 *
 *	struct pkbpf_memory before, after;
 *
 *	pkbpf_snapshot(&before);
 *	work();
 *	if (pkbpf_snapshot(&after) == 0)
 *		printf("grew by %lld bytes, of the heap %.0f %% are free\n",
 *		       pkbpf_snapshot_growth(&before, &after, rss),
 *		       100 * pkbpf_snapshot_fragmentation(&after));
 *
 * Needs no rights and no program, and nothing has to be linked: it reads /proc/self and asks
 *glibc's malloc, and allocates nothing. A call takes time with the size of the process: the kernel
 *looks at each page.
 */
#ifndef PKBPF_PKBPF_SNAPSHOT_H
#define PKBPF_PKBPF_SNAPSHOT_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Strict C hides it. */
#ifdef O_CLOEXEC
#define PKBPF_O_CLOEXEC_ O_CLOEXEC
#else
#define PKBPF_O_CLOEXEC_ 02000000
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes. */
struct pkbpf_memory {
	unsigned long long rss;		/* resident */
	unsigned long long peak_rss;	/* since the start of the process */
	unsigned long long private_rss; /* resident and of this process alone */
	unsigned long long swap;
	unsigned long long heap_used; /* allocated by malloc and not freed */
	unsigned long long heap_free; /* freed, and still held by the allocator */
	int has_private;	      /* 0: the kernel does not tell private_rss */
	int has_heap;		      /* 0: an allocator other than that of glibc 2.33 or newer */
};

#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
#define PKBPF_HAS_MALLINFO2_ 1
/* A program may run with an older one than it was compiled with. */
#pragma weak mallinfo2
#else
#define PKBPF_HAS_MALLINFO2_ 0
#endif

/* Adds the values of all lines "Name:   123 kB" of a file to its sums. 0, or -errno. */
static inline int pkbpf_snapshot_read_(const char *path, const char *const *names,
				       unsigned long long *const *sums, size_t count)
{
	char line[256], block[512];
	size_t used = 0;
	ssize_t size = 0;
	int fd = open(path, O_RDONLY | PKBPF_O_CLOEXEC_), err = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		size = read(fd, block, sizeof(block));
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			break;
		for (ssize_t i = 0; i < size; i++) {
			unsigned long long kib = 0;
			size_t at;

			if (block[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = block[i];
				continue;
			}
			line[used] = '\0';
			used = 0;
			for (size_t j = 0; j < count; j++) {
				at = strlen(names[j]);
				if (strncmp(line, names[j], at) != 0)
					continue;
				while (line[at] == ' ' || line[at] == '\t')
					at++;
				while (line[at] >= '0' && line[at] <= '9')
					kib = kib * 10 + (unsigned long long)(line[at++] - '0');
				*sums[j] += kib * 1024;
			}
		}
	}
	if (size < 0)
		err = -errno;
	close(fd);
	return err;
}

/* 0, or -errno where /proc is missing. May be called by several threads at once. */
static inline int pkbpf_snapshot(struct pkbpf_memory *memory)
{
	unsigned long long rss = 0, peak = 0, swap = 0, own = 0, exact = 0;
	const char *const of_status[] = {"VmRSS:", "VmHWM:", "VmSwap:"};
	unsigned long long *const status_sums[] = {&rss, &peak, &swap};
	const char *const of_pages[] = {"Rss:", "Private_Clean:", "Private_Dirty:"};
	unsigned long long *const page_sums[] = {&exact, &own, &own};
	int err = pkbpf_snapshot_read_("/proc/self/status", of_status, status_sums, 3);

	memset(memory, 0, sizeof(*memory));
	if (err)
		return err;
	/* Kernels without CONFIG_PROC_PAGE_MONITOR have none. */
	memory->has_private =
		pkbpf_snapshot_read_("/proc/self/smaps_rollup", of_pages, page_sums, 3) == 0;
	/* The kernel's sum lacks what each CPU has not yet added. */
	memory->rss = exact ? exact : rss;
	memory->peak_rss = peak > memory->rss ? peak : memory->rss;
	memory->private_rss = own;
	memory->swap = swap;
#if PKBPF_HAS_MALLINFO2_
	if (mallinfo2) {
		struct mallinfo2 heap = mallinfo2();

		memory->heap_used = heap.uordblks + heap.hblkhd;
		memory->heap_free = heap.fordblks;
		/* Beside another allocator glibc's has nothing. */
		memory->has_heap = heap.arena + heap.hblkhd > 0;
	}
#endif
	return 0;
}

/* The part of the heap that is held but free, 0 to 1; 0 where the heap is not known. */
static inline double pkbpf_snapshot_fragmentation(const struct pkbpf_memory *memory)
{
	unsigned long long held = memory->heap_used + memory->heap_free;

	return held ? (double)memory->heap_free / (double)held : 0;
}

/* By how much a member has grown; below zero: it has shrunk. */
#define pkbpf_snapshot_growth(before, after, member)                                               \
	((long long)((after)->member - (before)->member))

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
