// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/proto_reader: fields of a message, and where damaged ones end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diff/proto_reader.h"

#define READER(bytes)                                                                              \
	{                                                                                          \
		(const uint8_t *)(bytes), (const uint8_t *)(bytes) + sizeof(bytes) - 1, false      \
	}

static void numbers_and_bytes_are_told_apart(void **state)
{
	/* 1: 150; 2: "hi"; 3: 2^64 - 1 */
	struct proto_reader reader = READER("\x08\x96\x01\x12\x02hi"
					    "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	struct proto_field field;

	(void)state;
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 1);
	assert_false(field.is_bytes);
	assert_int_equal(field.value, 150);
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 2);
	assert_true(field.is_bytes);
	assert_int_equal(field.bytes.end - field.bytes.at, 2);
	assert_memory_equal(field.bytes.at, "hi", 2);
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 3);
	assert_true(field.value == UINT64_MAX);
	assert_false(proto_next(&reader, &field));
	assert_false(reader.is_damaged);
}

static void fixed_widths_are_passed_over(void **state)
{
	struct proto_reader reader = READER("\x09"
					    "12345678"
					    "\x0d"
					    "1234"
					    "\x10\x07");
	struct proto_field field;

	(void)state;
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 0);
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 0);
	assert_true(proto_next(&reader, &field));
	assert_int_equal(field.number, 2);
	assert_int_equal(field.value, 7);
}

static void what_is_cut_off_is_damaged_and_ends(void **state)
{
	struct proto_reader readers[] = {
		READER("\x08"),	      /* no value */
		READER("\x08\x80"),   /* half of one */
		READER("\x12\x05hi"), /* shorter than it says */
		READER("\x12\x80"),   /* half of its size */
		READER("\x0d"
		       "123"),	/* of a fixed width */
		READER("\x0b"), /* a group, which nobody writes */
		READER("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), /* more than 64 bits */
	};
	struct proto_field field;

	(void)state;
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		assert_false(proto_next(&readers[i], &field));
		assert_true(readers[i].is_damaged);
		assert_false(proto_next(&readers[i], &field));
	}
}

struct taken {
	uint64_t values[4];
	size_t count, most;
};

static bool take(void *context, uint64_t value)
{
	struct taken *taken = context;

	if (taken->count == taken->most)
		return false;
	taken->values[taken->count++] = value;
	return true;
}

static void repeated_numbers_are_packed_or_single(void **state)
{
	struct proto_reader packed = READER("\x0a\x04\x01\x96\x01\x02"),
			    single = READER("\x08\x05");
	struct taken taken = {.most = 4};
	struct proto_field field;

	(void)state;
	assert_true(proto_next(&packed, &field));
	assert_true(proto_numbers(&field, take, &taken));
	assert_int_equal(taken.count, 3);
	assert_int_equal(taken.values[0], 1);
	assert_int_equal(taken.values[1], 150);
	assert_int_equal(taken.values[2], 2);
	assert_true(proto_next(&single, &field));
	assert_true(proto_numbers(&field, take, &taken));
	assert_int_equal(taken.count, 4);
	assert_int_equal(taken.values[3], 5);
	assert_false(proto_numbers(&field, take, &taken));
}

static void damage_within_packed_numbers_ends_them(void **state)
{
	struct proto_reader reader = READER("\x0a\x02\x01\x96");
	struct taken taken = {.most = 4};
	struct proto_field field;

	(void)state;
	assert_true(proto_next(&reader, &field));
	assert_false(proto_numbers(&field, take, &taken));
	assert_int_equal(taken.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_bytes_are_told_apart),
		cmocka_unit_test(fixed_widths_are_passed_over),
		cmocka_unit_test(what_is_cut_off_is_damaged_and_ends),
		cmocka_unit_test(repeated_numbers_are_packed_or_single),
		cmocka_unit_test(damage_within_packed_numbers_ends_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
