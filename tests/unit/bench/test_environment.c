// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "bench/bench_read.h"
#include "bench/environment.h"
#include "temp_tree.h"

static void add_laptop(struct temp_tree *tree)
{
	temp_tree_file(tree, "proc/sys/kernel/hostname", "laptop\n");
	temp_tree_file(tree, "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	temp_tree_file(
		tree, "proc/cpuinfo",
		"processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7\nmicrocode\t: 0xf0\n"
		"flags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: Intel(R) Core(TM) i7\n");
	temp_tree_file(tree, "proc/loadavg", "0.10 0.20 0.30 1/200 1234\n");
	temp_tree_file(tree, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		       "performance\n");
	temp_tree_file(tree, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
	temp_tree_file(tree, "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	temp_tree_file(tree, "sys/kernel/mm/transparent_hugepage/enabled",
		       "always [madvise] never\n");
	temp_tree_file(tree, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
		       "5\n");
}

static bool has_danger(const struct environment *environment, const char *words)
{
	array_foreach(&environment->dangers, danger)
		if (strstr(*danger, words))
			return true;
	return false;
}

static void names_what_makes_runs_differ(void **state)
{
	struct temp_tree tree;
	struct environment environment = {0};

	temp_tree_init(&tree);
	add_laptop(&tree);
	assert_int_equal(environment_read(&environment, tree.root), 0);
	assert_string_equal(environment_find(&environment, "host"), "laptop");
	assert_string_equal(environment_find(&environment, "cpu"), "Intel(R) Core(TM) i7");
	assert_string_equal(environment_find(&environment, "cpus"), "2");
	assert_string_equal(environment_find(&environment, "transparent_hugepage"), "madvise");
	assert_null(environment_find(&environment, "virtual_machine"));
	/* One CPU of two. */
	assert_true(has_danger(&environment, "governor performance"));
	assert_true(has_danger(&environment, "turbo is on"));
	assert_false(has_danger(&environment, "others compete"));
	temp_tree_file(&tree, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
		       "9\n");
	assert_int_equal(environment_finish(&environment, tree.root), 0);
	assert_true(has_danger(&environment, "throttled 4 times"));
	environment_done(&environment);
	temp_tree_done(&tree);
}

static void a_steady_idle_machine_has_no_danger(void **state)
{
	struct temp_tree tree;
	struct environment environment = {0};

	temp_tree_init(&tree);
	add_laptop(&tree);
	temp_tree_file(&tree, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
		       "performance\n");
	temp_tree_file(&tree, "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	assert_int_equal(environment_read(&environment, tree.root), 0);
	assert_int_equal(environment_finish(&environment, tree.root), 0);
	assert_int_equal(environment.dangers.count, 0);
	environment_done(&environment);
	temp_tree_done(&tree);
}

static void says_that_others_compete(void **state)
{
	struct temp_tree tree;
	struct environment environment = {0};

	temp_tree_init(&tree);
	add_laptop(&tree);
	temp_tree_file(&tree, "proc/loadavg", "3.20 0.20 0.30 1/200 1234\n");
	assert_int_equal(environment_read(&environment, tree.root), 0);
	assert_true(has_danger(&environment, "load 3.2 on 2 CPUs"));
	environment_done(&environment);
	temp_tree_done(&tree);
}

/* Nothing is there, or what is there is no text. */
static void an_empty_tree_is_no_failure(void **state)
{
	struct temp_tree tree;
	struct environment environment = {0};

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "proc/cpuinfo");
	temp_tree_file(&tree, "proc/loadavg", "many\n");
	assert_int_equal(environment_read(&environment, tree.root), 0);
	assert_int_equal(environment_finish(&environment, tree.root), 0);
	assert_int_equal(environment.dangers.count, 0);
	assert_int_equal(environment.items.count, 0);
	environment_done(&environment);
	temp_tree_done(&tree);
}

static void tells_another_machine_from_another_setting(void **state)
{
	struct bench base, new;
	char text[256];
	bool other;

	bench_init(&base);
	bench_init(&new);
	environment_add(&base.environment, "host", "a", true);
	environment_add(&base.environment, "aslr", "2", false);
	environment_add(&new.environment, "host", "a", true);
	environment_add(&new.environment, "aslr", "0", false);
	bench_differences(&base, &new, text, sizeof(text), &other);
	assert_string_equal(text, "aslr: 2, now 0");
	assert_false(other);
	environment_add(&base.environment, "cpu", "x", true);
	environment_add(&new.environment, "cpu", "y", true);
	bench_differences(&base, &new, text, sizeof(text), &other);
	assert_true(other);
	bench_done(&base);
	bench_done(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_makes_runs_differ),
		cmocka_unit_test(a_steady_idle_machine_has_no_danger),
		cmocka_unit_test(says_that_others_compete),
		cmocka_unit_test(an_empty_tree_is_no_failure),
		cmocka_unit_test(tells_another_machine_from_another_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
