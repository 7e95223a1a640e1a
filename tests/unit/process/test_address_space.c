// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mapping_list and process/address_space: cutting, agreement with a plain array,
 * sharing between copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/address_space.h"

enum { FILE_A = 1, FILE_B };

static int add(struct address_space *space, uint64_t start, uint64_t end, uint64_t offset,
	       uint32_t file)
{
	return address_space_add(space, &(struct mapping){start, end, offset, file, 5});
}

struct expected {
	uint64_t start, end, offset;
	uint32_t file;
};

static void assert_mappings(const struct address_space *space, const struct expected *expected,
			    size_t count)
{
	const struct mapping_list *mappings = address_space_mappings(space);

	assert_int_equal(mappings->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(mappings->items[i].start, expected[i].start);
		assert_int_equal(mappings->items[i].end, expected[i].end);
		assert_int_equal(mappings->items[i].file_offset, expected[i].offset);
		assert_int_equal(mappings->items[i].file, expected[i].file);
	}
}

static void finds_nothing_in_an_empty_space(void **state)
{
	struct address_space *space = address_space_new();

	assert_null(address_space_find(space, 0));
	assert_null(address_space_find(space, UINT64_MAX));
	assert_int_equal(address_space_remove(space, 0, UINT64_MAX), 0);
	assert_mappings(space, NULL, 0);
	address_space_free(space);
}

/* As a program does that moves its text to huge pages, seen while it does, or later in procfs,
 * which lists upwards. */
static void gives_moved_text_back_to_its_file(void **state)
{
	static const struct expected expected[] = {{0x1fe000, 0x200000, 0x100, FILE_A},
						   {0x200000, 0x400000, 0x2100, FILE_A},
						   {0x400000, 0x602000, 0x202100, FILE_A}};
	struct address_space *streamed = address_space_new(), *listed = address_space_new();

	assert_int_equal(add(streamed, 0x1fe000, 0x602000, 0x100, FILE_A), 0);
	assert_int_equal(add(streamed, 0x200000, 0x400000, 0, MAPPING_NO_FILE), 0);
	assert_mappings(streamed, expected, 3);
	assert_int_equal(add(listed, 0x1fe000, 0x200000, 0x100, FILE_A), 0);
	assert_int_equal(add(listed, 0x200000, 0x400000, 0, MAPPING_NO_FILE), 0);
	assert_int_equal(address_space_find(listed, 0x200000)->file, MAPPING_NO_FILE);
	assert_int_equal(add(listed, 0x400000, 0x602000, 0x202100, FILE_A), 0);
	assert_mappings(listed, expected, 3);
	address_space_free(streamed);
	address_space_free(listed);
}

/* Nobody has said that the library is gone in whose place it lies. */
static void leaves_memory_alone_that_is_no_huge_page(void **state)
{
	static const struct expected pieces[] = {{0x201000, 0x202000, 0, MAPPING_NO_FILE},
						 {0x200000, 0x3ff000, 0, MAPPING_NO_FILE},
						 {0x201000, 0x400000, 0, MAPPING_NO_FILE}};

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		struct address_space *space = address_space_new();

		assert_int_equal(add(space, 0x1fe000, 0x602000, 0x100, FILE_A), 0);
		assert_int_equal(add(space, pieces[i].start, pieces[i].end, 0, MAPPING_NO_FILE), 0);
		assert_int_equal(address_space_find(space, pieces[i].start)->file, MAPPING_NO_FILE);
		address_space_free(space);
	}
}

static void leaves_memory_alone_that_no_file_continues(void **state)
{
	static const struct expected behind[] = {{0x400000, 0x602000, 0x202100, FILE_B},
						 {0x400000, 0x602000, 0x203100, FILE_A},
						 {0x401000, 0x602000, 0x203100, FILE_A},
						 {0x400000, 0x602000, 0x202100, MAPPING_NO_FILE}};

	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		struct address_space *space = address_space_new();

		assert_int_equal(add(space, 0x1fe000, 0x200000, 0x100, FILE_A), 0);
		assert_int_equal(add(space, behind[i].start, behind[i].end, behind[i].offset,
				     behind[i].file),
				 0);
		assert_int_equal(add(space, 0x200000, 0x400000, 0, MAPPING_NO_FILE), 0);
		assert_int_equal(address_space_find(space, 0x200000)->file, MAPPING_NO_FILE);
		address_space_free(space);
	}
}

static void bounds_are_start_inclusive_end_exclusive(void **state)
{
	struct address_space *space = address_space_new();

	assert_int_equal(add(space, 0x1000, 0x2000, 0, FILE_A), 0);
	assert_int_equal(add(space, 0x2000, 0x3000, 0, FILE_B), 0);
	assert_int_equal(add(space, 0x5000, UINT64_MAX, 0, MAPPING_NO_FILE), 0);
	assert_null(address_space_find(space, 0xfff));
	assert_int_equal(address_space_find(space, 0x1000)->file, FILE_A);
	assert_int_equal(address_space_find(space, 0x1fff)->file, FILE_A);
	assert_int_equal(address_space_find(space, 0x2000)->file, FILE_B);
	assert_null(address_space_find(space, 0x3000));
	assert_null(address_space_find(space, 0x4fff));
	assert_non_null(address_space_find(space, UINT64_MAX - 1));
	assert_null(address_space_find(space, UINT64_MAX));
	address_space_free(space);
}

static void refuses_empty_and_reversed_ranges(void **state)
{
	struct address_space *space = address_space_new();

	assert_int_equal(add(space, 5, 5, 0, MAPPING_NO_FILE), -EINVAL);
	assert_int_equal(add(space, 6, 5, 0, MAPPING_NO_FILE), -EINVAL);
	assert_int_equal(address_space_remove(space, 6, 5), -EINVAL);
	address_space_free(space);
}

static void new_mapping_cuts_what_it_covers(void **state)
{
	/* On top of [10,20) [30,40) [50,60) of file a, offsets 100, 200, 300. */
	static const struct {
		uint64_t start, end;
		size_t count;
		struct expected expected[5];
	} rows[] = {
		{20,
		 30,
		 4,
		 {{10, 20, 100, FILE_A},
		  {20, 30, 0, FILE_B},
		  {30, 40, 200, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{10, 20, 3, {{10, 20, 0, FILE_B}, {30, 40, 200, FILE_A}, {50, 60, 300, FILE_A}}},
		{5, 65, 1, {{5, 65, 0, FILE_B}}},
		{32,
		 36,
		 5,
		 {{10, 20, 100, FILE_A},
		  {30, 32, 200, FILE_A},
		  {32, 36, 0, FILE_B},
		  {36, 40, 206, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{15, 55, 3, {{10, 15, 100, FILE_A}, {15, 55, 0, FILE_B}, {55, 60, 305, FILE_A}}},
		{15,
		 30,
		 4,
		 {{10, 15, 100, FILE_A},
		  {15, 30, 0, FILE_B},
		  {30, 40, 200, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{25,
		 35,
		 4,
		 {{10, 20, 100, FILE_A},
		  {25, 35, 0, FILE_B},
		  {35, 40, 205, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{0,
		 10,
		 4,
		 {{0, 10, 0, FILE_B},
		  {10, 20, 100, FILE_A},
		  {30, 40, 200, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{60,
		 70,
		 4,
		 {{10, 20, 100, FILE_A},
		  {30, 40, 200, FILE_A},
		  {50, 60, 300, FILE_A},
		  {60, 70, 0, FILE_B}}},
		{11,
		 12,
		 5,
		 {{10, 11, 100, FILE_A},
		  {11, 12, 0, FILE_B},
		  {12, 20, 102, FILE_A},
		  {30, 40, 200, FILE_A},
		  {50, 60, 300, FILE_A}}},
		{0, UINT64_MAX, 1, {{0, UINT64_MAX, 0, FILE_B}}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct address_space *space = address_space_new();

		assert_int_equal(add(space, 30, 40, 200, FILE_A), 0);
		assert_int_equal(add(space, 50, 60, 300, FILE_A), 0);
		assert_int_equal(add(space, 10, 20, 100, FILE_A), 0);
		assert_int_equal(add(space, rows[i].start, rows[i].end, 0, FILE_B), 0);
		assert_mappings(space, rows[i].expected, rows[i].count);
		address_space_free(space);
	}
}

static void removing_splits_what_reaches_beyond(void **state)
{
	static const struct expected expected[] = {{10, 15, 100, FILE_A}, {18, 20, 108, FILE_A}};
	struct address_space *space = address_space_new();

	assert_int_equal(add(space, 10, 20, 100, FILE_A), 0);
	assert_int_equal(address_space_remove(space, 15, 18), 0);
	assert_mappings(space, expected, 2);
	assert_int_equal(address_space_remove(space, 0, 100), 0);
	assert_mappings(space, NULL, 0);
	address_space_free(space);
}

/* xorshift64: the same numbers in every run */
static uint64_t random_next(uint64_t *generator)
{
	*generator ^= *generator << 13;
	*generator ^= *generator >> 7;
	*generator ^= *generator << 17;
	return *generator;
}

#define CELLS 512

static void agrees_with_a_plain_array_under_random_changes(void **state)
{
	/* What each cell shows: file_offset - address + CELLS, 0 when unmapped. */
	static uint64_t model[CELLS];
	struct address_space *space = address_space_new();
	uint64_t generator = 42;

	memset(model, 0, sizeof(model));
	for (int round = 0; round < 20000; round++) {
		uint64_t start = random_next(&generator) % CELLS;
		uint64_t size = 1 + random_next(&generator) % (round % 7 ? 8 : 200);
		uint64_t end = start + size < CELLS ? start + size : CELLS;
		uint64_t mark = (uint64_t)round + CELLS;
		const struct mapping_list *mappings;

		if (random_next(&generator) % 4 == 0) {
			assert_int_equal(address_space_remove(space, start, end), 0);
			memset(model + start, 0, (end - start) * sizeof(model[0]));
		} else {
			assert_int_equal(add(space, start, end, start + mark, MAPPING_NO_FILE), 0);
			for (uint64_t cell = start; cell < end; cell++)
				model[cell] = mark;
		}
		mappings = address_space_mappings(space);
		for (size_t i = 0; i < mappings->count; i++) {
			const struct mapping *mapping = &mappings->items[i];

			assert_true(mapping->start < mapping->end);
			assert_true(i == 0 || mapping[-1].end <= mapping->start);
		}
		for (int probe = 0; probe < 8; probe++) {
			uint64_t cell = random_next(&generator) % CELLS;
			const struct mapping *found = address_space_find(space, cell);

			assert_int_equal(!found, !model[cell]);
			if (found)
				assert_int_equal(found->file_offset - found->start, model[cell]);
		}
	}
	address_space_free(space);
}

static void copies_share_until_one_changes(void **state)
{
	static const struct expected original[] = {{10, 20, 0, FILE_A}, {30, 40, 0, FILE_A}};
	static const struct expected changed[] = {
		{10, 20, 0, FILE_A}, {30, 35, 0, FILE_B}, {35, 40, 5, FILE_A}};
	struct address_space *parent = address_space_new();
	struct address_space *child, *grandchild;

	assert_int_equal(add(parent, 10, 20, 0, FILE_A), 0);
	assert_int_equal(add(parent, 30, 40, 0, FILE_A), 0);
	child = address_space_copy(parent);
	grandchild = address_space_copy(child);
	assert_ptr_equal(address_space_mappings(parent), address_space_mappings(grandchild));
	assert_int_equal(add(child, 30, 35, 0, FILE_B), 0);
	assert_mappings(parent, original, 2);
	assert_mappings(child, changed, 3);
	assert_mappings(grandchild, original, 2);
	address_space_free(parent);
	assert_mappings(grandchild, original, 2);
	assert_int_equal(address_space_remove(grandchild, 0, 100), 0);
	assert_mappings(child, changed, 3);
	address_space_free(child);
	address_space_free(grandchild);
}

static void fork_storm_counts_shared_mappings_once(void **state)
{
	enum { CHILDREN = 10000, MAPPINGS = 300 };
	static struct address_space *children[CHILDREN];
	struct mapping_budget budget = {.limit = 1000000};
	struct address_space *parent = address_space_new_within(&budget);

	for (uint64_t i = 0; i < MAPPINGS; i++)
		assert_int_equal(add(parent, i * 4096, i * 4096 + 4096, 0, FILE_A), 0);
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = address_space_copy(parent);
		assert_non_null(children[i]);
	}
	assert_int_equal(budget.used, MAPPINGS);
	assert_int_equal(add(children[5], 0, 4096, 0, FILE_B), 0);
	assert_int_equal(budget.used, 2 * MAPPINGS);
	for (int i = 0; i < CHILDREN; i++)
		address_space_free(children[i]);
	assert_int_equal(budget.used, MAPPINGS);
	address_space_free(parent);
	assert_int_equal(budget.used, 0);
}

static void budget_bounds_all_spaces_together(void **state)
{
	static const struct expected kept[] = {{10, 20, 0, FILE_A}, {30, 40, 0, FILE_A}};
	struct mapping_budget budget = {.limit = 3};
	struct address_space *parent = address_space_new_within(&budget), *child;

	assert_int_equal(add(parent, 10, 20, 0, FILE_A), 0);
	assert_int_equal(add(parent, 30, 40, 0, FILE_A), 0);
	child = address_space_copy(parent);
	/* A copy of its own would need two more. */
	assert_int_equal(add(child, 50, 60, 0, FILE_A), -ENOSPC);
	assert_mappings(child, kept, 2);
	address_space_free(child);
	assert_int_equal(add(parent, 50, 60, 0, FILE_A), 0);
	assert_int_equal(add(parent, 70, 80, 0, FILE_A), -ENOSPC);
	assert_int_equal(add(parent, 10, 20, 0, FILE_B), 0); /* replaces: needs nothing */
	assert_int_equal(budget.used, 3);
	address_space_free(parent);
}

static void keeps_the_oldest_when_full_in_either_direction(void **state)
{
	for (int downwards = 0; downwards < 2; downwards++) {
		struct address_space *space = address_space_new();

		for (uint64_t i = 0; i < MAPPING_LIST_MAX; i++) {
			uint64_t at = downwards ? MAPPING_LIST_MAX + 10 - i : i + 10;

			assert_int_equal(add(space, at * 2, at * 2 + 1, at, FILE_A), 0);
		}
		assert_int_equal(add(space, 0, 1, 0, FILE_B), -ENOSPC);
		assert_null(address_space_find(space, 0));
		assert_int_equal(address_space_find(space, 2 * 5000)->file_offset, 5000);
		assert_int_equal(address_space_mappings(space)->count, MAPPING_LIST_MAX);
		assert_int_equal(address_space_remove(space, 2 * 5000, 2 * 5000 + 1), 0);
		assert_int_equal(add(space, 0, 1, 0, FILE_B), 0);
		address_space_free(space);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_in_an_empty_space),
		cmocka_unit_test(bounds_are_start_inclusive_end_exclusive),
		cmocka_unit_test(refuses_empty_and_reversed_ranges),
		cmocka_unit_test(gives_moved_text_back_to_its_file),
		cmocka_unit_test(leaves_memory_alone_that_is_no_huge_page),
		cmocka_unit_test(leaves_memory_alone_that_no_file_continues),
		cmocka_unit_test(new_mapping_cuts_what_it_covers),
		cmocka_unit_test(removing_splits_what_reaches_beyond),
		cmocka_unit_test(agrees_with_a_plain_array_under_random_changes),
		cmocka_unit_test(copies_share_until_one_changes),
		cmocka_unit_test(fork_storm_counts_shared_mappings_once),
		cmocka_unit_test(budget_bounds_all_spaces_together),
		cmocka_unit_test(keeps_the_oldest_when_full_in_either_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
