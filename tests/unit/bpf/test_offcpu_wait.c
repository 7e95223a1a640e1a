// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bpf/offcpu_wait.bpf.h and what it stands on in bpf/offcpu.bpf.h: what a wait is called,
 * whose it is and where it is added. */
#include "stand_in.h"

#include "offcpu_wait.bpf.h"

#define THREADS 16

struct pkbpf_bpf_config settings __asm__("config");
struct pkbpf_offcpu_config offcpu_settings __asm__("offcpu_config");
struct pkbpf_offcpu_control offcpu_control;
struct counter_map counters;
struct offcpu_threads_map offcpu_threads;
struct offcpu_rows_map offcpu_rows;
struct lock_rows_map lock_rows;
struct lock_parts_map lock_parts;
struct lock_part_index_map lock_part_index;
struct offcpu_free_map lock_free_parts;
struct lock_threads_map lock_threads;
struct offcpu_histograms_map offcpu_histograms;
__u32 process_generation;

static struct task_struct task;
static __u32 sent, traced;

/* As in offcpu_tables.bpf.c: what is not in the first place is looked for elsewhere. */
__u32 thread_slot(__u32 tid)
{
	for (__u32 i = 0; i < PKBPF_THREAD_PROBES; i++) {
		__u32 slot = pkbpf_thread_slot(tid, i, offcpu_settings.thread_mask);
		struct pkbpf_thread *thread = thread_at(slot);

		if (thread && thread->tid == tid && thread->place != PKBPF_THREAD_ENDED)
			return slot;
	}
	return PKBPF_NO_ROW;
}

__u32 row_number(__u32 slot, __u64 stack_id, __u64 waker_id, __u32 state, __u32 flags)
{
	(void)slot;
	(void)stack_id;
	(void)waker_id;
	(void)state;
	(void)flags;
	return 1;
}

int wait_send(__u32 slot, __u64 wait_ns, __u64 queue_ns)
{
	(void)slot;
	(void)wait_ns;
	(void)queue_ns;
	sent++;
	return 0;
}

int wait_trace(__u32 slot, __u64 wait_ns, __u64 queue_ns)
{
	(void)slot;
	traced += wait_ns == 700 && queue_ns == 300;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&task, 0, sizeof(task));
	memset(&offcpu_settings, 0, sizeof(offcpu_settings));
	memset(&offcpu_control, 0, sizeof(offcpu_control));
	offcpu_settings.thread_mask = THREADS - 1;
	sent = traced = 0;
	stand_in_register(&counters, 4, 8, PKBPF_COUNTER_COUNT);
	stand_in_register(&offcpu_threads, 4, sizeof(struct pkbpf_thread), THREADS);
	stand_in_register(&offcpu_rows, 4, sizeof(struct pkbpf_wait_row), 2);
	stand_in_register(&offcpu_histograms, 4, sizeof(struct pkbpf_wait_histogram), 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stand_in_forget_maps();
	return 0;
}

static struct pkbpf_wait_row *row(__u32 index)
{
	return bpf_map_lookup_elem(&offcpu_rows, &index);
}

static __u64 counted(enum pkbpf_counter counter)
{
	__u32 key = counter;

	return *(__u64 *)bpf_map_lookup_elem(&counters, &key);
}

static void a_state_is_named_by_what_the_kernel_says(void **state)
{
	static const struct {
		__u32 kernel, in_iowait, named;
	} rows[] = {
		{TASK_INTERRUPTIBLE, 0, PKBPF_WAIT_SLEEP},
		{TASK_INTERRUPTIBLE, 1, PKBPF_WAIT_SLEEP},
		{TASK_UNINTERRUPTIBLE, 0, PKBPF_WAIT_UNINTERRUPTIBLE},
		{TASK_UNINTERRUPTIBLE, 1, PKBPF_WAIT_DISK},
		{TASK_UNINTERRUPTIBLE | TASK_NOLOAD, 0, PKBPF_WAIT_SLEEP},
		{TASK_RTLOCK_WAIT, 0, PKBPF_WAIT_UNINTERRUPTIBLE},
		{0x0004, 0, PKBPF_WAIT_STOPPED},
		{0x0008 | TASK_INTERRUPTIBLE, 0, PKBPF_WAIT_STOPPED},
		{0x0040, 0, PKBPF_WAIT_STOPPED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		task.in_iowait = rows[i].in_iowait;
		assert_int_equal(wait_state_of(&task, rows[i].kernel), rows[i].named);
	}
}

static void a_wait_is_split_into_sleep_and_run_queue(void **state)
{
	struct pkbpf_thread thread = {.state = PKBPF_WAIT_SLEEP,
				      .pending_ns = 1000,
				      .run_delay_ns = 50,
				      .weight = 1,
				      .row = 0};

	(void)state;
	row(0)->queue_histogram = 1;
	wait_split(&thread, 3, 150);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 900);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_RUNQUEUE], 100);
	assert_int_equal(thread.count[PKBPF_WAIT_SLEEP], 1);
	assert_int_equal(thread.count[PKBPF_WAIT_RUNQUEUE], 1);
	assert_int_equal(row(0)->count, 1);
	assert_int_equal(row(0)->total_ns, 900);
	assert_int_equal(row(0)->queue_ns, 100);
	assert_int_equal(row(0)->estimated_ns, 0);
	wait_split(&thread, 3, 500); /* nothing is pending any more */
	assert_int_equal(row(0)->count, 1);
}

static void the_run_queue_has_no_more_than_the_wait(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 1000, .weight = 1, .row = 0};

	(void)state;
	wait_split(&thread, 3, 5000);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 0);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_RUNQUEUE], 1000);
}

static void a_preempted_thread_is_on_the_run_queue_all_the_time(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_RUNQUEUE, .pending_ns = 1000, .weight = 1, .row = 0};

	(void)state;
	wait_split(&thread, 3, 800);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_RUNQUEUE], 1000);
	assert_int_equal(thread.count[PKBPF_WAIT_RUNQUEUE], 1);
	assert_int_equal(row(0)->total_ns, 1000);
	assert_int_equal(row(0)->queue_ns, 0);
}

static void a_chosen_wait_stands_for_others_but_not_with_its_own_cost(void **state)
{
	struct pkbpf_thread thread = {.state = PKBPF_WAIT_SLEEP,
				      .pending_ns = 1000,
				      .weight = 8,
				      .taking_ns = 200,
				      .row = 0};

	(void)state;
	wait_split(&thread, 3, 0);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 1000);
	assert_int_equal(row(0)->count, 8);
	assert_int_equal(row(0)->total_ns, 8 * 800);
	assert_int_equal(row(0)->estimated_ns, 8 * 800);
	assert_int_equal(row(0)->max_ns, 800);
	assert_true(row(0)->flags & PKBPF_TOTALS_ESTIMATED);
}

static void a_wait_that_was_not_chosen_is_in_the_account_alone(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 1000, .weight = 0, .row = 0};

	(void)state;
	wait_split(&thread, 3, 0);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 1000);
	assert_int_equal(row(0)->count, 0);
	assert_int_equal(sent, 0);
}

static void a_wait_whose_peer_is_known_has_a_row_of_its_own(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 1000, .weight = 1, .row = 0, .peer = 7};

	(void)state;
	wait_split(&thread, 3, 0);
	assert_int_equal(row(0)->count, 0);
	assert_int_equal(row(1)->count, 1); /* that of row_number() */
	assert_int_equal(row(1)->total_ns, 1000);
	assert_int_equal(thread.peer, 0);
}

static void what_a_cut_has_sent_stays_without_the_peer(void **state)
{
	struct pkbpf_thread thread = {.state = PKBPF_WAIT_SLEEP,
				      .pending_ns = 1000,
				      .since_ns = 5000,
				      .weight = 1,
				      .row = 0,
				      .peer = 7};

	(void)state;
	offcpu_control.cut_ns = 4300;
	wait_split(&thread, 3, 100);
	assert_int_equal(row(0)->total_ns, 300);
	assert_int_equal(row(0)->count, 0);
	assert_int_equal(row(1)->total_ns, 600);
	assert_int_equal(row(1)->count, 1);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 900);
}

static void short_waits_are_in_the_account_alone(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 999, .weight = 1, .row = 0};

	(void)state;
	offcpu_settings.min_block_ns = 1000;
	wait_split(&thread, 3, 0);
	assert_int_equal(thread.time_ns[PKBPF_WAIT_SLEEP], 999);
	assert_int_equal(row(0)->count, 0);
	thread.pending_ns = 1000;
	wait_split(&thread, 3, 0);
	assert_int_equal(row(0)->count, 1);
}

static void a_wait_without_a_row_gets_one_or_is_sent(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 1000, .weight = 1, .row = PKBPF_NO_ROW};

	(void)state;
	wait_split(&thread, 3, 0);
	assert_int_equal(row(1)->count, 1);
	thread.row = 77;
	thread.pending_ns = 1000;
	wait_split(&thread, 3, 0);
	assert_int_equal(sent, 1);
}

static void only_long_waits_are_traced(void **state)
{
	struct pkbpf_thread thread = {
		.state = PKBPF_WAIT_SLEEP, .pending_ns = 1000, .weight = 1, .row = 0};

	(void)state;
	wait_split(&thread, 3, 300);
	assert_int_equal(traced, 0);
	offcpu_settings.trace_ns = 1000;
	thread.pending_ns = 999;
	wait_split(&thread, 3, 0);
	assert_int_equal(traced, 0);
	thread.pending_ns = 1000;
	wait_split(&thread, 3, 300);
	assert_int_equal(traced, 1);
}

static void a_thread_has_one_slot_from_its_creation_to_its_end(void **state)
{
	struct pkbpf_thread *thread;
	__u32 slot, found;

	(void)state;
	task.pid = 300;
	task.tgid = 299;
	memcpy(task.comm, "worker", 7);
	thread = thread_create(&task, 12345, &slot);
	assert_non_null(thread);
	assert_int_equal(thread->tid, 300);
	assert_int_equal(thread->pid, 299);
	assert_int_equal(thread->row, PKBPF_NO_ROW);
	assert_int_equal(thread->first_ns, 12345);
	assert_string_equal(thread->comm, "worker");
	assert_null(thread_create(&task, 12345, &slot)); /* somebody else has made it */
	assert_ptr_equal(thread_find(300, &found), thread);
	assert_int_equal(found, slot);
	thread->place = PKBPF_THREAD_ENDED;
	assert_null(thread_find(300, &found));
	assert_non_null(thread_create(&task, 12346, &found)); /* another with its number */
	assert_int_not_equal(found, slot);
}

static void threads_that_meet_lie_side_by_side_until_there_is_no_room(void **state)
{
	__u32 slots[PKBPF_THREAD_PROBES + 1];
	int made = 0;

	(void)state;
	/* As many as can be looked at, that want the same slot */
	for (__u32 tid = 1; made <= PKBPF_THREAD_PROBES; tid++) {
		if (pkbpf_thread_slot(tid, 0, THREADS - 1) != 3)
			continue;
		task.pid = (pid_t)tid;
		if (made == PKBPF_THREAD_PROBES) {
			assert_null(thread_create(&task, 1, &slots[made]));
			break;
		}
		assert_non_null(thread_create(&task, 1, &slots[made]));
		assert_int_equal(slots[made], (3 + made) % THREADS);
		made++;
	}
	assert_int_equal(counted(PKBPF_COUNTER_THREAD_TABLE_FULL), 1);
	assert_int_equal(offcpu_control.had_no_room, 1);
	thread_at(slots[5])->tid = PKBPF_THREAD_TOMBSTONE;
	assert_non_null(thread_create(&task, 1, &slots[made]));
	assert_int_equal(slots[made], slots[5]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_state_is_named_by_what_the_kernel_says),
		TEST(a_wait_is_split_into_sleep_and_run_queue),
		TEST(the_run_queue_has_no_more_than_the_wait),
		TEST(a_preempted_thread_is_on_the_run_queue_all_the_time),
		TEST(a_chosen_wait_stands_for_others_but_not_with_its_own_cost),
		TEST(a_wait_that_was_not_chosen_is_in_the_account_alone),
		TEST(a_wait_whose_peer_is_known_has_a_row_of_its_own),
		TEST(what_a_cut_has_sent_stays_without_the_peer),
		TEST(short_waits_are_in_the_account_alone),
		TEST(a_wait_without_a_row_gets_one_or_is_sent),
		TEST(only_long_waits_are_traced),
		TEST(a_thread_has_one_slot_from_its_creation_to_its_end),
		TEST(threads_that_meet_lie_side_by_side_until_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
