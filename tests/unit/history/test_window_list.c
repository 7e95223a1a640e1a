// SPDX-License-Identifier: BSD-2-Clause
/* Tests which time is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history/window_list.h"

#define SECOND 1000000000LL
#define BEGIN  (1700000000LL * SECOND)

static struct store_window window(int64_t unix_s, int64_t monotonic_s)
{
	return (struct store_window){.begin_unix_ns = BEGIN + unix_s * SECOND,
				     .end_unix_ns = BEGIN + (unix_s + 10) * SECOND,
				     .begin_ns = (uint64_t)(monotonic_s * SECOND)};
}

static struct history_gaps gaps_of(struct store_window *windows, size_t count)
{
	struct store_windows list = {.list = {.items = windows, .count = count}};
	struct history_gaps gaps;

	assert_int_equal(history_gaps_find(&list, &gaps), 0);
	return gaps;
}

static void windows_beside_each_other_have_no_gap(void **state)
{
	struct store_window windows[] = {window(0, 100), window(10, 110), window(20, 120)};
	struct history_gaps gaps;

	windows[1].begin_unix_ns += SECOND;
	gaps = gaps_of(windows, 3);
	assert_int_equal(gaps.list.count, 0);
}

static void a_service_that_was_down_leaves_a_gap(void **state)
{
	struct store_window windows[] = {window(0, 100), window(60, 160), window(300, 5)};
	struct history_gaps gaps = gaps_of(windows, 3);

	assert_int_equal(gaps.list.count, 2);
	assert_int_equal(gaps.list.items[0].range.from_unix_ns, BEGIN + 10 * SECOND);
	assert_int_equal(gaps.list.items[0].range.to_unix_ns, BEGIN + 60 * SECOND);
	assert_false(gaps.list.items[0].is_clock);
	assert_false(gaps.list.items[1].is_clock);
	array_free(&gaps.list);
}

static void a_clock_that_was_set_forward_is_told_apart(void **state)
{
	struct store_window windows[] = {window(0, 100), window(3610, 110)};
	struct history_gaps gaps = gaps_of(windows, 2);

	assert_int_equal(gaps.list.count, 1);
	assert_true(gaps.list.items[0].is_clock);
	array_free(&gaps.list);
}

static void windows_that_overlap_hide_no_gap(void **state)
{
	struct store_window windows[] = {window(0, 100), window(5, 0), window(40, 35)};
	struct history_gaps gaps;

	windows[0].end_unix_ns = BEGIN + 30 * SECOND;
	gaps = gaps_of(windows, 3);
	assert_int_equal(gaps.list.count, 1);
	assert_int_equal(gaps.list.items[0].range.from_unix_ns, BEGIN + 30 * SECOND);
	array_free(&gaps.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_beside_each_other_have_no_gap),
		cmocka_unit_test(a_service_that_was_down_leaves_a_gap),
		cmocka_unit_test(a_clock_that_was_set_forward_is_told_apart),
		cmocka_unit_test(windows_that_overlap_hide_no_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
