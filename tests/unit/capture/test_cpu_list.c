// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/cpu_list: lists as the kernel writes them, and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/cpu_list.h"

static void parses_ranges_and_single_cpus(void **state)
{
	static const struct listed_cpu expected[] = {{.number = 0}, {.number = 1}, {.number = 2},
						     {.number = 3}, {.number = 5}, {.number = 7},
						     {.number = 8}};
	struct cpu_list list = {0};

	assert_int_equal(cpu_list_parse("0-3,5,7-8\n", &list), 0);
	assert_int_equal(list.count, ARRAY_SIZE(expected));
	assert_memory_equal(list.items, expected, sizeof(expected));
	assert_int_equal(cpu_list_find(&list, 5)->number, 5);
	assert_null(cpu_list_find(&list, 4));
	cpu_list_done(&list);
}

static void replaces_what_was_in_the_list(void **state)
{
	struct cpu_list list = {0};

	assert_int_equal(cpu_list_parse("0-7", &list), 0);
	assert_int_equal(cpu_list_parse("2", &list), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].number, 2);
	cpu_list_done(&list);
}

static void refuses_nonsense_and_keeps_the_list(void **state)
{
	static const char *const texts[] = {"x",       "3-1",	     "1,1", "2,1", "0-", "-1",
					    "0-70000", "4294967297", "1;2", "1 2", "0x1"};
	struct cpu_list list = {0};

	assert_int_equal(cpu_list_parse("0-1", &list), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(cpu_list_parse(texts[i], &list), -EINVAL);
		assert_int_equal(list.count, 2);
	}
	cpu_list_done(&list);
}

static void a_range_leaves_the_text_behind_it(void **state)
{
	const char *text = "2-3,0";
	uint32_t first = 9, last = 9;

	assert_int_equal(cpu_list_parse_range(&text, &first, &last), 0);
	assert_int_equal(first, 2);
	assert_int_equal(last, 3);
	assert_string_equal(text, ",0");
	assert_int_equal(cpu_list_parse_range(&text, &first, &last), -EINVAL);
	assert_string_equal(text, ",0");
	assert_int_equal(first, 2);
}

static void reads_the_cpus_of_this_machine(void **state)
{
	struct cpu_list list = {0};

	assert_int_equal(cpu_list_read_online(&list), 0);
	assert_true(cpu_list_possible_bound() > list.items[list.count - 1].number);
	assert_int_equal(list.count, sysconf(_SC_NPROCESSORS_ONLN));
	cpu_list_done(&list);
}

static void sees_that_a_cpu_has_been_away(void **state)
{
	struct cpu_list list = {0};

	assert_int_equal(cpu_list_parse("0-1", &list), 0);
	list.items[1].arrival = 7;
	assert_true(cpu_list_still_has(&list, (struct listed_cpu){.number = 1, .arrival = 7}));
	assert_false(cpu_list_still_has(&list, (struct listed_cpu){.number = 1, .arrival = 6}));
	assert_false(cpu_list_still_has(&list, (struct listed_cpu){.number = 2, .arrival = 7}));
	cpu_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_ranges_and_single_cpus),
		cmocka_unit_test(replaces_what_was_in_the_list),
		cmocka_unit_test(refuses_nonsense_and_keeps_the_list),
		cmocka_unit_test(a_range_leaves_the_text_behind_it),
		cmocka_unit_test(reads_the_cpus_of_this_machine),
		cmocka_unit_test(sees_that_a_cpu_has_been_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
