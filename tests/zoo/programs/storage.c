// SPDX-License-Identifier: BSD-2-Clause
/* Programs that are limited by storage. */
#include "planted.h"

#include <signal.h>

static NOINLINE void append_record(int fd, unsigned long number)
{
	char record[200];

	memset(record, 'x', sizeof(record));
	snprintf(record, sizeof(record), "%lu", number);
	if (write(fd, record, sizeof(record)) != (ssize_t)sizeof(record))
		exit(2);
	if (fsync(fd))
		exit(2);
}

static void fsync_log(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "log", O_WRONLY | O_CREAT | O_APPEND, 0600);

	for (unsigned long i = 0;; i++)
		append_record(fd, i);
}

static NOINLINE void commit_page(int fd, off_t at, const void *page)
{
	if (pwrite(fd, page, 4096, at) != 4096)
		exit(2);
}

static void osync_writer(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "log", O_WRONLY | O_CREAT | O_SYNC, 0600);
	char page[4096] = "page";

	for (off_t i = 0;; i = (i + 1) % 1024)
		commit_page(fd, i * 4096, page);
}

/* Direct reads of random pages, one at a time. */
static NOINLINE void load_page(int fd, off_t pages, void *page)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	if (pread(fd, page, 4096, (off_t)((seed >> 33) % (uint64_t)pages) * 4096) != 4096)
		exit(2);
}

static void page_reader(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "data", O_RDONLY | O_DIRECT);
	struct stat status;
	void *page;

	if (fd < 0 || fstat(fd, &status) || posix_memalign(&page, 4096, 4096))
		exit(2);
	for (;;)
		load_page(fd, status.st_size / 4096, page);
}

/* Pages of a mapped file that are not in memory. */
static NOINLINE uint64_t touch_index(const volatile unsigned char *map, size_t size)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return map[(seed >> 20) % size];
}

static void mapped_reader(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "data", O_RDONLY);
	struct stat status;
	unsigned char *map;
	uint64_t sum = 0;

	if (fd < 0 || fstat(fd, &status))
		exit(2);
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		exit(2);
	madvise(map, (size_t)status.st_size, MADV_RANDOM);
	for (uint64_t i = 0;; i++) {
		if (i % 4096 == 0) {
			madvise(map, (size_t)status.st_size, MADV_DONTNEED);
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		}
		sum += touch_index(map, (size_t)status.st_size);
	}
}

/* Large writes, in several processes. */
static void bulk_writer(int argc, char **argv)
{
	size_t size = 4 << 20;
	int count = argc > 2 ? atoi(argv[2]) : 4;
	char name[4096];
	void *block;
	int fd;

	for (int i = 1; i < count; i++)
		if (fork() == 0)
			break;
	snprintf(name, sizeof(name), "%s.%d", argc > 1 ? argv[1] : "bulk", getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_DIRECT, 0600);
	if (fd < 0 || posix_memalign(&block, 4096, size))
		exit(2);
	memset(block, 1, size);
	for (off_t at = 0;; at = (at + (off_t)size) % (256 << 20))
		if (pwrite(fd, block, size, at) != (ssize_t)size)
			exit(2);
}

/* More dirty pages than the disk takes. */
static NOINLINE void dump_block(int fd, const void *block, size_t size)
{
	if (write(fd, block, size) != (ssize_t)size)
		exit(2);
}

static void dirty_writer(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "dirty", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	size_t size = 1 << 20;
	void *block = malloc(size);

	memset(block, 1, size);
	for (uint64_t i = 0;; i++) {
		dump_block(fd, block, size);
		if (i % 2048 == 2047)
			lseek(fd, 0, SEEK_SET);
	}
}

/* A new file for each item, which has to be there after a power failure. */
static NOINLINE void save_item(const char *directory, unsigned int number)
{
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s/item.%u", directory, number % 200);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, "item", 4) != 4 || fdatasync(fd))
		exit(2);
	close(fd);
}

static void small_files(int argc, char **argv)
{
	for (unsigned int i = 0;; i++)
		save_item(argc > 1 ? argv[1] : ".", i);
}

/* Reads a file through the page cache, in which it never is. */
static NOINLINE void scan_table(int fd, void *block, size_t size)
{
	lseek(fd, 0, SEEK_SET);
	while (read(fd, block, size) > 0)
		;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void cold_scan(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "data", O_RDONLY);
	size_t size = 4 << 10; /* without readahead, so that each block is waited for */
	void *block = malloc(size);

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (;;)
		scan_table(fd, block, size);
}

/* A region of memory that is a file, and is synchronized after each change. */
static NOINLINE void flush_region(char *region, size_t size, int value)
{
	memset(region, value, 512);
	if (msync(region, size, MS_SYNC))
		exit(2);
}

static void msync_store(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "store", O_RDWR | O_CREAT, 0600);
	size_t size = 1 << 16;
	char *region;

	if (ftruncate(fd, (off_t)size))
		exit(2);
	region = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region == MAP_FAILED)
		exit(2);
	for (int i = 0;; i++)
		flush_region(region, size, i);
}

static const struct mode modes[] = {
	{"fsync_log", fsync_log},	 {"osync_writer", osync_writer},
	{"page_reader", page_reader},	 {"mapped_reader", mapped_reader},
	{"bulk_writer", bulk_writer},	 {"dirty_writer", dirty_writer},
	{"limited_reader", page_reader}, {"small_files", small_files},
	{"cold_scan", cold_scan},	 {"msync_store", msync_store},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
