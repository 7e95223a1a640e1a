// SPDX-License-Identifier: BSD-2-Clause
/* Tests that findings are made of everybody, and say no more than what was seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL

/* The finding of a rule, or NULL; ends the profile. */
static const struct finding *find(struct fake_profile *fake, const char *rule)
{
	static struct findings findings;

	account_end(fake);
	findings = findings_of(fake);
	return finding_of(&findings, rule);
}

static void end_and_expect(struct fake_profile *fake, const char *rule, const char *text)
{
	struct findings findings;

	account_end(fake);
	findings = findings_of(fake);
	expect(&findings, rule, text);
}

static void a_deadlock_is_found_of_a_process_that_did_nothing_else(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app"});
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, 10 * SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_MAIN));
	end_and_expect(
		&fake, "lock_bound",
		"app 5: waits for a mutex in `list_append > pthread_mutex_lock`, not released "
		"in the whole interval; 100 % of wall time (20.0 s in 2 waits). Next: see "
		"what its owner does: where that waits for a lock, too, it is a deadlock "
		"(gdb -p 5 -batch -ex 'thread apply all bt')");
}

static void who_holds_most_memory_is_told_when_all_were_looked_at(void **state)
{
	for (int has_targets = 0; has_targets < 2; has_targets++) {
		struct resource_row items[] = {
			{.pid = 5, .name = "app", .memory.rss_bytes = 1 << 20},
			{.pid = 6, .name = "cache", .memory.rss_bytes = 2 << 20, .is_quiet = true},
		};
		struct resource_rows rows = {.items = items, .count = 1, .all_count = 2};
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, 0, SECOND, 19 * SECOND);
		profile_info(fake.profile)->has_targets = has_targets;
		rows.profile = fake.profile;
		rows.machine = (struct resource_machine){.known = true,
							 .memory_bytes = 100 << 20,
							 .memory_available_bytes = 4 << 20};
		findings_find(&rows, &findings);
		assert_int_equal(findings.count, 1);
		assert_string_equal(findings.findings[0].text,
				    has_targets ? "only 4.00 MiB of memory available by the "
						  "kernel's estimate (4.0 %)"
						: "only 4.00 MiB of memory available by the "
						  "kernel's estimate (4.0 %); "
						  "largest RSS: cache 6 with "
						  "2.00 MiB");
		fake_profile_done(&fake);
	}
}

/* Two ways to the same function, and functions that call each other. */
static void all_of_a_path_that_is_told_holds_for_its_percentage(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "dd", .run_ns = MS});
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 60, 100 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 40, 100 * MS, 2, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_SPIN, ACCOUNT_QUERY, ACCOUNT_MAIN));
	end_and_expect(&fake, "disk_bound",
		       "dd 5: waits for block I/O in `exec_query > XLogFlush`; 100 % of wall "
		       "time (10.0 s). Next: read ahead or keep several requests in flight, "
		       "or cache more");
	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "dd", .run_ns = MS});
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 60, 100 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 40, 100 * MS, 2, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_APPEND, ACCOUNT_MAIN));
	end_and_expect(&fake, "disk_bound",
		       "dd 5: waits for block I/O in `list_append`; 100 % of wall time (10.0 "
		       "s). Next: read ahead or keep several requests in flight, or cache more");
	/* What is found below another function than the first is a part, and told as one. */
	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "dd", .run_ns = MS});
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 60, 100 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_FSYNC, ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fake, 5, "dd", PKBPF_WAIT_DISK, 40, 100 * MS, 2, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_FSYNC, ACCOUNT_SPIN, ACCOUNT_QUERY, ACCOUNT_MAIN));
	end_and_expect(&fake, "disk_bound",
		       "dd 5: waits for block I/O, 60 % of it in `exec_query > list_append > "
		       "fdatasync`; 100 % of wall time (10.0 s). Next: read ahead or "
		       "keep several requests in flight, or cache more");
}

/* A deadlock: the function in which both threads wait is less deep in one of them than a caller in
 * the other. */
static void what_stacks_of_other_roots_share_comes_before_callers_in_one_of_them(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app"});
	account_waits(
		&fake, 5, "app", PKBPF_WAIT_SLEEP, 1, 10 * SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 1, 10 * SECOND, 2, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND));
	end_and_expect(
		&fake, "lock_bound",
		"app 5: waits for a mutex in `list_append > pthread_mutex_lock`, not released "
		"in the whole interval; 100 % of wall time (20.0 s in 2 waits). Next: see "
		"what its owner does: where that waits for a lock, too, it is a deadlock "
		"(gdb -p 5 -batch -ex 'thread apply all bt')");
}

static void faults_that_had_to_read_are_told_with_the_function_of_these(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_FAULTS, SECOND, 19 * SECOND);
	account_process(
		&fake, &(struct account_process){
			       .pid = 5, .comm = "app", .run_ns = MS, .minor = 4000, .major = 400});
	account_faults(&fake, 5, "app", 4000, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_major_faults(&fake, 5, "app", 300, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_major_faults(&fake, 5, "app", 100, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	end_and_expect(
		&fake, "major_faults",
		"app 5: major page faults: pages of files or of swap are read when "
		"they are touched, 75 % of them in `exec_query`; 40 major faults/s (400 in total). "
		"Next: more memory, or readahead (MADV_WILLNEED, MADV_POPULATE_READ)");
}

/* A ring brings messages and timers as well: without requests that took as long, who waits for it
 * does not wait for a disk. */
static void waiting_at_a_ring_is_disk_wait_as_long_as_requests_took(void **state)
{
	static const struct {
		uint64_t requests, request_ms, disk_ms, short_waits;
		const char *text;
	} cases[] = {
		{80, 50, 0, 0,
		 "ring 5: waits for block I/O in `exec_query`; 40 % of wall time (4.00 "
		 "s); 80 requests, service time p50 49.3 ms, p99 49.3 ms, one request "
		 "at a time (depth 0.4). Next: see whether the device is at its limit "
		 "(iostat -x)"},
		{360, 50, 0, 0,
		 "ring 5: waits for block I/O in `exec_query`; 79 % of wall time (7.89 "
		 "s); 360 requests, service time p50 49.3 ms, p99 49.3 ms. Next: see "
		 "whether the device is at its limit (iostat -x)"},
		/* All these were waited for by themselves. */
		{40, 50, 2000, 0,
		 "ring 5: waits for block I/O in `XLogFlush`; 20 % of wall time (2.00 "
		 "s); 40 requests, service time p50 49.3 ms, p99 49.3 ms, one request "
		 "at a time (depth 0.2). Next: read ahead or keep several requests in "
		 "flight, or cache more"},
		/* Both: what is told of one is told as its part. */
		{140, 50, 2500, 0,
		 "ring 5: waits for block I/O in `exec_query`; 67 % of wall time (7.00 "
		 "s); 140 requests, service time p50 49.3 ms, p99 49.3 ms, one request "
		 "at a time (depth 0.7). Next: see whether the device is at its limit "
		 "(iostat -x)"},
		{10, 50, 0, 0, NULL},
		/* Many at once, each shorter than the waits: those are for something else, also
		   where others are for these. */
		{9000, 2, 0, 0, NULL},
		{9000, 2, 0, 8000, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct finding *finding;
		struct fake_profile fake;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_BLOCKIO,
			      SECOND, 19 * SECOND);
		account_process(&fake,
				&(struct account_process){.pid = 5, .comm = "ring", .run_ns = MS});
		account_waits(&fake, 5, "ring", PKBPF_WAIT_SLEEP, 160, 50 * MS, 1,
			      FAKE_IPS(ACCOUNT_RING), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		if (cases[i].short_waits)
			account_waits(&fake, 5, "ring", PKBPF_WAIT_SLEEP, cases[i].short_waits,
				      MS / 10, 1, FAKE_IPS(ACCOUNT_RING),
				      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		if (cases[i].disk_ms)
			account_waits(&fake, 5, "ring", PKBPF_WAIT_DISK, 1, cases[i].disk_ms * MS,
				      2, FAKE_IPS(ACCOUNT_IO_SLEEP),
				      FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_MAIN));
		account_requests(&fake, 5, "ring", PKBPF_BLOCKIO_READ, cases[i].requests, 4096,
				 cases[i].request_ms * MS - 1000, 1000);
		finding = find(&fake, "disk_bound");
		assert_int_equal(finding != NULL, cases[i].text != NULL);
		if (finding)
			assert_string_equal(finding->text, cases[i].text);
	}
}

/* An idle one that reads now and then. */
static void waiting_longer_than_a_request_takes_is_no_disk_wait(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_BLOCKIO, SECOND,
		      19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "aio", .run_ns = MS});
	account_waits(&fake, 5, "aio", PKBPF_WAIT_SLEEP, 20, 500 * MS, 1,
		      FAKE_IPS(ACCOUNT_GETEVENTS), FAKE_IPS(ACCOUNT_QUERY));
	account_requests(&fake, 5, "aio", PKBPF_BLOCKIO_READ, 20, 4096, MS, 1000);
	assert_null(find(&fake, "disk_bound"));
}

static void waiting_for_a_journal_is_told_as_such(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "db", .run_ns = MS});
	account_waits(&fake, 5, "db", PKBPF_WAIT_UNINTERRUPTIBLE, 100, 60 * MS, 1,
		      FAKE_IPS(ACCOUNT_JOURNAL),
		      FAKE_IPS(ACCOUNT_FSYNC, ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_waits(&fake, 5, "db", PKBPF_WAIT_UNINTERRUPTIBLE, 10, 300 * MS, 2,
		      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	expect(&findings, "fsync_bound",
	       "db 5: waits for the file system's journal in `XLogFlush > fdatasync`; "
	       "60 % of wall time (6.00 s in 100 waits). Next: fewer fsync calls and "
	       "metadata changes, or a journal on a faster device");
	expect(&findings, "kernel_bound",
	       "db 5: waits in D state, not for I/O in `list_append`; 30 % of wall "
	       "time (3.00 s in 10 waits). Next: cat /proc/5/stack shows the wait: a "
	       "lock of the kernel, or a file server");
}

/* Where a switch costs more than it is taken to cost, the kernel's time shows it. */
static void switches_cost_what_the_kernel_computes(void **state)
{
	for (int in_kernel = 0; in_kernel < 2; in_kernel++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU,
			      6 * SECOND, 14 * SECOND);
		account_process(
			&fake, &(struct account_process){.pid = 5,
							 .comm = "pair",
							 .run_ns = 4 * SECOND,
							 .system_permille = in_kernel ? 700 : 300});
		account_waits(&fake, 5, "pair", PKBPF_WAIT_SLEEP, 300000, 20000, 1,
			      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		account_on_cpu(&fake, 5, "pair", 4 * SECOND);
		account_samples(&fake, 5, "pair", 396, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		account_end(&fake);
		findings = findings_of(&fake);
		assert_non_null(finding_of(&findings, "handover"));
		assert_int_equal(finding_of(&findings, "handover")->cost + 0.5,
				 in_kernel ? 40 : 15);
	}
}

/* On a fast device the kernel computes as long as it waits: both would go. */
static void what_a_sync_computes_counts_with_its_waits(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU, 6 * SECOND,
		      14 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "db", .run_ns = 6 * SECOND});
	account_waits(&fake, 5, "db", PKBPF_WAIT_DISK, 40000, 100000, 1, FAKE_IPS(ACCOUNT_JOURNAL),
		      FAKE_IPS(ACCOUNT_FSYNC, ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_on_cpu(&fake, 5, "db", 6 * SECOND);
	account_kernel_samples(&fake, 5, "db", 495, FAKE_IPS(ACCOUNT_JOURNAL),
			       FAKE_IPS(ACCOUNT_FSYNC, ACCOUNT_FLUSH, ACCOUNT_MAIN));
	account_samples(&fake, 5, "db", 99, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_string_equal(findings.findings[0].rule, "fsync_bound");
	expect(&findings, "fsync_bound",
	       "db 5: waits for the file system's journal in `XLogFlush > fdatasync`; 40 % of wall "
	       "time (4.00 s in 40,000 waits), and 5.00 s of CPU time in it. Next: fewer fsync "
	       "calls and metadata changes, or a journal on a faster device");
	assert_non_null(finding_of(&findings, "cpu_bound"));
}

static void a_share_is_of_all_threads_where_it_would_be_more_than_all(void **state)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "db", .run_ns = MS});
	account_waits(&fake, 5, "db", PKBPF_WAIT_UNINTERRUPTIBLE, 1, 30 * SECOND, 1,
		      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_waits(&fake, 5, "db", PKBPF_WAIT_SLEEP, 1, 10 * SECOND, 2, FAKE_IPS(ACCOUNT_EPOLL),
		      FAKE_IPS(ACCOUNT_MAIN));
	end_and_expect(&fake, "kernel_bound",
		       "db 5: waits in D state, not for I/O in `list_append`; 75 % of wall "
		       "time (30.0 s in 1 wait). Next: cat /proc/5/stack shows the wait: a "
		       "lock of the kernel, or a file server");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadlock_is_found_of_a_process_that_did_nothing_else),
		cmocka_unit_test(who_holds_most_memory_is_told_when_all_were_looked_at),
		cmocka_unit_test(faults_that_had_to_read_are_told_with_the_function_of_these),
		cmocka_unit_test(waiting_at_a_ring_is_disk_wait_as_long_as_requests_took),
		cmocka_unit_test(waiting_longer_than_a_request_takes_is_no_disk_wait),
		cmocka_unit_test(waiting_for_a_journal_is_told_as_such),
		cmocka_unit_test(switches_cost_what_the_kernel_computes),
		cmocka_unit_test(what_a_sync_computes_counts_with_its_waits),
		cmocka_unit_test(a_share_is_of_all_threads_where_it_would_be_more_than_all),
		cmocka_unit_test(
			what_stacks_of_other_roots_share_comes_before_callers_in_one_of_them),
		cmocka_unit_test(all_of_a_path_that_is_told_holds_for_its_percentage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
