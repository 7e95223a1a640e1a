// SPDX-License-Identifier: BSD-2-Clause
// Tests that frames become the functions that people know.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "profile/function_table.h"

#define LIB "/usr/lib/libfoo.so"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_FILE,
	 .path = LIB,
	 .start = 0x100,
	 .end = 0x200,
	 .lines = {{.function = "inner", .file = "/src/a.h", .line = 7, .inlined = true},
		   {.function = "middle", .file = "/src/a.c", .line = 8, .inlined = true},
		   {.function = "outer", .file = "/src/a.c", .line = 9}}},
	{.space = FRAME_FILE,
	 .path = LIB,
	 .start = 0x200,
	 .end = 0x300,
	 .lines = {{.function = "inner", .file = "/src/a.h", .line = 7}}},
	{.space = FRAME_FILE,
	 .path = LIB,
	 .start = 0x300,
	 .end = 0x400,
	 .lines = {{.function = ""}}},
	{.space = FRAME_KERNEL, .start = 0x100, .end = 0x200, .lines = {{.function = "schedule"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x100,
	 .end = 0x200,
	 .flags = SYMBOL_IS_JIT,
	 .lines = {{.function = "LazyCompile:~f"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x200,
	 .end = 0x300,
	 .flags = SYMBOL_IS_PYTHON,
	 .lines = {{.function = "Pool.run", .file = "/app/pool.py", .line = 7}}},
	{.space = FRAME_FILE,
	 .path = LIB,
	 .start = 0x500,
	 .end = 0x600,
	 .lines = {{.function = "_PyFunction_Vectorcall.cold"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x300,
	 .end = 0x400,
	 .flags = SYMBOL_IS_PYTHON,
	 .lines = {{.function = "Pool.run", .file = "/app/pool.py"}}},
	{.space = FRAME_ANONYMOUS,
	 .start = 0x400,
	 .end = 0x500,
	 .flags = SYMBOL_IS_PYTHON,
	 .lines = {{.function = "[python]"}}},
};

struct fixture {
	struct fake_profile fake;
	struct function_table *table;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct fake_machine *machine = fake_machine_new();

	fake_profile_init(&fixture.fake, NULL);
	fake_process(machine, 1, 0, "app");
	fake_map(machine, 1, 0x10000, 0x20000, 0, LIB);
	/* Makes the file known as id 0. */
	fake_profile_run(&fixture.fake, machine, symbols, ARRAY_SIZE(symbols));
	fake_machine_free(machine);
	fixture.table = NULL;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	function_table_free(fixture->table);
	fake_profile_done(&fixture->fake);
	return 0;
}

static uint32_t add(struct fixture *fixture, enum frame_space space, uint64_t address)
{
	struct frame_location location = {.space = space, .address = address};

	return profile_intern_frame(fixture->fake.profile, &location);
}

static void build(struct fixture *fixture, struct function_table_options options)
{
	fake_profile_name(&fixture->fake, symbols, ARRAY_SIZE(symbols));
	fixture->table = function_table_new(fixture->fake.profile, &options);
	assert_non_null(fixture->table);
}

static const struct function *function_at(struct fixture *fixture, uint32_t frame, size_t index)
{
	size_t count;
	const uint32_t *list = function_table_frame(fixture->table, frame, &count);

	assert_true(index < count);
	return function_table_get(fixture->table, list[index]);
}

static void inlined_functions_come_before_the_one_around_them(void **state)
{
	struct fixture *fixture = *state;
	uint32_t frame = add(fixture, FRAME_FILE, 0x150);
	size_t count;

	build(fixture, (struct function_table_options){0});
	function_table_frame(fixture->table, frame, &count);
	assert_int_equal(count, 3);
	assert_string_equal(function_at(fixture, frame, 0)->name, "inner");
	assert_int_equal(function_at(fixture, frame, 0)->mark, FUNCTION_INLINED);
	assert_int_equal(function_at(fixture, frame, 1)->mark, FUNCTION_INLINED);
	assert_string_equal(function_at(fixture, frame, 2)->name, "outer");
	assert_int_equal(function_at(fixture, frame, 2)->mark, FUNCTION_PLAIN);
	assert_string_equal(function_at(fixture, frame, 2)->module, "libfoo.so");
	assert_string_equal(function_at(fixture, frame, 2)->file, "");
}

static void merging_counts_inlined_copies_as_their_function(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inlined = add(fixture, FRAME_FILE, 0x150), whole = add(fixture, FRAME_FILE, 0x250);

	build(fixture, (struct function_table_options){.merge = true});
	assert_ptr_equal(function_at(fixture, inlined, 0), function_at(fixture, whole, 0));
	assert_int_equal(function_table_count(fixture->table), 3);
}

static void python_functions_show_their_file(void **state)
{
	struct fixture *fixture = *state;
	uint32_t frame = add(fixture, FRAME_ANONYMOUS, 0x210),
		 no_line = add(fixture, FRAME_ANONYMOUS, 0x310),
		 unknown = add(fixture, FRAME_ANONYMOUS, 0x410);

	build(fixture, (struct function_table_options){0});
	assert_string_equal(function_at(fixture, frame, 0)->name, "Pool.run (pool.py)");
	assert_string_equal(function_at(fixture, frame, 0)->path, "/app/pool.py");
	assert_string_equal(function_at(fixture, frame, 0)->file, "");
	assert_int_equal(function_at(fixture, frame, 0)->mark, FUNCTION_PYTHON);
	assert_ptr_equal(function_at(fixture, frame, 0), function_at(fixture, no_line, 0));
	assert_string_equal(function_at(fixture, unknown, 0)->name, "[python]");
	function_table_free(fixture->table);
	build(fixture, (struct function_table_options){.lines = true});
	assert_string_equal(function_at(fixture, frame, 0)->name, "Pool.run");
	assert_string_equal(function_at(fixture, frame, 0)->file, "/app/pool.py");
	assert_int_equal(function_at(fixture, frame, 0)->line, 7);
	/* No "(pool.py:0)". */
	assert_string_equal(function_at(fixture, no_line, 0)->name, "Pool.run (pool.py)");
}

static void calls_of_python_functions_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct frame_location location = {.space = FRAME_FILE,
					  .object = 0,
					  .address = 0x510,
					  .neighbours = FRAME_CALLS_PYTHON};
	uint32_t between = profile_intern_frame(fixture->fake.profile, &location);
	uint32_t innermost = add(fixture, FRAME_FILE, 0x510);
	size_t count;

	build(fixture, (struct function_table_options){0});
	assert_int_not_equal(between, innermost);
	function_table_frame(fixture->table, between, &count);
	assert_int_equal(count, 0);
	assert_string_equal(function_at(fixture, innermost, 0)->name,
			    "_PyFunction_Vectorcall.cold");
}

static void lines_keep_places_in_one_function_apart(void **state)
{
	struct fixture *fixture = *state;
	uint32_t frame = add(fixture, FRAME_FILE, 0x150);

	build(fixture, (struct function_table_options){.lines = true});
	assert_string_equal(function_at(fixture, frame, 1)->file, "/src/a.c");
	assert_int_equal(function_at(fixture, frame, 1)->line, 8);
}

static void an_address_without_a_name_shows_module_and_address(void **state)
{
	struct fixture *fixture = *state;
	uint32_t in_file = add(fixture, FRAME_FILE, 0x1234),
		 nowhere = add(fixture, FRAME_UNMAPPED, 9);
	uint32_t unnamed = add(fixture, FRAME_FILE, 0x310);

	build(fixture, (struct function_table_options){0});
	assert_string_equal(function_at(fixture, in_file, 0)->name, "[libfoo.so+0x1234]");
	assert_false(function_at(fixture, in_file, 0)->named);
	assert_string_equal(function_at(fixture, nowhere, 0)->name, "[unknown]");
	assert_string_equal(function_at(fixture, unnamed, 0)->name, "[libfoo.so+0x310]");
}

static void merging_makes_one_entry_of_a_module_without_names(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = add(fixture, FRAME_FILE, 0x1234), b = add(fixture, FRAME_FILE, 0x5678);

	build(fixture, (struct function_table_options){.merge = true});
	assert_ptr_equal(function_at(fixture, a, 0), function_at(fixture, b, 0));
	assert_string_equal(function_at(fixture, a, 0)->name, "[libfoo.so]");
}

static void a_module_is_one_function(void **state)
{
	struct fixture *fixture = *state;
	uint32_t named = add(fixture, FRAME_FILE, 0x150),
		 unnamed = add(fixture, FRAME_FILE, 0x1234),
		 nowhere = add(fixture, FRAME_UNMAPPED, 9);
	uint32_t end = add(fixture, FRAME_TRUNCATED, PKBPF_END_MAX_DEPTH);
	size_t count;

	build(fixture, (struct function_table_options){.modules = true, .lines = true});
	/* Of inlined functions, too. */
	function_table_frame(fixture->table, named, &count);
	assert_int_equal(count, 1);
	assert_ptr_equal(function_at(fixture, named, 0), function_at(fixture, unnamed, 0));
	assert_string_equal(function_at(fixture, named, 0)->name, "libfoo.so");
	assert_true(function_at(fixture, named, 0)->named);
	assert_string_equal(function_at(fixture, nowhere, 0)->name, "[unknown]");
	assert_false(function_at(fixture, nowhere, 0)->named);
	assert_int_equal(function_at(fixture, end, 0)->mark, FUNCTION_TRUNCATED);
}

static void regions_and_own_work_are_not_of_an_unknown_module(void **state)
{
	struct fixture *fixture = *state;
	uint32_t region = profile_intern_region(fixture->fake.profile, 1, "request"),
		 own = profile_intern_own(fixture->fake.profile);

	build(fixture, (struct function_table_options){.modules = true});
	assert_string_equal(function_at(fixture, region, 0)->name, "[request]");
	assert_string_equal(function_at(fixture, own, 0)->name, PROFILE_OWN_NAME);
	assert_int_equal(function_at(fixture, own, 0)->mark, FUNCTION_KERNEL);
}

static void kernel_and_jit_code_are_marked(void **state)
{
	struct fixture *fixture = *state;
	uint32_t kernel = add(fixture, FRAME_KERNEL, 0x150),
		 jit = add(fixture, FRAME_ANONYMOUS, 0x150);
	uint32_t end = add(fixture, FRAME_TRUNCATED, PKBPF_END_MAX_DEPTH);

	build(fixture, (struct function_table_options){0});
	assert_int_equal(function_at(fixture, kernel, 0)->mark, FUNCTION_KERNEL);
	assert_int_equal(function_at(fixture, jit, 0)->mark, FUNCTION_JIT);
	assert_int_equal(function_at(fixture, end, 0)->mark, FUNCTION_TRUNCATED);
	assert_string_equal(function_at(fixture, end, 0)->name,
			    "[truncated: deeper than the limit]");
}

static void a_frame_added_after_naming_is_unknown(void **state)
{
	struct fixture *fixture = *state;
	struct function_table_options options = {0};
	uint32_t frame = add(fixture, FRAME_FILE, 0x150);
	size_t count;

	fixture->table = function_table_new(fixture->fake.profile, &options);
	assert_string_equal(function_at(fixture, frame, 0)->name, "[unknown]");
	assert_null(function_table_frame(fixture->table, frame + 1, &count));
	assert_int_equal(count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(inlined_functions_come_before_the_one_around_them),
		TEST(merging_counts_inlined_copies_as_their_function),
		TEST(python_functions_show_their_file),
		TEST(calls_of_python_functions_are_left_out),
		TEST(lines_keep_places_in_one_function_apart),
		TEST(an_address_without_a_name_shows_module_and_address),
		TEST(merging_makes_one_entry_of_a_module_without_names),
		TEST(a_module_is_one_function),
		TEST(regions_and_own_work_are_not_of_an_unknown_module),
		TEST(kernel_and_jit_code_are_marked),
		TEST(a_frame_added_after_naming_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
