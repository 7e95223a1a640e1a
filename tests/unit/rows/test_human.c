// SPDX-License-Identifier: BSD-2-Clause
// Tests numbers as people read them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "rows/human.h"

struct number_row {
	uint64_t value;
	const char *text;
};

static void check(char *(*format)(char *, uint64_t), const struct number_row *rows, size_t count)
{
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < count; i++)
		assert_string_equal(format(buffer, rows[i].value), rows[i].text);
}

static void counts_have_separators(void **state)
{
	static const struct number_row rows[] = {
		{0, "0"},
		{7, "7"},
		{999, "999"},
		{1000, "1,000"},
		{12345, "12,345"},
		{1234567, "1,234,567"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};

	check(human_count, rows, ARRAY_SIZE(rows));
}

static void times_have_three_digits_and_a_unit(void **state)
{
	static const struct number_row rows[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1234, "1.23 us"},
		{12345, "12.3 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{9999000, "10.0 ms"},
		{123456789, "123 ms"},
		{999500000, "1.00 s"},
		{12340000000, "12.3 s"},
		{99990000000, "100 s"},
		{100000000000, "1 min 40 s"},
		{303000000000, "5 min 03 s"},
		{7500000000000, "2 h 05 min"},
		{UINT64_MAX, "5124095 h 34 min"},
	};

	check(human_time, rows, ARRAY_SIZE(rows));
}

static void sizes_are_powers_of_1024(void **state)
{
	static const struct number_row rows[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.00 KiB"},
		{1536, "1.50 KiB"},
		{1023 * 1024, "1.00 MiB"},
		{24536678, "23.4 MiB"},
		{UINT64_MAX, "16.0 EiB"},
	};

	check(human_bytes, rows, ARRAY_SIZE(rows));
}

static void a_share_is_never_rounded_to_nothing_or_all(void **state)
{
	char buffer[HUMAN_SIZE];

	assert_string_equal(human_share(buffer, 0, 10), "0.0%");
	assert_string_equal(human_share(buffer, 1, 100000), "<0.1%");
	assert_string_equal(human_share(buffer, 1, 3), "33.3%");
	assert_string_equal(human_share(buffer, 99999, 100000), ">99.9%");
	assert_string_equal(human_share(buffer, 5, 5), "100.0%");
	assert_string_equal(human_share(buffer, 15, 10), "150.0%");
	assert_string_equal(human_share(buffer, 0, 0), "-");
}

static void one_thing_is_not_many(void **state)
{
	static const struct {
		uint64_t count;
		const char *plural, *text;
	} rows[] = {
		{0, "waits", "0 waits"},     {1, "waits", "1 wait"},
		{2, "waits", "2 waits"},     {1, "processes", "1 process"},
		{1, "accesses", "1 access"}, {1234, "processes", "1,234 processes"},
	};
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(human_counted(buffer, rows[i].count, rows[i].plural),
				    rows[i].text);
}

static void a_weight_is_shown_in_the_unit_of_its_kind(void **state)
{
	char buffer[HUMAN_SIZE];

	assert_string_equal(human_weight(buffer, PKBPF_PROFILE_CPU, 12345), "12,345");
	assert_string_equal(human_weight(buffer, PKBPF_PROFILE_OFFCPU, 12345), "12.3 us");
}

static void numbers_that_do_not_fit_become_the_nearest(void **state)
{
	assert_true(human_whole(1e30) == UINT64_MAX);
	assert_true(human_whole(-5) == 0);
	assert_true(human_whole(12.9) == 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_do_not_fit_become_the_nearest),
		cmocka_unit_test(counts_have_separators),
		cmocka_unit_test(one_thing_is_not_many),
		cmocka_unit_test(times_have_three_digits_and_a_unit),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(a_share_is_never_rounded_to_nothing_or_all),
		cmocka_unit_test(a_weight_is_shown_in_the_unit_of_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
