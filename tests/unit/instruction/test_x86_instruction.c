// SPDX-License-Identifier: BSD-2-Clause
/* Tests for instruction/x86_instruction: encodings, and what they say. */
#include "x86_encodings.h"

static void check_fields(const struct x86_instruction *expected,
			 const struct x86_instruction *actual)
{
	assert_int_equal(actual->map, expected->map);
	assert_int_equal(actual->opcode, expected->opcode);
	assert_int_equal(actual->has_modrm, expected->has_modrm);
	assert_int_equal(actual->mod, expected->mod);
	assert_int_equal(actual->reg, expected->reg);
	assert_int_equal(actual->has_base, expected->has_base);
	/* Means nothing without a base or a register in the opcode. */
	if (expected->mod == 3 || expected->has_base || expected->rm)
		assert_int_equal(actual->rm, expected->rm);
	if (expected->has_modrm)
		assert_int_equal(actual->index, expected->index);
	assert_int_equal(actual->displacement, expected->displacement);
	assert_int_equal(actual->immediate, expected->immediate);
	assert_int_equal(actual->is_vector, expected->is_vector);
	assert_int_equal(actual->is_wide, expected->is_wide);
	assert_int_equal(actual->is_short, expected->is_short);
	assert_int_equal(actual->has_repeat, expected->has_repeat);
}

static void check_encodings(const struct encoding *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct x86_instruction instruction;
		uint8_t longer[64];

		/* The last one shown is the one that fails. */
		print_message("%s\n", list[i].text);
		assert_int_equal(decode(list[i].bytes, list[i].size, &instruction), list[i].size);
		check_fields(&list[i].expected, &instruction);
		/* What follows is not looked at. */
		memset(longer, 0xff, sizeof(longer));
		memcpy(longer, list[i].bytes, list[i].size);
		assert_int_equal(decode(longer, sizeof(longer), &instruction), list[i].size);
		check_fields(&list[i].expected, &instruction);
	}
}

static void reads_instructions_of_one_opcode_byte(void **state)
{
	check_encodings(one_byte, ARRAY_SIZE(one_byte));
}

static void reads_memory_operands(void **state)
{
	check_encodings(memory, ARRAY_SIZE(memory));
}

static void reads_immediates_of_every_size(void **state)
{
	check_encodings(immediates, ARRAY_SIZE(immediates));
}

static void reads_an_immediate_only_of_a_test_where_it_shares_its_opcode(void **state)
{
	check_encodings(tests_and_others, ARRAY_SIZE(tests_and_others));
}

static void reads_every_opcode_map(void **state)
{
	check_encodings(maps, ARRAY_SIZE(maps));
}

static void reads_the_length_of_vector_instructions(void **state)
{
	check_encodings(vectors, ARRAY_SIZE(vectors));
}

static void tells_pop_from_xop(void **state)
{
	check_encodings(pops_and_xop, ARRAY_SIZE(pops_and_xop));
}

static void reads_prefixes_before_rex(void **state)
{
	check_encodings(prefixed, ARRAY_SIZE(prefixed));
}

static void reads_the_targets_of_jumps_and_calls(void **state)
{
	check_encodings(jumps, ARRAY_SIZE(jumps));
}

static void reads_the_register_of_every_push_and_pop(void **state)
{
	for (uint8_t i = 0; i < X86_REGISTER_COUNT; i++)
		for (uint8_t opcode = 0x50; opcode <= 0x58; opcode += 8) {
			uint8_t bytes[] = {0x41, (uint8_t)(opcode + (i & 7))};
			size_t rex = i >= 8 ? 1 : 0;
			struct x86_instruction instruction;

			assert_int_equal(decode(bytes + 1 - rex, 1 + rex, &instruction), 1 + rex);
			assert_int_equal(instruction.opcode, bytes[1]);
			assert_int_equal(instruction.rm, i);
		}
}

static void skips_both_immediates_of_bit_field_instructions(void **state)
{
	struct x86_instruction instruction;

	assert_int_equal(decode("\x66\x0f\x78\xc1\x02\x03", 6, &instruction), 6); /* extrq */
	assert_int_equal(decode("\xf2\x0f\x78\xc1\x02\x03", 6, &instruction), 6); /* insertq */
	assert_int_equal(decode("\x0f\x78\xc1", 3, &instruction), 3);		  /* vmread */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_instructions_of_one_opcode_byte),
		cmocka_unit_test(reads_memory_operands),
		cmocka_unit_test(reads_immediates_of_every_size),
		cmocka_unit_test(reads_an_immediate_only_of_a_test_where_it_shares_its_opcode),
		cmocka_unit_test(reads_every_opcode_map),
		cmocka_unit_test(reads_the_length_of_vector_instructions),
		cmocka_unit_test(tells_pop_from_xop),
		cmocka_unit_test(reads_prefixes_before_rex),
		cmocka_unit_test(reads_the_targets_of_jumps_and_calls),
		cmocka_unit_test(reads_the_register_of_every_push_and_pop),
		cmocka_unit_test(skips_both_immediates_of_bit_field_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
