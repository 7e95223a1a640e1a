// SPDX-License-Identifier: BSD-2-Clause
/* Tests that of two bottlenecks that with more time is named first, whatever the rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "finding_fixture.h"

#define MS	1000000ULL
#define SECOND	1000000000ULL
#define MORE_NS (9 * SECOND)
#define LESS_NS (6 * SECOND)

/* What takes a process that time. */
static const struct bottleneck {
	const char *rule;
	int state; /* enum pkbpf_wait_state; -1: it runs */
	uint64_t each_ns, kernel, user;
} bottlenecks[] = {
	{"cpu_bound", -1, 0, 0, 0},
	{"queue_bound", PKBPF_WAIT_RUNQUEUE, 20 * MS, ACCOUNT_EPOLL, ACCOUNT_QUERY},
	{"lock_bound", PKBPF_WAIT_SLEEP, 10 * MS, ACCOUNT_FUTEX, ACCOUNT_LOCK},
	{"fsync_bound", PKBPF_WAIT_SLEEP, 10 * MS, ACCOUNT_JOURNAL, ACCOUNT_FLUSH},
	{"disk_bound", PKBPF_WAIT_DISK, 10 * MS, ACCOUNT_IO_SLEEP, ACCOUNT_QUERY},
	{"swap_bound", PKBPF_WAIT_DISK, 10 * MS, ACCOUNT_SWAP, ACCOUNT_QUERY},
	{"memory_limit", PKBPF_WAIT_SLEEP, 10 * MS, ACCOUNT_RECLAIM, ACCOUNT_QUERY},
	{"kernel_bound", PKBPF_WAIT_UNINTERRUPTIBLE, 10 * MS, ACCOUNT_EPOLL, ACCOUNT_QUERY},
	{"sleep_bound", PKBPF_WAIT_SLEEP, MS / 2, ACCOUNT_NANOSLEEP, ACCOUNT_QUERY},
	{"stopped", PKBPF_WAIT_STOPPED, 100 * MS, ACCOUNT_EPOLL, ACCOUNT_QUERY},
};

static void plant(struct fake_profile *fake, uint32_t pid, const char *comm,
		  const struct bottleneck *bottleneck, uint64_t time_ns)
{
	bool runs = bottleneck->state < 0;
	uint64_t run_ns = runs ? time_ns : SECOND / 2;

	account_process(fake, &(struct account_process){
				      .pid = pid, .comm = comm, .run_ns = run_ns, .voluntary = 10});
	account_on_cpu(fake, pid, comm, run_ns);
	if (!runs)
		account_waits(fake, pid, comm, (unsigned int)bottleneck->state,
			      time_ns / bottleneck->each_ns, bottleneck->each_ns, pid,
			      FAKE_IPS(bottleneck->kernel),
			      FAKE_IPS(bottleneck->user, ACCOUNT_MAIN));
}

static void try_pair(const struct bottleneck *more, const struct bottleneck *less, bool is_reversed)
{
	struct fake_profile fake;
	struct findings findings;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU, 10 * SECOND,
		      10 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	if (is_reversed)
		plant(&fake, 6, "less", less, LESS_NS);
	plant(&fake, 5, "more", more, MORE_NS);
	if (!is_reversed)
		plant(&fake, 6, "less", less, LESS_NS);
	account_end(&fake);
	findings = findings_of(&fake);
	if (findings.count < 2 || strcmp(findings.findings[0].rule, more->rule) != 0 ||
	    findings.findings[0].pid != 5 || findings.findings[1].pid != 6)
		fail_msg("%s with more time than %s: first is \"%s\"", more->rule, less->rule,
			 findings.count ? findings.findings[0].text : "");
	assert_string_equal(findings.findings[1].rule, less->rule);
}

static void of_each_pair_of_rules_that_with_more_time_comes_first(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(bottlenecks); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(bottlenecks); j++) {
			try_pair(&bottlenecks[i], &bottlenecks[j], false);
			try_pair(&bottlenecks[i], &bottlenecks[j], true);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_pair_of_rules_that_with_more_time_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
