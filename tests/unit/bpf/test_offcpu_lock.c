// SPDX-License-Identifier: BSD-2-Clause
/* Tests how bpf/offcpu_lock_*.bpf.h follow a lock: its waits, its holder, and what that does. */
#include "stand_in.h"

#include "offcpu_lock_switch.bpf.h"

#define THREADS 16
#define ROWS	8
#define PARTS	16
#define PID	100
#define FIRST	101
#define SECOND	102
#define THIRD	103

struct pkbpf_bpf_config settings __asm__("config");
struct pkbpf_offcpu_config offcpu_settings __asm__("offcpu_config");
struct pkbpf_offcpu_control offcpu_control;
struct counter_map counters;
struct offcpu_causes_map offcpu_causes;
struct offcpu_threads_map offcpu_threads;
struct offcpu_histograms_map offcpu_histograms;
struct lock_rows_map lock_rows;
struct lock_index_map lock_index;
struct offcpu_free_map lock_free_rows;
struct lock_parts_map lock_parts;
struct lock_part_index_map lock_part_index;
struct offcpu_free_map lock_free_parts;
struct lock_threads_map lock_threads;
struct lock_tids_map lock_tids;
__u32 process_generation;

static struct task_struct task;
static struct pid___lock task_pid;
/* A mutex of glibc: __lock, __count, __owner, __nusers, __kind. */
static __u32 mutex[PKBPF_LOCK_WORDS];

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

static __u32 slot_of(__u32 tid)
{
	return thread_slot(tid);
}

static void add_thread(__u32 pid, __u32 tid)
{
	__u32 slot = pkbpf_thread_slot(tid, 0, offcpu_settings.thread_mask);

	while (thread_at(slot)->tid)
		slot = (slot + 1) % THREADS;
	*thread_at(slot) = (struct pkbpf_thread){
		.tid = tid, .pid = pid, .place = PKBPF_THREAD_ON_CPU, .weight = 1};
	lock_thread_begin(slot, 120);
}

static int setup(void **state)
{
	(void)state;
	memset(&task, 0, sizeof(task));
	((struct task_struct___lock *)&task)->thread_pid = &task_pid;
	memset(&offcpu_settings, 0, sizeof(offcpu_settings));
	memset(&stand_in_user_registers, 0, sizeof(stand_in_user_registers));
	memcpy(mutex, (__u32[PKBPF_LOCK_WORDS]){2, 0, FIRST, 1, 0}, sizeof(mutex));
	offcpu_settings.thread_mask = THREADS - 1;
	lock_next_row = lock_next_part = 0;
	stand_in_current = &task;
	stand_in_register(&counters, 4, 8, PKBPF_COUNTER_COUNT);
	stand_in_register(&offcpu_causes, 4, sizeof(struct pkbpf_wait_cause), THREADS);
	stand_in_register(&offcpu_threads, 4, sizeof(struct pkbpf_thread), THREADS);
	stand_in_register(&lock_threads, 4, sizeof(struct pkbpf_lock_thread), THREADS);
	stand_in_register(&lock_rows, 4, sizeof(struct pkbpf_lock_row), ROWS);
	stand_in_register(&lock_index, sizeof(struct pkbpf_lock_key), 4, 0);
	stand_in_register(&lock_free_rows, 0, 4, 0);
	stand_in_register(&lock_parts, 4, sizeof(struct pkbpf_lock_part), PARTS);
	stand_in_register(&lock_part_index, sizeof(struct pkbpf_lock_part_key), 4, 0);
	stand_in_register(&lock_free_parts, 0, 4, 0);
	stand_in_register(&lock_tids, sizeof(struct pkbpf_lock_tid), 4, 0);
	add_thread(PID, FIRST);
	add_thread(PID, SECOND);
	add_thread(PID, THIRD);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stand_in_forget_maps();
	return 0;
}

/* Leaves the CPU; with `words`, in futex(). */
static void leave(__u32 tid, __u64 now_ns, __u64 stack_id, __u32 *words)
{
	struct pkbpf_thread *thread = thread_at(slot_of(tid));

	lock_step(slot_of(tid), now_ns);
	thread->state = PKBPF_WAIT_SLEEP;
	thread->stack_id = stack_id;
	thread->since_ns = now_ns;
#if defined(__TARGET_ARCH_x86)
	stand_in_user_registers.cs = 0x33;
	stand_in_user_registers.orig_ax = words ? NR_FUTEX : 0;
	stand_in_user_registers.di = (unsigned long)words;
	stand_in_user_registers.si = PKBPF_FUTEX_WAIT | PKBPF_FUTEX_PRIVATE;
	stand_in_user_registers.dx = 2;
#else
	stand_in_user_registers.syscallno = words ? NR_FUTEX : 0;
	stand_in_user_registers.user_regs.regs[0] = (unsigned long)words;
	stand_in_user_registers.user_regs.regs[1] = PKBPF_FUTEX_WAIT | PKBPF_FUTEX_PRIVATE;
	stand_in_user_registers.user_regs.regs[2] = 2;
#endif
	lock_begin(slot_of(tid), now_ns);
	thread->place = PKBPF_THREAD_OFF_CPU;
}

static void come(__u32 tid, __u64 now_ns)
{
	struct pkbpf_thread *thread = thread_at(slot_of(tid));

	lock_step(slot_of(tid), now_ns);
	lock_end(slot_of(tid), now_ns);
	thread->since_ns = now_ns;
	thread->place = PKBPF_THREAD_ON_CPU;
}

static __u64 blocked_ns(__u32 tid, __u32 state, __u64 stack_id)
{
	__u64 ns = 0;

	for (__u32 i = 0; i < PARTS; i++) {
		const struct pkbpf_lock_part *part = bpf_map_lookup_elem(&lock_parts, &i);

		if (part->used && part->key.kind == PKBPF_LOCK_HOLDER && part->key.tid == tid &&
		    part->key.state == state && part->key.stack_id == stack_id)
			ns += part->ns;
	}
	return ns;
}

static struct pkbpf_lock_row *row(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&lock_rows, &first);
}

static __u64 counted(enum pkbpf_counter counter)
{
	__u32 key = counter;

	return *(__u64 *)bpf_map_lookup_elem(&counters, &key);
}

static void time_goes_to_the_holder_and_to_what_it_does(void **state)
{
	(void)state;
	leave(SECOND, 1000, 2, mutex);
	assert_int_equal(row()->class, PKBPF_LOCK_MUTEX);
	assert_int_equal(row()->address, (__u64)mutex);
	assert_int_equal(row()->holder, FIRST);
	/* The holder runs, sleeps and runs again. */
	leave(FIRST, 1100, 1, NULL);
	come(FIRST, 1400);
	come(SECOND, 1500);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_NONE, 0), 100 + 100);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_SLEEP, 1), 300);
	assert_int_equal(row()->waiters, 0);
	assert_int_equal(row()->holder, 0);
}

static __u32 traced_owner(__u32 tid)
{
	__u32 slot = slot_of(tid);

	return ((struct pkbpf_wait_cause *)bpf_map_lookup_elem(&offcpu_causes, &slot))->owner;
}

static void a_trace_tells_the_holder_at_the_begin_of_a_wait(void **state)
{
	(void)state;
	leave(SECOND, 1000, 2, mutex);
	assert_int_equal(traced_owner(SECOND), 0);
	come(SECOND, 1100);
	offcpu_settings.trace_ns = 1;
	leave(SECOND, 1200, 2, mutex);
	assert_int_equal(traced_owner(SECOND), FIRST);
	come(SECOND, 1300);
	/* Of the next wait, another begin. */
	cause_begin(slot_of(SECOND));
	leave(SECOND, 1400, 2, NULL);
	assert_int_equal(traced_owner(SECOND), 0);
}

static void set_priority(__u32 tid, __u32 priority)
{
	lock_thread_begin(slot_of(tid), priority);
}

/* The holder is preempted while SECOND waits. Returns for how long that was an inversion. */
static __u64 inverted_ns(__u32 holder, __u32 waiter)
{
	set_priority(FIRST, holder);
	set_priority(SECOND, waiter);
	leave(SECOND, 1000, 2, mutex);
	lock_step(slot_of(FIRST), 1100);
	thread_at(slot_of(FIRST))->state = PKBPF_WAIT_RUNQUEUE;
	thread_at(slot_of(FIRST))->stack_id = 1;
	thread_at(slot_of(FIRST))->place = PKBPF_THREAD_OFF_CPU;
	come(FIRST, 1400);
	come(SECOND, 1500);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_NONE, 0), 200);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_RUNQUEUE, 1) +
				 blocked_ns(FIRST, PKBPF_LOCK_INVERTED, 1),
			 300);
	return blocked_ns(FIRST, PKBPF_LOCK_INVERTED, 1);
}

static void a_holder_that_waits_behind_a_lower_priority_is_told(void **state)
{
	(void)state;
	assert_int_equal(inverted_ns(120, 50), 300);
}

static void without_a_difference_of_priorities_it_waits_for_a_cpu(void **state)
{
	(void)state;
	assert_int_equal(inverted_ns(120, 118), 0);
}

static void a_holder_that_has_inherited_the_priority_waits_for_a_cpu(void **state)
{
	(void)state;
	assert_int_equal(inverted_ns(50, 50), 0);
}

static void the_highest_priority_of_those_that_wait_counts(void **state)
{
	(void)state;
	set_priority(FIRST, 120);
	set_priority(SECOND, 120);
	set_priority(THIRD, 100);
	leave(SECOND, 1000, 2, mutex);
	assert_int_equal(row()->priority, 121);
	leave(THIRD, 1000, 2, mutex);
	assert_int_equal(row()->priority, 101);
	come(SECOND, 1100);
	come(THIRD, 1200);
	/* Of the next ones, others. */
	leave(SECOND, 1300, 2, mutex);
	assert_int_equal(row()->priority, 121);
	come(SECOND, 1400);
}

/* The next one of those that still wait is not known: no inversion is invented. */
static void the_priority_of_a_waiter_that_has_left_counts_no_more(void **state)
{
	(void)state;
	set_priority(FIRST, 120);
	set_priority(SECOND, 120);
	set_priority(THIRD, 100);
	leave(SECOND, 1000, 2, mutex);
	leave(THIRD, 1000, 2, mutex);
	assert_int_equal(row()->priority, 101);
	come(THIRD, 1100);
	assert_int_equal(row()->priority, 0);
	come(SECOND, 1200);
}

static __u32 *known_number(__u64 space, __u32 number)
{
	struct pkbpf_lock_tid key = {.space = space, .tid = number};

	return bpf_map_lookup_elem(&lock_tids, &key);
}

static void numbers_of_threads_that_have_ended_are_forgotten(void **state)
{
	__u32 slot = slot_of(FIRST), other = slot_of(SECOND);
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_lock_tid key = {.space = 7, .tid = 1};

	(void)state;
	locks->space = 7;
	locks->number = 1;
	bpf_map_update_elem(&lock_tids, &key, &slot, BPF_ANY);
	lock_forget_number(slot);
	assert_null(known_number(7, 1));
	lock_forget_number(slot);
	/* The number is that of another thread now. */
	locks->space = 7;
	bpf_map_update_elem(&lock_tids, &key, &other, BPF_ANY);
	lock_forget_number(slot);
	assert_int_equal(*known_number(7, 1), other);
	/* Another thread gets the slot. */
	locks->space = 7;
	bpf_map_update_elem(&lock_tids, &key, &slot, BPF_ANY);
	thread_at(slot)->tid = FIRST + 50;
	lock_thread_begin(slot, 120);
	assert_null(known_number(7, 1));
}

static void who_gets_a_lock_holds_it_while_others_wait(void **state)
{
	(void)state;
	leave(SECOND, 1000, 2, mutex);
	leave(THIRD, 1000, 2, mutex);
	assert_int_equal(row()->max_waiters, 2);
	/* Two threads wait for 100 ns, then one for 200 ns. */
	come(SECOND, 1100);
	assert_int_equal(row()->holder, SECOND);
	come(THIRD, 1300);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_NONE, 0), 200);
	assert_int_equal(blocked_ns(SECOND, PKBPF_WAIT_NONE, 0), 200);
}

static void time_in_the_run_queue_is_a_hand_over(void **state)
{
	(void)state;
	leave(SECOND, 1000, 2, mutex);
	come(SECOND, 1500);
	lock_count(slot_of(SECOND), 500, 80, true);
	assert_int_equal(blocked_ns(FIRST, PKBPF_WAIT_NONE, 0), 420);
	assert_int_equal(blocked_ns(0, PKBPF_LOCK_HAND_OVER, 0), 80);
	assert_int_equal(row()->waits, 1);
	assert_int_equal(row()->wait_ns, 500);
	assert_int_equal(row()->queue_ns, 80);
	assert_int_equal(row()->max_ns, 500);
	/* It is counted once. */
	lock_count(slot_of(SECOND), 500, 80, true);
	assert_int_equal(row()->waits, 1);
}

static void an_owner_is_a_thread_of_the_process(void **state)
{
	(void)state;
	add_thread(PID + 1, 200);
	mutex[2] = 200;
	leave(SECOND, 1000, 2, mutex);
	assert_int_equal(row()->holder, 0);
	assert_int_equal(counted(PKBPF_COUNTER_LOCK_OWNER_UNKNOWN), 1);
	mutex[2] = 0x7fffffff;
	leave(THIRD, 1100, 2, mutex);
	assert_int_equal(row()->holder, 0);
	assert_int_equal(counted(PKBPF_COUNTER_LOCK_OWNER_UNKNOWN), 2);
	assert_int_equal(blocked_ns(0, PKBPF_LOCK_UNKNOWN, 0), 100);
}

static void words_that_cannot_be_read_are_counted(void **state)
{
	(void)state;
	leave(SECOND, 1000, 2, NULL);
	assert_int_equal(counted(PKBPF_COUNTER_LOCK_UNREADABLE), 0);
#if defined(__TARGET_ARCH_x86)
	stand_in_user_registers.orig_ax = NR_FUTEX;
#else
	stand_in_user_registers.syscallno = NR_FUTEX;
#endif
	lock_begin(slot_of(SECOND), 1000);
	assert_int_equal(counted(PKBPF_COUNTER_LOCK_UNREADABLE), 1);
	assert_int_equal(row()->pid, 0);
}

static void locks_beyond_the_table_are_counted(void **state)
{
	static __u32 many[ROWS + 1][2 * PKBPF_LOCK_WORDS];

	(void)state;
	for (int i = 0; i <= ROWS; i++) {
		memcpy(many[i], mutex, sizeof(mutex));
		leave(SECOND, 1000, 2, many[i]);
		come(SECOND, 1100);
	}
	assert_int_equal(counted(PKBPF_COUNTER_LOCK_TABLE_FULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(time_goes_to_the_holder_and_to_what_it_does, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_trace_tells_the_holder_at_the_begin_of_a_wait,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_holder_that_waits_behind_a_lower_priority_is_told,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_a_difference_of_priorities_it_waits_for_a_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_holder_that_has_inherited_the_priority_waits_for_a_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_priority_of_a_waiter_that_has_left_counts_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(the_highest_priority_of_those_that_wait_counts,
						setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_of_threads_that_have_ended_are_forgotten,
						setup, teardown),
		cmocka_unit_test_setup_teardown(who_gets_a_lock_holds_it_while_others_wait, setup,
						teardown),
		cmocka_unit_test_setup_teardown(time_in_the_run_queue_is_a_hand_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_owner_is_a_thread_of_the_process, setup,
						teardown),
		cmocka_unit_test_setup_teardown(words_that_cannot_be_read_are_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(locks_beyond_the_table_are_counted, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
