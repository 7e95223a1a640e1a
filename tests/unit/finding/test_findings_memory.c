// SPDX-License-Identifier: BSD-2-Clause
/* Tests for finding_memory: evidence of growth in groups of processes. */
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
#define MIB    (1ULL << 20)
#define POINTS 33

/* Rises and falls by 8 MiB, and its minima rise by 24 MiB. */
static void fluctuate(struct fake_profile *fake, uint32_t pid)
{
	for (uint64_t i = 0; i < POINTS; i++) {
		struct memory_point point = {
			.pid = pid,
			.time_ns = SECOND + i * 300 * MS,
			.anonymous = (100 + i * 24 / POINTS + i % 2 * 8) * MIB,
		};

		assert_int_equal(memory_list_add(profile_memory(fake->profile), &point), 0);
	}
}

static void add_process(struct fake_profile *fake, uint32_t pid, uint64_t start_mib, uint64_t mib)
{
	account_process(fake, &(struct account_process){.pid = pid,
							.comm = "app",
							.run_ns = MS,
							.start_rss_bytes = start_mib * MIB,
							.rss_bytes = mib * MIB});
}

/* Of a process that grows to `mib`, if any, and one of its name that fluctuates. */
static void expect_evidence(uint64_t mib, const char *evidence)
{
	struct fake_profile fake;
	struct findings findings;
	const struct finding *finding;

	account_begin(&fake, 0, SECOND, 19 * SECOND);
	if (mib)
		add_process(&fake, 5, 40, mib);
	add_process(&fake, 6, 124, 124);
	account_end(&fake);
	fluctuate(&fake, 6);
	findings = findings_of(&fake);
	finding = finding_of(&findings, "memory_grows");
	assert_non_null(finding);
	if (!strstr(finding->text, evidence))
		fail_msg("'%s' is not in '%s'", evidence, finding->text);
}

static void the_larger_part_of_growth_is_the_evidence(void **state)
{
	(void)state;
	expect_evidence(0, "; RSS 124 MiB at the end; it fluctuates, but its minima rise.");
	expect_evidence(45, "; RSS 169 MiB at the end; it fluctuates, but its minima rise.");
	expect_evidence(140, "; RSS 264 MiB, its peak.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_larger_part_of_growth_is_the_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
