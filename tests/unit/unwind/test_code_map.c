// SPDX-License-Identifier: BSD-2-Clause
/* Code maps against a plain array of pages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/code/code_map.h"

static void cuts_what_a_new_mapping_covers(void **state)
{
	struct code_map *map = code_map_new();
	const struct code_mapping *found;

	assert_int_equal(code_map_add(map, &(struct code_mapping){0x1000, 0x9000, 0x100, 1}), 0);
	assert_int_equal(code_map_add(map, &(struct code_mapping){0x3000, 0x5000, 0, 2}), 0);
	assert_int_equal(map->count, 3);
	found = code_map_find(map, 0x2fff);
	assert_int_equal(found->file, 1);
	assert_int_equal(found->end, 0x3000);
	assert_int_equal(code_map_find(map, 0x3000)->file, 2);
	found = code_map_find(map, 0x5000);
	assert_int_equal(found->file, 1);
	assert_int_equal(found->file_offset, 0x4100);
	assert_null(code_map_find(map, 0x9000));
	assert_null(code_map_find(map, 0xfff));
	assert_int_equal(code_map_remove(map, 0x2000, 0x6000), 0);
	assert_int_equal(map->count, 2);
	assert_null(code_map_find(map, 0x3000));
	assert_int_equal(code_map_find(map, 0x6000)->file_offset, 0x5100);
	assert_int_equal(code_map_add(map, &(struct code_mapping){5, 5, 0, 0}), -EINVAL);
	assert_int_equal(code_map_remove(map, 6, 5), -EINVAL);
	code_map_free(map);
}

/* As a program does that moves its text to huge pages, seen while it does, or later in procfs,
 * which lists upwards. */
static void gives_moved_text_back_to_its_file(void **state)
{
	struct code_map *streamed = code_map_new(), *listed = code_map_new();
	const struct code_mapping nameless = {0x200000, 0x400000, 0, CODE_NO_FILE};

	assert_int_equal(
		code_map_add(streamed, &(struct code_mapping){0x1fe000, 0x602000, 0x100, 1}), 0);
	assert_int_equal(code_map_add(streamed, &nameless), 0);
	assert_int_equal(code_map_add(listed, &(struct code_mapping){0x1fe000, 0x200000, 0x100, 1}),
			 0);
	assert_int_equal(code_map_add(listed, &nameless), 0);
	assert_int_equal(code_map_find(listed, 0x200000)->file, CODE_NO_FILE);
	assert_int_equal(
		code_map_add(listed, &(struct code_mapping){0x400000, 0x602000, 0x202100, 1}), 0);
	assert_true(code_map_equal(streamed, listed));
	assert_int_equal(code_map_find(listed, 0x200000)->file, 1);
	assert_int_equal(code_map_find(listed, 0x200000)->file_offset, 0x2100);
	code_map_free(streamed);
	code_map_free(listed);
}

/* Nobody has said that the library is gone in whose place it lies. */
static void leaves_code_alone_that_is_no_huge_page(void **state)
{
	static const struct code_mapping pieces[] = {{0x201000, 0x202000, 0, CODE_NO_FILE},
						     {0x200000, 0x3ff000, 0, CODE_NO_FILE},
						     {0x201000, 0x400000, 0, CODE_NO_FILE}};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct code_map *map = code_map_new();

		assert_int_equal(
			code_map_add(map, &(struct code_mapping){0x1fe000, 0x602000, 0x100, 1}), 0);
		assert_int_equal(code_map_add(map, &pieces[i]), 0);
		assert_int_equal(code_map_find(map, pieces[i].start)->file, CODE_NO_FILE);
		code_map_free(map);
	}
}

static void leaves_code_alone_that_no_file_continues(void **state)
{
	static const struct code_mapping behind[] = {
		{0x400000, 0x602000, 0x202100, 2},	      /* another file */
		{0x400000, 0x602000, 0x203100, 1},	      /* another place in it */
		{0x401000, 0x602000, 0x203100, 1},	      /* not adjacent */
		{0x400000, 0x602000, 0x202100, CODE_NO_FILE}, /* none */
	};

	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		struct code_map *map = code_map_new();

		assert_int_equal(
			code_map_add(map, &(struct code_mapping){0x1fe000, 0x200000, 0x100, 1}), 0);
		assert_int_equal(code_map_add(map, &behind[i]), 0);
		assert_int_equal(code_map_add(map, &(struct code_mapping){0x200000, 0x400000, 0,
									  CODE_NO_FILE}),
				 0);
		assert_int_equal(code_map_find(map, 0x200000)->file, CODE_NO_FILE);
		code_map_free(map);
	}
}

static void shares_until_the_last_reference_is_dropped(void **state)
{
	struct code_map *map = code_map_new(), *copy;

	assert_int_equal(code_map_add(map, &(struct code_mapping){0x1000, 0x2000, 0, 1}), 0);
	assert_ptr_equal(code_map_share(map), map);
	map->published_count = 1;
	copy = code_map_copy(map);
	assert_true(code_map_equal(map, copy));
	assert_int_equal(copy->published_count, 0);
	assert_int_equal(code_map_add(copy, &(struct code_mapping){0x3000, 0x4000, 0, 1}), 0);
	assert_false(code_map_equal(map, copy));
	assert_false(code_map_drop(map));
	assert_true(code_map_drop(map));
	code_map_free(map);
	code_map_free(copy);
	code_map_free(NULL);
}

static void stays_within_its_bound(void **state)
{
	struct code_map *map = code_map_new();

	for (uint64_t i = 0; i < CODE_MAP_MAX; i++)
		assert_int_equal(code_map_add(map, &(struct code_mapping){i * 2, i * 2 + 1, 0, 1}),
				 0);
	assert_int_equal(code_map_add(map, &(struct code_mapping){1ULL << 40, 1ULL << 41, 0, 1}),
			 -ENOSPC);
	assert_int_equal(map->count, CODE_MAP_MAX);
	assert_int_equal(code_map_add(map, &(struct code_mapping){0, 1ULL << 40, 0, 1}), 0);
	assert_int_equal(map->count, 1);
	code_map_free(map);
}

#define PAGES 64

/* What every page shows: file + 1 and offset; 0: nothing. */
struct page {
	uint32_t file;
	uint64_t offset;
};

static void agrees_with_a_plain_array_over_many_steps(void **state)
{
	struct code_map *map = code_map_new();
	struct page pages[PAGES];

	memset(pages, 0, sizeof(pages));
	srand(2);
	for (int step = 0; step < 20000; step++) {
		uint32_t start = (uint32_t)rand() % PAGES;
		uint32_t end = start + 1 + (uint32_t)rand() % (PAGES - start),
			 file = (uint32_t)rand() % 5;
		uint64_t offset = (uint64_t)rand() % 1000;
		bool add = rand() % 3;

		if (add)
			assert_int_equal(
				code_map_add(map, &(struct code_mapping){start, end, offset, file}),
				0);
		else
			assert_int_equal(code_map_remove(map, start, end), 0);
		for (uint32_t i = start; i < end; i++)
			pages[i] = add ? (struct page){file + 1, offset + i - start}
				       : (struct page){0};
		for (uint32_t i = 0; i < PAGES; i++) {
			const struct code_mapping *found = code_map_find(map, i);

			assert_int_equal(found ? found->file + 1 : 0, pages[i].file);
			if (found)
				assert_int_equal(found->file_offset + i - found->start,
						 pages[i].offset);
		}
		for (uint32_t i = 1; i < map->count; i++)
			assert_true(map->items[i - 1].end <= map->items[i].start);
	}
	code_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_what_a_new_mapping_covers),
		cmocka_unit_test(gives_moved_text_back_to_its_file),
		cmocka_unit_test(leaves_code_alone_that_is_no_huge_page),
		cmocka_unit_test(leaves_code_alone_that_no_file_continues),
		cmocka_unit_test(shares_until_the_last_reference_is_dropped),
		cmocka_unit_test(stays_within_its_bound),
		cmocka_unit_test(agrees_with_a_plain_array_over_many_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
