// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/text_layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/text_layout.h"

#define CODE(where, size)                                                                          \
	{                                                                                          \
		.type = PT_LOAD, .flags = PF_R | PF_X, .address = (where), .file_size = (size)     \
	}

static void read_layout(struct elf_segment *items, size_t count, struct text_layout *ret_layout)
{
	const struct elf_segments segments = {.items = items, .count = count};

	text_layout_read(&segments, ret_layout);
}

static void leaves_out_what_lies_between(void **state)
{
	/* in any order */
	struct elf_segment items[] = {CODE(0x20000010, 0x100),
				      CODE(0x401000, 0x1800),
				      {.type = PT_LOAD, .flags = PF_R, .address = 0x10000000}};
	struct text_layout layout;

	(void)state;
	read_layout(items, 3, &layout);
	assert_int_equal(layout.count, 2);
	assert_int_equal(layout.size, 0x3000);
	assert_int_equal(text_layout_removed(&layout, 0x401234), 0);
	assert_int_equal(0x20000020 - text_layout_removed(&layout, 0x20000020), 0x403020);
	assert_null(text_layout_find(&layout, 0x403000));
	/* where a page of 64 KiB begins that has the second one */
	assert_int_equal(text_layout_removed(&layout, 0x1fff0000),
			 text_layout_removed(&layout, 0x20000020));
	assert_int_equal(text_layout_removed(&layout, 0x30000000), 0);
}

static void keeps_small_gaps_and_overlaps(void **state)
{
	struct elf_segment items[] = {CODE(0x1000, 0x2000), CODE(0x2000, 0x500),
				      CODE(0x80000, 0x1000)};
	struct text_layout layout;

	(void)state;
	read_layout(items, 3, &layout);
	assert_int_equal(layout.count, 1);
	assert_int_equal(layout.size, 0x80000);
	assert_int_equal(text_layout_removed(&layout, 0x80000), 0);
}

static void removes_nothing_where_offsets_would_not_fit(void **state)
{
	struct elf_segment items[] = {CODE(0x1000, 0x1000), CODE(0x200000000, 0x1000),
				      CODE(UINT64_MAX - 0x1000, 0x1000)};
	struct text_layout layout;

	(void)state;
	read_layout(items, 2, &layout);
	assert_int_equal(layout.count, 0);
	assert_int_equal(text_layout_removed(&layout, 0x200000000), 0);
	read_layout(items, 3, &layout);
	assert_int_equal(layout.count, 0);
	read_layout(items, 0, &layout);
	assert_int_equal(layout.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_out_what_lies_between),
		cmocka_unit_test(keeps_small_gaps_and_overlaps),
		cmocka_unit_test(removes_nothing_where_offsets_would_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
