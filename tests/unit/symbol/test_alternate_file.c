// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/dwarf/alternate_file: links to what dwz has moved, and where they lead. */
#include "symbol/dwarf/alternate_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file_io.h"
#include "elf_sections.h"
#include "symbol_fixture.h"
#include "temp_tree.h"

static struct temp_tree tree;

static int make_tree(void **state)
{
	temp_tree_init(&tree);
	return 0;
}

static int remove_tree(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

static int read_link_of(const char *section, const void *bytes, size_t size,
			struct alternate_link *link)
{
	const struct elf_section_bytes sections = {section, bytes, size};
	int fd = elf_sections_open(&sections, 1), err;
	struct elf_file file;

	assert_int_equal(elf_file_open(&file, fd), 0);
	err = alternate_link_read(&file, link);
	elf_file_done(&file);
	close(fd);
	return err;
}

static void reads_path_and_build_id(void **state)
{
	static const char bytes[] = "../../.dwz/shared.debug\0\x01\x02\xff";
	struct alternate_link link;

	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, sizeof(bytes) - 1, &link), 0);
	assert_string_equal(link.path, "../../.dwz/shared.debug");
	assert_int_equal(link.id.size, 3);
	assert_memory_equal(link.id.bytes, "\x01\x02\xff", 3);
	assert_int_equal(read_link_of(".gnu_debuglink", bytes, sizeof(bytes), &link), -ENOENT);
}

static void damaged_links_are_refused(void **state)
{
	static char bytes[PATH_MAX + 100];
	struct alternate_link link;

	memset(bytes, 'x', sizeof(bytes));
	/* No end of the path; no id; an id that is too long; a path that is; too large. */
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, 0, &link), -EBADMSG);
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, 100, &link), -EBADMSG);
	bytes[10] = '\0';
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, 11, &link), -EBADMSG);
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, 11 + BUILD_ID_MAX_BYTES, &link),
			 0);
	assert_int_equal(link.id.size, BUILD_ID_MAX_BYTES);
	assert_int_equal(
		read_link_of(".gnu_debugaltlink", bytes, 11 + BUILD_ID_MAX_BYTES + 1, &link),
		-EBADMSG);
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, sizeof(bytes), &link), -EBADMSG);
	bytes[10] = 'x';
	bytes[PATH_MAX - 1] = '\0';
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, PATH_MAX + 1, &link), 0);
	assert_int_equal(strlen(link.path), PATH_MAX - 1);
	bytes[PATH_MAX - 1] = 'x';
	bytes[PATH_MAX] = '\0';
	assert_int_equal(read_link_of(".gnu_debugaltlink", bytes, PATH_MAX + 2, &link), -EBADMSG);
}

/* id: in hexadecimal. */
static struct alternate_link link_to(const char *path, const char *id)
{
	struct alternate_link link = {.id.size = strlen(id) / 2};

	snprintf(link.path, sizeof(link.path), "%s", path);
	for (size_t i = 0; i < link.id.size; i++) {
		const char digits[] = {id[2 * i], id[2 * i + 1], '\0'};

		link.id.bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return link;
}

static void put_fixture(const char *path)
{
	char *bytes;
	size_t size;

	assert_int_equal(file_read_all(AT_FDCWD, FIXTURE_DIR "/pie", 16 << 20, &bytes, &size), 0);
	temp_tree_file_bytes(&tree, path, bytes, size);
	free(bytes);
}

static bool leads_to(const struct alternate_link *link, const char *path)
{
	const struct debug_file_search search = {
		.root = tree.root, .debug_dir = "/usr/lib/debug", .path = "/opt/app/bin/program"};
	int fd = alternate_file_open(&search, link);
	struct stat found, expected;

	if (!path) {
		assert_int_equal(fd, -ENOENT);
		return true;
	}
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &found), 0);
	close(fd);
	expected = temp_tree_stat(&tree, path);
	return found.st_ino == expected.st_ino && found.st_dev == expected.st_dev;
}

/* By its id, in the folder for it, and at last where it says. */
static void is_looked_for_in_turn(void **state)
{
	static const char *const last = "opt/app/bin/../.dwz/shared";
	static const char *const second = "usr/lib/debug/.dwz/shared";
	static const char *const first = "usr/lib/debug/.build-id/ab/"
					 "0123456789abcdef0123456789abcdef012345.debug";
	struct alternate_link link = link_to("../.dwz/shared", FIXTURE_BUILD_ID);

	temp_tree_folder(&tree, "opt/app/bin");
	assert_true(leads_to(&link, NULL));
	put_fixture(last);
	assert_true(leads_to(&link, last));
	put_fixture(second);
	assert_true(leads_to(&link, second));
	put_fixture(first);
	assert_true(leads_to(&link, first));
}

static void absolute_paths_are_the_targets(void **state)
{
	struct alternate_link link = link_to("/srv/shared", FIXTURE_BUILD_ID);

	put_fixture("srv/shared");
	assert_true(leads_to(&link, "srv/shared"));
}

/* Nor is a FIFO waited for. */
static void files_with_another_id_are_not_believed(void **state)
{
	struct alternate_link other = link_to("/srv/shared", "ab00"), none = other;
	struct alternate_link fifo = link_to("/srv/fifo", FIXTURE_BUILD_ID);
	struct alternate_link itself = link_to("", FIXTURE_BUILD_ID);
	static struct alternate_link longest;

	put_fixture("srv/shared");
	assert_int_equal(mkfifo(temp_tree_path(&tree, "srv/fifo"), 0600), 0);
	assert_true(leads_to(&other, NULL));
	none.id.size = 0;
	assert_true(leads_to(&none, NULL));
	longest = link_to("", FIXTURE_BUILD_ID);
	memset(longest.path, 'x', sizeof(longest.path) - 1);
	assert_true(leads_to(&longest, NULL));
	assert_true(alternate_file_open(&(struct debug_file_search){.root = tree.root,
								    .debug_dir = "/d",
								    .path = "/p"},
					&fifo) < 0);
	assert_true(alternate_file_open(&(struct debug_file_search){.root = tree.root,
								    .debug_dir = "/d",
								    .path = "/srv/p"},
					&itself) < 0);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_path_and_build_id),
		cmocka_unit_test(damaged_links_are_refused),
		WITH_TREE(is_looked_for_in_turn),
		WITH_TREE(absolute_paths_are_the_targets),
		WITH_TREE(files_with_another_id_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
