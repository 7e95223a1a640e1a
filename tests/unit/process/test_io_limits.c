// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/relation/io_limits: limits of a cgroup or of one above it, both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "relation_reading.h"
#include "temp_tree.h"
#include "process/relation/io_limits.h"

static struct temp_tree tree;
static struct read_relation found[4];

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

/* Of processes 7 and 8. */
static size_t look(void)
{
	static const uint32_t pids[] = {7, 8};
	struct event_buffer buffer = {0};
	size_t count;

	io_limits_write(&(struct relation_writer){.buffer = &buffer, .pids = pids, .pid_count = 2},
			tree.root);
	count = read_relations(&buffer, PKBPF_RELATION_IO_LIMIT, found, 4);
	event_buffer_done(&buffer);
	return count;
}

static void finds_what_is_limited(void **state)
{
	temp_tree_file(&tree, "proc/7/cgroup", "0::/a/b\n");
	temp_tree_file(&tree, "sys/fs/cgroup/a/b/io.max",
		       "252:0 rbps=1048576 wbps=max riops=max wiops=300\n");
	assert_int_equal(look(), 1);
	assert_int_equal(found[0].view.pid, 7);
	assert_string_equal(found[0].text, "rbps=1048576 wiops=300 in /a/b");
}

/* The first disk has none; which of the others is used, the file does not say. */
static void reads_the_limits_of_all_devices(void **state)
{
	temp_tree_file(&tree, "proc/7/cgroup", "0::/a\n");
	temp_tree_file(&tree, "sys/fs/cgroup/a/io.max",
		       "252:0 rbps=max wbps=max\n8:0 rbps=7 wbps=max\n");
	assert_int_equal(look(), 1);
	assert_string_equal(found[0].text, "rbps=7 in /a");
	temp_tree_file(&tree, "sys/fs/cgroup/a/io.max",
		       "252:0 rbps=5 wbps=max\n8:0 rbps=max wbps=6 riops=7\n");
	assert_int_equal(look(), 1);
	assert_string_equal(found[0].text, "252:0 rbps=5; 8:0 wbps=6 riops=7 in /a");
	temp_tree_file(&tree, "proc/7/cgroup", "5:blkio:/x\n");
	temp_tree_file(&tree, "sys/fs/cgroup/blkio/x/blkio.throttle.read_bps_device",
		       "8:0 12\n8:16 13\n");
	assert_int_equal(look(), 1);
	assert_string_equal(found[0].text, "8:0 12 bytes read/s; 8:16 13 bytes read/s in /x");
}

static void finds_the_limit_of_a_cgroup_above(void **state)
{
	temp_tree_file(&tree, "proc/8/cgroup", "0::/a/b/c\n");
	temp_tree_file(&tree, "sys/fs/cgroup/a/b/c/io.max", "");
	temp_tree_file(&tree, "sys/fs/cgroup/a/b/io.max", "8:0 rbps=max wbps=max\n");
	temp_tree_file(&tree, "sys/fs/cgroup/a/io.max", "8:0 rbps=max wbps=77\n");
	assert_int_equal(look(), 1);
	assert_int_equal(found[0].view.pid, 8);
	assert_string_equal(found[0].text, "wbps=77 in /a");
}

/* Beside hierarchies of version 1. */
static void finds_it_in_the_unified_hierarchy(void **state)
{
	temp_tree_file(&tree, "proc/7/cgroup", "4:memory:/m\n0::/a\n");
	temp_tree_file(&tree, "sys/fs/cgroup/m/io.max", "8:0 rbps=1\n");
	temp_tree_file(&tree, "sys/fs/cgroup/unified/a/io.max", "8:0 rbps=2\n");
	assert_int_equal(look(), 1);
	assert_string_equal(found[0].text, "rbps=2 in /a");
}

static void reads_throttling_of_version_1(void **state)
{
	static const struct {
		const char *file, *text, *expected;
	} cases[] = {
		{"write_iops", "8:0 12\n", "12 writes/s in /x"},
		{"read_iops", "8:0 13\n", "13 reads/s in /x"},
		{"write_bps", "8:0 14\n", "14 bytes written/s in /x"},
		{"read_bps", "without a device\n", "a device bytes read/s in /x"},
		{"read_bps", "15\n", "15 bytes read/s in /x"},
	};

	temp_tree_file(&tree, "proc/7/cgroup", "6:freezer:/z\n5:blkio,cpu:/x/y\n");
	temp_tree_file(&tree, "sys/fs/cgroup/blkio/x/y/blkio.throttle.read_bps_device", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "sys/fs/cgroup/blkio/x/blkio.throttle.%s_device",
			 cases[i].file);
		temp_tree_file(&tree, path, cases[i].text);
		assert_int_equal(look(), 1);
		assert_string_equal(found[0].text, cases[i].expected);
	}
}

static void without_a_limit_it_says_nothing(void **state)
{
	static const char *const files[] = {
		"",	  "\n",	      "0",	    "0:",	   "0::",    "0::\n",
		"0::/\n", "0::a/b\n", "0::/none\n", "1:blkio:/\n", ":::/a\n"};

	temp_tree_file(&tree, "sys/fs/cgroup/io.max", "8:0 rbps=1\n");
	temp_tree_file(&tree, "sys/fs/cgroup/a/io.max", "8:0 rbps=1\n");
	assert_int_equal(look(), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		temp_tree_file(&tree, "proc/7/cgroup", files[i]);
		assert_int_equal(look(), 0);
	}
}

/* Names of cgroups, and lines, that are longer than a text. */
static void long_names_and_lines_are_cut(void **state)
{
	char name[201], path[512], line[4096];

	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(path, sizeof(path), "0::/%s\n", name);
	temp_tree_file(&tree, "proc/7/cgroup", path);
	snprintf(path, sizeof(path), "sys/fs/cgroup/%s/io.max", name);
	memset(line, '=', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	temp_tree_file(&tree, path, line);
	assert_int_equal(look(), 1);
	assert_int_equal(strlen(found[0].text), 127 + 4 + 80);
	assert_non_null(strstr(found[0].text, "== in /nnn"));
	/* Many words. */
	for (size_t i = 0; i + 4 < sizeof(line); i += 4)
		memcpy(line + i, "a=1 ", 4);
	temp_tree_file(&tree, path, line);
	assert_int_equal(look(), 1);
	assert_int_equal(strncmp(found[0].text, "a=1 a=1 ", 8), 0);
	assert_true(strlen(found[0].text) <= 127 + 4 + 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_what_is_limited, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(reads_the_limits_of_all_devices, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(finds_the_limit_of_a_cgroup_above, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(finds_it_in_the_unified_hierarchy, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(reads_throttling_of_version_1, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(without_a_limit_it_says_nothing, make_tree,
						remove_tree),
		cmocka_unit_test_setup_teardown(long_names_and_lines_are_cut, make_tree,
						remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
