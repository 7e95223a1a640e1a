// SPDX-License-Identifier: BSD-2-Clause
/* Tests which findings are made of what, and that none is made without a number. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "base/array.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define ALL    ((1U << PKBPF_PROFILE_KINDS) - 1)

static void a_busy_machine_has_at_most_five_findings_worst_first(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_scenario_init(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, FINDING_MAX);
	for (size_t i = 0; i < findings.count; i++) {
		assert_non_null(strpbrk(findings.findings[i].text, "0123456789"));
		assert_true(i == 0 || findings.findings[i - 1].tier < findings.findings[i].tier ||
			    findings.findings[i - 1].cost >= findings.findings[i].cost);
	}
	expect(&findings, "disk_bound",
	       "postgres 812: waits for block I/O in `exec_query > XLogFlush`; 63 % "
	       "of wall time (6.30 s); 480 requests, service time p50 12.8 ms, p99 "
	       "12.8 ms, one request at a time (depth 0.6). Next: read ahead or keep "
	       "several requests in flight, or cache more");
	expect(&findings, "cpu_bound",
	       "nginx 88: computes: 70 % of one CPU in `spin<int>`; 7.00 s on CPU");
}

static void waiting_for_disk_is_found_and_told_with_its_function(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "dd", .run_ns = MS});
	account_on_cpu(&fake, 5, "dd", MS);
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 100, 30 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_QUERY));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	expect(&findings, "disk_bound",
	       "dd 5: waits for block I/O in `exec_query`; 30 % of wall time (3.00 "
	       "s). Next: read ahead or keep several requests in flight, or cache more");
}

static void growth_is_found_with_what_faults(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 9120,
							 .comm = "python3",
							 .run_ns = MS,
							 .minor = 9000,
							 .start_rss_bytes = 40 << 20,
							 .rss_bytes = 71 << 20});
	account_faults(&fake, 9120, "python3", 8500, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_faults(&fake, 9120, "python3", 1500, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	expect(&findings, "memory_grows",
	       "python3 9120: memory grows by 3.10 MiB/s, 85 % of its page faults in "
	       "`list_append`; RSS 71.0 MiB, its peak. Next: record for "
	       "longer: a leak grows on, a cache or the loading of data ends");
}

static void storms_of_short_processes_are_found(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 6 * SECOND, 14 * SECOND);
	for (uint32_t i = 0; i < 600; i++)
		account_short(&fake, 20000 + i, "true", 9 * MS);
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "short_lived",
	       "60 short-lived processes per second (most CPU time: true); 600 processes of "
	       "less than 1 s used 100 % of the CPU time. Next: do the work in one "
	       "process, or start fewer");
}

static void slow_devices_and_major_faults_are_found(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){
				       .pid = 5, .comm = "app", .run_ns = MS, .major = 500});
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_READ, 100, 4096, 40 * MS, 1000);
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "slow_device",
	       "block device 254:0 is slow: service time p99 40.0 ms; p50 40.0 ms over "
	       "100 reads and writes; 100 % of all service time for app 5");
	expect(&findings, "major_faults",
	       "app 5: major page faults: pages of files or of swap are read when "
	       "they are touched; 50 major faults/s (500 in total). Next: more "
	       "memory, or readahead (MADV_WILLNEED, MADV_POPULATE_READ)");
}

static void requests_that_are_in_flight_at_once_take_no_more_than_all_the_time(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_READ, 1000, 4096, 40 * MS, 1000);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_not_equal(findings.count, 0);
	for (size_t i = 0; i < findings.count; i++)
		assert_true(findings.findings[i].severity <= 100);
}

/* Its time is read a little before the interval begins, and a little after it ends. */
static void a_thread_that_never_sleeps_takes_no_more_than_all_the_time(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, 10 * SECOND, 10 * SECOND);
	account_process(&fake, &(struct account_process){
				       .pid = 5, .comm = "app", .run_ns = 10 * SECOND + 20 * MS});
	account_end(&fake);
	findings = findings_of(&fake);
	assert_non_null(finding_of(&findings, "cpu_bound"));
	assert_true(finding_of(&findings, "cpu_bound")->severity <= 100);
}

static void who_was_killed_for_want_of_memory_is_told_first(void **state)
{
	struct fake_profile fake;
	struct findings findings;
	int hungry;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 19 * SECOND, SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 9 * SECOND});
	account_oom_killed(&fake, 6, "hungry", 64 << 20);
	account_oom_killed(&fake, 7, "worker", 20 << 20);
	account_oom_killed(&fake, 8, "worker", 30 << 20);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 3);
	hungry = findings.findings[0].pid != 6;
	assert_string_equal(findings.findings[!hungry].text,
			    "worker (2 processes): ended when the OOM killer took its memory (2 "
			    "processes), the "
			    "memory limit of a cgroup, or the memory of the machine, is exhausted; "
			    "peak RSS 30.0 MiB. Next: raise the limit (memory.max), or use less "
			    "memory");
	assert_string_equal(findings.findings[hungry].text,
			    "hungry 6: ended when the OOM killer took its memory, the memory limit "
			    "of a cgroup, "
			    "or the memory of the machine, is exhausted; peak RSS 64.0 MiB. Next: "
			    "raise the limit (memory.max), or use less memory");
	assert_string_equal(findings.findings[2].rule, "cpu_bound");
}

static void memory_shared_with_others_is_no_growth(void **state)
{
	/* Nothing of it its own, a little, most. */
	static const uint64_t shared[][2] = {
		{40 << 20, 120 << 20}, {36 << 20, 115 << 20}, {36 << 20, 36 << 20}};

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, ALL, SECOND, 19 * SECOND);
		account_process(&fake,
				&(struct account_process){.pid = 5,
							  .comm = "postgres",
							  .run_ns = MS,
							  .start_rss_bytes = 40 << 20,
							  .rss_bytes = 120 << 20,
							  .start_shared_rss_bytes = shared[i][0],
							  .shared_rss_bytes = shared[i][1]});
		account_end(&fake);
		findings = findings_of(&fake);
		assert_int_equal(findings.count, i == 2);
	}
}

static void workers_of_one_name_are_told_as_one(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	for (uint32_t pid = 5; pid < 9; pid++) {
		account_process(&fake, &(struct account_process){
					       .pid = pid, .comm = "postgres", .run_ns = MS});
		account_waits(&fake, pid, "postgres", PKBPF_WAIT_DISK, 100, 40 * MS, pid,
			      FAKE_IPS(ACCOUNT_IO_SLEEP), FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_MAIN));
		account_waits(&fake, pid, "postgres", PKBPF_WAIT_SLEEP, 100, 50 * MS, pid + 100,
			      FAKE_IPS(ACCOUNT_EPOLL), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	}
	/* Not one of them: it hardly waits. */
	account_process(&fake,
			&(struct account_process){.pid = 9, .comm = "postgres", .run_ns = MS});
	account_waits(&fake, 9, "postgres", PKBPF_WAIT_DISK, 1, MS, 9, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	/* of their disk waits, not of all waits */
	expect(&findings, "disk_bound",
	       "postgres (5 processes): waits for block I/O in `XLogFlush`; 32 % of "
	       "wall time of 5 threads (16.0 s). Next: read ahead or keep several "
	       "requests in flight, or cache more");
}

static void requests_held_back_before_the_device_are_told(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "fio", .run_ns = MS});
	account_waits(&fake, 5, "fio", PKBPF_WAIT_DISK, 1000, 9 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_QUERY));
	account_requests(&fake, 5, "fio", PKBPF_BLOCKIO_READ, 1000, 4096, MS / 10, 1000);
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "disk_bound",
	       "fio 5: waits for block I/O in `exec_query`; 90 % of wall time (9.00 "
	       "s); 1,000 requests, service time p50 100 us, p99 100 us, the device "
	       "explains 1 %: queued or throttled before it, or requests of others. "
	       "Next: read ahead or keep several requests in flight, or cache more");
}

static void waiting_for_asynchronous_requests_is_disk_wait(void **state)
{
	for (int has_requests = 0; has_requests < 2; has_requests++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, ALL, SECOND, 19 * SECOND);
		account_process(&fake,
				&(struct account_process){.pid = 5, .comm = "fio", .run_ns = MS});
		account_waits(&fake, 5, "fio", PKBPF_WAIT_SLEEP, 1000, 8 * MS, 1,
			      FAKE_IPS(ACCOUNT_GETEVENTS), FAKE_IPS(ACCOUNT_QUERY));
		if (has_requests)
			account_requests(&fake, 5, "fio", PKBPF_BLOCKIO_READ, 9000, 4096, 8 * MS,
					 1000);
		account_end(&fake);
		findings = findings_of(&fake);
		assert_int_equal(findings.count, has_requests);
		if (has_requests)
			expect(&findings, "disk_bound",
			       "fio 5: waits for block I/O in `exec_query`; 80 % of wall time "
			       "(8.00 "
			       "s); 9,000 requests, service time p50 8.00 ms, p99 8.00 ms. Next: "
			       "see "
			       "whether the device is at its limit (iostat -x)");
	}
}

static void waiting_for_locks_is_found_and_told_with_who_takes_them(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 1500, 4 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_MAIN));
	/* Not a lock, and nothing to do: no part of it. */
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 4, SECOND, 2, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	expect(&findings, "lock_bound",
	       "app 5: waits for a mutex in `list_append > pthread_mutex_lock`; 60 % "
	       "of wall time (6.00 s in 1,500 waits). Next: do less while the lock is "
	       "held, or divide it");
	assert_int_equal(findings.findings[0].pid, 5);
	assert_true(findings.findings[0].severity > 59 && findings.findings[0].severity < 61);
}

/* Threads of one process wait for a mutex for so many seconds while it computes for eight. */
static struct findings of_lock_and_computing(uint64_t seconds)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU, 8 * SECOND,
		      12 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5,
							 .comm = "app",
							 .run_ns = 8 * SECOND,
							 .voluntary = 10,
							 .involuntary = 100});
	account_on_cpu(&fake, 5, "app", 8 * SECOND);
	account_samples(&fake, 5, "app", 792, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 100 * seconds, 10 * MS, 1,
		      FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_MAIN));
	profile_info(fake.profile)->has_targets = true;
	account_end(&fake);
	return findings_of(&fake);
}

static void a_lock_comes_before_computing_that_takes_less_time(void **state)
{
	struct findings findings = of_lock_and_computing(9);

	assert_string_equal(findings.findings[0].rule, "lock_bound");
	assert_non_null(finding_of(&findings, "cpu_bound"));
	findings = of_lock_and_computing(4);
	assert_string_equal(findings.findings[0].rule, "cpu_bound");
	assert_non_null(finding_of(&findings, "lock_bound"));
}

static void lost_samples_are_found(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, SECOND, 19 * SECOND);
	account_samples(&fake, 5, "app", 194, FAKE_IPS(ACCOUNT_MAIN));
	profile_info(fake.profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] += 6;
	profile_info(fake.profile)->counters[PKBPF_COUNTER_LOST_RING_FULL] += 6;
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "samples_lost",
	       "3.0 % of the samples were lost (6): shares may be off by as much");
	/* One of fifty is no share. */
	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, SECOND, 19 * SECOND);
	account_samples(&fake, 5, "app", 49, FAKE_IPS(ACCOUNT_MAIN));
	profile_info(fake.profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] += 1;
	profile_info(fake.profile)->counters[PKBPF_COUNTER_LOST_RING_FULL] += 1;
	account_end(&fake);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "samples_lost"));
}

/* They are no samples, of which others may have been expected. */
static void lost_waits_are_found(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU, SECOND,
		      19 * SECOND);
	account_samples(&fake, 5, "app", 97, FAKE_IPS(ACCOUNT_MAIN));
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 300, MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	profile_info(fake.profile)->counters[PKBPF_COUNTER_OFFCPU_RING_FULL] += 100;
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "waits_lost",
	       "25.0 % of the waits were lost (100): their times are missing");
	for (size_t i = 0; i < findings.count; i++)
		assert_string_not_equal(findings.findings[i].rule, "samples_lost");
}

static void a_quiet_machine_has_no_findings(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5,
							 .comm = "app",
							 .run_ns = 2 * SECOND,
							 .minor = 100,
							 .start_rss_bytes = 50 << 20,
							 .rss_bytes = 52 << 20});
	account_on_cpu(&fake, 5, "app", 2 * SECOND);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 10, 800 * MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_READ, 10, 4096, MS, 1000);
	account_end(&fake);
	findings = findings_of(&fake);
	if (findings.count)
		fail_msg("%s", findings.findings[0].text);
}

static void one_rule_does_not_crowd_the_others_out(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	struct fake_profile fake;
	struct findings findings;
	size_t same = 0;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 19 * SECOND, SECOND);
	for (uint32_t i = 0; i < 10; i++)
		account_process(&fake, &(struct account_process){.pid = 5 + i,
								 .comm = names[i],
								 .run_ns = (6 + i % 3) * SECOND});
	account_end(&fake);
	findings = findings_of(&fake);
	for (size_t i = 0; i < findings.count; i++)
		same += !strcmp(findings.findings[i].rule, "cpu_bound");
	assert_int_equal(same, FINDING_MAX_PER_RULE);
	assert_true(findings.findings[0].severity >= 79);
	assert_true(findings.findings[1].severity >= 79);
}

static void the_profiler_itself_is_no_finding(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 10 * SECOND, 10 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "pkbpf", .run_ns = 9 * SECOND});
	account_process(&fake, &(struct account_process){
				       .pid = 7, .comm = "pkbpf-keeper", .run_ns = 8 * SECOND});
	account_process(&fake, &(struct account_process){.pid = 8,
							 .parent_pid = 7,
							 .comm = "pkbpf-reader",
							 .run_ns = 9 * SECOND});
	account_end(&fake);
	profile_info(fake.profile)->own_pid = 5;
	profile_info(fake.profile)->keeper_pid = 7;
	assert_int_equal(findings_of(&fake).count, 0);
}

static void a_moment_weighs_less_than_the_whole_interval(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 2 * SECOND, 18 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "long", .run_ns = MS});
	account_waits(&fake, 5, "long", PKBPF_WAIT_DISK, 100, 30 * MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_QUERY));
	account_short(&fake, 6, "short", MS);
	account_waits(&fake, 6, "short", PKBPF_WAIT_DISK, 1, 490 * MS, 2, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_QUERY));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.findings[0].pid, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_machine_has_at_most_five_findings_worst_first),
		cmocka_unit_test(waiting_for_disk_is_found_and_told_with_its_function),
		cmocka_unit_test(growth_is_found_with_what_faults),
		cmocka_unit_test(storms_of_short_processes_are_found),
		cmocka_unit_test(slow_devices_and_major_faults_are_found),
		cmocka_unit_test(
			requests_that_are_in_flight_at_once_take_no_more_than_all_the_time),
		cmocka_unit_test(a_thread_that_never_sleeps_takes_no_more_than_all_the_time),
		cmocka_unit_test(who_was_killed_for_want_of_memory_is_told_first),
		cmocka_unit_test(memory_shared_with_others_is_no_growth),
		cmocka_unit_test(workers_of_one_name_are_told_as_one),
		cmocka_unit_test(requests_held_back_before_the_device_are_told),
		cmocka_unit_test(waiting_for_asynchronous_requests_is_disk_wait),
		cmocka_unit_test(waiting_for_locks_is_found_and_told_with_who_takes_them),
		cmocka_unit_test(a_lock_comes_before_computing_that_takes_less_time),
		cmocka_unit_test(lost_samples_are_found),
		cmocka_unit_test(lost_waits_are_found),
		cmocka_unit_test(a_quiet_machine_has_no_findings),
		cmocka_unit_test(the_profiler_itself_is_no_finding),
		cmocka_unit_test(a_moment_weighs_less_than_the_whole_interval),
		cmocka_unit_test(one_rule_does_not_crowd_the_others_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
