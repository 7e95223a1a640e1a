// SPDX-License-Identifier: BSD-2-Clause
/* Tests where a library is put for other programs, and that no other user can change it there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/alloc/library_unpack.h"
#include "temp_tree.h"

#define BYTES "not a library, but bytes"

static const struct library_bytes library = {
	.name = "libx.so", .bytes = (const uint8_t *)BYTES, .size = sizeof(BYTES)};
static struct temp_tree tree;
static char first[512], second[512], path[1024];
static const char *folders[] = {first, second, NULL};

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	chmod(tree.root, 0755);
	snprintf(first, sizeof(first), "%s/first", tree.root);
	snprintf(second, sizeof(second), "%s/second", tree.root);
	umask(022);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	umask(022);
	temp_tree_done(&tree);
	return 0;
}

static void assert_is_at(const char *folder)
{
	char bytes[sizeof(BYTES) + 1];
	struct stat status;
	FILE *file;

	assert_int_equal(strncmp(path, folder, strlen(folder)), 0);
	assert_string_equal(strrchr(path, '/'), "/libx.so");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(BYTES));
	assert_memory_equal(bytes, BYTES, sizeof(BYTES));
	fclose(file);
}

static void unpack(void)
{
	assert_int_equal(library_unpack(&library, folders, path, sizeof(path)), 0);
}

static void the_first_folder_is_made_and_open_to_all_whatever_the_umask_is(void **state)
{
	struct stat status;

	(void)state;
	umask(077);
	unpack();
	assert_is_at(first);
	assert_int_equal(stat(first, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
}

static void what_is_there_already_is_left_as_it_is(void **state)
{
	struct stat before, after;

	(void)state;
	unpack();
	assert_int_equal(stat(path, &before), 0);
	unpack();
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

static void another_file_of_the_name_is_replaced(void **state)
{
	FILE *file;

	(void)state;
	unpack();
	file = fopen(path, "r+");
	assert_non_null(file);
	fputs("N", file);
	fclose(file);
	unpack();
	assert_is_at(first);
}

static void a_link_in_its_place_is_replaced_and_not_followed(void **state)
{
	char target[600];
	struct stat status;

	(void)state;
	unpack();
	temp_tree_file(&tree, "target", "kept");
	snprintf(target, sizeof(target), "%s/target", tree.root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(target, path), 0);
	unpack();
	assert_is_at(first);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(stat(target, &status), 0);
	assert_int_equal(status.st_size, 4);
}

static void folders_that_others_may_change_or_cannot_enter_are_left_out(void **state)
{
	static const mode_t unusable[] = {0775, 0757, 0777, 01777, 0700, 0754};

	(void)state;
	for (size_t i = 0; i < sizeof(unusable) / sizeof(*unusable); i++) {
		if (i == 0)
			assert_int_equal(mkdir(first, 0755), 0);
		assert_int_equal(chmod(first, unusable[i]), 0);
		unpack();
		assert_is_at(second);
	}
}

static void links_to_folders_and_those_of_others_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(mkdir(second, 0755), 0);
	assert_int_equal(symlink(second, first), 0);
	unpack();
	assert_is_at(second);
	if (geteuid() != 0)
		return;
	assert_int_equal(unlink(first), 0);
	assert_int_equal(mkdir(first, 0755), 0);
	assert_int_equal(chown(first, 4711, 4711), 0);
	unpack();
	assert_is_at(second);
}

static void nowhere_says_why(void **state)
{
	const char *const nowhere[] = {"/proc/none", "/nowhere/at/all", NULL};
	const char *const nothing[] = {NULL};

	(void)state;
	assert_int_equal(library_unpack(&library, nowhere, path, sizeof(path)), -ENOENT);
	assert_int_equal(library_unpack(&library, nothing, path, sizeof(path)), -ENOENT);
	assert_int_equal(library_unpack(&library, folders, path, 8), -ENAMETOOLONG);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(the_first_folder_is_made_and_open_to_all_whatever_the_umask_is),
		test(what_is_there_already_is_left_as_it_is),
		test(another_file_of_the_name_is_replaced),
		test(a_link_in_its_place_is_replaced_and_not_followed),
		test(folders_that_others_may_change_or_cannot_enter_are_left_out),
		test(links_to_folders_and_those_of_others_are_left_out),
		test(nowhere_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
