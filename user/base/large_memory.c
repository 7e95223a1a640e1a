// SPDX-License-Identifier: BSD-2-Clause
/* Asks for large pages. */
#include "base/large_memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Of x86-64 and of arm64 with pages of 4 KiB; where large pages are larger nothing changes. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

void large_memory_advise(void *data, size_t size)
{
	uintptr_t start = ((uintptr_t)data + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)data + size) & ~(LARGE_PAGE - 1);
	int errnum = errno;

	/* A wish: kernels without large pages refuse it. */
	if (data && start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	errno = errnum;
}

void *large_malloc(size_t size)
{
	void *data = malloc(size);

	large_memory_advise(data, size);
	return data;
}
