// SPDX-License-Identifier: BSD-2-Clause
/* Finds USDT sites of this program itself, and none in damaged notes. */
#include "elf/usdt_site.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "preload/probe.h"

PROBE_SEMAPHORE(pkbpf_test, second);

__attribute__((noinline)) static void second(long number)
{
	__asm__ volatile("" : : "r"(number));
	PROBE_SITE(pkbpf_test, second, PROBE_ARG0);
}

static void *read_self(size_t *ret_size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	char *image = malloc((size_t)size);

	assert_true(fd >= 0 && size > 0 && image);
	for (off_t at = 0; at < size;) {
		ssize_t got = pread(fd, image + at, (size_t)(size - at), at);

		assert_true(got > 0);
		at += got;
	}
	close(fd);
	*ret_size = (size_t)size;
	return image;
}

static void finds_the_instruction_and_its_semaphore(void **state)
{
	struct usdt_site site;
	struct elf_file file;
	size_t size;
	uint8_t *image = read_self(&size);

	second(1);
	assert_int_equal(elf_file_open_memory(&file, image, size), 0);
	assert_int_equal(usdt_site_find(&file, "pkbpf_test", "second", &site), 0);
	assert_true(site.offset < size && site.semaphore_offset && site.semaphore_offset < size);
#if defined(__x86_64__)
	/* A longer one would become a call, see preload/probe.h. */
	assert_memory_equal(image + site.offset, "\x90", 1);
#endif
	assert_int_equal(image[site.semaphore_offset], 0);
	assert_int_equal(usdt_site_find(&file, "pkbpf_test", "first", &site), -ENOENT);
	assert_int_equal(usdt_site_find(&file, "pkbpf", "second", &site), -ENOENT);
	elf_file_done(&file);
	free(image);
}

/* Whatever a byte of the notes becomes, nothing beyond them is read, and no offset is outside. */
static void survives_damaged_notes(void **state)
{
	const struct elf_section *section;
	struct usdt_site site;
	struct elf_file file;
	size_t size;
	uint8_t *image = read_self(&size);
	uint64_t start, length;

	assert_int_equal(elf_file_open_memory(&file, image, size), 0);
	section = elf_file_find_section(&file, ".note.stapsdt");
	assert_non_null(section);
	start = section->offset;
	length = section->size;
	for (uint64_t at = start; at < start + length; at++) {
		uint8_t kept = image[at];

		image[at] = 0xff;
		if (usdt_site_find(&file, "pkbpf_test", "second", &site) == 0)
			assert_true(site.offset < size && site.semaphore_offset < size);
		image[at] = kept;
	}
	elf_file_done(&file);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_instruction_and_its_semaphore),
		cmocka_unit_test(survives_damaged_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
