// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/source_text: lines of sources, and files that a target only calls its source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process_table.h"
#include "symbol/source_text.h"
#include "temp_tree.h"

struct fixture {
	struct temp_tree tree;
	struct mapped_file_table *files;
	struct process_table *processes;
	struct source_text *live, *recorded;
	int64_t now;
};

/* Of process 7. */
static void write_rights(struct temp_tree *tree, uint32_t uid, uint32_t gid)
{
	char text[256];

	snprintf(text, sizeof(text), "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nGroups:\t\n", uid,
		 uid, uid, uid, gid, gid, gid, gid);
	temp_tree_file(tree, "proc/7/status", text);
}

static int setup(void **state)
{
	static struct fixture fixture;

	temp_tree_init(&fixture.tree);
	temp_tree_file(&fixture.tree, "proc/7/root/app/main.py",
		       "import sys\n\n\tdef run():  \r\n    return 1");
	temp_tree_file(&fixture.tree, "app/main.py", "of the host\n");
	write_rights(&fixture.tree, geteuid(), getegid());
	fixture.files = mapped_file_table_new(fixture.tree.root);
	fixture.processes = process_table_new(fixture.files);
	fixture.live = source_text_new(fixture.tree.root, fixture.processes, true);
	fixture.recorded = source_text_new(fixture.tree.root, fixture.processes, false);
	assert_non_null(fixture.live);
	assert_non_null(fixture.recorded);
	fixture.now = (int64_t)(time(NULL) + 60) * (int64_t)NS_PER_SECOND;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	source_text_free(fixture->live);
	source_text_free(fixture->recorded);
	process_table_free(fixture->processes);
	mapped_file_table_free(fixture->files);
	temp_tree_done(&fixture->tree);
	return 0;
}

static const char *find(struct fixture *fixture, const char *path, uint32_t line)
{
	return source_text_find(
		fixture->live,
		&(struct source_place){
			.pid = 7, .path = path, .line = line, .not_after_unix_ns = fixture->now});
}

static void gives_lines_without_the_space_around_them(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(find(fixture, "/app/main.py", 1), "import sys");
	assert_string_equal(find(fixture, "/app/main.py", 2), "");
	assert_string_equal(find(fixture, "/app/main.py", 3), "def run():");
	assert_string_equal(find(fixture, "/app/main.py", 4), "return 1");
	assert_null(find(fixture, "/app/main.py", 5));
	assert_null(find(fixture, "/app/main.py", 0));
	assert_null(find(fixture, "/app/main.py", UINT32_MAX));
}

static void looks_in_the_root_of_the_process(void **state)
{
	struct fixture *fixture = *state;
	struct source_place place = {
		.path = "/app/main.py", .line = 1, .not_after_unix_ns = fixture->now};

	/* It has ended, and had its own root, or nobody knows; or it ran in another time. */
	assert_null(source_text_find(fixture->live, &place));
	place.home = (struct process_home){.is_known = true, .uid = geteuid(), .gid = getegid()};
	assert_null(source_text_find(fixture->live, &place));
	place.home.is_ours = true;
	assert_string_equal(source_text_find(fixture->live, &place), "of the host");
	place.pid = 7;
	assert_string_equal(source_text_find(fixture->recorded, &place), "of the host");
	place.pid = 8;
	assert_null(source_text_find(fixture->live, &place));
}

static void does_not_show_what_was_written_since(void **state)
{
	struct fixture *fixture = *state;
	struct source_place place = {.pid = 7,
				     .path = "/app/main.py",
				     .line = 1,
				     .not_after_unix_ns =
					     fixture->now - 3600 * (int64_t)NS_PER_SECOND};

	assert_null(source_text_find(fixture->live, &place));
}

static void does_not_read_what_is_no_source(void **state)
{
	struct fixture *fixture = *state;

	temp_tree_link(&fixture->tree, "proc/7/root/link", "/../../../app/main.py");
	temp_tree_file(&fixture->tree, "proc/7/root/own", "own\n");
	assert_int_equal(chmod(temp_tree_path(&fixture->tree, "proc/7/root/own"), 0600), 0);
	assert_int_equal(mkfifo(temp_tree_path(&fixture->tree, "proc/7/root/fifo"), 0644), 0);
	assert_null(find(fixture, "/fifo", 1));
	assert_null(find(fixture, "/app", 1));
	assert_null(find(fixture, "/missing", 1));
	assert_null(find(fixture, "app/main.py", 1));
	assert_null(find(fixture, "<string>", 1));
	assert_null(find(fixture, "", 1));
	assert_string_equal(find(fixture, "/own", 1), "own");
	/* The link leads to the file of that name inside the root. */
	assert_string_equal(find(fixture, "/link", 1), "import sys");
}

/* Its user may not search the folder; the file itself is open to all. */
static void shows_only_what_the_process_may_read(void **state)
{
	struct fixture *fixture = *state;
	struct source_place ended = {
		.path = "/closed/file",
		.line = 1,
		.not_after_unix_ns = fixture->now,
		.home = {.is_known = true, .is_ours = true, .uid = 61234, .gid = 61234}};

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(fixture->tree.root, 0755), 0);
	write_rights(&fixture->tree, 61234, 61234);
	temp_tree_file(&fixture->tree, "proc/7/root/closed/file", "secret\n");
	temp_tree_file(&fixture->tree, "closed/file", "secret\n");
	temp_tree_file(&fixture->tree, "open/file", "open\n");
	assert_int_equal(chmod(temp_tree_path(&fixture->tree, "proc/7/root/closed"), 0700), 0);
	assert_int_equal(chmod(temp_tree_path(&fixture->tree, "closed"), 0700), 0);
	assert_null(find(fixture, "/closed/file", 1));
	assert_null(source_text_find(fixture->live, &ended));
	ended.path = "/open/file";
	assert_string_equal(source_text_find(fixture->live, &ended), "open");
	assert_string_equal(find(fixture, "/app/main.py", 1), "import sys");
	/* As root, all of it. */
	ended.path = "/closed/file";
	ended.home.uid = ended.home.gid = 0;
	assert_string_equal(source_text_find(fixture->live, &ended), "secret");
}

static void long_files_and_lines_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	char *text = malloc(SOURCE_TEXT_MAX_BYTES + 2);

	assert_non_null(text);
	memset(text, 'x', SOURCE_TEXT_MAX_BYTES + 1);
	text[SOURCE_TEXT_MAX_BYTES + 1] = '\0';
	temp_tree_file(&fixture->tree, "proc/7/root/too_long", text);
	text[SOURCE_TEXT_MAX_BYTES] = '\0';
	temp_tree_file(&fixture->tree, "proc/7/root/long", text);
	assert_null(find(fixture, "/too_long", 1));
	assert_int_equal(strlen(find(fixture, "/long", 1)), SOURCE_TEXT_LINE_BYTES);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_lines_without_the_space_around_them),
		TEST(looks_in_the_root_of_the_process),
		TEST(does_not_show_what_was_written_since),
		TEST(does_not_read_what_is_no_source),
		TEST(shows_only_what_the_process_may_read),
		TEST(long_files_and_lines_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
