// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_function: names and positions in the ScopeInfos of all versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_v8.h"
#include "v8/v8_function.h"

static const uint32_t versions[][2] = {{10, 2}, {11, 3}, {12, 4}, {13, 6}};

static void check_name(struct fake_v8 *fake, const struct fake_v8_function *wanted,
		       const char *name)
{
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t script = fake_v8_script(fake, 7, "/srv/view.js", "x"),
		 shared = fake_v8_function(fake, script, wanted);
	struct v8_function function;

	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), 0);
	assert_string_equal(function.name, name);
	assert_int_equal(function.start, wanted->start);
	assert_int_equal(function.end, wanted->end);
	assert_int_equal(function.script, script);
	assert_int_equal(function.script_id, 7);
	assert_int_equal(function.identity, fake->layout->kernel.has_unique
						    ? wanted->unique
						    : pkbpf_v8_identity(7, wanted->literal));
}

static void test_names(void **state)
{
	static const struct fake_v8_function rows[] = {
		{.name = "render", .literal = 3, .unique = 30, .start = 10, .end = 90},
		{.name = "render", .locals = 5, .literal = 3, .unique = 30, .start = 1, .end = 2},
		{.name = "render", .locals = 74, .literal = 3, .unique = 30, .start = 1, .end = 2},
		{.name = "render", .locals = 75, .literal = 3, .unique = 30, .start = 1, .end = 2},
		{.name = "", .inferred = "render", .literal = 3, .unique = 31, .end = 2},
		{.name = "render", .inferred = "other", .literal = 3, .unique = 31, .end = 2},
		{.inferred = "render", .has_class = true, .literal = 3, .unique = 30, .end = 9},
		{.name = "render", .is_module = true, .locals = 2, .literal = 3, .unique = 1},
	};

	(void)state;
	for (size_t version = 0; version < 4; version++) {
		struct fake_v8 *fake = fake_v8_new(versions[version][0], versions[version][1]);

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			check_name(fake, &rows[i], "render");
		check_name(fake, &(struct fake_v8_function){.literal = 1, .unique = 9}, "");
		free(fake);
	}
}

/* A function that was not compiled, or whose bytecode was flushed. */
static void test_without_scope(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	struct fake_v8_function wanted = {.name = "a", .literal = 2};
	uint64_t shared = fake_v8_function(fake, fake_v8_script(fake, 7, NULL, "x"), &wanted);
	struct v8_function function;

	(void)state;
	fake_v8_word(fake, shared, fake->layout->kernel.shared_name, fake_v8_string(fake, "lazy"));
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), 0);
	assert_string_equal(function.name, "lazy");
	assert_int_equal(function.start, -1);
	fake_v8_smi(fake, shared, fake->layout->kernel.shared_name, 0);
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), 0);
	assert_string_equal(function.name, "");
	free(fake);
}

static void test_no_function(void **state)
{
	struct fake_v8 *fake = fake_v8_new(13, 6);
	struct v8_memory memory = fake_v8_memory(fake);
	struct fake_v8_function wanted = {.name = "a", .literal = 2, .unique = 5};
	uint64_t script = fake_v8_script(fake, 7, "a.js", "x"),
		 shared = fake_v8_function(fake, script, &wanted);
	struct v8_function function;

	(void)state;
	/* a builtin: in the place of the script is none */
	fake_v8_word(fake, shared, fake->layout->kernel.shared_script,
		     fake_v8_object(fake, FAKE_V8_ODDBALL, 8));
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), -ENOENT);
	assert_int_equal(v8_function_read(&memory, fake->layout, script, &function), -ENOENT);
	assert_int_not_equal(v8_function_read(&memory, fake->layout, 0, &function), 0);
	fake->is_gone = true;
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), -ESRCH);
	free(fake);
}

static void test_wrong_locals(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	struct fake_v8_function wanted = {.name = "a", .literal = 2};
	uint64_t scope = fake_v8_scope(fake, &wanted),
		 shared = fake_v8_function(fake, fake_v8_script(fake, 7, NULL, "x"), &wanted);
	struct v8_function function;

	(void)state;
	fake_v8_word(fake, shared, fake->layout->kernel.shared_name, scope);
	fake_v8_smi(fake, scope, 24, -1);
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), -EINVAL);
	fake_v8_smi(fake, scope, 24, INT32_MAX);
	assert_int_equal(v8_function_read(&memory, fake->layout, shared, &function), -EINVAL);
	free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_without_scope),
		cmocka_unit_test(test_no_function),
		cmocka_unit_test(test_wrong_locals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
