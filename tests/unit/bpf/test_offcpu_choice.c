// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bpf/offcpu_choice.bpf.h: which waits get a stack, and for how many each stands. */
#include "stand_in.h"

#include "offcpu_choice.bpf.h"

#define QUOTA 16

struct pkbpf_bpf_config settings __asm__("config");
struct pkbpf_offcpu_config offcpu_settings __asm__("offcpu_config");
struct pkbpf_offcpu_control offcpu_control;
struct counter_map counters;
struct offcpu_threads_map offcpu_threads;
struct offcpu_histograms_map offcpu_histograms;
__u32 process_generation;

static struct task_struct task;
static struct pkbpf_thread thread;
static __u64 now_ns;

__u32 thread_slot(__u32 tid)
{
	(void)tid;
	return PKBPF_NO_ROW;
}

static int setup(void **state)
{
	(void)state;
	memset(&thread, 0, sizeof(thread));
	memset(&stand_in_user_registers, 0, sizeof(stand_in_user_registers));
	thread.tid = 42;
	thread.state = PKBPF_WAIT_SLEEP;
	task.flags = 0;
	offcpu_control.quota = QUOTA;
	now_ns = 5 * PKBPF_OFFCPU_WINDOW_NS;
	stand_in_register(&offcpu_sites, 4, sizeof(struct wait_site), 1 << SITE_BITS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stand_in_forget_maps();
	return 0;
}

/* So many waits in a window from its begin on, at times that nobody would foresee; the sum of the
 * weights of those chosen. */
static __u64 wait_often(__u32 window, __u32 waits, __u32 *ret_chosen)
{
	__u64 weights = 0;

	*ret_chosen = 0;
	for (__u32 i = 0; i < waits; i++) {
		now_ns = window * PKBPF_OFFCPU_WINDOW_NS + i * (PKBPF_OFFCPU_WINDOW_NS / waits) +
			 i * i % 977;
		wait_choose(&task, &thread, now_ns);
		weights += thread.weight;
		*ret_chosen += thread.weight != 0;
	}
	return weights;
}

static void a_mask_is_a_power_of_two_less_one(void **state)
{
	static const struct {
		__u32 waits, quota, mask;
	} rows[] = {
		{0, 16, 0},    {15, 16, 0},	   {16, 16, 1},	      {32, 16, 3},
		{64, 16, 7},   {120, 16, 7},	   {128, 16, 15},     {500, 16, 31},
		{512, 16, 31}, {1U << 30, 16, 31}, {1U << 30, 1, 31},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sample_mask_of(rows[i].waits, rows[i].quota), rows[i].mask);
}

static void every_wait_is_chosen_without_a_quota(void **state)
{
	__u32 chosen;

	(void)state;
	offcpu_control.quota = 0;
	assert_int_equal(wait_often(5, 10000, &chosen), 10000);
	assert_int_equal(wait_often(6, 10000, &chosen), 10000);
	assert_int_equal(chosen, 10000);
}

static void every_wait_of_a_thread_that_waits_seldom_is_chosen(void **state)
{
	__u32 chosen;

	(void)state;
	for (__u32 window = 5; window < 9; window++) {
		assert_int_equal(wait_often(window, QUOTA - 1, &chosen), QUOTA - 1);
		assert_int_equal(chosen, QUOTA - 1);
	}
	assert_int_equal(thread.without_stack, 0);
}

static void a_busy_thread_gets_few_stacks_that_stand_for_all(void **state)
{
	__u32 chosen, waits = 20000;
	__u64 weights = 0, stacks = 0;

	(void)state;
	wait_often(5, waits, &chosen);
	assert_int_equal(chosen, waits); /* nothing is known of it yet */
	for (__u32 window = 6; window < 16; window++) {
		weights += wait_often(window, waits, &chosen);
		stacks += chosen;
	}
	assert_in_range(stacks, 10 * waits / 40, 10 * waits / 25); /* one in 32 */
	assert_in_range(weights, 10 * waits * 9 / 10, 10 * waits * 11 / 10);
	assert_int_equal(thread.without_stack + stacks, 10 * waits);
}

static void after_a_pause_a_thread_counts_as_one_that_waits_seldom(void **state)
{
	__u32 chosen;

	(void)state;
	wait_often(5, 20000, &chosen);
	assert_int_equal(wait_often(7, 10, &chosen), 10);
	assert_int_equal(chosen, 10);
}

static void a_seldom_place_of_a_busy_thread_is_chosen(void **state)
{
	__u32 chosen;

	(void)state;
	stand_in_user_registers.ip = 0x1000;
	for (__u32 window = 5; window < 8; window++) /* places are known from the second on */
		wait_often(window, 20000, &chosen);
	stand_in_user_registers.ip = 0x2000;
	for (int i = 0; i < QUOTA / SITE_PART - 1; i++) {
		now_ns += 1000;
		wait_choose(&task, &thread, now_ns);
		assert_int_equal(thread.weight, 1);
	}
	assert_int_equal(thread.rare_waits, QUOTA / SITE_PART - 1);
}

static void seldom_places_have_no_more_than_the_quota(void **state)
{
	__u32 chosen, stacks = 0;

	(void)state;
	wait_often(5, 20000, &chosen);
	wait_often(6, 20000, &chosen);
	for (__u32 i = 0; i < 64 * QUOTA; i++) {
		stand_in_user_registers.ip = 0x3000 + i * 64;
		now_ns += 1000 + i % 77;
		wait_choose(&task, &thread, now_ns);
		stacks += thread.weight != 0;
	}
	assert_int_equal(thread.rare_waits, QUOTA);
	/* The rest as any other wait: one in 32 */
	assert_in_range(stacks, QUOTA, QUOTA + 64 * QUOTA / 16);
}

static void preemption_and_kernel_threads_have_one_place_each(void **state)
{
	const struct wait_site *place, *other;

	(void)state;
	thread.state = PKBPF_WAIT_RUNQUEUE;
	stand_in_user_registers.ip = 0x1000;
	place = wait_site_of(&task, &thread);
	stand_in_user_registers.ip = 0x2000;
	assert_ptr_equal(wait_site_of(&task, &thread), place);
	thread.state = PKBPF_WAIT_SLEEP;
	other = wait_site_of(&task, &thread);
	assert_ptr_not_equal(other, place);
	task.flags = PF_KTHREAD;
	place = wait_site_of(&task, &thread);
	stand_in_user_registers.ip = 0x4000;
	assert_ptr_equal(wait_site_of(&task, &thread), place);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_mask_is_a_power_of_two_less_one),
		TEST(every_wait_is_chosen_without_a_quota),
		TEST(every_wait_of_a_thread_that_waits_seldom_is_chosen),
		TEST(a_busy_thread_gets_few_stacks_that_stand_for_all),
		TEST(after_a_pause_a_thread_counts_as_one_that_waits_seldom),
		TEST(a_seldom_place_of_a_busy_thread_is_chosen),
		TEST(seldom_places_have_no_more_than_the_quota),
		TEST(preemption_and_kernel_threads_have_one_place_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
