// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/named_line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/named_line.h"

static void a_number_is_found_behind_its_name(void **state)
{
	const char *meminfo = "MemTotal:       24105000 kB\nMemFree:        7 kB\n";

	assert_int_equal(named_number(meminfo, "MemTotal:"), 24105000);
	assert_int_equal(named_number(meminfo, "MemFree:"), 7);
	assert_int_equal(
		named_number("nr_periods 3\nnr_throttled 18446744073709551615", "nr_throttled "),
		UINT64_MAX);
}

static void a_name_counts_at_the_beginning_of_a_line_only(void **state)
{
	assert_int_equal(named_number("a b: 5\n", "b:"), 0);
	assert_int_equal(named_number("ab: 5\nb: 6", "b:"), 6);
	assert_int_equal(named_number("nr_periods_all 5\nnr_periods 6\n", "nr_periods "), 6);
}

static void what_is_not_there_is_none(void **state)
{
	assert_null(named_line(NULL, "a:"));
	assert_null(named_line("", "a:"));
	assert_null(named_line("\n\nb: 1\n", "a:"));
	assert_int_equal(named_number("a:", "a:"), 0);
	assert_int_equal(named_number("a: x\n", "a:"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_found_behind_its_name),
		cmocka_unit_test(a_name_counts_at_the_beginning_of_a_line_only),
		cmocka_unit_test(what_is_not_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
