// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/cgroup_limits: which cgroups are held to how much, in both versions of the
 * hierarchy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/cgroup/cgroup_limits.h"
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
	struct cgroup_limit limits[4];
	char paths[4][64];
	size_t count;
};

static int note(void *context, const struct cgroup_limit *limit)
{
	struct found *found = context;

	assert_true(found->count < 4);
	strncpy(found->paths[found->count], limit->path, sizeof(found->paths[0]) - 1);
	found->limits[found->count++] = *limit;
	return 0;
}

static struct found found_in(struct cgroup_limits *limits)
{
	struct found found = {0};

	assert_int_equal(cgroup_limits_read(limits, 0, note, &found), 0);
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
	struct cgroup_limits *limits;
	struct found found;

	make_version_2(tree);
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 4);
	assert_non_null(limits);
	for (uint32_t pid = 8; pid <= 12; pid++)
		assert_int_equal(cgroup_limits_add_of(limits, pid), 0);
	assert_int_equal(found_in(limits).count, 0);
	assert_int_equal(cgroup_limits_add_of(limits, 7), 0);
	assert_int_equal(cgroup_limits_add_of(limits, 7), 0);
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
	cgroup_limits_close(limits);
}

static void all_limits_are_found(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;

	make_version_2(tree);
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 4);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.paths[strcmp(found.paths[0], "/other") != 0], "/other");
	assert_string_equal(found.paths[strcmp(found.paths[0], "/pods/a") != 0], "/pods/a");
	/* One without a file of counts has none. */
	assert_int_equal(found.limits[strcmp(found.paths[0], "/other") != 0].periods, 0);
	cgroup_limits_close(limits);
}

static void limits_beyond_the_most_are_counted(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;

	make_version_2(tree);
	temp_tree_file(tree, "sys/fs/cgroup/third/cpu.max", "1000 100000\n");
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 1);
	assert_int_equal(cgroup_limits_left_out(limits), 0);
	/* Looked at again they are no more. */
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	assert_int_equal(cgroup_limits_left_out(limits), 2);
	assert_int_equal(cgroup_limits_count(limits), 1);
	assert_int_equal(cgroup_limits_read(limits, 1, note, NULL), 0);
	assert_int_equal(found_in(limits).count, 1);
	cgroup_limits_close(limits);
}

/* Else those of a service's life would fill the list. */
static void cgroups_that_are_gone_give_their_room_back(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;

	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	temp_tree_file(tree, "sys/fs/cgroup/old/cpu.max", "1000 100000\n");
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 1);
	assert_non_null(limits);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	assert_int_equal(cgroup_limits_count(limits), 1);
	assert_int_equal(unlink(temp_tree_path(tree, "sys/fs/cgroup/old/cpu.max")), 0);
	assert_int_equal(rmdir(temp_tree_path(tree, "sys/fs/cgroup/old")), 0);
	temp_tree_file(tree, "sys/fs/cgroup/new/cpu.max", "2000 100000\n");
	cgroup_limits_forget_gone(limits);
	assert_int_equal(cgroup_limits_count(limits), 0);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/new");
	assert_int_equal(cgroup_limits_left_out(limits), 0);
	cgroup_limits_close(limits);
}

static void the_first_version_has_a_hierarchy_for_it(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;

	temp_tree_file(tree, "sys/fs/cgroup/unified/cgroup.controllers", "cpuset io\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "20000\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "40000\n");
	temp_tree_file(tree, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.stat",
		       "nr_periods 3\nnr_throttled 2\nthrottled_time 99\n");
	temp_tree_file(tree, "proc/7/cgroup",
		       "5:cpuset:/\n4:cpuacct,cpu:/docker/x\n1:name=systemd:/\n0::/docker\n");
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 4);
	assert_non_null(limits);
	assert_int_equal(cgroup_limits_add_of(limits, 7), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/docker/x");
	assert_int_equal(found.limits[0].quota_ns, 20000000);
	assert_int_equal(found.limits[0].period_ns, 40000000);
	assert_int_equal(found.limits[0].periods, 3);
	assert_int_equal(found.limits[0].throttled_periods, 2);
	assert_int_equal(found.limits[0].throttled_ns, 99);
	cgroup_limits_close(limits);
}

static void memory_is_limited_by_either_of_two_files(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;
	size_t a;

	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.max", "1048576\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.high", "max\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.current", "4096\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.peak", "8192\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.events",
		       "low 9\nhigh 0\nmax 5\noom 2\noom_kill 1\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/memory.pressure",
		       "some avg10=0.00 avg60=0.00 avg300=0.00 total=17\n"
		       "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
	temp_tree_file(tree, "sys/fs/cgroup/b/memory.high", "65536\n");
	temp_tree_file(tree, "sys/fs/cgroup/b/memory.events", "high 3\nmax 0\n");
	temp_tree_file(tree, "sys/fs/cgroup/c/memory.max", "max\n");
	limits = cgroup_limits_open(tree->root, CGROUP_MEMORY, 4);
	assert_non_null(limits);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 2);
	a = strcmp(found.paths[0], "/a") != 0;
	assert_int_equal(found.limits[a].memory_limit, 1048576);
	assert_int_equal(found.limits[a].memory_high, 0);
	assert_int_equal(found.limits[a].memory_used, 4096);
	assert_int_equal(found.limits[a].memory_peak, 8192);
	assert_int_equal(found.limits[a].memory_reached, 5);
	assert_int_equal(found.limits[a].memory_kills, 1);
	assert_int_equal(found.limits[a].memory_pressure_ns, 17000);
	assert_int_equal(found.limits[a].quota_ns, 0);
	assert_string_equal(found.paths[!a], "/b");
	assert_int_equal(found.limits[!a].memory_high, 65536);
	assert_int_equal(found.limits[!a].memory_limit, 0);
	assert_int_equal(found.limits[!a].memory_reached, 3);
	assert_int_equal(found.limits[!a].memory_pressure_ns, 0);
	cgroup_limits_close(limits);
}

static void the_first_version_says_much_where_memory_has_no_limit(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;

	temp_tree_file(tree, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	temp_tree_file(tree, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2097152\n");
	temp_tree_file(tree, "sys/fs/cgroup/memory/x/memory.usage_in_bytes", "4096\n");
	temp_tree_file(tree, "sys/fs/cgroup/memory/x/memory.max_usage_in_bytes", "2097152\n");
	temp_tree_file(tree, "sys/fs/cgroup/memory/x/memory.failcnt", "12\n");
	temp_tree_file(tree, "sys/fs/cgroup/memory/x/memory.oom_control",
		       "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	temp_tree_file(tree, "proc/7/cgroup", "4:memory:/x\n0::/\n");
	limits = cgroup_limits_open(tree->root, CGROUP_MEMORY, 4);
	assert_non_null(limits);
	assert_int_equal(cgroup_limits_add_of(limits, 7), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/x");
	assert_int_equal(found.limits[0].memory_limit, 2097152);
	assert_int_equal(found.limits[0].memory_used, 4096);
	assert_int_equal(found.limits[0].memory_peak, 2097152);
	assert_int_equal(found.limits[0].memory_reached, 12);
	assert_int_equal(found.limits[0].memory_kills, 2);
	cgroup_limits_close(limits);
}

static void frozen_cgroups_are_found_in_both_versions(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;
	struct found found;

	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	temp_tree_file(tree, "sys/fs/cgroup/a/cgroup.events", "populated 1\nfrozen 1\n");
	temp_tree_file(tree, "sys/fs/cgroup/b/cgroup.events", "populated 1\nfrozen 0\n");
	limits = cgroup_limits_open(tree->root, CGROUP_FREEZER, 4);
	assert_non_null(limits);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/a");
	assert_int_equal(found.limits[0].frozen, 1);
	temp_tree_file(tree, "sys/fs/cgroup/a/cgroup.events", "populated 1\nfrozen 0\n");
	assert_int_equal(found_in(limits).count, 0);
	cgroup_limits_close(limits);
	/* Where both are mounted, containers are frozen in the first. */
	temp_tree_file(tree, "sys/fs/cgroup/freezer/release_agent", "\n");
	temp_tree_file(tree, "sys/fs/cgroup/freezer/x/freezer.state", "FROZEN\n");
	temp_tree_file(tree, "sys/fs/cgroup/freezer/y/freezer.state", "THAWED\n");
	limits = cgroup_limits_open(tree->root, CGROUP_FREEZER, 4);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	found = found_in(limits);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.paths[0], "/x");
	cgroup_limits_close(limits);
}

static void a_container_sees_its_own_limit_at_its_root(void **state)
{
	struct temp_tree *tree = *state;
	struct cgroup_limits *limits;

	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpu");
	temp_tree_file(tree, "sys/fs/cgroup/cpu.max", "100000 100000\n");
	temp_tree_file(tree, "proc/7/cgroup", "0::/\n");
	limits = cgroup_limits_open(tree->root, CGROUP_CPU, 4);
	assert_int_equal(cgroup_limits_add_of(limits, 7), 0);
	assert_int_equal(cgroup_limits_add_all(limits), 0);
	assert_int_equal(found_in(limits).count, 1);
	assert_string_equal(found_in(limits).paths[0], "/");
	cgroup_limits_close(limits);
}

static void without_a_controller_there_are_none(void **state)
{
	struct temp_tree *tree = *state;

	assert_null(cgroup_limits_open(tree->root, CGROUP_CPU, 4));
	temp_tree_file(tree, "sys/fs/cgroup/cgroup.controllers", "cpuset io\n");
	assert_null(cgroup_limits_open(tree->root, CGROUP_CPU, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(limits_above_a_process_are_its_own),
		TEST(all_limits_are_found),
		TEST(limits_beyond_the_most_are_counted),
		TEST(cgroups_that_are_gone_give_their_room_back),
		TEST(the_first_version_has_a_hierarchy_for_it),
		TEST(memory_is_limited_by_either_of_two_files),
		TEST(the_first_version_says_much_where_memory_has_no_limit),
		TEST(frozen_cgroups_are_found_in_both_versions),
		TEST(a_container_sees_its_own_limit_at_its_root),
		TEST(without_a_controller_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
