// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bpf/task_filter.bpf.h: which tasks are targets. */
#include "stand_in.h"

#include "task_filter.bpf.c"

struct pkbpf_bpf_config settings __asm__("config"); /* constant for the programs alone */
struct target_map target_pids, target_tids;
struct target_cgroup_map target_cgroup;
struct target_cgroup_ids_map target_cgroup_ids;
__u32 process_generation;
struct counter_map counters;

static struct kernfs_node folders[3] = {
	{.id = 1}, {.id = 11, .parent = &folders[0]}, {.id = 12, .parent = &folders[1]}};
static struct cgroup cgroup = {.kn = &folders[2]};
static struct css_set css_set = {.dfl_cgrp = &cgroup};
static struct task_struct leader = {
	.pid = 100, .tgid = 100, .group_leader = &leader, .cgroups = &css_set, .comm = "server"};
static struct task_struct thread = {
	.pid = 101, .tgid = 100, .group_leader = &leader, .cgroups = &css_set, .comm = "worker"};

/* This one alone. */
static void choose_cgroups(__u64 id)
{
	__u8 one = 1;

	stand_in_of(&target_cgroup_ids)->count = 0;
	assert_int_equal(bpf_map_update_elem(&target_cgroup_ids, &id, &one, BPF_ANY), 0);
	target_cgroup_count = 1;
}

static int setup(void **state)
{
	(void)state;
	memset(&settings, 0, sizeof(settings));
	stand_in_register(&target_pids, 4, sizeof(struct pkbpf_target), 0);
	stand_in_register(&target_tids, 4, sizeof(struct pkbpf_target), 0);
	stand_in_register(&target_cgroup_ids, 8, 1, 0);
	stand_in_current = &thread;
	stand_in_under_cgroup = false;
	choose_cgroups(1234);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stand_in_forget_maps();
	return 0;
}

static void choose(struct target_map *map, __u32 number, enum pkbpf_target_reason reason)
{
	struct pkbpf_target target = {.reason = reason};

	assert_int_equal(bpf_map_update_elem(map, &number, &target, BPF_ANY), 0);
}

static void the_host_is_everybody_but_the_idle_task(void **state)
{
	(void)state;
	assert_true(filter_number(100, 101));
	assert_false(filter_number(0, 0));
}

static void a_process_is_chosen_with_all_its_threads(void **state)
{
	(void)state;
	settings.target_mode = PKBPF_TARGET_PROCESS;
	choose(&target_pids, 100, PKBPF_TARGET_NAMED);
	choose(&target_pids, 0, PKBPF_TARGET_NAMED);
	assert_true(filter_task(&leader));
	assert_true(filter_task(&thread));
	assert_true(filter_current(100, 101));
	assert_false(filter_current(200, 100));
	assert_false(filter_number(0, 0));
}

static void a_thread_is_chosen_alone(void **state)
{
	(void)state;
	settings.target_mode = PKBPF_TARGET_THREAD;
	choose(&target_tids, 101, PKBPF_TARGET_NAMED);
	assert_true(filter_task(&thread));
	assert_false(filter_task(&leader));
}

static void a_cgroup_has_those_below_it(void **state)
{
	(void)state;
	settings.target_mode = PKBPF_TARGET_CGROUP;
	for (size_t i = 0; i < 3; i++) {
		choose_cgroups(folders[i].id);
		assert_true(filter_task(&thread));
	}
	choose_cgroups(13);
	assert_false(filter_task(&thread));
	assert_false(filter_current(100, 101));
	stand_in_under_cgroup = true;
	assert_true(filter_current(100, 101));
	target_cgroup_count = 0; /* the container has not started yet */
	stand_in_of(&target_cgroup_ids)->count = 0;
	assert_false(filter_task(&thread));
	assert_false(filter_current(100, 101));
}

static void cgroups_nested_too_deep_are_not_searched_for_ever(void **state)
{
	struct kernfs_node deep[FILTER_CGROUP_DEPTH + 1];

	(void)state;
	for (int i = 0; i <= FILTER_CGROUP_DEPTH; i++)
		deep[i] = (struct kernfs_node){.id = 100 + (__u64)i,
					       .parent = i ? &deep[i - 1] : &deep[0]};
	choose_cgroups(100);
	assert_true(filter_below_cgroup((__u64)&deep[FILTER_CGROUP_DEPTH - 1]));
	assert_false(filter_below_cgroup((__u64)&deep[FILTER_CGROUP_DEPTH]));
	choose_cgroups(99);
	assert_false(filter_below_cgroup((__u64)&deep[0])); /* its own parent */
}

static void a_name_is_that_of_the_process(void **state)
{
	static const struct {
		const char *name;
		bool matches;
	} rows[] = {{"server", true},
		    {"worker", false},
		    {"serve", false},
		    {"servers", false},
		    {"", false}};

	(void)state;
	settings.match_comm = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(settings.comm, 0, sizeof(settings.comm));
		memcpy(settings.comm, rows[i].name, strlen(rows[i].name));
		assert_int_equal(filter_task(&thread), rows[i].matches);
		assert_int_equal(filter_current(100, 101), rows[i].matches);
	}
}

static void a_worker_that_becomes_another_program_leaves(void **state)
{
	(void)state;
	settings.target_mode = PKBPF_TARGET_PROCESS;
	settings.follow = PKBPF_FOLLOW_WORKERS;
	choose(&target_pids, 100, PKBPF_TARGET_NAMED);
	choose(&target_pids, 200, PKBPF_TARGET_FOLLOWED);
	assert_false(filter_is_leaving_worker(100, false));
	assert_true(filter_is_leaving_worker(200, false));
	assert_false(filter_is_leaving_worker(300, false));
	assert_true(filter_is_leaving_worker(300, true));
	settings.follow = PKBPF_FOLLOW_DESCENDANTS;
	assert_false(filter_is_leaving_worker(200, false));
	settings.follow = PKBPF_FOLLOW_WORKERS;
	settings.target_mode = PKBPF_TARGET_HOST;
	assert_false(filter_is_leaving_worker(200, true));
}

static void an_end_is_of_the_task_that_has_begun_then(void **state)
{
	static const struct {
		__u64 start_ns;
		bool stays;
	} rows[] = {{0, false},		 {3009999999, false}, {3009999998, true},
		    {3000000000, false}, {3010000000, true},  {2990000000, true},
		    {3000000001, true}};
	struct task_struct ended = {.pid = 100, .tgid = 100, .start_boottime = 3009999999};

	(void)state;
	settings.target_mode = PKBPF_TARGET_PROCESS;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pkbpf_target target = {.start_ns = rows[i].start_ns};
		__u32 pid = 100, generation = process_generation;

		assert_int_equal(bpf_map_update_elem(&target_pids, &pid, &target, BPF_ANY), 0);
		target_forget_task(&target_pids, pid, &ended);
		assert_int_equal(filter_number(100, 101), rows[i].stays);
		assert_int_equal(process_generation != generation, !rows[i].stays);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_host_is_everybody_but_the_idle_task),
		TEST(a_process_is_chosen_with_all_its_threads),
		TEST(a_thread_is_chosen_alone),
		TEST(a_cgroup_has_those_below_it),
		TEST(cgroups_nested_too_deep_are_not_searched_for_ever),
		TEST(a_name_is_that_of_the_process),
		TEST(a_worker_that_becomes_another_program_leaves),
		TEST(an_end_is_of_the_task_that_has_begun_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
