// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_script: lines of sources with all ends that JavaScript knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_v8.h"
#include "v8/v8_script.h"

static void test_lines(void **state)
{
	/* positions: 0 a, 2 b, 5 c, 7 (empty), 8 d */
	static const uint32_t expected[][2] = {{0, 1}, {1, 1}, {2, 2}, {4, 2},
					       {5, 3}, {7, 4}, {8, 5}, {99, 5}};
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t reference = fake_v8_script(fake, 9, "file:///srv/a.js", "a\nb\r\nc\r\nd");
	struct v8_script script;

	(void)state;
	fake_v8_word(fake, reference, 8, fake_v8_string(fake, "a\nb\r\nc\n\nd"));
	assert_int_equal(v8_script_read(&memory, fake->layout, reference, &script), 0);
	assert_int_equal(script.id, 9);
	assert_string_equal(script.path, "file:///srv/a.js");
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(v8_script_line(&script, (int32_t)expected[i][0]), expected[i][1]);
	assert_int_equal(v8_script_line(&script, -1), 0);
	script.line_offset = 10;
	assert_int_equal(v8_script_line(&script, 2), 12);
	/* what a target says */
	script.line_offset = -3;
	assert_int_equal(v8_script_line(&script, 2), 0);
	script.line_offset = INT32_MAX;
	assert_int_equal(v8_script_line(&script, 2), 0);
	v8_script_done(&script);
	assert_int_equal(v8_script_line(&script, 2), 0);
	free(fake);
}

/* "\r" alone, and the ends of Unicode. */
static void test_other_ends(void **state)
{
	static const uint16_t units[] = {'a', '\r', 'b', 0x2028, 'c', 0x2029, 'd', '\r'};
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t reference = fake_v8_script(fake, 9, NULL, ""),
		 source = fake_v8_object(fake, FAKE_V8_TWO_BYTE, 16 + sizeof(units));
	struct v8_script script;

	(void)state;
	fake_v8_u32(fake, source, 12, ARRAY_SIZE(units));
	fake_v8_put(fake, source, 16, units, sizeof(units));
	fake_v8_word(fake, reference, 8, source);
	assert_int_equal(v8_script_read(&memory, fake->layout, reference, &script), 0);
	assert_string_equal(script.path, "");
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(v8_script_line(&script, (int32_t)(2 * i)), i + 1);
	v8_script_done(&script);
	free(fake);
}

static void test_without_source(void **state)
{
	struct fake_v8 *fake = fake_v8_new(13, 6);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t reference = fake_v8_script(fake, 9, "a.js", "x");
	struct v8_script script;

	(void)state;
	fake_v8_word(fake, reference, 8, fake_v8_object(fake, FAKE_V8_ODDBALL, 32));
	assert_int_equal(v8_script_read(&memory, fake->layout, reference, &script), 0);
	assert_false(script.has_lines);
	assert_int_equal(v8_script_line(&script, 0), 0);
	v8_script_done(&script);
	fake_v8_word(fake, reference, 64, 1);
	assert_int_equal(v8_script_read(&memory, fake->layout, reference, &script), -EINVAL);
	free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_other_ends),
		cmocka_unit_test(test_without_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
