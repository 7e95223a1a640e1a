// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is asked for with -o and -f: formats, times in names, files of other commands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/file_format.h"
#include "cli/output_request.h"
#include "cli/whole_outputs.h"
#include "export/format.h"

static void the_format_is_the_given_one_or_that_of_the_suffix(void **state)
{
	static const struct {
		struct output_request request;
		const char *format; /* NULL: there is none */
	} rows[] = {
		{{"-", NULL}, "text"},
		{{"a.json", NULL}, "json"},
		{{"a.json", "csv"}, "csv"},
		{{"dir.json/a.txt", NULL}, "text"},
		{{"a.firefox.json", NULL}, "firefox"},
		{{"a.trace.json", NULL}, "chrome"},
		{{"a.pkbpf", NULL}, "recording"},
		{{"a", NULL}, NULL},
		{{"", NULL}, NULL},
		{{"a.txt", "no such format"}, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct format_ops *format = NULL;
		struct error error;
		int err = output_request_format(&rows[i].request, &format, &error);

		assert_int_equal(err, rows[i].format ? 0 : -EINVAL);
		if (rows[i].format)
			assert_string_equal(format->file.name, rows[i].format);
		else
			assert_true(error.text[0]);
	}
}

static void a_format_that_is_none_is_told_with_those_there_are(void **state)
{
	struct error error;

	assert_int_equal(output_format_check("folded", &error), 0);
	assert_int_equal(output_format_check("fodled", &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean folded?"));
	assert_int_equal(output_format_check("", &error), -EINVAL);
	assert_non_null(strstr(error.text, "json"));
}

static void outputs_are_known_by_what_they_hold(void **state)
{
	const struct output_request none[1] = {{NULL, NULL}}, text[] = {{"-", NULL}},
				    folded[] = {{"a.folded", NULL}},
				    recording[] = {{"a.folded", NULL}, {"a.pkbpf", NULL}},
				    page[] = {{"a.txt", NULL}, {"a.html", NULL}};

	assert_false(output_requests_hold_one_kind(none, 0));
	assert_false(output_requests_hold_one_kind(text, 1));
	assert_true(output_requests_hold_one_kind(folded, 1));
	assert_false(output_requests_hold_one_kind(recording, 2));
	assert_false(output_requests_have_slices(folded, 1));
	assert_true(output_requests_have_slices(recording, 2));
	assert_false(output_requests_show_times(folded, 1));
	assert_true(output_requests_show_times(page, 2));
}

static void a_time_in_a_name_makes_a_file_each_interval(void **state)
{
	const struct output_request all[] = {{"a-%t.txt", NULL}, {"-", NULL}},
				    some[] = {{"a-%t.txt", NULL}, {"b.txt", NULL}};
	char *path;

	assert_true(output_path_has_time("a-%t.txt"));
	assert_true(output_path_has_time("%t/a"));
	assert_false(output_path_has_time("a-t.txt"));
	assert_false(output_path_has_time("a-%"));
	assert_true(output_requests_have_time(all, 2));
	assert_false(output_requests_have_time(some, 2));
	/* 2026-11-29 10:29:55 UTC */
	path = output_path_at("/nowhere/a-%t.txt", 1795948195LL * 1000000000);
	assert_non_null(strstr(path, "/nowhere/a-2026"));
	assert_null(strchr(path, '%'));
	assert_int_equal(strcmp(path + strlen(path) - 4, ".txt"), 0);
	free(path);
	path = output_path_at("plain.txt", 0);
	assert_string_equal(path, "plain.txt");
	free(path);
}

/* ---- files that are written at once ---- */

static const struct file_format formats_there_are[] = {
	{.name = "text", .suffix = ".txt", .summary = "for people"},
	{.name = "json", .suffix = ".json", .summary = "for programs"},
};

static const struct file_format *formats_of_test(size_t index)
{
	return index < ARRAY_SIZE(formats_there_are) ? &formats_there_are[index] : NULL;
}

static void a_format_goes_with_the_output_behind_it(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error;

	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "json", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "a.txt", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "b.txt", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats_of_test, &error), 0);
	assert_int_equal(outputs.count, 2);
	assert_string_equal(outputs.items[0].format->name, "json");
	assert_string_equal(outputs.items[1].format->name, "text");
}

static void a_format_behind_the_last_output_is_that_one_s(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error;

	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "a.txt", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "b.gif", &error), 0);
	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "json", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats_of_test, &error), 0);
	assert_string_equal(outputs.items[0].format->name, "text");
	assert_string_equal(outputs.items[1].format->name, "json");
}

static void without_one_stdout_has_the_first_format(void **state)
{
	struct whole_outputs outputs = {0}, other = {0};
	struct error error;

	assert_int_equal(whole_outputs_finish(&outputs, formats_of_test, &error), 0);
	assert_string_equal(outputs.items[0].path, "-");
	assert_string_equal(outputs.items[0].format->name, "text");
	assert_int_equal(whole_outputs_set_format(&other, formats_of_test, "json", &error), 0);
	assert_int_equal(whole_outputs_finish(&other, formats_of_test, &error), 0);
	assert_string_equal(other.items[0].format->name, "json");
}

static void wrong_outputs_are_told(void **state)
{
	struct whole_outputs outputs = {0}, unknown = {0};
	struct error error;

	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "jsn", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "did you mean json?"));
	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "zzz", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "expected text, json"));
	assert_int_equal(whole_outputs_add(&unknown, formats_of_test, "a.gif", &error), 0);
	assert_int_equal(whole_outputs_finish(&unknown, formats_of_test, &error), -EINVAL);
	assert_non_null(strstr(error.text, "cannot tell the format of a.gif"));
	for (int i = 0; i < WHOLE_OUTPUTS_MAX - 1; i++)
		assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "a.txt", &error), 0);
	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "json", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "a.txt", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats_of_test, "a.txt", &error), -EINVAL);
	assert_int_equal(whole_outputs_set_format(&outputs, formats_of_test, "json", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats_of_test, &error), -EINVAL);
	assert_non_null(strstr(error.text, "--format json belongs to no --output: a.txt has one"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_the_given_one_or_that_of_the_suffix),
		cmocka_unit_test(a_format_that_is_none_is_told_with_those_there_are),
		cmocka_unit_test(outputs_are_known_by_what_they_hold),
		cmocka_unit_test(a_time_in_a_name_makes_a_file_each_interval),
		cmocka_unit_test(a_format_goes_with_the_output_behind_it),
		cmocka_unit_test(a_format_behind_the_last_output_is_that_one_s),
		cmocka_unit_test(without_one_stdout_has_the_first_format),
		cmocka_unit_test(wrong_outputs_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
