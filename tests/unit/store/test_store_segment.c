// SPDX-License-Identifier: BSD-2-Clause
/* Tests for store/store_segment: segments that are sealed, deleted, and found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/store_segment.h"
#include "temp_tree.h"

static struct temp_tree tree;
static struct store_folder folder;
static int parent_fd;

static void open_folder(bool may_make)
{
	struct error error;

	if (store_folder_open(&folder, STORE_SLICE, parent_fd, "slices", may_make, &error) < 0)
		fail_msg("%s", error.text);
}

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	parent_fd = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	open_folder(true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_folder_close(&folder);
	close(parent_fd);
	temp_tree_done(&tree);
	return 0;
}

/* A window of one second. */
static void add(int64_t second)
{
	const struct recording_span span = {
		.begin_ns = (uint64_t)second * NS_PER_SECOND,
		.end_ns = (uint64_t)(second + 1) * NS_PER_SECOND,
		.begin_unix_ns = second * (int64_t)NS_PER_SECOND,
	};
	struct recording_sections sections = {0};

	recording_sections_add(&sections, 1, "contents", 8);
	assert_int_equal(store_folder_add(&folder, &span, &sections), 0);
	recording_sections_done(&sections);
}

static void seal(void)
{
	assert_int_equal(store_folder_seal(&folder, 0, 0, clock_now_ns()), 0);
}

static void an_empty_folder_has_nothing_to_delete(void **state)
{
	(void)state;
	assert_false(store_folder_drop(&folder));
	assert_int_equal(folder.bytes, 0);
}

static void the_segment_that_is_written_stays(void **state)
{
	(void)state;
	add(100);
	assert_false(store_folder_drop(&folder));
	store_folder_drop_before(&folder, INT64_MAX);
	assert_int_equal(folder.segments.count, 1);
	seal();
	assert_true(store_folder_drop(&folder));
	assert_false(store_folder_drop(&folder));
	assert_int_equal(folder.segments.count, 0);
	assert_int_equal(folder.bytes, 0);
}

static void the_oldest_segment_is_deleted_first(void **state)
{
	uint64_t first, bytes;

	(void)state;
	for (int64_t second = 100; second < 103; second++) {
		add(second);
		seal();
	}
	first = folder.segments.items[0].sequence;
	bytes = folder.segments.items[0].bytes;
	assert_int_equal(folder.bytes, 3 * bytes);
	assert_true(store_folder_drop(&folder));
	assert_int_equal(folder.segments.count, 2);
	assert_int_equal(folder.bytes, 2 * bytes);
	assert_int_not_equal(folder.segments.items[0].sequence, first);
	assert_true(store_folder_open_segment(&folder, first) < 0);
	/* Those whose windows end before 102 s. */
	store_folder_drop_before(&folder, 102 * (int64_t)NS_PER_SECOND + 1);
	assert_int_equal(folder.segments.count, 1);
	assert_int_equal(folder.segments.items[0].windows.items[0].begin_unix_ns,
			 102 * (int64_t)NS_PER_SECOND);
}

static void segments_are_found_again(void **state)
{
	uint64_t bytes, sequence;

	(void)state;
	add(100);
	add(101);
	seal();
	bytes = folder.bytes;
	sequence = folder.segments.items[0].sequence;
	store_folder_close(&folder);
	open_folder(false);
	assert_int_equal(folder.bytes, bytes);
	assert_int_equal(folder.unreadable, 0);
	assert_int_equal(folder.segments.count, 1);
	assert_int_equal(folder.segments.items[0].sequence, sequence);
	assert_int_equal(folder.segments.items[0].windows.count, 2);
	assert_int_equal(folder.segments.items[0].windows.items[1].end_unix_ns,
			 102 * (int64_t)NS_PER_SECOND);
	/* Its number is not given again. */
	assert_true(store_folder_drop(&folder));
	add(103);
	assert_true(folder.segments.items[0].sequence > sequence);
}

static void a_segment_is_sealed_when_it_is_large_or_old_enough(void **state)
{
	uint64_t now_ns;

	(void)state;
	add(100);
	now_ns = folder.opened_ns;
	assert_int_equal(store_folder_seal(&folder, 1U << 30, 1000, now_ns + 999), 0);
	assert_non_null(folder.out);
	assert_int_equal(store_folder_seal(&folder, 1U << 30, 1000, now_ns + 1000), 0);
	assert_null(folder.out);
	add(101);
	assert_int_equal(store_folder_seal(&folder, 1, UINT64_MAX, folder.opened_ns), 0);
	assert_null(folder.out);
	assert_int_equal(folder.segments.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_folder_has_nothing_to_delete, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_segment_that_is_written_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_segment_is_deleted_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(segments_are_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_segment_is_sealed_when_it_is_large_or_old_enough,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
