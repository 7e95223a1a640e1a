// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/window_memory: a comparison that moves on reads new windows alone, and says the
 * same as one that reads all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "history/range_diff.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
#define BEGIN  (1700002800LL * SECOND)
/* Slices of a side. */
#define SIDE 6
#define KIND PKBPF_PROFILE_CPU

static struct temp_tree tree;
static struct store *store;
static struct window_memory *memory;
static int64_t now; /* slices */

static int setup(void **state)
{
	(void)state;
	store = temp_store_open(&tree);
	memory = window_memory_new(1U << KIND, 1U << DIFF_SELF | 1U << DIFF_ALL_STACKS);
	assert_non_null(memory);
	now = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	window_memory_free(memory);
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* Slices with more samples from one to the next. */
static void run(int64_t slices)
{
	for (int64_t end = now + slices; now < end; now++) {
		struct fake_profile machine;
		struct profile_info *info;

		account_begin(&machine, 1U << KIND, 15 * (uint64_t)SECOND, 0);
		account_process(&machine,
				&(struct account_process){.pid = 812,
							  .comm = "server",
							  .run_ns = 15 * (uint64_t)SECOND});
		account_samples(&machine, 812, "server", (uint64_t)(100 + 10 * now),
				FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
		account_samples(&machine, 812, "server", 50, FAKE_IPS(ACCOUNT_SPIN, ACCOUNT_MAIN));
		account_end(&machine);
		info = profile_info(machine.profile);
		info->start_unix_ns = BEGIN + now * SLICE;
		info->start_ns = (uint64_t)(1000 * SECOND + now * SLICE);
		info->end_ns = info->start_ns + SLICE;
		assert_int_equal(store_add(store, machine.profile, NULL), 0);
		fake_profile_done(&machine);
	}
}

/* The last slices against those before; both ways say the same. */
static void compare(void)
{
	int64_t to = BEGIN + now * SLICE, between = to - SIDE * SLICE;
	struct history_range ranges[DIFF_SIDES] = {{between - SIDE * SLICE, between},
						   {between, to}};
	struct range_diff moved, whole;
	struct error error;
	size_t functions = 0;

	if (range_diff_follow(store, ranges, memory, &moved, &error) < 0 ||
	    range_diff_read(store, ranges, NULL, &whole, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(moved.titles[DIFF_NEW], whole.titles[DIFF_NEW]);
	array_foreach(&moved.comparison.rows, row) {
		assert_int_equal(row->key.kind, KIND);
		array_foreach(&whole.comparison.rows, other) {
			if (other->key.level != row->key.level || other->key.kind != KIND ||
			    strcmp(diff_row_name(&whole.comparison, other),
				   diff_row_name(&moved.comparison, row)) != 0)
				continue;
			functions += row->key.level == DIFF_SELF;
			for (int side = 0; side < DIFF_SIDES; side++)
				assert_true(row->sides[side].value == other->sides[side].value);
			assert_true(row->probability == other->probability);
		}
	}
	assert_int_equal(functions, 2);
	range_diff_done(&moved);
	range_diff_done(&whole);
}

static void windows_are_read_once(void **state)
{
	(void)state;
	run(2 * SIDE);
	compare();
	assert_int_equal(window_memory_reads(memory), 2 * SIDE);
	for (int i = 1; i <= 2 * SIDE; i++) {
		run(1);
		compare();
		/* The one that has come; the one between the sides is known. */
		assert_int_equal(window_memory_reads(memory), 2 * SIDE + i);
	}
	run(1);
	run(1);
	compare();
	assert_int_equal(window_memory_reads(memory), 4 * SIDE + 2);
}

static void what_has_left_is_forgotten(void **state)
{
	struct history_range ranges[DIFF_SIDES] = {
		{BEGIN, BEGIN + SIDE * SLICE}, {BEGIN + SIDE * SLICE, BEGIN + 2 * SIDE * SLICE}};
	struct range_diff diff;
	struct error error;

	(void)state;
	run(6 * SIDE);
	compare();
	compare();
	assert_int_equal(window_memory_reads(memory), 2 * SIDE);
	if (range_diff_follow(store, ranges, memory, &diff, &error) < 0)
		fail_msg("%s", error.text);
	range_diff_done(&diff);
	assert_int_equal(window_memory_reads(memory), 4 * SIDE);
	/* Those of the comparison before are kept until the next one, in which they are not. */
	if (range_diff_follow(store, ranges, memory, &diff, &error) < 0)
		fail_msg("%s", error.text);
	range_diff_done(&diff);
	compare();
	assert_int_equal(window_memory_reads(memory), 6 * SIDE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_are_read_once),
		TEST(what_has_left_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
