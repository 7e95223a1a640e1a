// SPDX-License-Identifier: BSD-2-Clause
/* Which options of the table are given. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/option_table.h"

static size_t count_given(const struct cli_options *options)
{
	const struct option_row *row;
	size_t given = 0;

	for (size_t i = 0; (row = option_at(i)); i++)
		given += option_is_given(row, options);
	return given;
}

/* The flags alone: they need no value. */
static void each_option_is_given_once_it_was_applied_and_no_other(void **state)
{
	const struct option_row *row;
	size_t flags = 0;

	for (size_t i = 0; (row = option_at(i)); i++) {
		struct cli_options options;
		struct error error = {0};

		if (row->form != OPTION_FLAG && row->form != OPTION_COUNT)
			continue;
		flags++;
		cli_options_init(&options);
		assert_int_equal(count_given(&options), 0);
		assert_int_equal(option_apply(row, &options, NULL, &error), 0);
		assert_true(option_is_given(row, &options));
		assert_int_equal(count_given(&options), 1);
		cli_options_done(&options);
	}
	assert_true(flags > 20);
}

/* As many bits as there are options. */
static void the_last_option_can_be_given(void **state)
{
	struct cli_options options;
	size_t count = 0;

	while (option_at(count))
		count++;
	cli_options_init(&options);
	assert_true(count <= 8 * sizeof(options.given));
	cli_options_done(&options);
}

/* Shapes of a flame graph are apart from each other. */
static void shapes_of_a_graph_reach_the_format(void **state)
{
	static const char *const names[] = {"icicle", "reverse", "modules"};
	const struct option_row *row;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct output_settings settings;
		struct cli_options options;
		struct error error = {0};

		cli_options_init(&options);
		for (size_t j = 0; (row = option_at(j)); j++)
			if (strcmp(row->name, names[i]) == 0)
				assert_int_equal(option_apply(row, &options, NULL, &error), 0);
		settings = cli_options_settings(&options);
		assert_int_equal(settings.options.icicle, i == 0);
		assert_int_equal(settings.options.reverse, i == 1);
		assert_int_equal(settings.options.modules, i == 2);
		cli_options_done(&options);
	}
}

static void names_are_there_once(void **state)
{
	const struct option_row *row, *other;

	for (size_t i = 0; (row = option_at(i)); i++) {
		assert_non_null(row->name);
		assert_non_null(row->summary);
		for (size_t j = 0; j < i && (other = option_at(j)); j++) {
			assert_string_not_equal(row->name, other->name);
			assert_true(!row->letter || row->letter != other->letter);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_is_given_once_it_was_applied_and_no_other),
		cmocka_unit_test(the_last_option_can_be_given),
		cmocka_unit_test(shapes_of_a_graph_reach_the_format),
		cmocka_unit_test(names_are_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
