// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/code/code_map: who uses a map; what a copy takes over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/code/code_map.h"

static void shares_until_the_last_reference_is_dropped(void **state)
{
	struct code_map *map = code_map_new(), *copy;

	assert_int_equal(mapping_list_add(&map->list, &(struct mapping){0x1000, 0x2000, 0, 1, 4}),
			 0);
	assert_ptr_equal(code_map_share(map), map);
	map->published_count = 1;
	copy = code_map_copy(map);
	assert_true(mapping_list_equal(&map->list, &copy->list));
	assert_int_equal(copy->published_count, 0);
	assert_int_equal(mapping_list_add(&copy->list, &(struct mapping){0x3000, 0x4000, 0, 1, 4}),
			 0);
	assert_false(mapping_list_equal(&map->list, &copy->list));
	assert_false(code_map_drop(map));
	assert_true(code_map_drop(map));
	code_map_free(map);
	code_map_free(copy);
	code_map_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_until_the_last_reference_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
