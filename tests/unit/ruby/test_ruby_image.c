// SPDX-License-Identifier: BSD-2-Clause
/* Tests for ruby/ruby_image: which files have an interpreter, and which of them is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file_io.h"
#include "elf/elf_file.h"
#include "ruby/ruby_image.h"

static int find_in(const char *fixture, const char *path, struct ruby_image *ret_image)
{
	struct elf_file file;
	char name[1024], *bytes;
	size_t size;
	int err;

	snprintf(name, sizeof(name), FIXTURES "/%s", fixture);
	assert_int_equal(file_read_all(AT_FDCWD, name, 1 << 20, &bytes, &size), 0);
	assert_int_equal(elf_file_open_memory(&file, bytes, size), 0);
	err = ruby_image_find(&file, path, ret_image);
	elf_file_done(&file);
	free(bytes);
	return err;
}

static void finds_what_is_needed_of_a_known_version(void **state)
{
	struct ruby_image image;

	(void)state;
	assert_int_equal(find_in("known", "/usr/lib/libruby-3.1.so.3.1", &image), 0);
	assert_string_equal(image.version, "3.1.2");
	assert_int_equal(image.layout.minor, 1);
	assert_int_equal(image.layout.chain, PKBPF_RUBY_CONTROL_FRAMES);
	assert_true(image.vm && image.object && image.loop_start);
	assert_true(image.vm != image.object);
	assert_true(image.loop_size >= 64);
	assert_true(image.data_start && image.data_size >= 32);
	assert_string_equal(image.unknown, "");
	assert_int_equal(find_in("known_by_name", "ruby", &image), 0);
	assert_string_equal(image.version, "3.1.7");
}

static void says_which_version_is_not_known(void **state)
{
	struct ruby_image image;

	(void)state;
	assert_int_equal(find_in("newer", "/opt/bin/ruby", &image), -ENOTSUP);
	assert_string_equal(image.unknown, "Ruby 3.9");
	assert_int_equal(find_in("without_loop", "/opt/bin/ruby", &image), -ENOTSUP);
	assert_string_equal(image.unknown, "Ruby 3.1, stripped");
	assert_int_equal(find_in("without_vm", "/opt/bin/ruby", &image), -ENOTSUP);
	assert_string_equal(image.unknown, "Ruby 3.1, stripped");
}

static void leaves_other_files_alone(void **state)
{
	struct ruby_image image;

	(void)state;
	assert_int_equal(find_in("known", "/usr/lib/libother.so", &image), -ENOENT);
	assert_int_equal(find_in("known", "/usr/lib/ruby/libother.so", &image), -ENOENT);
	assert_int_equal(find_in("known", NULL, &image), -ENOENT);
	assert_int_equal(find_in("damaged", "/usr/bin/ruby", &image), -ENOENT);
	assert_string_equal(image.unknown, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_needed_of_a_known_version),
		cmocka_unit_test(says_which_version_is_not_known),
		cmocka_unit_test(leaves_other_files_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
