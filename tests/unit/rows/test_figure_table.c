// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the figures of all parts are one table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rows/figure_table.h"

static void every_figure_is_found_by_its_name(void **state)
{
	const struct figure *figure;
	char name[128];

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		snprintf(name, sizeof(name), "%s.%s", figure->group, figure->name);
		assert_ptr_equal(figure_find(name), figure);
		assert_non_null(figure->summary);
	}
	assert_string_equal(figure_find("lost")->name, "total");
	assert_null(figure_find("cpu.none"));
	assert_null(figure_find("cpu."));
	assert_null(figure_find(""));
}

/* A group is one object of the JSON report: no other group comes between its figures. */
static void figures_of_a_group_follow_each_other(void **state)
{
	const struct figure *figure, *before, *last;

	for (size_t i = 1; (figure = figure_at(i)); i++) {
		last = figure_at(i - 1);
		for (size_t j = 0; j < i && strcmp(figure->group, last->group) != 0; j++) {
			before = figure_at(j);
			assert_string_not_equal(figure->group, before->group);
		}
	}
}

static void a_figure_that_is_not_known_has_no_value(void **state)
{
	const struct figure *share = figure_find("cpu.share"), *p99 = figure_find("blockio.p99"),
			    *growth = figure_find("memory.rss_growth");
	struct resource_row row = {
		.cpu.share = 12.5, .memory.rss_growth_bytes = -4096, .blockio.device.p99_ns = 7};
	double value = 0;

	assert_false(figure_value(share, NULL, &row, &value));
	row.known = ROW_HAS_INTERVAL | ROW_HAS_RSS | ROW_HAS_BLOCKIO;
	assert_true(figure_value(share, NULL, &row, &value));
	assert_true(value == 12.5);
	assert_true(figure_value(growth, NULL, &row, &value));
	assert_true(value == -4096);
	/* Without a longest there was none. */
	assert_false(figure_value(p99, NULL, &row, &value));
	row.blockio.device.max_ns = 7;
	assert_true(figure_value(p99, NULL, &row, &value));
	assert_true(value == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_is_found_by_its_name),
		cmocka_unit_test(figures_of_a_group_follow_each_other),
		cmocka_unit_test(a_figure_that_is_not_known_has_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
