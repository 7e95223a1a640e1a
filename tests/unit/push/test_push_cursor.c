// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/push_cursor: each window is sent once, in the order of recording, whatever the
 * clock was set to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/slice/slice.h"
#include "push/push_cursor.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define MINUTE (60 * SECOND)
#define BEGIN  (1700002800LL * SECOND)

static struct temp_tree tree;
static struct store *store;
static int64_t recorded; /* minutes since boot */

static void open_store(void)
{
	struct store_options options = {.path = tree.root, .max_bytes = 1ULL << 30};
	struct error error;

	if (store_open(&options, &store, &error) < 0)
		fail_msg("%s", error.text);
}

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	recorded = 0;
	open_store();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* A minute that ends at this time by the wall clock. */
static void record(int64_t minute)
{
	struct profile *slice = slice_new();
	struct profile_info *info;

	assert_non_null(slice);
	info = profile_info(slice);
	info->start_ns = (uint64_t)(1000 * SECOND + recorded++ * MINUTE);
	info->end_ns = info->start_ns + (uint64_t)MINUTE;
	info->start_unix_ns = BEGIN + (minute - 1) * MINUTE;
	assert_int_equal(store_add(store, slice, NULL), 0);
	profile_free(slice);
}

/* Ends of the windows that are sent now, in minutes. */
static const char *sent(struct push_cursor *cursor)
{
	static char text[256];
	struct store_window window;
	size_t used = 0;

	text[0] = '\0';
	while (push_cursor_next(cursor, store, STORE_MINUTE, &window) && used < 200) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld",
					 used ? " " : "",
					 (long long)((window.end_unix_ns - BEGIN) / MINUTE));
		push_cursor_pass(cursor, &window);
	}
	return text;
}

static void windows_are_sent_once_in_their_order(void **state)
{
	struct push_cursor cursor;

	(void)state;
	record(1);
	record(2);
	push_cursor_begin(&cursor, store, STORE_MINUTE, BEGIN);
	assert_string_equal(sent(&cursor), "");
	record(3);
	record(4);
	assert_string_equal(sent(&cursor), "3 4");
	assert_string_equal(sent(&cursor), "");
	/* In another file. */
	store_close(store);
	open_store();
	record(5);
	assert_string_equal(sent(&cursor), "5");
}

static void a_clock_that_is_set_back_hides_no_window(void **state)
{
	struct push_cursor cursor;

	(void)state;
	push_cursor_begin(&cursor, store, STORE_MINUTE, BEGIN);
	record(100);
	assert_string_equal(sent(&cursor), "100");
	record(41);
	record(42);
	assert_string_equal(sent(&cursor), "41 42");
	record(103);
	assert_string_equal(sent(&cursor), "103");
}

static void a_cursor_of_the_future_is_not_believed(void **state)
{
	struct push_cursor cursor = {BEGIN + 100000 * MINUTE, 1, 0};

	(void)state;
	record(1);
	assert_string_equal(sent(&cursor), "1");
}

static void a_cursor_of_an_older_version_goes_on_by_time(void **state)
{
	struct push_cursor cursor;
	char text[40];

	(void)state;
	record(1);
	record(2);
	record(3);
	snprintf(text, sizeof(text), "%lld\n", (long long)(BEGIN + 2 * MINUTE));
	assert_true(push_cursor_parse(text, &cursor));
	assert_string_equal(sent(&cursor), "3");
}

/* All files were deleted, and their numbers begin with 1 again. */
static void a_store_that_is_numbered_anew_is_sent(void **state)
{
	struct push_cursor cursor = {BEGIN + 2 * MINUTE, 50, 64};

	(void)state;
	record(2);
	record(3);
	assert_string_equal(sent(&cursor), "3");
	assert_string_equal(sent(&cursor), "");
}

static void a_cursor_comes_back_as_it_was_written(void **state)
{
	static const char *const bad[] = {"", "x", "-5", "0", "5 6", "\n"};
	const struct push_cursor cursor = {1700002800000000001, UINT64_MAX, 1234567};
	struct push_cursor again = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	push_cursor_write(&cursor, out);
	fclose(out);
	assert_true(push_cursor_parse(text, &again));
	assert_memory_equal(&again, &cursor, sizeof(cursor));
	free(text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(push_cursor_parse(bad[i], &again));
	assert_memory_equal(&again, &cursor, sizeof(cursor));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_are_sent_once_in_their_order),
		TEST(a_clock_that_is_set_back_hides_no_window),
		TEST(a_cursor_of_the_future_is_not_believed),
		TEST(a_cursor_of_an_older_version_goes_on_by_time),
		TEST(a_store_that_is_numbered_anew_is_sent),
		cmocka_unit_test(a_cursor_comes_back_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
