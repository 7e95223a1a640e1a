// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_positions: tables that V8 could have written, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_v8.h"
#include "v8/v8_positions.h"

/* Offsets 0, 5 and 700; positions 12, 90 and 3, the second one inlined. */
static size_t make_table(uint8_t *table, uint32_t flag_bits)
{
	static const struct fake_v8_entry entries[] = {{0, 26}, {5, 182 | 2ULL << 31}, {700, 8}};
	size_t size = 0;
	int64_t offset = -1, raw = 0;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		int64_t difference = (int64_t)entries[i].raw - raw;

		/* Expressions and statements differ in the lowest bit. */
		size += fake_v8_number(table + size, (uint64_t)(entries[i].offset - offset)
								     << flag_bits |
							     (i & 1));
		size += fake_v8_number(table + size, difference < 0
							     ? ((uint64_t)-difference << 1) - 1
							     : (uint64_t)difference << 1);
		offset = entries[i].offset;
		raw = (int64_t)entries[i].raw;
	}
	return size;
}

static void test_source_positions(void **state)
{
	static const struct {
		uint32_t offset;
		int32_t position;
		uint32_t inlining;
	} expected[] = {{0, 12, 0},   {4, 12, 0},  {5, 90, 2},
			{699, 90, 2}, {700, 3, 0}, {9999, 3, 0}};

	(void)state;
	for (uint32_t flag_bits = 1; flag_bits <= 2; flag_bits++) {
		uint8_t table[64];
		size_t size = make_table(table, flag_bits);
		struct v8_position found;

		for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
			assert_true(v8_positions_find(table, size, flag_bits, expected[i].offset,
						      &found));
			assert_int_equal(found.position, expected[i].position);
			assert_int_equal(found.inlining, expected[i].inlining);
		}
		assert_false(v8_positions_find(table, 0, flag_bits, 1, &found));
		/* An entry without its second half. */
		assert_false(v8_positions_find(table, size - 1, flag_bits, 9999, &found));
	}
}

static void test_external(void **state)
{
	(void)state;
	assert_int_equal(v8_position_decode(1 | 5 << 1).position, -1);
	assert_int_equal(v8_position_decode(0).position, -1);
	assert_int_equal(v8_position_decode(2).position, 0);
}

/* The prologue has 10 bytes; bytecodes: 4 (1 byte), wide 5 (1 + 4 bytes), 6 (2 bytes). */
static void test_baseline(void **state)
{
	static const uint8_t table[] = {10, 4, 0x80, 1, 6};
	static const uint8_t bytecodes[] = {4, 0, 5, 1, 2, 3, 6, 9};
	static const int32_t expected[][2] = {{0, -1},	{9, -1},  {10, 0},  {13, 0},  {14, 1},
					      {141, 1}, {142, 6}, {147, 6}, {148, -1}};
	struct v8_bytecode_sizes sizes = {.count = 7};

	(void)state;
	sizes.bytes[0][4] = 1;
	sizes.bytes[0][6] = 2;
	sizes.bytes[1][5] = 4;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(v8_positions_bytecode(table, sizeof(table), bytecodes,
						       sizeof(bytecodes), &sizes,
						       (uint32_t)expected[i][0]),
				 expected[i][1]);
	/* a bytecode that is not known, and bytecodes that end before the table */
	sizes.bytes[1][5] = 0;
	assert_int_equal(v8_positions_bytecode(table, sizeof(table), bytecodes, sizeof(bytecodes),
					       &sizes, 142),
			 -1);
	assert_int_equal(v8_positions_bytecode(table, sizeof(table), bytecodes, 1, &sizes, 142),
			 -1);
	assert_int_equal(v8_positions_bytecode(table, 0, bytecodes, 1, &sizes, 0), -1);
}

/* Numbers that never end. */
static void test_damaged(void **state)
{
	uint8_t table[64];
	struct v8_position found;

	(void)state;
	memset(table, 0xff, sizeof(table));
	assert_false(v8_positions_find(table, sizeof(table), 1, 9, &found));
	assert_int_equal(v8_positions_bytecode(table, sizeof(table), table, 1,
					       &(struct v8_bytecode_sizes){0}, 9),
			 -1);
}

/* A step that ends beyond all numbers ends the table. */
static void test_large_step(void **state)
{
	uint8_t table[64];
	size_t size = fake_v8_number(table, 6 << 1);
	struct v8_position found;

	(void)state;
	size += fake_v8_number(table + size, 26 << 1);
	size += fake_v8_number(table + size, UINT64_MAX);
	size += fake_v8_number(table + size, 40 << 1);
	assert_true(v8_positions_find(table, size, 1, 9, &found));
	assert_int_equal(found.position, 12);
	assert_true(v8_positions_find(table, size, 1, UINT32_MAX, &found));
	assert_int_equal(found.position, 12);
	assert_false(v8_positions_find(table, size, 1, 4, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_positions), cmocka_unit_test(test_external),
		cmocka_unit_test(test_baseline),	 cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_large_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
