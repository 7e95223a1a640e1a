// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_string: strings of all kinds, and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_v8.h"
#include "v8/v8_string.h"

static void check(struct fake_v8 *fake, uint64_t string, const char *expected)
{
	struct v8_memory memory = fake_v8_memory(fake);
	char text[64];

	assert_int_equal(v8_string_read(&memory, string, text, sizeof(text)), 0);
	assert_string_equal(text, expected);
}

static void test_kinds(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	uint64_t ab = fake_v8_string(fake, "render"), cd = fake_v8_string(fake, "Table");
	uint64_t cons = fake_v8_made_string(fake, FAKE_V8_CONS, 11, ab, cd);
	uint64_t empty = fake_v8_string(fake, "");

	(void)state;
	check(fake, ab, "render");
	check(fake, empty, "");
	check(fake, cons, "renderTable");
	check(fake, fake_v8_made_string(fake, FAKE_V8_CONS, 11, cons, empty), "renderTable");
	/* from the fifth unit on, across both parts */
	check(fake, fake_v8_made_string(fake, FAKE_V8_SLICED, 4, cons, 4ULL << 32), "erTa");
	check(fake, fake_v8_made_string(fake, FAKE_V8_SLICED, 3, cons, 8ULL << 32), "ble");
	check(fake, fake_v8_made_string(fake, FAKE_V8_SLICED, 3, cons, 0), "ren");
	check(fake, fake_v8_made_string(fake, FAKE_V8_THIN, 11, cons, 0), "renderTable");
	check(fake, fake_v8_made_string(fake, FAKE_V8_EXTERNAL, 6, 0, ab - 1 + 16), "render");
	free(fake);
}

static void test_two_bytes(void **state)
{
	static const uint16_t units[] = {'h', 0xe9, 0x4e16, 0xd83d, 0xde00, 0xdc00, 0, 'z'};
	struct fake_v8 *fake = fake_v8_new(11, 3);
	uint64_t string = fake_v8_object(fake, FAKE_V8_TWO_BYTE, 16 + sizeof(units));

	(void)state;
	fake_v8_u32(fake, string, 12, ARRAY_SIZE(units));
	fake_v8_put(fake, string, 16, units, sizeof(units));
	check(fake, string, "h\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbdz");
	free(fake);
}

/* A name is cut between characters. */
static void test_cut(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t string = fake_v8_string(fake, "abc\xe9");
	char text[8];

	(void)state;
	assert_int_equal(v8_string_read(&memory, string, text, 5), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(v8_string_read(&memory, string, text, 6), 0);
	assert_string_equal(text, "abc\xc3\xa9");
	free(fake);
}

static void test_hostile(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t self = fake_v8_made_string(fake, FAKE_V8_CONS, 1 << 20, 0, 0),
		 thin = fake_v8_made_string(fake, FAKE_V8_THIN, 5, 0, 0),
		 large = fake_v8_string(fake, "x"), array = fake_v8_bytes(fake, "abcdefgh", 8);
	char text[64];

	(void)state;
	fake_v8_word(fake, self, 16, self);
	fake_v8_word(fake, self, 24, self);
	assert_int_not_equal(v8_string_read(&memory, self, text, sizeof(text)), 0);
	fake_v8_word(fake, thin, 16, thin);
	assert_int_equal(v8_string_read(&memory, thin, text, sizeof(text)), -EFBIG);
	fake_v8_u32(fake, large, 12, 1U << 31);
	assert_int_equal(v8_string_read(&memory, large, text, sizeof(text)), -EFBIG);
	assert_int_equal(v8_string_read(&memory, array, text, sizeof(text)), -EINVAL);
	assert_int_equal(v8_string_read(&memory, large - 1, text, sizeof(text)), -EINVAL);
	/* A slice behind the end of its parent. */
	assert_int_equal(
		v8_string_read(&memory,
			       fake_v8_made_string(fake, FAKE_V8_SLICED, 3,
						   fake_v8_string(fake, "abcd"), 2ULL << 32),
			       text, sizeof(text)),
		-EINVAL);
	fake->is_gone = true;
	assert_int_equal(v8_string_read(&memory, large, text, sizeof(text)), -ESRCH);
	free(fake);
}

/* A path of 40 folders, each joined to those before with a separator: 121 parts. */
static uint64_t joined(struct fake_v8 *fake, uint32_t folders)
{
	uint64_t path = fake_v8_string(fake, "a"), next = fake_v8_string(fake, "/b");

	for (uint32_t i = 0; i < folders; i++)
		path = fake_v8_made_string(fake, FAKE_V8_CONS, 3 + 2 * i, path,
					   fake_v8_made_string(fake, FAKE_V8_THIN, 2, next, 0));
	return path;
}

static void test_parts(void **state)
{
	struct fake_v8 *fake = fake_v8_new(11, 3);
	struct v8_memory memory = fake_v8_memory(fake);
	uint64_t self = fake_v8_made_string(fake, FAKE_V8_CONS, 1 << 20, 0, 0);
	char text[256];

	(void)state;
	assert_int_equal(v8_string_read(&memory, joined(fake, 40), text, sizeof(text)), 0);
	assert_int_equal(strlen(text), 81);
	assert_int_equal(v8_string_read(&memory, joined(fake, 60), text, sizeof(text)), -EFBIG);
	/* One that is made of itself is not read for long. */
	fake_v8_word(fake, self, 16, self);
	fake_v8_word(fake, self, 24, self);
	fake->reads = 0;
	assert_int_equal(v8_string_read(&memory, self, text, sizeof(text)), -EFBIG);
	assert_true(fake->reads < 1000);
	free(fake);
}

static void test_records(void **state)
{
	struct pkbpf_v8_string string = {.width = 1, .bytes = 3, .text = "a\xe9z"};
	char text[16];

	(void)state;
	v8_string_text(&string, text, sizeof(text));
	assert_string_equal(text, "a\xc3\xa9z");
	string = (struct pkbpf_v8_string){.width = 2, .bytes = 5, .text = "a\0\xac\x20z"};
	v8_string_text(&string, text, sizeof(text));
	assert_string_equal(text, "a\xe2\x82\xac");
	string.width = 0;
	v8_string_text(&string, text, sizeof(text));
	assert_string_equal(text, "");
	string = (struct pkbpf_v8_string){.width = 1, .bytes = UINT16_MAX};
	memset(string.text, 'x', sizeof(string.text));
	v8_string_text(&string, text, 4);
	assert_string_equal(text, "xxx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_two_bytes),
		cmocka_unit_test(test_cut),   cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
