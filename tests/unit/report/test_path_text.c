// SPDX-License-Identifier: BSD-2-Clause
/* Tests paths of frames as text: short, clean, with their end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "report/path_text.h"
#include "report/text_table.h"

static struct path_step step_of(const char *name, enum function_mark mark, bool enters_kernel)
{
	const struct function function = {
		.name = name, .module = "", .file = "", .path = "", .mark = mark, .named = true};
	struct path_step step;

	path_step_function(&step, &function, enters_kernel);
	return step;
}

static void expect_step(const char *name, const char *text)
{
	struct path_step step = step_of(name, FUNCTION_PLAIN, false);

	assert_string_equal(step.text, text);
	assert_int_equal(step.columns, text_columns(text));
}

static void long_names_lose_arguments_and_templates_first(void **state)
{
	expect_step("main", "main");
	/* Short enough as it is. */
	expect_step("f(int)", "f(int)");
	expect_step("std::map<std::basic_string<char>, std::vector<int>>::operator[](std::string "
		    "const&, unsigned long)",
		    "std::map::operator[]");
	expect_step("(anonymous namespace)::some_quite_long_function_of_a_file(std::vector<int> "
		    "const&, unsigned long)",
		    "some_quite_long_function_of_a_file");
}

static void a_class_of_java_needs_no_packages(void **state)
{
	expect_step("java.util.concurrent.ThreadPoolExecutor$Worker.run",
		    "ThreadPoolExecutor$Worker.run");
	expect_step("com.example.shop_2.Cart.add", "Cart.add");
	expect_step("Cart.add", "Cart.add");
	/* Of Go. */
	expect_step("time.Time.Add", "time.Time.Add");
	expect_step("runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker");
	expect_step("net.example.run", "net.example.run");
	expect_step("a.b.C", "a.b.C");
	expect_step("..A.b", "..A.b");
}

static void names_that_stay_long_keep_their_end(void **state)
{
	char name[400];
	struct path_step step;

	for (size_t length = 1; length + 1 < sizeof(name); length++) {
		memset(name, 'a', length);
		name[length - 1] = 'z';
		name[length] = '\0';
		step = step_of(name, FUNCTION_PLAIN, false);
		assert_true(step.columns <= PATH_NAME_COLUMNS);
		assert_int_equal(step.text[strlen(step.text) - 1], 'z');
		assert_int_equal(!strncmp(step.text, "...", 3), length > PATH_NAME_COLUMNS);
	}
}

static void the_kernel_is_marked_where_it_begins_and_copies_are_their_function(void **state)
{
	struct path_step step = step_of("vfs_read.isra.0", FUNCTION_KERNEL, true);

	assert_string_equal(step.text, "[k] vfs_read");
	step = step_of("vfs_read.isra.0", FUNCTION_KERNEL, false);
	assert_string_equal(step.text, "vfs_read");
	step = step_of("f.constprop.0", FUNCTION_PLAIN, false);
	assert_string_equal(step.text, "f.constprop.0");
}

static void names_move_no_cursor(void **state)
{
	struct path_step step = step_of("a\x1b[2Jb\nc", FUNCTION_PLAIN, false);

	assert_null(strpbrk(step.text, "\x1b\n"));
	path_step_comm(&step, "\x1b]0;x\x07");
	assert_null(strpbrk(step.text, "\x1b\x07"));
	path_step_comm(&step, "");
	assert_string_equal(step.text, "[unknown]:");
}

static void a_path_has_its_comm_before_its_frames(void **state)
{
	struct path_step steps[3];
	char *text;

	path_step_comm(&steps[0], "app");
	steps[1] = step_of("main", FUNCTION_PLAIN, false);
	steps[2] = step_of("read", FUNCTION_PLAIN, false);
	text = path_text(steps, 3, 80);
	assert_string_equal(text, "app: main > read");
	free(text);
	text = path_text(steps + 1, 2, 80);
	assert_string_equal(text, "main > read");
	free(text);
	text = path_text(steps, 1, 80);
	assert_string_equal(text, "app:");
	free(text);
}

static void what_does_not_fit_is_left_out_at_the_begin(void **state)
{
	struct path_step steps[21];
	char name[16];

	path_step_comm(&steps[0], "app");
	for (int i = 1; i <= 20; i++) {
		snprintf(name, sizeof(name), "f%02d", i);
		steps[i] = step_of(name, FUNCTION_PLAIN, false);
	}
	for (size_t room = 0; room < 140; room++) {
		char *text = path_text(steps, 21, room);

		/* The last frame is always there, and the rest within the room. */
		assert_non_null(strstr(text, "f20"));
		assert_true(text_columns(text) <= room || !strcmp(text, "app: ... > f20"));
		assert_int_equal(strncmp(text, "app: ", 5), 0);
		assert_int_equal(strstr(text, "...") != NULL, strstr(text, "f01") == NULL);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names_lose_arguments_and_templates_first),
		cmocka_unit_test(a_class_of_java_needs_no_packages),
		cmocka_unit_test(names_that_stay_long_keep_their_end),
		cmocka_unit_test(
			the_kernel_is_marked_where_it_begins_and_copies_are_their_function),
		cmocka_unit_test(names_move_no_cursor),
		cmocka_unit_test(a_path_has_its_comm_before_its_frames),
		cmocka_unit_test(what_does_not_fit_is_left_out_at_the_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
