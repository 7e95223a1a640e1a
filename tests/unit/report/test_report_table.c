// SPDX-License-Identifier: BSD-2-Clause
// Tests that reports are found by name or by the end of a path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/report.h"

static void every_report_is_found_by_its_own_name_and_suffix(void **state)
{
	const struct report_ops *report;
	size_t count = 0;
	char path[64];

	for (; (report = report_at(count)); count++) {
		assert_ptr_equal(report_by_name(report->name), report);
		snprintf(path, sizeof(path), "x%s", report->suffix);
		assert_ptr_equal(report_by_suffix(path), report);
		assert_non_null(report->summary);
		assert_non_null(report->write);
	}
	assert_true(count > 0);
}

static void other_names_are_unknown(void **state)
{
	assert_null(report_by_name("txt"));
	assert_null(report_by_suffix("x.folded"));
	assert_null(report_by_suffix(".txt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_report_is_found_by_its_own_name_and_suffix),
		cmocka_unit_test(other_names_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
