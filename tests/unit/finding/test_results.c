// SPDX-License-Identifier: BSD-2-Clause
/* Tests that outputs and conditions share one join and one judgement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "finding/results.h"

static void rows_and_findings_are_made_once(void **state)
{
	const struct resource_rows *rows, *rows_again;
	const struct findings *findings, *findings_again;
	struct fake_profile fake;
	struct results results;
	struct finding *first;

	account_scenario_init(&fake);
	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	assert_int_equal(results_findings(&results, &findings), 0);
	assert_true(findings->count > 0);
	/* Anew, they would be as before. */
	first = &results.findings.findings[0];
	first->severity = 1;
	results.rows.items[0].pid = 4711;
	assert_int_equal(results_findings(&results, &findings_again), 0);
	assert_int_equal(results_rows(&results, &rows), 0);
	assert_int_equal(results_rows(&results, &rows_again), 0);
	assert_ptr_equal(findings, findings_again);
	assert_ptr_equal(rows, rows_again);
	assert_true(findings->findings[0].severity == 1);
	assert_int_equal(rows->items[0].pid, 4711);
	results_done(&results);
	fake_profile_done(&fake);
}

static void rows_are_grouped_as_asked_for(void **state)
{
	for (unsigned int by = 0; by < ROWS_BY_COUNT; by++) {
		const struct resource_rows *rows;
		struct fake_profile fake;
		struct results results;

		account_scenario_init(&fake);
		results_init(&results, fake.profile, by);
		assert_int_equal(results_rows(&results, &rows), 0);
		assert_int_equal(rows->by, by);
		assert_ptr_equal(rows->profile, fake.profile);
		results_done(&results);
		fake_profile_done(&fake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_findings_are_made_once),
		cmocka_unit_test(rows_are_grouped_as_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
