// SPDX-License-Identifier: BSD-2-Clause
/* Where memory is in a copy of a stack that lacks some of its pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/raw_stack.h"

#define PAGE 4096ULL
#define TOP  (0x7ffd00000000ULL + PAGE)
/* Of its first page the copy has 16 bytes. */
#define START (TOP - 16)

static void assert_copied(const struct raw_stack_extent *extent, uint64_t address, size_t expected)
{
	size_t offset = SIZE_MAX;

	assert_int_equal(raw_stack_find(extent, address, 8, &offset), RAW_STACK_COPIED);
	assert_int_equal(offset, expected);
}

static void assert_place(const struct raw_stack_extent *extent, uint64_t address, size_t size,
			 enum raw_stack_place expected)
{
	size_t offset;

	assert_int_equal(raw_stack_find(extent, address, size, &offset), expected);
}

static void memory_without_holes_is_at_its_distance(void **state)
{
	struct raw_stack_extent extent = {START, 16 + 2 * PAGE, 0};

	assert_copied(&extent, START, 0);
	assert_copied(&extent, TOP - 4, 12);
	assert_copied(&extent, TOP + 2 * PAGE - 8, 16 + 2 * PAGE - 8);
	assert_place(&extent, START - 1, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 2 * PAGE - 7, 8, RAW_STACK_BEYOND);
	assert_place(&extent, TOP + 100 * PAGE, 8, RAW_STACK_BEYOND);
	assert_place(&extent, UINT64_MAX - 3, 8, RAW_STACK_NOT_READABLE);
}

static void pages_behind_holes_come_earlier(void **state)
{
	/* The pages at TOP + 1 and + 2 are missing, and that at + 4. */
	struct raw_stack_extent extent = {START, 16 + 2 * PAGE, 1 << 2 | 1 << 3 | 1 << 5};

	assert_copied(&extent, TOP + PAGE - 8, 16 + PAGE - 8);
	assert_copied(&extent, TOP + 3 * PAGE, 16 + PAGE);
	assert_copied(&extent, TOP + 4 * PAGE - 8, 16 + 2 * PAGE - 8);
	assert_place(&extent, TOP + PAGE, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 3 * PAGE - 8, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 5 * PAGE - 8, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 5 * PAGE, 8, RAW_STACK_BEYOND);
	/* Partly in a hole. */
	assert_place(&extent, TOP + PAGE - 4, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 3 * PAGE - 4, 8, RAW_STACK_NOT_READABLE);
	assert_place(&extent, TOP + 4 * PAGE - 4, 8, RAW_STACK_NOT_READABLE);
}

static void the_last_page_that_can_be_missing_is_the_64th(void **state)
{
	struct raw_stack_extent extent = {START, 16 + 80 * PAGE, 1ULL << 63};

	assert_place(&extent, TOP + 62 * PAGE, 8, RAW_STACK_NOT_READABLE);
	assert_copied(&extent, TOP + 63 * PAGE, 16 + 62 * PAGE);
}

static void holes_that_no_copy_has_lead_nowhere_else(void **state)
{
	struct raw_stack_extent extent = {START, 64, 0};
	size_t offset;

	for (uint32_t i = 0; i < 128; i++) {
		extent.holes = UINT64_MAX & ~(1ULL << (i & 63)) & ~(i & 64 ? 1ULL : 0);
		for (uint64_t address = START - 16; address < TOP + 66 * PAGE; address += 4) {
			if (raw_stack_find(&extent, address, 8, &offset) == RAW_STACK_COPIED)
				assert_in_range(offset, 0, extent.size - 8);
		}
	}
	assert_place(&extent, START, 0, RAW_STACK_NOT_READABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_without_holes_is_at_its_distance),
		cmocka_unit_test(pages_behind_holes_come_earlier),
		cmocka_unit_test(the_last_page_that_can_be_missing_is_the_64th),
		cmocka_unit_test(holes_that_no_copy_has_lead_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
