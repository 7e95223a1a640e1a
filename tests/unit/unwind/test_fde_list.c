// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/fde_list: order, overlap, gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/array.h"
#include "unwind/cfi/fde_list.h"

static void add(struct fde_list *list, uint32_t start, uint32_t size, uint32_t cie)
{
	struct fde *fde = array_add(list);

	assert_non_null(fde);
	*fde = (struct fde){.start = start, .size = size, .cie = cie};
}

static void orders_functions_by_address(void **state)
{
	struct fde_list list = {0};
	uint64_t random = 1;

	for (uint32_t i = 0; i < 5000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		add(&list, (uint32_t)(random >> 32), 1, i);
	}
	assert_true(fde_list_sort(&list));
	assert_in_range(list.count, 4990, 5000);
	for (size_t i = 1; i < list.count; i++)
		assert_true(list.items[i - 1].start < list.items[i].start);
	array_free(&list);
}

static void keeps_the_first_of_two_at_one_address(void **state)
{
	struct fde_list list = {0};

	add(&list, 0x500, 0x10, 1);
	add(&list, 0x100, 0x10, 2);
	add(&list, 0x100, 0x80, 3);
	assert_true(fde_list_sort(&list));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].cie, 2);
	assert_int_equal(list.items[0].size, 0x10);
	array_free(&list);
}

static void ends_a_function_where_the_next_begins(void **state)
{
	struct fde_list list = {0};

	add(&list, 0x100, 0xffffff00, 1);
	add(&list, 0x180, 0x10, 2);
	add(&list, 0xfffffff0, 0x10, 3);
	assert_true(fde_list_sort(&list));
	assert_int_equal(list.count, 3);
	assert_int_equal(list.items[0].size, 0x80);
	assert_int_equal(list.items[1].size, 0x10);
	array_free(&list);
}

static void fills_gaps_without_touching_what_is_there(void **state)
{
	struct fde_list list = {0};
	struct fde_list others = {0};

	add(&list, 0x100, 0x100, 1);
	add(&list, 0x400, 0x100, 1);
	add(&others, 0x80, 0x80, 2);	    /* ends where a function begins */
	add(&others, 0x1f0, 0x20, 3);	    /* begins inside */
	add(&others, 0x200, 0x80, 4);	    /* begins where one ends */
	add(&others, 0x3f0, 0x20, 5);	    /* reaches into one */
	add(&others, 0x440, 0x10, 6);	    /* lies within one */
	add(&others, 0x500, 0xfffffb00, 7); /* to the very end */
	assert_true(fde_list_fill_gaps(&list, &others));
	assert_int_equal(list.count, 5);
	assert_int_equal(list.items[0].cie, 2);
	assert_int_equal(list.items[1].start, 0x100);
	assert_int_equal(list.items[2].cie, 4);
	assert_int_equal(list.items[3].start, 0x400);
	assert_int_equal(list.items[4].cie, 7);
	array_free(&list);
	array_free(&others);
}

static void sorts_and_fills_empty_lists(void **state)
{
	struct fde_list list = {0};
	struct fde_list others = {0};

	assert_true(fde_list_sort(&list));
	assert_true(fde_list_fill_gaps(&list, &others));
	assert_int_equal(list.count, 0);
	add(&others, 5, 5, 5);
	assert_true(fde_list_fill_gaps(&list, &others));
	assert_int_equal(list.count, 1);
	array_free(&list);
	array_free(&others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_functions_by_address),
		cmocka_unit_test(keeps_the_first_of_two_at_one_address),
		cmocka_unit_test(ends_a_function_where_the_next_begins),
		cmocka_unit_test(fills_gaps_without_touching_what_is_there),
		cmocka_unit_test(sorts_and_fills_empty_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
