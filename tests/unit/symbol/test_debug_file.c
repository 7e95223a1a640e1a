// SPDX-License-Identifier: BSD-2-Clause
/* Tests where separate debug files are looked for, and which are believed. */
#include "symbol/elf/debug_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "symbol_fixture.h"

static const char debug_name[] = "/debug/.build-id/ab/0123456789abcdef0123456789abcdef012345.debug";
static char folder[] = "/tmp/pkbpf-debug-XXXXXX";

static int search_for(const char *path, const struct debug_file_search *search)
{
	int fd = open(path, O_RDONLY);
	struct elf_file file;
	int found;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&file, fd), 0);
	found = debug_file_open(search, &file);
	elf_file_done(&file);
	close(fd);
	return found;
}

static void copy_file(const char *from, const char *to)
{
	char command[8192];

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\" && cp '%s' '%s'", to, from,
		 to);
	assert_int_equal(system(command), 0);
}

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/pkbpf-debug-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void assert_same_file(int fd, const char *path)
{
	struct stat a, b;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(stat(path, &b), 0);
	assert_true(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
	close(fd);
}

static void build_id_comes_before_anything_else(void **state)
{
	struct debug_file_search search = {
		.root = "", .debug_dir = FIXTURE_DIR "/debug", .path = FIXTURE_DIR "/stripped"};
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", FIXTURE_DIR, debug_name);
	assert_same_file(search_for(FIXTURE_DIR "/stripped", &search), path);
}

static void root_of_the_process_comes_before_ours(void **state)
{
	struct debug_file_search search = {
		.root = folder, .debug_dir = "/debug", .pid = 4711, .path = "/bin/stripped"};
	char from[4096], ours[4096], its[4096];

	snprintf(from, sizeof(from), "%s%s", FIXTURE_DIR, debug_name);
	snprintf(ours, sizeof(ours), "%s%s", folder, debug_name);
	snprintf(its, sizeof(its), "%s/proc/4711/root%s", folder, debug_name);
	copy_file(from, ours);
	assert_same_file(search_for(FIXTURE_DIR "/stripped", &search), ours);
	copy_file(from, its);
	assert_same_file(search_for(FIXTURE_DIR "/stripped", &search), its);
}

static void file_with_another_build_id_is_not_believed(void **state)
{
	struct debug_file_search search = {
		.root = folder, .debug_dir = "/debug", .path = "/bin/stripped"};
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", folder, debug_name);
	copy_file(FIXTURE_DIR "/no_pie", path);
	assert_int_equal(search_for(FIXTURE_DIR "/stripped", &search), -ENOENT);
	unlink(path);
	/* A FIFO would block who opens it. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(search_for(FIXTURE_DIR "/stripped", &search), -ENOENT);
}

static void link_leads_to_three_folders(void **state)
{
	static const char *const places[] = {"/usr/lib/debug/opt/app/no_id.debug",
					     "/opt/app/.debug/no_id.debug", "/opt/app/no_id.debug"};
	struct debug_file_search search = {
		.root = folder, .debug_dir = "/usr/lib/debug", .path = "/opt/app/linked"};

	assert_int_equal(search_for(FIXTURE_DIR "/link/linked", &search), -ENOENT);
	for (size_t i = 0; i < 3; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s%s", folder, places[i]);
		copy_file(FIXTURE_DIR "/link/.debug/no_id.debug", path);
		assert_same_file(search_for(FIXTURE_DIR "/link/linked", &search), path);
	}
}

static void link_with_another_checksum_is_not_believed(void **state)
{
	struct debug_file_search search = {
		.root = "", .debug_dir = "/nonexistent", .path = FIXTURE_DIR "/link/outdated"};

	assert_int_equal(search_for(FIXTURE_DIR "/link/outdated", &search), -ENOENT);
}

static void symbolic_links_do_not_lead_out_of_the_root(void **state)
{
	struct debug_file_search search = {
		.root = folder, .debug_dir = "/debug", .pid = 4711, .path = "/bin/stripped"};
	char command[16384];

	snprintf(command, sizeof(command),
		 "mkdir -p '%s/proc/4711/root' && ln -s '%s/debug' '%s/proc/4711/root/debug'",
		 folder, FIXTURE_DIR, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(search_for(FIXTURE_DIR "/stripped", &search), -ENOENT);
}

int main(void)
{
#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_id_comes_before_anything_else),
		in_folder(root_of_the_process_comes_before_ours),
		in_folder(file_with_another_build_id_is_not_believed),
		in_folder(link_leads_to_three_folders),
		cmocka_unit_test(link_with_another_checksum_is_not_believed),
		in_folder(symbolic_links_do_not_lead_out_of_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
