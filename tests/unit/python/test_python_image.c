// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_image: the runtime is found where interpreters of each sort have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_io.h"
#include "elf/elf_file.h"
#include "python/python_image.h"
#include "python/python_layout.h"

struct image_case {
	const char *fixture;
	const char *path; /* that it claims to have */
	int err;
	uint32_t version;
};

static int find_in(void *bytes, size_t size, const char *path, struct python_image *ret_image)
{
	struct elf_file file;
	int err;

	assert_int_equal(elf_file_open_memory(&file, bytes, size), 0);
	err = python_image_find(&file, path, ret_image);
	elf_file_done(&file);
	return err;
}

static char *read_fixture(const char *name, size_t *ret_size)
{
	char path[1024], *bytes;

	snprintf(path, sizeof(path), FIXTURES "/%s", name);
	assert_int_equal(file_read_all(AT_FDCWD, path, 1 << 20, &bytes, ret_size), 0);
	return bytes;
}

static void finds_runtime_and_version(void **state)
{
	static const struct image_case cases[] = {
		{"published", "/x", 0, 0x030f02f0},
		{"published_without_section", "/x", 0, 0x030f02f0},
		{"with_version", "/usr/bin/python3.8", 0, 0x030c01f0},
		{"newer", "/x", -ENOTSUP, 0x031002f0},
		{"by_symbol", "/x", 0, PYTHON_VERSION(9)},
		{"by_symbol", "/usr/bin/python3.8", 0, PYTHON_VERSION(8)},
		{"without_version", "/opt/libpython3.10.so.1.0", 0, PYTHON_VERSION(10)},
		{"without_version", "/usr/lib/libpython3.so", -ENOTSUP, 0},
		{"without_version", NULL, -ENOTSUP, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct python_image image;
		size_t size;
		char *bytes = read_fixture(cases[i].fixture, &size);
		int err = find_in(bytes, size, cases[i].path, &image);

		if (err != cases[i].err || image.version != cases[i].version || !image.runtime)
			fail_msg("case %zu: %d, version %x", i, err, image.version);
		if (!err)
			assert_int_equal(image.layout.minor, image.version >> 16 & 0xff);
		free(bytes);
	}
}

static void finds_published_runtime_without_section_headers(void **state)
{
	struct python_image image, stripped;
	size_t size;
	char *bytes = read_fixture("published", &size);

	(void)state;
	assert_int_equal(find_in(bytes, size, NULL, &image), 0);
	((Elf64_Ehdr *)bytes)->e_shoff = 0;
	((Elf64_Ehdr *)bytes)->e_shnum = 0;
	((Elf64_Ehdr *)bytes)->e_shstrndx = 0;
	assert_int_equal(find_in(bytes, size, NULL, &stripped), 0);
	assert_memory_equal(&image, &stripped, sizeof(image));
	free(bytes);
}

static void other_programs_have_no_runtime(void **state)
{
	struct python_image image;
	struct elf_file file;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(python_image_find(&file, "/usr/bin/python3.11", &image), -ENOENT);
	elf_file_done(&file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_runtime_and_version),
		cmocka_unit_test(finds_published_runtime_without_section_headers),
		cmocka_unit_test(other_programs_have_no_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
