// SPDX-License-Identifier: BSD-2-Clause
/* Tests that findings claim only what was seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding/finding_rules.h"
#include "finding_fixture.h"

#define MS	      1000000ULL
#define SECOND	      1000000000ULL
#define ALL	      (1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU)
#define WITH_REQUESTS (ALL | 1U << PKBPF_PROFILE_BLOCKIO)

static void begin(struct fake_profile *fake, uint64_t run_ns)
{
	account_begin(fake, ALL, SECOND, 19 * SECOND);
	profile_info(fake->profile)->has_targets = true;
	account_process(fake, &(struct account_process){
				      .pid = 5, .comm = "app", .run_ns = run_ns, .voluntary = 10});
	account_on_cpu(fake, 5, "app", run_ns);
}

/* ---- order ---- */

static void of_two_findings_of_whatever_rules_that_with_more_time_comes_first(void **state)
{
	for (int a = 0; a < FINDING_RULE_COUNT; a++) {
		for (int b = 0; b < FINDING_RULE_COUNT; b++) {
			struct finding more = finding_new((enum finding_rule_number)a),
				       less = finding_new((enum finding_rule_number)b);
			struct findings findings = {0};

			more.severity = 20;
			more.cost = 250;
			less.severity = 90;
			less.cost = 80;
			findings_offer(&findings, &less);
			findings_offer(&findings, &more);
			assert_int_equal(findings.count, 2);
			assert_ptr_equal(findings.findings[0].rule, more.rule);
			assert_int_equal((int)findings.findings[0].cost, 250);
		}
	}
}

/* On a machine with room, and on one that is busy with whatever. */
static void waiting_for_a_cpu_for_longer_than_having_one_comes_before_computing(void **state)
{
	for (int is_busy = 0; is_busy < 2; is_busy++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, ALL, is_busy ? 20 * SECOND : 10 * SECOND,
			      is_busy ? 0 : 10 * SECOND);
		profile_info(fake.profile)->has_targets = true;
		account_process(&fake, &(struct account_process){.pid = 5,
								 .comm = "app",
								 .run_ns = 2 * SECOND,
								 .run_delay_ns = 8 * SECOND,
								 .involuntary = 1000});
		account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 1000, 8 * MS, 1, FAKE_IPS(),
			      FAKE_IPS(ACCOUNT_MAIN));
		account_on_cpu(&fake, 5, "app", 2 * SECOND);
		account_samples(&fake, 5, "app", 198, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
		account_end(&fake);
		findings = findings_of(&fake);
		assert_string_equal(findings.findings[0].rule, "queue_bound");
		assert_non_null(finding_of(&findings, "cpu_bound"));
	}
}

/* ---- places ---- */

static void start_up_code_is_no_place_but_an_address_of_a_program_without_names_is(void **state)
{
	struct fake_profile fake;
	const struct finding *finding;
	struct findings findings;

	begin(&fake, 9 * SECOND);
	account_samples(&fake, 5, "app", 500, FAKE_IPS(ACCOUNT_UNNAMED, ACCOUNT_BEGIN));
	account_samples(&fake, 5, "app", 400, FAKE_IPS(ACCOUNT_UNNAMED + 64, ACCOUNT_BEGIN));
	account_end(&fake);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "cpu_bound");
	assert_non_null(finding);
	assert_string_equal(finding->place, "[program+0x1f10]");
	assert_non_null(strstr(finding->text, ", 56 +- 3 % of it in `[program+0x1f10]`"));
}

static void what_only_starts_a_program_is_said_to_be_no_place(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake, 9 * SECOND);
	account_samples(&fake, 5, "app", 900, FAKE_IPS(ACCOUNT_BEGIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_string_equal(finding_of(&findings, "cpu_bound")->place, "");
}

/* ---- calls ---- */

static struct findings calling(struct fake_ips kernel)
{
	struct fake_profile fake;

	begin(&fake, 9 * SECOND);
	account_kernel_samples(&fake, 5, "app", 900, kernel, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

static void who_wakes_others_does_not_spin(void **state)
{
	struct findings findings = calling(FAKE_IPS(ACCOUNT_WAKE, ACCOUNT_FUTEX_CALL));

	assert_null(finding_of(&findings, "spin"));
	assert_non_null(finding_of(&findings, "syscall_bound"));
	assert_null(strstr(finding_of(&findings, "syscall_bound")->next, "larger blocks"));
}

static void who_finds_a_futex_changed_without_end_spins(void **state)
{
	struct findings findings = calling(FAKE_IPS(ACCOUNT_AGAIN, ACCOUNT_FUTEX_CALL));

	assert_non_null(finding_of(&findings, "spin"));
}

static void who_takes_messages_does_not_spin(void **state)
{
	struct findings findings = calling(FAKE_IPS(ACCOUNT_MESSAGE, ACCOUNT_RECEIVE));

	assert_null(finding_of(&findings, "spin"));
	findings = calling(FAKE_IPS(ACCOUNT_RECEIVE));
	assert_non_null(finding_of(&findings, "spin"));
}

static struct findings faulting(struct fake_ips kernel)
{
	struct fake_profile fake;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5,
							 .comm = "app",
							 .run_ns = 9 * SECOND,
							 .minor = 900000,
							 .start_rss_bytes = 64 << 20,
							 .rss_bytes = 64 << 20});
	account_kernel_samples(&fake, 5, "app", 450, kernel, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, 5, "app", 450, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

static void pages_that_are_copied_after_a_fork_were_not_given_back(void **state)
{
	struct findings findings = faulting(FAKE_IPS(ACCOUNT_COPY, ACCOUNT_FAULT));

	assert_non_null(finding_of(&findings, "fault_storm"));
	assert_non_null(strstr(finding_of(&findings, "fault_storm")->cause, "copied"));
	findings = faulting(FAKE_IPS(ACCOUNT_FAULT));
	assert_null(strstr(finding_of(&findings, "fault_storm")->text, "given back"));
	assert_null(strstr(finding_of(&findings, "fault_storm")->text, "giving memory back"));
}

/* ---- waits ---- */

static struct findings sleeping(uint64_t failures)
{
	const struct relation refused = {
		.kind = PKBPF_RELATION_REFUSED, .pid = 5, .count = failures, .text = ""};
	struct fake_profile fake;

	begin(&fake, SECOND);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 45, 200 * MS, 1,
		      FAKE_IPS(ACCOUNT_NANOSLEEP), FAKE_IPS(ACCOUNT_RETRY, ACCOUNT_MAIN));
	account_end(&fake);
	if (failures)
		assert_int_equal(relation_list_add(profile_relations(fake.profile), &refused), 0);
	return findings_of(&fake);
}

static void a_name_is_no_failure(void **state)
{
	struct findings findings = sleeping(0);

	assert_null(finding_of(&findings, "sleep_bound"));
	/* A few of 45 attempts, or those of others. */
	findings = sleeping(7);
	assert_null(finding_of(&findings, "sleep_bound"));
	findings = sleeping(15);
	assert_non_null(finding_of(&findings, "sleep_bound"));
}

static struct findings waiting(uint64_t address)
{
	struct fake_profile fake;

	begin(&fake, SECOND);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 90, 100 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(address, ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

static void a_function_is_of_a_database_only_in_its_own_file(void **state)
{
	struct findings findings = waiting(ACCOUNT_OWN_WAIT);

	assert_null(finding_of(&findings, "lock_bound"));
	findings = waiting(ACCOUNT_ROW_WAIT);
	assert_non_null(finding_of(&findings, "lock_bound"));
	assert_non_null(strstr(finding_of(&findings, "lock_bound")->cause, "InnoDB row lock"));
}

/* Beside the waits for a mutex below exec_query(), so much time there in other waits. */
static struct findings holding(uint64_t held_ns)
{
	struct fake_profile fake;

	begin(&fake, SECOND / 10);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 80, 100 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LIBC_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 10, held_ns / 10, 2,
		      FAKE_IPS(ACCOUNT_NANOSLEEP),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	return findings_of(&fake);
}

static void a_holder_is_told_only_where_one_thread_at_a_time_can_have_held_it(void **state)
{
	struct findings findings = holding(8 * SECOND);

	assert_non_null(strstr(finding_of(&findings, "lock_bound")->by, "held meanwhile in"));
	/* Many at a time rest there. */
	findings = holding(40 * SECOND);
	assert_string_equal(finding_of(&findings, "lock_bound")->by, "");
	/* Others waited for much longer than anybody was there. */
	findings = holding(SECOND / 10);
	assert_string_equal(finding_of(&findings, "lock_bound")->by, "");
}

/* The same, with the lock and its holders. */
static struct findings followed(uint32_t lock_pid)
{
	struct fake_profile fake;
	struct lock_part part = {.kind = PKBPF_LOCK_HOLDER,
				 .state = PKBPF_WAIT_NONE,
				 .pid = 5,
				 .tid = 6,
				 .stack = LOCK_NO_STACK,
				 .comm = "evict",
				 .ns = 6 * SECOND};

	begin(&fake, SECOND / 10);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 80, 100 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LIBC_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
	part.lock = (uint32_t)lock_list_add(profile_locks(fake.profile),
					    &(struct lock){.address = 0x1000,
							   .pid = lock_pid,
							   .class = PKBPF_LOCK_MUTEX,
							   .waits = 80,
							   .wait_ns = 8 * SECOND});
	assert_int_equal(lock_list_add_part(profile_locks(fake.profile), &part), 0);
	part.state = PKBPF_LOCK_HAND_OVER;
	part.ns = 2 * SECOND;
	assert_int_equal(lock_list_add_part(profile_locks(fake.profile), &part), 0);
	account_end(&fake);
	return findings_of(&fake);
}

static void holders_of_a_followed_lock_are_named(void **state)
{
	struct findings findings = followed(5);

	(void)state;
	assert_string_equal(finding_of(&findings, "lock_bound")->by,
			    "most for the mutex, held by `evict (on CPU)` 75 %, `hand-over` 25 %");
	/* Another process has a lock, too. */
	findings = followed(7);
	assert_string_equal(finding_of(&findings, "lock_bound")->by, "");
}

/* Threads of process 5 in a cycle; behind: further ones that wait. */
static struct findings locked_up(uint32_t threads, uint32_t behind, bool is_cut)
{
	struct fake_profile fake;
	size_t rows;

	begin(&fake, 0);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, threads, 10 * SECOND, 1,
		      FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LIBC_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	for (uint32_t i = is_cut; i < threads; i++) {
		struct deadlock_thread thread = {
			.address = 0x1000 + 64 * i,
			.wait_ns = 10 * SECOND - i * MS,
			.pid = 5,
			.tid = 60 + i,
			.cycle = 60,
			.index = i,
			.count = threads,
			.behind = behind,
			.class = i % 2 ? PKBPF_LOCK_RWLOCK : PKBPF_LOCK_MUTEX,
			.stack = i ? DEADLOCK_NO_STACK : profile_rows(fake.profile, &rows)->stack,
		};

		assert_int_equal(deadlock_list_add(profile_deadlocks(fake.profile), &thread), 0);
	}
	return findings_of(&fake);
}

static void a_deadlock_is_told_with_its_threads(void **state)
{
	struct findings findings = locked_up(2, 1, false);
	const struct finding *finding = finding_of(&findings, "deadlock");

	(void)state;
	assert_string_equal(finding->cause, "deadlock of 2 threads");
	assert_string_equal(finding->by,
			    "thread 60 waits in `main > exec_query` for a mutex held by 61, "
			    "61 for a rwlock held by 60");
	assert_string_equal(finding->evidence,
			    "none of them has run for 10.0 s, 1 more thread waits for them");
	assert_int_equal(finding->pid, 5);
	assert_true(finding->is_alarm);
	/* It says all that the rule about locks would. */
	assert_null(finding_of(&findings, "lock_bound"));
	findings = locked_up(6, 0, false);
	finding = finding_of(&findings, "deadlock");
	assert_non_null(strstr(finding->by, "63 for a rwlock held by 64, and so on"));
	assert_string_equal(finding->evidence, "none of them has run for 10.0 s");
	findings = locked_up(1, 2, false);
	finding = finding_of(&findings, "deadlock");
	assert_string_equal(finding->cause, "deadlock of a thread with itself");
	assert_string_equal(finding->by,
			    "thread 60 waits in `main > exec_query` for a mutex that it holds");
	assert_string_equal(finding->evidence,
			    "it has not run for 10.0 s, 2 more threads wait for it");
	/* A part of a cycle is none. */
	findings = locked_up(3, 0, true);
	assert_null(finding_of(&findings, "deadlock"));
}

static void a_stopped_process_is_told(void **state)
{
	struct fake_profile fake;
	const struct finding *finding;
	struct findings findings;

	begin(&fake, 0);
	account_waits(&fake, 5, "app", PKBPF_WAIT_STOPPED, 1, 10 * SECOND, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "stopped");
	assert_non_null(finding);
	assert_true(finding->is_alarm);
	assert_non_null(strstr(finding->evidence, "100 % of wall time"));
}

/* ---- nothing limits it ---- */

static struct finding healthy_with(uint32_t kinds, struct fake_ips kernel, uint64_t each_ns)
{
	struct fake_profile fake;
	struct resource_rows rows;
	struct findings findings;
	struct finding finding;

	account_begin(&fake, kinds, SECOND, 19 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = SECOND});
	if (kinds & 1U << PKBPF_PROFILE_OFFCPU)
		account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 10, each_ns, 1, kernel,
			      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	findings_find(&rows, &findings);
	finding = findings.findings[0];
	resource_rows_done(&rows);
	fake_profile_done(&fake);
	return finding;
}

static void nothing_limits_what_sleeps_but_of_other_waits_it_is_not_known(void **state)
{
	static const char known[] = "nothing limits it", unknown[] = "nothing is known to limit it";

	assert_string_equal(healthy_with(ALL, FAKE_IPS(ACCOUNT_NANOSLEEP), 900 * MS).cause, known);
	assert_string_equal(healthy_with(ALL, FAKE_IPS(ACCOUNT_EPOLL), 900 * MS).cause, unknown);
	assert_string_equal(healthy_with(ALL, FAKE_IPS(ACCOUNT_EPOLL), 90 * MS).cause, known);
	/* Waits were not recorded. */
	assert_string_equal(healthy_with(1U << PKBPF_PROFILE_CPU, FAKE_IPS(ACCOUNT_EPOLL), 0).cause,
			    unknown);
}

/* ---- limits ---- */

static struct findings limited(const char *limit_path, uint64_t queue_ns)
{
	struct fake_profile fake;

	account_begin(&fake, ALL, 4 * SECOND, 16 * SECOND);
	account_cgroup(&fake, 3, "/box/inner");
	account_process(&fake, &(struct account_process){.pid = 5,
							 .comm = "app",
							 .cgroup_id = 3,
							 .run_ns = SECOND,
							 .run_delay_ns = queue_ns});
	account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 100, queue_ns / 100, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_on_cpu(&fake, 5, "app", SECOND);
	if (limit_path)
		account_cpu_limit(&fake, 7, limit_path, 20, 100, 90);
	account_end(&fake);
	return findings_of(&fake);
}

static void a_process_that_a_limit_holds_back_does_not_wait_for_others(void **state)
{
	struct findings findings = limited("/box", 8 * SECOND);

	assert_null(finding_of(&findings, "queue_bound"));
	findings = limited("/boxes", 2100 * MS);
	assert_non_null(finding_of(&findings, "queue_bound"));
	/* Where the path is that of another hierarchy, times that agree tell. */
	findings = limited("/other", 5 * SECOND);
	assert_null(finding_of(&findings, "queue_bound"));
	findings = limited(NULL, 8 * SECOND);
	assert_non_null(finding_of(&findings, "queue_bound"));
}

/* ---- devices ---- */

static void discards_make_no_device_slow(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, WITH_REQUESTS, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_DISCARD, 100, 4096, 40 * MS, 1000);
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_READ, 100, 4096, MS / 10, 1000);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "slow_device"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_findings_of_whatever_rules_that_with_more_time_comes_first),
		cmocka_unit_test(
			waiting_for_a_cpu_for_longer_than_having_one_comes_before_computing),
		cmocka_unit_test(
			start_up_code_is_no_place_but_an_address_of_a_program_without_names_is),
		cmocka_unit_test(what_only_starts_a_program_is_said_to_be_no_place),
		cmocka_unit_test(who_wakes_others_does_not_spin),
		cmocka_unit_test(who_finds_a_futex_changed_without_end_spins),
		cmocka_unit_test(who_takes_messages_does_not_spin),
		cmocka_unit_test(pages_that_are_copied_after_a_fork_were_not_given_back),
		cmocka_unit_test(a_name_is_no_failure),
		cmocka_unit_test(a_function_is_of_a_database_only_in_its_own_file),
		cmocka_unit_test(holders_of_a_followed_lock_are_named),
		cmocka_unit_test(a_holder_is_told_only_where_one_thread_at_a_time_can_have_held_it),
		cmocka_unit_test(a_deadlock_is_told_with_its_threads),
		cmocka_unit_test(a_stopped_process_is_told),
		cmocka_unit_test(nothing_limits_what_sleeps_but_of_other_waits_it_is_not_known),
		cmocka_unit_test(a_process_that_a_limit_holds_back_does_not_wait_for_others),
		cmocka_unit_test(discards_make_no_device_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
