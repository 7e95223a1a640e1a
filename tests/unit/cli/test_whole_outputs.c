// SPDX-License-Identifier: BSD-2-Clause
/* Which output gets which format, and what becomes of a file that could not be written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "temp_tree.h"
#include "base/array.h"
#include "cli/whole_outputs.h"

static const struct file_format table[] = {
	{"text", ".txt", "first"},
	{"json", ".json", "second"},
	{"html", ".html", "third"},
};

static const struct file_format *formats(size_t index)
{
	return index < ARRAY_SIZE(table) ? &table[index] : NULL;
}

static const char *format_at(const struct whole_outputs *outputs, size_t index)
{
	assert_true(index < outputs->count);
	return outputs->items[index].format ? outputs->items[index].format->name : "none";
}

static void without_an_output_it_is_stdout_in_the_first_format(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), 0);
	assert_int_equal(outputs.count, 1);
	assert_string_equal(outputs.items[0].path, "-");
	assert_string_equal(format_at(&outputs, 0), "text");
}

static void a_format_alone_is_that_of_stdout(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	assert_int_equal(whole_outputs_set_format(&outputs, formats, "json", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), 0);
	assert_int_equal(outputs.count, 1);
	assert_string_equal(outputs.items[0].path, "-");
	assert_string_equal(format_at(&outputs, 0), "json");
}

static void suffixes_and_names_choose_formats(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	assert_int_equal(whole_outputs_add(&outputs, formats, "a.json", &error), 0);
	assert_int_equal(whole_outputs_set_format(&outputs, formats, "html", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "b.json", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "c.txt", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "-", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), 0);
	assert_int_equal(outputs.count, 4);
	assert_string_equal(format_at(&outputs, 0), "json");
	assert_string_equal(format_at(&outputs, 1), "html");
	assert_string_equal(format_at(&outputs, 2), "text");
	assert_string_equal(format_at(&outputs, 3), "text");
}

static void a_format_at_the_end_is_that_of_the_output_before_it(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	assert_int_equal(whole_outputs_add(&outputs, formats, "a.json", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "b", &error), 0);
	assert_int_equal(whole_outputs_set_format(&outputs, formats, "html", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), 0);
	assert_string_equal(format_at(&outputs, 0), "json");
	assert_string_equal(format_at(&outputs, 1), "html");
	assert_null(outputs.pending);
	/* That one has a name already. */
	outputs = (struct whole_outputs){0};
	assert_int_equal(whole_outputs_set_format(&outputs, formats, "html", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "a", &error), 0);
	assert_int_equal(whole_outputs_set_format(&outputs, formats, "json", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), -EINVAL);
	assert_string_equal(error.text, "--format json belongs to no --output: a has one");
}

static void what_cannot_be_told_is_refused(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	assert_int_equal(whole_outputs_set_format(&outputs, formats, "jsno", &error), -EINVAL);
	assert_string_equal(error.text, "invalid value 'jsno' for --format; did you mean json?");
	assert_int_equal(whole_outputs_set_format(&outputs, formats, "spreadsheet", &error),
			 -EINVAL);
	assert_string_equal(error.text, "invalid value 'spreadsheet' for --format: expected text, "
					"json, html");
	assert_null(outputs.pending);
	assert_int_equal(whole_outputs_add(&outputs, formats, "a.xyz", &error), 0);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), -EINVAL);
	assert_string_equal(error.text,
			    "cannot tell the format of a.xyz by its suffix; use --format");
}

static void there_is_room_for_so_many(void **state)
{
	struct whole_outputs outputs = {0};
	struct error error = {0};

	for (int i = 0; i < WHOLE_OUTPUTS_MAX; i++)
		assert_int_equal(whole_outputs_add(&outputs, formats, "a.json", &error), 0);
	assert_int_equal(whole_outputs_add(&outputs, formats, "a.json", &error), -EINVAL);
	assert_int_equal(outputs.count, WHOLE_OUTPUTS_MAX);
	assert_int_equal(whole_outputs_finish(&outputs, formats, &error), 0);
}

static int write_words(const void *context, FILE *out)
{
	fputs(context, out);
	return 0;
}

static int write_half(const void *context, FILE *out)
{
	fputs(context, out);
	return -EBADMSG;
}

static void a_file_is_there_once_it_is_whole(void **state)
{
	const struct invoking_user user = {0};
	struct error error = {0};
	struct temp_tree tree;
	char text[16] = "";
	FILE *file;

	temp_tree_init(&tree);
	assert_int_equal(
		whole_output_write(temp_tree_path(&tree, "a"), &user, write_words, "words", &error),
		0);
	file = fopen(temp_tree_path(&tree, "a"), "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "words");
	assert_int_equal(
		whole_output_write(temp_tree_path(&tree, "b"), &user, write_half, "half", &error),
		-EBADMSG);
	assert_non_null(strstr(error.text, "cannot write "));
	assert_int_equal(access(temp_tree_path(&tree, "b"), F_OK), -1);
	/* What was there stays. */
	assert_true(whole_output_write(temp_tree_path(&tree, "a"), &user, write_half, "half",
				       &error) < 0);
	assert_int_equal(temp_tree_stat(&tree, "a").st_size, 5);
	assert_true(whole_output_write(temp_tree_path(&tree, "none/a"), &user, write_words, "words",
				       &error) < 0);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_output_it_is_stdout_in_the_first_format),
		cmocka_unit_test(a_format_alone_is_that_of_stdout),
		cmocka_unit_test(suffixes_and_names_choose_formats),
		cmocka_unit_test(a_format_at_the_end_is_that_of_the_output_before_it),
		cmocka_unit_test(what_cannot_be_told_is_refused),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(a_file_is_there_once_it_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
