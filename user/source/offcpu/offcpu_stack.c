// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/offcpu_stack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/event.h>

#include "base/cleanup.h"

/* Bits of a word of /proc/PID/pagemap (the kernel's Documentation/admin-guide/mm/pagemap.rst). */
#define PAGE_PRESENT (1ULL << 63)
#define PAGE_SWAPPED (1ULL << 62)
/* The same limit as in the kernel side's copies: pages further away may belong to another stack. */
#define MOST_MISSING_PAGES 10

/* Opens a file of the thread: an exited main thread shows no memory. -1: cannot be opened. */
static int open_of_thread(uint32_t pid, uint32_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Bit mask of untouched pages, from the page of `address` on. 0 also where the kernel hides them
 * or has larger pages. */
static uint64_t find_untouched(uint32_t pid, uint32_t tid, uint64_t address)
{
	_cleanup_close_ int fd = open_of_thread(pid, tid, "pagemap");
	uint64_t words[PKBPF_RAW_SPAN_PAGES];
	uint64_t untouched = 0;
	ssize_t got;

	if (fd < 0 || sysconf(_SC_PAGESIZE) != PKBPF_RAW_PAGE_BYTES)
		return 0;
	got = pread(fd, words, sizeof(words),
		    (off_t)(address / PKBPF_RAW_PAGE_BYTES * sizeof(*words)));
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*words); i++)
		untouched |= words[i] & (PAGE_PRESENT | PAGE_SWAPPED) ? 0 : 1ULL << i;
	return untouched;
}

bool offcpu_stack_read(uint32_t pid, uint32_t tid, uint8_t *stack, size_t room,
		       struct raw_stack_extent *extent)
{
	_cleanup_close_ int fd = open_of_thread(pid, tid, "mem");
	uint64_t untouched = find_untouched(pid, tid, extent->start), address = extent->start;
	uint32_t missing = 0;

	extent->size = 0;
	extent->holes = 0;
	/* Reads page by page: the end of the stack is unknown. */
	for (uint32_t page = 0; page < PKBPF_RAW_SPAN_PAGES && extent->size < room; page++) {
		size_t want = PKBPF_RAW_PAGE_BYTES - address % PKBPF_RAW_PAGE_BYTES;
		ssize_t got;

		if (page && untouched >> page & 1) {
			if (missing++ == MOST_MISSING_PAGES)
				return false;
			extent->holes |= 1ULL << page;
			address += want;
			continue;
		}
		if (want > room - extent->size)
			want = room - extent->size;
		got = fd < 0 ? -1 : pread(fd, stack + extent->size, want, (off_t)address);
		if (got <= 0)
			return false;
		missing = 0;
		extent->size += (size_t)got & ~(size_t)7;
		if ((size_t)got < want)
			return false;
		address += want;
	}
	return true;
}
