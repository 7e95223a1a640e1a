// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/PID/pagemap: by its ioctl (Linux 6.7), which skips holes, or entry by entry. */
#include "source/memory/present_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/procfs_maps.h"

/* linux/fs.h since 6.7 */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_argument {
	uint64_t size, flags, start, end, walk_end, vector, vector_length, max_pages;
	uint64_t category_inverted, category_mask, category_any, return_mask;
};

#define SCAN_IOCTL	_IOWR('f', 16, struct scan_argument)
#define SCAN_IS_FILE	(1 << 2)
#define SCAN_IS_PRESENT (1 << 3)
#define SCAN_IS_SWAPPED (1 << 4)
#define SCAN_IS_ZERO	(1 << 5)
#define SCAN_REGIONS	256

/* Bits of an entry of pagemap. */
#define ENTRY_PRESENT (1ULL << 63)
#define ENTRY_SWAPPED (1ULL << 62)
#define ENTRY_FILE    (1ULL << 61)
#define ENTRY_FRAME   ((1ULL << 55) - 1)
#define ENTRIES	      512

#define REGION_BYTES (1ULL << PKBPF_MEMORY_REGION_SHIFT)
#define MAX_ADDRESS  (1ULL << 56)

struct scan {
	int pagemap;
	uint64_t page_bytes, zero_frame; /* 0: not known */
	uint32_t mask;
	bool has_ioctl;
	struct present_pages *pages;
	int err;
};

static void add_run(struct scan *scan, uint64_t start, uint64_t end, bool swapped)
{
	struct present_pages *pages = scan->pages;
	struct pkbpf_present_run *last =
		pages->runs.count ? &pages->runs.items[pages->runs.count - 1] : NULL;
	uint64_t count = (end - start) / scan->page_bytes;

	if (last && last->start + last->pages * scan->page_bytes == start &&
	    last->swapped == swapped && last->pages + count <= UINT32_MAX) {
		last->pages += (uint32_t)count;
		return;
	}
	last = array_add(&pages->runs);
	if (!last) {
		scan->err = -ENOMEM;
		return;
	}
	*last = (struct pkbpf_present_run){start, (uint32_t)count, swapped};
}

/* -ENOTTY: the kernel has no such ioctl. */
static int scan_by_ioctl(struct scan *scan, uint64_t start, uint64_t end)
{
	struct scan_region regions[SCAN_REGIONS];
	struct scan_argument argument = {
		.size = sizeof(argument),
		.start = start,
		.end = end,
		.vector = (uint64_t)(uintptr_t)regions,
		.vector_length = SCAN_REGIONS,
		.category_inverted = SCAN_IS_FILE | SCAN_IS_ZERO,
		.category_mask = SCAN_IS_FILE | SCAN_IS_ZERO,
		.category_any = SCAN_IS_PRESENT | SCAN_IS_SWAPPED,
		.return_mask = SCAN_IS_PRESENT | SCAN_IS_SWAPPED,
	};

	while (argument.start < end && !scan->err) {
		int count = ioctl(scan->pagemap, SCAN_IOCTL, &argument);

		if (count < 0)
			return -errno;
		for (int i = 0; i < count; i++)
			add_run(scan, regions[i].start, regions[i].end,
				!(regions[i].categories & SCAN_IS_PRESENT));
		if (argument.walk_end <= argument.start)
			break;
		argument.start = argument.walk_end;
	}
	return 0;
}

static int scan_entries(struct scan *scan, uint64_t start, uint64_t end)
{
	uint64_t entries[ENTRIES], page = scan->page_bytes;

	while (start < end && !scan->err) {
		uint64_t want = (end - start) / page;
		ssize_t got = pread(scan->pagemap, entries,
				    (want < ENTRIES ? want : ENTRIES) * sizeof(entries[0]),
				    (off_t)(start / page * sizeof(entries[0])));

		if (got <= 0)
			return got < 0 ? -errno : 0;
		for (size_t i = 0; i < (size_t)got / sizeof(entries[0]); i++, start += page) {
			bool present = entries[i] & ENTRY_PRESENT;

			if (entries[i] & ENTRY_FILE || !(present || entries[i] & ENTRY_SWAPPED) ||
			    (present && scan->zero_frame &&
			     (entries[i] & ENTRY_FRAME) == scan->zero_frame))
				continue;
			add_run(scan, start, start + page, !present);
		}
	}
	return 0;
}

static void scan_range(struct scan *scan, uint64_t start, uint64_t end)
{
	int err = scan->has_ioctl ? scan_by_ioctl(scan, start, end) : -ENOTTY;

	if (err == -ENOTTY || err == -EINVAL) {
		scan->has_ioctl = false;
		err = scan_entries(scan, start, end);
	}
	/* A process that ends has no memory any more. */
	if (err && !scan->err)
		scan->err = err;
}

/* Mappings whose pages are no memory of the process, or not its own. */
static bool is_foreign(const char *path)
{
	return strncmp(path, "[v", 2) == 0 || strncmp(path, "/dev/", 5) == 0 ||
	       strncmp(path, "/SYSV", 5) == 0;
}

static void scan_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct scan *scan = context;
	uint64_t end = mapping->end < MAX_ADDRESS ? mapping->end : MAX_ADDRESS;

	if (is_foreign(mapping->path))
		return;
	if (!scan->mask && mapping->start < end) {
		scan_range(scan, mapping->start, end);
		return;
	}
	for (uint64_t start = mapping->start; start < end && !scan->err;) {
		uint64_t next = (start | (REGION_BYTES - 1)) + 1;

		if (next > end)
			next = end;
		if (pkbpf_memory_is_chosen(start, scan->mask))
			scan_range(scan, start, next);
		start = next;
	}
}

/* The frame of the page of zeros; 0: the caller may not know. */
static uint64_t find_zero_frame(uint64_t page_bytes)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	volatile char *page = mmap(NULL, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t entry = 0;

	if (page == MAP_FAILED)
		return 0;
	(void)page[0];
	if (fd < 0 || pread(fd, &entry, sizeof(entry),
			    (off_t)((uintptr_t)page / page_bytes * sizeof(entry))) != sizeof(entry))
		entry = 0;
	munmap((void *)page, page_bytes);
	return entry & ENTRY_FRAME;
}

int present_pages_read(uint32_t pid, uint32_t mask, struct present_pages *pages)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int pagemap = -1;
	struct scan scan = {.mask = mask, .has_ioctl = true, .pages = pages};
	char path[64];
	int err;

	pages->runs.count = 0;
	if (proc < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	scan.pagemap = pagemap;
	scan.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	scan.zero_frame = find_zero_frame(scan.page_bytes);
	err = procfs_maps_read(proc, pid, scan_mapping, &scan);
	return err < 0 ? (err == -ENOENT ? -ESRCH : err) : scan.err;
}
