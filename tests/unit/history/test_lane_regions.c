// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/lane_regions: the longest region of a point, and names that are bounded and
 * escaped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history/lane_regions.h"

#define POINTS 300

static struct string_pool *pool;
static struct lane_region *list;
static struct lane_region_names names;
static char *text;

static int setup(void **state)
{
	(void)state;
	names = (struct lane_region_names){0};
	list = NULL;
	pool = string_pool_new();
	return pool ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	string_pool_free(pool);
	free(list);
	free(text);
	text = NULL;
	return 0;
}

static void put(size_t at, const char *name, uint64_t wall_ns, uint64_t count)
{
	const struct row_region region = {
		.name = name, .wall_ns = wall_ns, .count = count, .missed_ns = 7};

	assert_int_equal(lane_regions_put(&list, POINTS, at, pool, &region), 0);
}

static const char *write_first(size_t points)
{
	size_t size;
	FILE *out = open_memstream(&text, &size);

	lane_regions_write(list, points, &names, out);
	lane_region_names_write(&names, pool, out);
	fclose(out);
	return text;
}

static void the_longest_of_a_point_stays(void **state)
{
	(void)state;
	put(0, "short", 10, 9);
	put(0, "long", 30, 2);
	put(0, "middle", 20, 5);
	put(2, "short", 4, 1);
	assert_string_equal(write_first(3), ",\"regions\":[[0,30,2,7],null,[1,4,1,7]],"
					    "\"region_names\":[\"long\",\"short\"]");
}

/* Two processes that had one pid in turn. */
static void one_name_at_a_point_is_added_up(void **state)
{
	(void)state;
	put(0, "step", 10, 1);
	put(0, "step", 5, 2);
	put(1, "step", UINT64_MAX, 1);
	put(1, "step", 5, 1);
	assert_string_equal(write_first(2),
			    ",\"regions\":[[0,15,3,7],[0,18446744073709551615,2,7]],"
			    "\"region_names\":[\"step\"]");
}

static void a_lane_without_regions_has_no_list(void **state)
{
	(void)state;
	put(0, NULL, 10, 1);
	put(0, "open", 0, 0);
	assert_null(list);
	assert_string_equal(write_first(2), ",\"region_names\":[]");
}

static void hostile_names_are_escaped(void **state)
{
	(void)state;
	put(0, "</script>\"\n\xff", 10, 1);
	assert_string_equal(write_first(1),
			    ",\"regions\":[[0,10,1,7]],"
			    "\"region_names\":[\"\\u003c/script>\\\"\\n\xef\xbf\xbd\"]");
}

/* A program may name a region as the rest is named: its number differs. */
static void names_beyond_the_limit_are_one(void **state)
{
	char name[32];

	(void)state;
	put(0, LANE_REGION_OTHER, 1, 1);
	for (size_t i = 1; i < POINTS; i++) {
		snprintf(name, sizeof(name), "region%zu", i);
		put(i, name, 1, 1);
	}
	write_first(POINTS);
	assert_int_equal(names.count, LANE_REGION_NAMES_MAX);
	assert_non_null(strstr(text, "\"regions\":[[0,1,1,7],[1,"));
	assert_non_null(strstr(text, "[255,1,1,7],[256,1,1,7],[256,1,1,7]"));
	assert_non_null(strstr(text, "\"region_names\":[\"[other]\",\"region1\","));
	assert_non_null(strstr(text, "\"region255\",\"[other]\"]"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_longest_of_a_point_stays),	  TEST(one_name_at_a_point_is_added_up),
		TEST(a_lane_without_regions_has_no_list), TEST(hostile_names_are_escaped),
		TEST(names_beyond_the_limit_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
