// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_code: code by an address in it, its functions, and what is inlined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_v8.h"
#include "v8/v8_code.h"

static const uint32_t versions[][2] = {{10, 2}, {11, 3}, {12, 4}, {13, 6}};

struct program {
	struct fake_v8 *fake;
	struct v8_memory memory;
	uint64_t outer, inner; /* functions */
};

static struct program make_program(size_t version)
{
	struct program program = {.fake = fake_v8_new(versions[version][0], versions[version][1])};
	struct fake_v8_function outer = {.name = "outer", .literal = 1, .unique = 11, .end = 50},
				inner = {.name = "inner", .literal = 2, .unique = 12, .end = 20};
	uint64_t script = fake_v8_script(program.fake, 7, "a.js", "x\ny\nz\n");

	program.memory = fake_v8_memory(program.fake);
	program.outer = fake_v8_function(program.fake, script, &outer);
	program.inner = fake_v8_function(program.fake, script, &inner);
	return program;
}

/* Offsets 0 to 19: outer at 2; from 20 on: inner at 4, which outer calls at 3. */
static uint64_t make_optimized(struct program *program, uint64_t *ret_code)
{
	const struct fake_v8_entry entries[] = {{0, fake_v8_raw_position(2, 0)},
						{20, fake_v8_raw_position(4, 1)}};

	return fake_v8_code(program->fake, program->fake->layout->baseline_kind + 1U, 3000,
			    fake_v8_deopt(program->fake, program->outer, program->inner, 3),
			    fake_v8_positions(program->fake, entries, 2), ret_code);
}

static void check_optimized(size_t version)
{
	struct program program = make_program(version);
	const struct v8_layout *layout = program.fake->layout;
	uint64_t object, shared, start = make_optimized(&program, &object);
	struct v8_frame frames[V8_MAX_INLINED];
	struct v8_code code;

	assert_int_equal(v8_code_find(&program.memory, layout, start + 2999, &code), 0);
	assert_int_equal(code.object, object);
	assert_int_equal(code.start, start);
	assert_int_equal(code.size, 3000);
	assert_true(code.is_optimized);
	assert_true(v8_code_is_there(&program.memory, layout, &code));
	assert_int_equal(v8_code_function(&program.memory, layout, &code, &shared), 0);
	assert_int_equal(shared, program.outer);
	assert_int_equal(v8_code_frames(&program.memory, layout, &code, start + 19, frames), 1);
	assert_int_equal(frames[0].shared, 0);
	assert_int_equal(frames[0].position, 2);
	assert_int_equal(v8_code_frames(&program.memory, layout, &code, start + 20, frames), 2);
	assert_int_equal(frames[0].shared, program.inner);
	assert_int_equal(frames[0].position, 4);
	assert_int_equal(frames[1].shared, 0);
	assert_int_equal(frames[1].position, 3);
	/* at its start and behind it is something else */
	assert_int_equal(v8_code_find(&program.memory, layout, start, &code), 0);
	assert_int_equal(v8_code_find(&program.memory, layout, start + 3000, &code), -ENOENT);
	free(program.fake);
}

static void test_optimized(void **state)
{
	(void)state;
	for (size_t version = 0; version < 4; version++)
		check_optimized(version);
}

/* Another piece of code has taken the place. */
static void test_replaced(void **state)
{
	struct program program = make_program(1);
	const struct v8_layout *layout = program.fake->layout;
	uint64_t object, start = make_optimized(&program, &object), other;
	struct v8_code code;

	(void)state;
	fake_v8_code(program.fake, 9, 64, 1, 1, &other);
	assert_int_equal(v8_code_find(&program.memory, layout, start + 5, &code), 0);
	fake_v8_word(program.fake, start + 1 - layout->header, 8, other);
	assert_false(v8_code_is_there(&program.memory, layout, &code));
	assert_int_equal(v8_code_find(&program.memory, layout, start + 5, &code), -ENOENT);
	free(program.fake);
}

/* Without the inlined call the outer function is all that is known. */
static void test_lost_inlining(void **state)
{
	struct program program = make_program(3);
	const struct v8_layout *layout = program.fake->layout;
	const struct fake_v8_entry entry = {0, fake_v8_raw_position(4, 9)};
	struct v8_frame frames[V8_MAX_INLINED];
	struct v8_code code;
	uint64_t start, object, shared;

	(void)state;
	start = fake_v8_code(program.fake, 12, 100,
			     fake_v8_deopt(program.fake, program.outer, program.inner, 3),
			     fake_v8_positions(program.fake, &entry, 1), &object);
	assert_int_equal(v8_code_find(&program.memory, layout, start + 5, &code), 0);
	assert_int_equal(v8_code_frames(&program.memory, layout, &code, start + 5, frames), 1);
	assert_int_equal(frames[0].shared, 0);
	assert_int_equal(frames[0].position, -1);
	program.fake->is_gone = true;
	assert_int_equal(v8_code_frames(&program.memory, layout, &code, start + 5, frames), 1);
	assert_int_not_equal(v8_code_function(&program.memory, layout, &code, &shared), 0);
	free(program.fake);
}

static void check_baseline(size_t version)
{
	static const uint8_t bytecodes[] = {4, 4, 4}, offsets[] = {10, 5, 5, 5};
	struct program program = make_program(version);
	const struct v8_layout *layout = program.fake->layout;
	const struct fake_v8_entry entries[] = {{0, fake_v8_raw_position(2, 0)},
						{2, fake_v8_raw_position(4, 0)}};
	uint64_t positions = fake_v8_positions(program.fake, entries, 2), object,
		 bytecode = fake_v8_bytecode(program.fake, program.outer, bytecodes,
					     sizeof(bytecodes), positions);
	struct v8_bytecode_sizes sizes = {.count = 5};
	struct v8_code code;
	uint64_t start;

	sizes.bytes[0][4] = 1;
	assert_int_equal(v8_code_bytecode_position(&program.memory, layout, program.outer, 1), 2);
	assert_int_equal(v8_code_bytecode_position(&program.memory, layout, program.outer, 2), 4);
	start = fake_v8_code(program.fake, layout->baseline_kind, 64, bytecode,
			     fake_v8_bytes(program.fake, offsets, sizeof(offsets)), &object);
	assert_int_equal(v8_code_find(&program.memory, layout, start + 12, &code), 0);
	assert_true(code.is_baseline);
	assert_false(v8_code_is_baseline_of(&program.memory, &code, program.outer));
	fake_v8_word(program.fake, program.outer, 8, object);
	assert_true(v8_code_is_baseline_of(&program.memory, &code, program.outer));
	/* also through the baseline code */
	assert_int_equal(v8_code_bytecode_position(&program.memory, layout, program.outer, 2), 4);
	assert_int_equal(v8_code_baseline_position(&program.memory, layout, &sizes, &code,
						   program.outer, start + 12),
			 2);
	assert_int_equal(v8_code_baseline_position(&program.memory, layout, &sizes, &code,
						   program.outer, start + 21),
			 4);
	assert_int_equal(v8_code_baseline_position(&program.memory, layout, &sizes, &code,
						   program.outer, start + 5),
			 -1);
	free(program.fake);
}

static void test_baseline(void **state)
{
	(void)state;
	for (size_t version = 0; version < 4; version++)
		check_baseline(version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optimized),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_lost_inlining),
		cmocka_unit_test(test_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
