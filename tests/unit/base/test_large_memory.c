// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/large_memory: memory of all sizes can be used, and only whole large pages are
 * asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/large_memory.h"

#define LARGE_PAGE ((size_t)2 << 20)

static void gives_memory_of_any_size(void **state)
{
	static const size_t sizes[] = {
		1, 4096, LARGE_PAGE - 1, LARGE_PAGE, 2 * LARGE_PAGE + 1, 3 * LARGE_PAGE - 7};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint8_t *data = large_malloc(sizes[i]);

		assert_non_null(data);
		memset(data, 1, sizes[i]);
		data = realloc(data, sizes[i] * 2);
		assert_non_null(data);
		assert_int_equal(data[sizes[i] - 1], 1);
		free(data);
	}
	large_memory_advise(NULL, 0);
}

/* How many KiB of the mapping at this address were advised ("hg" among its flags). */
static unsigned long advised_kib(const uint8_t *start, size_t size)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	unsigned long first, last, from = 0, to = 0, kib = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
			from = first;
			to = last;
		} else if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") &&
			   from >= (uintptr_t)start && to <= (uintptr_t)start + size) {
			kib += (to - from) / 1024;
		}
	}
	fclose(maps);
	return kib;
}

static void asks_for_whole_large_pages_only(void **state)
{
	size_t size = 6 * LARGE_PAGE;
	uint8_t *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0),
		*aligned;

	assert_true(mapped != MAP_FAILED);
	if (madvise(mapped, 4096, MADV_HUGEPAGE) && errno == EINVAL) {
		munmap(mapped, size);
		return; /* a kernel without large pages */
	}
	madvise(mapped, 4096, MADV_NOHUGEPAGE);
	aligned = (uint8_t *)(((uintptr_t)mapped + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1));
	errno = ERANGE;
	large_memory_advise(aligned + 1, 2 * LARGE_PAGE - 2);
	assert_int_equal(advised_kib(mapped, size), 0);
	large_memory_advise(aligned + 1, 3 * LARGE_PAGE);
	assert_int_equal(advised_kib(mapped, size), 2 * LARGE_PAGE / 1024);
	assert_int_equal(errno, ERANGE);
	munmap(mapped, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_memory_of_any_size),
		cmocka_unit_test(asks_for_whole_large_pages_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
