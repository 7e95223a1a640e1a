// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/cpu_limits: which cgroups are held to how much, in both versions of the
 * hierarchy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/cgroup/cpu_limits.h"
#include "temp_tree.h"

static int setup(void **state)
{
	struct temp_tree *tree = calloc(1, sizeof(*tree));

	temp_tree_init(tree);
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	temp_tree_done(*state);
	free(*state);
	return 0;
}

struct found {
	struct cpu_limit limits[4];
	char paths[4][64];
	size_t count;
};

static int note(void *context, const struct cpu_limit *limit)
{
	struct found *found = context;

	assert_true(found->count < 4);
	strncpy(found->paths[found->count], limit->path, sizeof(found->paths[0]) - 1);
	found->limits[found->count++] = *limit;
	return 0;
}

static struct found found_in(struct cpu_limits *limits)
{
	struct found found = {0};

	assert_int_equal(cpu_limits_read(limits, 0, note, &found), 0);
	return found;
}

static void make_version_2(struct temp_tree *tree)
{
	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
	temp_tree_file(tree, "sys/fs/cgroup/pods/cpu.max", "max 100000\n");
	temp_tree_file(tree, "sys/fs/cgroup/pods/cpu.stat",
		       "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	temp_tree_file(tree, "sys/fs/cgroup/pods/a/cpu.max", "50000 100000\n");
	temp_tree_file(tree, "sys/fs/cgroup/pods/a/cpu.stat",
		       "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 12\nnr_throttled "
		       "7\nthrottled_usec 650\nnr_bursts 0\n");
	temp_tree_folder(tree, "sys/fs/cgroup/pods/a/inner");
	temp_tree_file(tree, "sys/fs/cgroup/other/cpu.max", "250000 50000\n");
	temp_tree_file(tree, "proc/7/cgroup", "0::/pods/a/inner\n");
	temp_tree_file(tree, "proc/8/cgroup", "1:name=systemd:/other\n0::/\n");
	temp_tree_file(tree, "proc/9/cgroup", "0::/../../other\n");
	temp_tree_file(tree, "proc/10/cgroup", "0::/gone\n");
	temp_tree_file(tree, "proc/11/cgroup", "0:other\n:::\n\n0::\n0");
}

static void limits_above_a_process_are_its_own(void **state)
{
	struct temp_tree *tree = *state;
	struct cpu_limits *limits;
	struct found found;

	make_version_2(tree);
	limits = cpu_limits_open(tree->root, 4);
	assert_non_null(limits);
	for (uint32_t pid = 8; pid <= 12; pid++)
		assert_int_equal(cpu_limits_add_of(limits, pid), 0);
	assert_int_equal(found_in(limits).count, 0);
	assert_int_equal(cpu_limits_add_of(limits, 7), 0);
	assert_int_equal(cpu_limits_add_of(limits, 7), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/pods/a");
	assert_int_equal(found.limits[0].cgroup_id,
			 temp_tree_stat(tree, "sys/fs/cgroup/pods/a").st_ino);
	assert_int_equal(found.limits[0].quota_ns, 50000000);
	assert_int_equal(found.limits[0].period_ns, 100000000);
	assert_int_equal(found.limits[0].periods, 12);
	assert_int_equal(found.limits[0].throttled_periods, 7);
	assert_int_equal(found.limits[0].throttled_ns, 650000);
	/* Read again, with what is there by then. */
	temp_tree_file(tree, "sys/fs/cgroup/pods/a/cpu.stat", "nr_periods 13\nnr_throttled 8\n");
	assert_int_equal(found_in(limits).limits[0].periods, 13);
	temp_tree_file(tree, "sys/fs/cgroup/pods/a/cpu.max", "max 100000\n");
	assert_int_equal(found_in(limits).count, 0);
	cpu_limits_close(limits);
}

static void all_limits_are_found(void **state)
{
	struct temp_tree *tree = *state;
	struct cpu_limits *limits;
	struct found found;

	make_version_2(tree);
	limits = cpu_limits_open(tree->root, 4);
	assert_int_equal(cpu_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.paths[strcmp(found.paths[0], "/other") != 0], "/other");
	assert_string_equal(found.paths[strcmp(found.paths[0], "/pods/a") != 0], "/pods/a");
	/* One without a file of counts has none. */
	assert_int_equal(found.limits[strcmp(found.paths[0], "/other") != 0].periods, 0);
	cpu_limits_close(limits);
}

static void limits_beyond_the_most_are_counted(void **state)
{
	struct temp_tree *tree = *state;
	struct cpu_limits *limits;

	make_version_2(tree);
	temp_tree_file(tree, "sys/fs/cgroup/third/cpu.max", "1000 100000\n");
	limits = cpu_limits_open(tree->root, 1);
	assert_int_equal(cpu_limits_left_out(limits), 0);
	/* Looked at again they are no more. */
	assert_int_equal(cpu_limits_add_all(limits), 0);
	assert_int_equal(cpu_limits_add_all(limits), 0);
	assert_int_equal(cpu_limits_left_out(limits), 2);
	assert_int_equal(cpu_limits_count(limits), 1);
	assert_int_equal(cpu_limits_read(limits, 1, note, NULL), 0);
	assert_int_equal(found_in(limits).count, 1);
	cpu_limits_close(limits);
}

static void the_first_version_has_a_hierarchy_for_it(void **state)
{
	struct temp_tree *tree = *state;
	struct cpu_limits *limits;
	struct found found;

	temp_tree_file(tree, "sys/fs/cgroup/unified/cgroup.controllers", "cpuset io\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "20000\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "40000\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.stat",
		       "nr_periods 3\nnr_throttled 2\nthrottled_time 99\n");
	temp_tree_file(tree, "proc/7/cgroup",
		       "5:cpuset:/\n4:cpuacct,cpu:/docker/x\n1:name=systemd:/\n0::/docker\n");
	limits = cpu_limits_open(tree->root, 4);
	assert_non_null(limits);
	assert_int_equal(cpu_limits_add_of(limits, 7), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/docker/x");
	assert_int_equal(found.limits[0].quota_ns, 20000000);
	assert_int_equal(found.limits[0].period_ns, 40000000);
	assert_int_equal(found.limits[0].periods, 3);
	assert_int_equal(found.limits[0].throttled_periods, 2);
	assert_int_equal(found.limits[0].throttled_ns, 99);
	cpu_limits_close(limits);
}

static void a_container_sees_its_own_limit_at_its_root(void **state)
{
	struct temp_tree *tree = *state;
	struct cpu_limits *limits;

	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpu");
	temp_tree_file(tree, "sys/fs/cgroup/cpu.max", "100000 100000\n");
	temp_tree_file(tree, "proc/7/cgroup", "0::/\n");
	limits = cpu_limits_open(tree->root, 4);
	assert_int_equal(cpu_limits_add_of(limits, 7), 0);
	assert_int_equal(cpu_limits_add_all(limits), 0);
	assert_int_equal(found_in(limits).count, 1);
	assert_string_equal(found_in(limits).paths[0], "/");
	cpu_limits_close(limits);
}

static void without_a_controller_there_are_none(void **state)
{
	struct temp_tree *tree = *state;

	assert_null(cpu_limits_open(tree->root, 4));
	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpuset io\n");
	assert_null(cpu_limits_open(tree->root, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(limits_above_a_process_are_its_own),
		TEST(all_limits_are_found),
		TEST(limits_beyond_the_most_are_counted),
		TEST(the_first_version_has_a_hierarchy_for_it),
		TEST(a_container_sees_its_own_limit_at_its_root),
		TEST(without_a_controller_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
