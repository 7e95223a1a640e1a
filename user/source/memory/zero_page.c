// SPDX-License-Identifier: BSD-2-Clause
/* Reads memory that nobody has written to, and looks at what is there then. */
#include "source/memory/zero_page.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PAGES 4
/* /proc/PID/pagemap: in memory, and nobody else has it mapped. The page of zeros is everybody's,
 * and no privilege is needed to be told. */
#define PRESENT	  (1ULL << 63)
#define EXCLUSIVE (1ULL << 56)

static bool are_own(const volatile char *memory, size_t page)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[PAGES];

	for (size_t i = 0; i < PAGES; i++)
		(void)memory[i * page];
	if (fd < 0 || pread(fd, entries, sizeof(entries),
			    (off_t)((uintptr_t)memory / page * sizeof(entries[0]))) !=
			      (ssize_t)sizeof(entries))
		return false;
	for (size_t i = 0; i < PAGES; i++)
		if (!(entries[i] & PRESENT) || !(entries[i] & EXCLUSIVE))
			return false;
	return true;
}

bool reading_takes_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	bool takes;

	if (memory == MAP_FAILED)
		return false;
	/* One page for all of it would be one that is shared by nobody, too. */
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	takes = are_own(memory, page);
	munmap(memory, PAGES * page);
	return takes;
}
