// SPDX-License-Identifier: BSD-2-Clause
/* Tests for rows/line_rows: weights of lines, and of callees whose lines nobody knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fake_profile.h"
#include "profile/slice/slice.h"
#include "rows/line_rows.h"

#define APP "/usr/bin/app"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1000,
	 .end = 0x1100,
	 .lines = {{.function = "main", .file = "/src/app.c", .line = 40}}},
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1100,
	 .end = 0x1200,
	 .lines = {{.function = "tiny", .file = "/src/tiny.h", .line = 3, .inlined = true},
		   {.function = "work", .file = "/src/app.c", .line = 9}}},
	FAKE_FUNCTION(APP, 0x1200, 0x1300, "without_lines"),
	{.space = FRAME_KERNEL, .start = 0x100, .end = 0x200, .lines = {{.function = "sys_read"}}},
};

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct line_rows lines;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fake_process(fixture.machine, 100, 1, "app");
	fake_map(fixture.machine, 100, 0x401000, 0x410000, 0x1000, APP);
	fake_profile_init(&fixture.fake, NULL);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	line_rows_done(&fixture->lines);
	fake_profile_done(&fixture->fake);
	fake_machine_free(fixture->machine);
	return 0;
}

static void add_up(struct fixture *fixture)
{
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	assert_int_equal(line_rows_init(&fixture->lines, fixture->fake.profile, PKBPF_PROFILE_CPU),
			 0);
}

static void assert_line(const struct fixture *fixture, size_t index, const char *file,
			uint32_t line, uint64_t self, uint64_t total)
{
	const struct line_row *row = &fixture->lines.rows[index];
	const struct function *function =
		function_table_get(fixture->lines.functions, row->function);

	assert_true(index < fixture->lines.count);
	assert_string_equal(function->file, file);
	assert_int_equal(function->line, line);
	assert_int_equal(row->self, self);
	assert_int_equal(row->total, total);
}

static void callees_without_lines_count_for_the_line_that_called(void **state)
{
	struct fixture *fixture = *state;

	/* main > work(tiny); main > without_lines > kernel; main */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110, 0x401010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x110), FAKE_IPS(0x401210, 0x401010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	add_up(fixture);
	assert_int_equal(fixture->lines.count, 3);
	assert_line(fixture, 0, "/src/app.c", 40, 2, 3);
	assert_line(fixture, 1, "/src/tiny.h", 3, 1, 1);
	assert_line(fixture, 2, "/src/app.c", 9, 0, 1);
	assert_int_equal(fixture->lines.weight, 3);
}

/* Leaf first; functions of ".py" files are Python's. */
static uint64_t self_of_line(const char *const (*stack)[3], size_t count, const char *file)
{
	struct profile *profile = slice_new();
	struct process wanted = {.pid = 5, .comm = "python3"};
	struct profile_row row = {.kind = PKBPF_PROFILE_OFFCPU, .count = 1, .weight = 7};
	struct line_rows lines;
	uint32_t frames[8];
	uint64_t self = 0;

	for (size_t i = 0; i < count; i++) {
		struct symbol_line line = {.function = stack[i][0], .file = stack[i][1], .line = 3};
		struct frame frame = {
			.location = {.space = FRAME_FILE},
			.symbol = {.result = SYMBOL_FOUND,
				   .module = stack[i][2],
				   .lines = &line,
				   .line_count = 1,
				   .flags = strstr(stack[i][1], ".py") ? SYMBOL_IS_PYTHON : 0},
			.named = true};

		frames[i] = profile_put_frame(profile, &frame);
	}
	row.process = process_table_put(profile_processes(profile), &wanted)->id;
	row.stack = profile_intern_stack(profile, frames, count);
	assert_int_equal(profile_add(profile, &row), 0);
	assert_int_equal(line_rows_init(&lines, profile, PKBPF_PROFILE_OFFCPU), 0);
	for (size_t i = 0; i < lines.count; i++)
		if (!strcmp(function_table_get(lines.functions, lines.rows[i].function)->file,
			    file))
			self += lines.rows[i].self;
	line_rows_done(&lines);
	profile_free(profile);
	return self;
}

static void lines_of_the_interpreter_count_for_the_python_line(void **state)
{
	static const char *const wait[][3] = {
		{"clock_nanosleep", "/src/clock_nanosleep.c", "libc.so.6"},
		{"pysleep", "/src/timemodule.c", "python3.11"},
		{"wait", "/app/wait.py", ""},
		{"main", "/src/python.c", "python3.11"}};
	static const char *const extension[][3] = {{"read", "/src/read.c", "libc.so.6"},
						   {"load", "/src/load.c", "load.cpython-311.so"},
						   {"wait", "/app/wait.py", ""}};
	static const char *const program[][3] = {{"read", "/src/read.c", "libc.so.6"},
						 {"main", "/src/main.c", "server"}};

	assert_int_equal(self_of_line(wait, 4, "/app/wait.py"), 7);
	assert_int_equal(self_of_line(wait, 4, "/src/clock_nanosleep.c"), 0);
	assert_int_equal(self_of_line(extension, 3, "/src/load.c"), 7);
	assert_int_equal(self_of_line(program, 2, "/src/read.c"), 7);
}

static void recursion_counts_once(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010, 0x401020, 0x401010));
	add_up(fixture);
	assert_int_equal(fixture->lines.count, 1);
	assert_line(fixture, 0, "/src/app.c", 40, 1, 1);
}

static void stacks_without_lines_have_weight_and_no_row(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x110), FAKE_IPS(0x401210));
	add_up(fixture);
	assert_int_equal(fixture->lines.count, 0);
	assert_int_equal(fixture->lines.weight, 1);
}

static void without_sources_there_is_no_text(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	add_up(fixture);
	assert_null(line_rows_text(&fixture->lines, &fixture->lines.rows[0], fixture->fake.profile,
				   NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(callees_without_lines_count_for_the_line_that_called),
		TEST(recursion_counts_once),
		TEST(stacks_without_lines_have_weight_and_no_row),
		TEST(without_sources_there_is_no_text),
		cmocka_unit_test(lines_of_the_interpreter_count_for_the_python_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
