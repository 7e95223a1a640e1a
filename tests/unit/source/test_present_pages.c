// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/memory/present_pages, on pages of this process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/memory/present_pages.h"

#define PAGES	     64
#define REGIONS	     16
#define REGION_BYTES (1UL << PKBPF_MEMORY_REGION_SHIFT)

static size_t page;

/* Pages of the runs that lie between two addresses; none is swapped out. */
static size_t count_between(const struct present_pages *pages, const char *start, size_t size)
{
	uint64_t from = (uintptr_t)start, to = from + size, last = 0;
	size_t count = 0;

	array_foreach(&pages->runs, run) {
		assert_true(run->start >= last);
		last = run->start + run->pages * page;
		for (uint64_t at = run->start; at < last; at += page)
			count += at >= from && at < to;
	}
	return count;
}

static char *map_bytes(size_t size, int protection, int flags, int fd)
{
	char *start = mmap(NULL, size, protection, flags, fd, 0);

	assert_ptr_not_equal(start, MAP_FAILED);
	/* As one page of 2 MiB it would be there as a whole. */
	madvise(start, size, MADV_NOHUGEPAGE);
	return start;
}

static char *map(int protection, int flags, int fd)
{
	return map_bytes(PAGES * page, protection, flags, fd);
}

static void read_own(uint32_t mask, struct present_pages *pages)
{
	int err = present_pages_read((uint32_t)getpid(), mask, pages);

	if (err == -EACCES || err == -EPERM || err == -ENOENT || err == -ESRCH)
		skip();
	assert_int_equal(err, 0);
}

static void pages_that_were_written_are_present(void **state)
{
	struct present_pages pages = {0};
	char *start = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	read_own(0, &pages);
	assert_int_equal(count_between(&pages, start, PAGES * page), 0);
	for (size_t i = 3; i < 10; i++)
		start[i * page] = 1;
	start[20 * page] = 1;
	read_own(0, &pages);
	assert_int_equal(count_between(&pages, start, PAGES * page), 8);
	assert_int_equal(count_between(&pages, start + 3 * page, 7 * page), 7);
	assert_int_equal(count_between(&pages, start + 20 * page, page), 1);
	madvise(start + 3 * page, page, MADV_DONTNEED);
	read_own(0, &pages);
	assert_int_equal(count_between(&pages, start, PAGES * page), 7);
	munmap(start, PAGES * page);
	array_free(&pages.runs);
}

/* The page of zeros is everybody's; which it is, root alone may know on old kernels. */
static void pages_that_were_only_read_are_nobodys(void **state)
{
	struct present_pages pages = {0};
	char *start = map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (geteuid())
		skip();
	for (size_t i = 0; i < PAGES; i++)
		(void)((volatile char *)start)[i * page];
	read_own(0, &pages);
	assert_int_equal(count_between(&pages, start, PAGES * page), 0);
	munmap(start, PAGES * page);
	array_free(&pages.runs);
}

static void pages_of_files_are_left_out(void **state)
{
	int fd = memfd_create("present", MFD_CLOEXEC);
	struct present_pages pages = {0};
	char *start;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(PAGES * page)), 0);
	start = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	for (size_t i = 0; i < PAGES; i++)
		(void)((volatile char *)start)[i * page];
	/* Written, it is a copy of its own. */
	start[5 * page] = 1;
	read_own(0, &pages);
	assert_int_equal(count_between(&pages, start, PAGES * page), 1);
	munmap(start, PAGES * page);
	close(fd);
	array_free(&pages.runs);
}

static void a_mask_leaves_whole_regions_out(void **state)
{
	struct present_pages all = {0}, some = {0};
	const size_t size = REGIONS * REGION_BYTES;
	char *start = map_bytes(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t chosen = 0;

	for (char *at = start; at < start + size; at += REGION_BYTES) {
		*at = 1;
		chosen += (size_t)pkbpf_memory_is_chosen((uintptr_t)at, 1);
	}
	read_own(0, &all);
	read_own(1, &some);
	assert_int_equal(count_between(&all, start, size), REGIONS);
	assert_in_range(chosen, 1, REGIONS - 1);
	assert_int_equal(count_between(&some, start, size), chosen);
	array_foreach(&some.runs, run)
		for (uint32_t i = 0; i < run->pages; i++)
			assert_true(pkbpf_memory_is_chosen(run->start + i * page, 1));
	munmap(start, size);
	array_free(&all.runs);
	array_free(&some.runs);
}

static void a_process_that_is_gone_has_none(void **state)
{
	struct present_pages pages = {0};
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(present_pages_read((uint32_t)pid, 0, &pages), -ESRCH);
	assert_int_equal(pages.runs.count, 0);
	array_free(&pages.runs);
}

static int setup(void **state)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_were_written_are_present),
		cmocka_unit_test(pages_that_were_only_read_are_nobodys),
		cmocka_unit_test(pages_of_files_are_left_out),
		cmocka_unit_test(a_mask_leaves_whole_regions_out),
		cmocka_unit_test(a_process_that_is_gone_has_none),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
