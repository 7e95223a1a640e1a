// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is said of those that wait for a CPU: whether there are too few, or they may not use
 * more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "account_machine.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL

static void too_few_cpus_are_found_only_when_they_are_busy(void **state)
{
	for (int is_busy = 0; is_busy < 2; is_busy++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, is_busy ? 19500 * MS : 10 * SECOND,
			      is_busy ? 500 * MS : 10 * SECOND);
		account_process(&fake, &(struct account_process){
					       .pid = 5, .comm = "app", .run_ns = 4 * SECOND});
		account_on_cpu(&fake, 5, "app", 4 * SECOND);
		account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 100, 20 * MS, 1, FAKE_IPS(),
			      FAKE_IPS(ACCOUNT_MAIN));
		account_end(&fake);
		findings = findings_of(&fake);
		assert_int_equal(findings.count, 2);
		assert_non_null(finding_of(&findings, "cpu_bound"));
		if (is_busy)
			expect(&findings, "cpu_starved",
			       "CPU-starved: more threads are runnable than the CPUs can run (98 % "
			       "busy), most of it used by app 5 (100 %); run-queue wait p99 20.0 "
			       "ms, "
			       "2.00 s in total (33 % of runnable time); longest waits: app 5");
		else
			expect(&findings, "queue_bound",
			       "app 5: waits for a CPU that others use; 33 % of runnable time "
			       "(2.00 "
			       "s), p99 20.0 ms; CPUs of the machine 50 % busy. Next: CPUs are "
			       "idle part of the time: see whether it may use all (taskset -pc 5), "
			       "or wakes many threads at once");
	}
}

/* Behind threads of its own, and so much behind another's. */
static struct findings queued(uint64_t own_ns, uint64_t other_ns, uint64_t samples)
{
	struct relation relation = {.kind = PKBPF_RELATION_RIVAL,
				    .pid = 5,
				    .other_pid = 5,
				    .other_comm = "worker",
				    .stack = RELATION_NO_STACK,
				    .other_stack = RELATION_NO_STACK,
				    .count = samples,
				    .value = own_ns};
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 10 * SECOND, 10 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 4 * SECOND});
	account_on_cpu(&fake, 5, "app", 4 * SECOND);
	account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 100, 20 * MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &relation), 0);
	relation.other_pid = 6;
	relation.value = other_ns;
	strcpy(relation.other_comm, "rival");
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &relation), 0);
	account_end(&fake);
	return findings_of(&fake);
}

static void threads_that_wait_for_each_other_are_not_others(void **state)
{
	struct findings findings = queued(SECOND, 0, 20);

	expect(&findings, "queue_bound",
	       "app 5: waits for a CPU that its own threads use, meanwhile the CPU ran worker (its "
	       "own threads) (100 %); 33 % of runnable time (2.00 s), p99 20.0 ms; CPUs of the "
	       "machine 50 % busy. Next: run fewer threads, or see how many CPUs it may use "
	       "(taskset -pc 5)");
	findings = queued(SECOND, SECOND, 20);
	assert_string_equal(finding_of(&findings, "queue_bound")->cause,
			    "waits for a CPU that its own threads and others use");
	findings = queued(SECOND / 10, SECOND, 20);
	assert_string_equal(finding_of(&findings, "queue_bound")->cause,
			    "waits for a CPU that others use");
	assert_non_null(strstr(finding_of(&findings, "queue_bound")->by, "rival 6 (91 %)"));
	/* Two samples name nobody. */
	findings = queued(SECOND / 10, SECOND, 1);
	assert_string_equal(finding_of(&findings, "queue_bound")->by, "");
}

static void a_limit_of_cpu_time_is_found_by_how_often_it_holds_somebody_back(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, 5 * SECOND, 15 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 2 * SECOND});
	/* Idle, seldom held back, for a moment. */
	account_cpu_limit(&fake, 1, "/", 100, 0, 0);
	account_cpu_limit(&fake, 2, "/seldom", 100, 100, 4);
	account_cpu_limit(&fake, 3, "/moment", 100, 1, 0);
	account_cpu_limit(
		&fake, 4,
		"/system.slice/"
		"docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
		50, 80, 60);
	account_cpu_limit(&fake, 5, "/system.slice/app.service", 120, 90, 30);
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 1);
	expect(&findings, "cpu_limit",
	       "docker:0123456789ab: is limited to 0.50 CPUs and was throttled in 75 "
	       "% of its active periods of 100 ms; the CPU limit, not the machine, "
	       "makes its threads wait for a CPU: throttled for 3.00 s; 1 other "
	       "cgroup less often. Next: raise cpu.max of docker:0123456789ab (--cpus), or use "
	       "less CPU time");
	assert_int_equal((int)findings.findings[0].severity, 30);
}

static void targets_that_may_not_use_more_do_not_tell_of_the_machine(void **state)
{
	for (int has_targets = 0; has_targets < 2; has_targets++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 19500 * MS, 500 * MS);
		profile_info(fake.profile)->has_targets = has_targets;
		account_process(&fake, &(struct account_process){
					       .pid = 5, .comm = "app", .run_ns = 4 * SECOND});
		account_on_cpu(&fake, 5, "app", 4 * SECOND);
		account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 100, 60 * MS, 1, FAKE_IPS(),
			      FAKE_IPS(ACCOUNT_MAIN));
		account_cpu_limit(&fake, 4, "/limited", 40, 100, 90);
		account_end(&fake);
		findings = findings_of(&fake);
		assert_non_null(finding_of(&findings, "cpu_limit"));
		assert_null(finding_of(&findings, "queue_bound"));
		assert_int_equal(!finding_of(&findings, "cpu_starved"), has_targets);
	}
}

static void a_short_wait_for_a_cpu_is_no_want_of_cpus(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 19500 * MS, 500 * MS);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 10 * MS});
	account_on_cpu(&fake, 5, "app", 10 * MS);
	account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 5, MS, 1, FAKE_IPS(),
		      FAKE_IPS(ACCOUNT_MAIN));
	account_end(&fake);
	findings = findings_of(&fake);
	assert_int_equal(findings.count, 0);
}

/* A server of short requests on busy CPUs: each wait is short, and most of the time goes by in
 * them. */
static void many_short_waits_for_busy_cpus_want_more_of_them(void **state)
{
	static const struct {
		uint64_t busy_ns, wait_ns;
		bool is_found;
	} trials[] = {{18500 * MS, 100000, true},
		      {18500 * MS, 30000, false},
		      {15000 * MS, 100000, false}};

	for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
		struct fake_profile fake;
		struct findings findings;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, trials[i].busy_ns,
			      20 * SECOND - trials[i].busy_ns);
		account_process(&fake, &(struct account_process){
					       .pid = 5, .comm = "app", .run_ns = 4 * SECOND});
		account_on_cpu(&fake, 5, "app", 4 * SECOND);
		account_waits(&fake, 5, "app", PKBPF_WAIT_RUNQUEUE, 80000, trials[i].wait_ns, 1,
			      FAKE_IPS(), FAKE_IPS(ACCOUNT_MAIN));
		account_end(&fake);
		findings = findings_of(&fake);
		assert_int_equal(!!finding_of(&findings, "cpu_starved"), trials[i].is_found);
		assert_null(finding_of(&findings, "queue_bound"));
	}
}

static void what_is_outside_of_all_regions_is_no_finding_where_there_are_regions(void **state)
{
	for (int has_regions = 0; has_regions < 2; has_regions++) {
		struct fake_profile fake;
		struct resource_rows rows;
		struct findings findings;
		bool is_told = false;

		account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 10 * SECOND, 10 * SECOND);
		for (uint32_t pid = 5; pid < 6 + (uint32_t)has_regions; pid++) {
			const char *name = pid == 5 ? ROW_NO_REGION : "step";

			account_process(&fake, &(struct account_process){.pid = pid,
									 .comm = name,
									 .run_ns = 4 * SECOND});
			account_on_cpu(&fake, pid, name, 4 * SECOND);
		}
		account_end(&fake);
		assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
		rows.by = ROWS_BY_REGION;
		findings_find(&rows, &findings);
		assert_int_not_equal(findings.count, 0);
		for (size_t i = 0; i < findings.count; i++)
			is_told |= strstr(findings.findings[i].text, ROW_NO_REGION) != NULL;
		assert_int_equal(is_told, !has_regions);
		resource_rows_done(&rows);
		fake_profile_done(&fake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_outside_of_all_regions_is_no_finding_where_there_are_regions),
		cmocka_unit_test(too_few_cpus_are_found_only_when_they_are_busy),
		cmocka_unit_test(threads_that_wait_for_each_other_are_not_others),
		cmocka_unit_test(a_limit_of_cpu_time_is_found_by_how_often_it_holds_somebody_back),
		cmocka_unit_test(targets_that_may_not_use_more_do_not_tell_of_the_machine),
		cmocka_unit_test(a_short_wait_for_a_cpu_is_no_want_of_cpus),
		cmocka_unit_test(many_short_waits_for_busy_cpus_want_more_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
