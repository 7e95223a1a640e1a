// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/context/context_options: which labels are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "source/context/context_options.h"
#include "source/source_options.h"

static int give(struct source_options *options, const char *name, const char *value)
{
	const struct option_row *row = context_option_rows;
	struct error error;

	while (strcmp(row->name, name) != 0)
		row++;
	return option_row_apply(row, options, value, &error);
}

static void nothing_is_wanted_unless_asked_for(void **state)
{
	struct source_options options = {0};

	(void)state;
	context_options_init(&options);
	assert_false(context_options_want(&options.context));
	assert_int_equal(give(&options, "slow-request", "100ms"), 0);
	assert_true(context_options_want(&options.context));
	assert_int_equal(options.context.slow_ns, 100000000);
}

static void the_label_of_rows_is_first_and_each_is_there_once(void **state)
{
	struct source_options options = {0};
	struct context_labels labels;
	struct error error;

	(void)state;
	context_options_init(&options);
	assert_int_equal(give(&options, "label", "http.route"), 0);
	assert_int_equal(give(&options, "label", "tenant"), 0);
	assert_int_equal(give(&options, "hash-label", "tenant"), 0);
	options.context.by_key = "tenant";
	assert_int_equal(context_labels_choose(&options.context, &labels, &error), 0);
	assert_int_equal(labels.count, 2);
	assert_string_equal(labels.keys[0], "tenant");
	assert_string_equal(labels.keys[1], "http.route");
	assert_int_equal(labels.hashed, 1);
}

static void too_many_labels_are_refused(void **state)
{
	struct source_options options = {0};
	struct context_labels labels;
	struct error error;

	(void)state;
	context_options_init(&options);
	for (int i = 0; i < PKBPF_CONTEXT_LABELS; i++)
		assert_int_equal(give(&options, "label", (const char *[]){"a", "b", "c", "d"}[i]),
				 0);
	assert_int_equal(give(&options, "label", "e"), -EINVAL);
	assert_int_equal(give(&options, "hash-label", ""), -EINVAL);
	options.context.by_key = "e";
	assert_int_equal(context_labels_choose(&options.context, &labels, &error), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_wanted_unless_asked_for),
		cmocka_unit_test(the_label_of_rows_is_first_and_each_is_there_once),
		cmocka_unit_test(too_many_labels_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
