// SPDX-License-Identifier: BSD-2-Clause
/* Tests that lanes of threads hold each single event once, and that their parts add up to the
 * accounts of the threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>
#include <pkbpf/trace.h>

#include "export/page/lane_kind.h"
#include "export/page/lane_list.h"
#include "fake_profile.h"

struct fixture {
	struct fake_profile fake;
	struct lane_list list;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fake_profile_init(&fixture->fake, NULL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	lane_list_done(&fixture->list);
	fake_profile_done(&fixture->fake);
	free(fixture);
	return 0;
}

static void add(struct fixture *fixture, uint32_t pid, struct moment moment)
{
	struct profile *profile = fixture->fake.profile;

	moment.process = process_table_get(fixture->fake.processes, pid, "server")->id;
	moment.comm = profile_intern_comm(profile, "worker");
	assert_int_equal(moment_list_add(profile_moments(profile), &moment), 0);
}

static struct moment wait_of(uint32_t tid, uint64_t begin_ns, uint64_t length_ns, uint64_t queue_ns,
			     uint64_t ran_ns)
{
	return (struct moment){.kind = PKBPF_PROFILE_OFFCPU,
			       .tid = tid,
			       .begin_ns = begin_ns,
			       .length_ns = length_ns,
			       .queue_ns = queue_ns,
			       .ran_ns = ran_ns,
			       .state = PKBPF_WAIT_SLEEP};
}

static struct moment life_of(uint32_t tid, uint64_t begin_ns, uint64_t length_ns, uint64_t ran_ns)
{
	struct moment life = wait_of(tid, begin_ns, length_ns, 0, ran_ns);

	life.state = PKBPF_WAIT_NONE;
	return life;
}

static struct moment sample_of(uint32_t tid, uint64_t time_ns)
{
	return (struct moment){
		.kind = PKBPF_PROFILE_CPU, .tid = tid, .begin_ns = time_ns, .weight = 1};
}

static const struct lane *make(struct fixture *fixture, size_t lanes)
{
	assert_int_equal(lane_list_make(&fixture->list, fixture->fake.profile), 0);
	assert_int_equal(fixture->list.lanes.count, lanes);
	return fixture->list.lanes.items;
}

static void parts_of_a_lane_add_up_to_its_account(void **state)
{
	struct fixture *fixture = *state;
	const struct lane_event *waits;
	const struct lane *lane;

	/* In the order in which they become known: accounts last. */
	add(fixture, 10, wait_of(11, 500, 200, 50, 380));
	add(fixture, 10, sample_of(11, 450));
	add(fixture, 10, wait_of(11, 800, 100, 0, 420));
	add(fixture, 10, life_of(11, 100, 1000, 600));
	lane = make(fixture, 1);
	waits = fixture->list.waits.items;
	assert_true(lane->is_complete);
	assert_int_equal(lane->pid, 10);
	assert_int_equal(lane->begin_ns, 100);
	assert_int_equal(lane->end_ns, 1100);
	assert_int_equal(lane->wait_count, 2);
	assert_int_equal(lane->sample_count, 1);
	/* 400 ns before the first wait, 50 between, 200 behind the second. */
	assert_int_equal(waits[0].ran_ns, 380);
	assert_int_equal(waits[1].ran_ns, 40);
	assert_int_equal(lane->last_ran_ns, 180);
}

static void a_thread_without_waits_has_a_lane(void **state)
{
	struct fixture *fixture = *state;
	const struct lane *lane;

	add(fixture, 10, life_of(11, 100, 1000, 1000));
	lane = make(fixture, 1);
	assert_int_equal(lane->wait_count, 0);
	assert_int_equal(lane->last_ran_ns, 1000);
}

static void a_tid_that_is_used_again_has_two_lanes(void **state)
{
	struct fixture *fixture = *state;
	const struct lane *lanes;

	add(fixture, 10, wait_of(11, 150, 50, 0, 50));
	add(fixture, 10, life_of(11, 100, 200, 150));
	/* Its account begins anew, also that of its CPU time. */
	add(fixture, 10, wait_of(11, 600, 100, 0, 70));
	add(fixture, 10, life_of(11, 530, 400, 300));
	lanes = make(fixture, 2);
	assert_int_equal(lanes[0].end_ns, 300);
	assert_int_equal(lanes[0].last_ran_ns, 100);
	assert_int_equal(fixture->list.waits.items[lanes[1].first_wait].ran_ns, 70);
	assert_int_equal(lanes[1].last_ran_ns, 230);
	assert_int_equal(lane_list_find(&fixture->list, 11, 100), 0);
	assert_int_equal(lane_list_find(&fixture->list, 11, 300), 0);
	assert_int_equal(lane_list_find(&fixture->list, 11, 400), LANE_NONE);
	assert_int_equal(lane_list_find(&fixture->list, 11, 700), 1);
	assert_int_equal(lane_list_find(&fixture->list, 11, 99), LANE_NONE);
	assert_int_equal(lane_list_find(&fixture->list, 12, 700), LANE_NONE);
	assert_int_equal(lane_list_find(&fixture->list, 0, 700), LANE_NONE);
}

static void without_an_account_only_the_time_between_waits_is_known(void **state)
{
	struct fixture *fixture = *state;
	const struct lane *lane;

	add(fixture, 10, wait_of(11, 500, 200, 50, 380));
	add(fixture, 10, wait_of(11, 800, 100, 0, 420));
	lane = make(fixture, 1);
	assert_false(lane->is_complete);
	assert_int_equal(lane->begin_ns, 500);
	assert_int_equal(lane->end_ns, 900);
	assert_int_equal(fixture->list.waits.items[0].ran_ns, 0);
	assert_int_equal(fixture->list.waits.items[1].ran_ns, 40);
	assert_int_equal(lane->last_ran_ns, 0);
}

static void what_comes_before_the_first_account_is_of_it(void **state)
{
	struct fixture *fixture = *state;
	const struct lane *lane;

	add(fixture, 10, sample_of(11, 90));
	add(fixture, 10, life_of(11, 100, 1000, 600));
	lane = make(fixture, 1);
	assert_int_equal(lane->sample_count, 1);
	assert_int_equal(lane->begin_ns, 100);
}

static void threads_and_processes_are_apart(void **state)
{
	struct fixture *fixture = *state;
	const struct lane *lanes;
	struct moment request = wait_of(11, 100, 5, 0, 0);

	add(fixture, 20, life_of(21, 100, 10, 5));
	add(fixture, 10, life_of(12, 100, 10, 5));
	add(fixture, 10, life_of(11, 100, 10, 5));
	/* Requests are of no lane: several are in flight at one time. */
	request.kind = PKBPF_PROFILE_BLOCKIO;
	add(fixture, 10, request);
	lanes = make(fixture, 3);
	assert_int_equal(lanes[0].tid, 11);
	assert_int_equal(lanes[1].tid, 12);
	assert_int_equal(lanes[2].pid, 20);
	assert_int_equal(fixture->list.waits.count, 0);
}

static enum lane_kind kind_of(enum pkbpf_wait_state wait_state, enum wait_class class,
			      bool in_fault, uint32_t owner)
{
	struct moment wait = wait_of(11, 100, 5, 0, 0);

	wait.state = (uint8_t)wait_state;
	wait.owner = owner;
	return lane_kind_of_wait(&wait, class, in_fault);
}

static void kinds_are_those_of_states_and_stacks(void **state)
{
	(void)state;
	assert_int_equal(kind_of(PKBPF_WAIT_RUNQUEUE, WAIT_CLASS_MUTEX, false, 0), LANE_RUNQUEUE);
	assert_int_equal(kind_of(PKBPF_WAIT_STOPPED, WAIT_CLASS_MUTEX, false, 0), LANE_STOPPED);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_MUTEX, false, 0), LANE_LOCK);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_FUTEX, false, 0), LANE_THREAD);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_FUTEX, false, 7), LANE_LOCK);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_SOCKET, false, 0), LANE_PEER);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_CONNECT, false, 0), LANE_PEER);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_FSYNC, false, 0), LANE_DISK);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_TIMER, false, 0), LANE_SLEEP);
	assert_int_equal(kind_of(PKBPF_WAIT_SLEEP, WAIT_CLASS_GPU, false, 0), LANE_GPU);
	assert_int_equal(kind_of(PKBPF_WAIT_DISK, WAIT_CLASS_DISK, false, 0), LANE_DISK);
	assert_int_equal(kind_of(PKBPF_WAIT_DISK, WAIT_CLASS_DISK, true, 0), LANE_FAULT);
	assert_int_equal(kind_of(PKBPF_WAIT_UNINTERRUPTIBLE, WAIT_CLASS_KERNEL, false, 0),
			 LANE_KERNEL);
	assert_int_equal(kind_of(PKBPF_WAIT_UNINTERRUPTIBLE, WAIT_CLASS_MMAP_LOCK, false, 0),
			 LANE_LOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parts_of_a_lane_add_up_to_its_account, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_thread_without_waits_has_a_lane, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tid_that_is_used_again_has_two_lanes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			without_an_account_only_the_time_between_waits_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(what_comes_before_the_first_account_is_of_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(threads_and_processes_are_apart, setup, teardown),
		cmocka_unit_test(kinds_are_those_of_states_and_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
