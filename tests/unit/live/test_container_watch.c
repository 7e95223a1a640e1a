// SPDX-License-Identifier: BSD-2-Clause
/* Tests the search for containers, in a directory that stands for the cgroup hierarchy. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/container_watch.h"
#include "temp_tree.h"

static struct temp_tree tree;
static struct cgroup_paths targets;
static struct container_watch *watch;
static struct error error;
static size_t found_count, last_place;

static int setup(void **state)
{
	temp_tree_init(&tree);
	temp_tree_folder(&tree, "cgroup/lxc.payload.web");
	temp_tree_folder(&tree, "cgroup/lxc.payload.web/system.slice/nginx.service");
	temp_tree_folder(&tree, "cgroup/lxc.payload.database");
	temp_tree_folder(&tree, "cgroup/docker");
	temp_tree_folder(&tree, "cgroup/kubepods/pod11111111-2222-3333-4444-555555555555/abcd11");
	temp_tree_folder(&tree, "cgroup/kubepods/pod11111111-2222-3333-4444-555555555555/abcd22");
	found_count = 0;
	watch = NULL;
	return 0;
}

static int teardown(void **state)
{
	container_watch_free(watch);
	array_foreach(&targets, target)
		free(*target);
	array_free(&targets);
	temp_tree_done(&tree);
	return 0;
}

static int choose(const char *text)
{
	const struct container_choice choice = {text, tree.root, &targets, NULL};

	return container_watch_new(&choice, cgroup_root_open_at(temp_tree_path(&tree, "cgroup")),
				   &watch, &error);
}

static void has_target(size_t place, const char *path)
{
	assert_true(place < targets.count);
	assert_string_equal(targets.items[place], temp_tree_path(&tree, path));
}

static int found(void *context, size_t place, const char *path)
{
	assert_string_equal(path, targets.items[place]);
	found_count++;
	last_place = place;
	return 0;
}

static void look(size_t expected)
{
	found_count = 0;
	assert_int_equal(container_watch_look(watch, found, NULL), 0);
	assert_int_equal(found_count, expected);
}

static void a_name_chooses_a_container_with_what_is_below(void **state)
{
	assert_int_equal(choose("web"), 0);
	assert_int_equal(targets.count, 1);
	has_target(0, "cgroup/lxc.payload.web");
	/* created below the target: no target of its own */
	temp_tree_folder(&tree, "cgroup/lxc.payload.web/lxc/web");
	look(0);
}

static void a_pattern_chooses_several(void **state)
{
	assert_int_equal(choose("lxc:*"), 0);
	assert_int_equal(targets.count, 2);
}

static void the_beginning_of_an_id_must_be_that_of_one_only(void **state)
{
	assert_int_equal(choose("abcd"), -EINVAL);
	assert_non_null(strstr(error.text, "2 containers have ids that begin so: "));
	assert_non_null(strstr(error.text, "containerd:abcd11"));
	assert_int_equal(choose("abcd2"), 0);
	has_target(0, "cgroup/kubepods/pod11111111-2222-3333-4444-555555555555/abcd22");
}

static void what_nothing_matches_is_answered_with_the_nearest(void **state)
{
	assert_int_equal(choose("databse"), -ESRCH);
	assert_non_null(strstr(error.text, "did you mean database?"));
	assert_int_equal(choose("quite-different"), -ESRCH);
	assert_non_null(strstr(error.text, "running: "));
	assert_non_null(strstr(error.text, "lxc:web"));
	assert_int_equal(targets.count, 0);
}

static void a_container_that_starts_later_is_a_target(void **state)
{
	assert_int_equal(choose("job*"), 0);
	assert_int_equal(targets.count, 0);
	look(0);
	temp_tree_folder(&tree, "cgroup/new/lxc.payload.job1");
	look(1);
	has_target(0, "cgroup/new/lxc.payload.job1");
	temp_tree_folder(&tree, "cgroup/new/lxc.payload.other");
	look(0);
	temp_tree_folder(&tree, "cgroup/new/lxc.payload.job2");
	look(1);
	has_target(1, "cgroup/new/lxc.payload.job2");
}

static void a_container_that_starts_again_has_its_old_place(void **state)
{
	assert_int_equal(choose("database"), 0);
	assert_int_equal(rmdir(temp_tree_path(&tree, "cgroup/lxc.payload.database")), 0);
	temp_tree_folder(&tree, "cgroup/lxc/database");
	look(1);
	assert_int_equal(last_place, 0);
	assert_int_equal(targets.count, 1);
	has_target(0, "cgroup/lxc/database");
}

static void a_name_may_come_after_the_cgroup(void **state)
{
	assert_int_equal(choose("job*"), 0);
	temp_tree_folder(&tree, "cgroup/system.slice/docker-c0ffee.scope");
	look(0);
	assert_true(container_watch_rest_ms(watch) >= 0);
	look(0);
	temp_tree_file(&tree, "var/lib/docker/containers/c0ffee/config.v2.json",
		       "{\"Name\":\"/job-1\"}");
	look(1);
	has_target(0, "cgroup/system.slice/docker-c0ffee.scope");
	assert_int_equal(container_watch_rest_ms(watch), -1);
}

static void more_than_there_are_places_are_refused(void **state)
{
	char path[64];

	for (int i = 0; i < 65; i++) {
		snprintf(path, sizeof(path), "cgroup/lxc.payload.many-%d", i);
		temp_tree_folder(&tree, path);
	}
	assert_int_equal(choose("many-*"), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_name_chooses_a_container_with_what_is_below),
		TEST(a_pattern_chooses_several),
		TEST(the_beginning_of_an_id_must_be_that_of_one_only),
		TEST(what_nothing_matches_is_answered_with_the_nearest),
		TEST(a_container_that_starts_later_is_a_target),
		TEST(a_container_that_starts_again_has_its_old_place),
		TEST(a_name_may_come_after_the_cgroup),
		TEST(more_than_there_are_places_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
