// SPDX-License-Identifier: BSD-2-Clause
/* Tests for instruction/x86_instruction: what is no instruction, and where one ends. */
#include "x86_encodings.h"

static const struct {
	const struct encoding *list;
	size_t count;
} all[] = {
	{one_byte, ARRAY_SIZE(one_byte)},
	{memory, ARRAY_SIZE(memory)},
	{immediates, ARRAY_SIZE(immediates)},
	{tests_and_others, ARRAY_SIZE(tests_and_others)},
	{maps, ARRAY_SIZE(maps)},
	{vectors, ARRAY_SIZE(vectors)},
	{pops_and_xop, ARRAY_SIZE(pops_and_xop)},
	{prefixed, ARRAY_SIZE(prefixed)},
	{jumps, ARRAY_SIZE(jumps)},
};

static void refuses_invalid_opcodes(void **state)
{
	static const char *const invalid[] = {
		/* What 64-bit mode has no more */
		"\x06", "\x07", "\x0e", "\x16", "\x17", "\x1e", "\x1f", "\x27", "\x2f", "\x37",
		"\x3f", "\x60", "\x61", "\x82", "\x9a", "\xce", "\xd4", "\xd5", "\xd6", "\xea",
		/* Holes of the map 0f */
		"\x0f\x04", "\x0f\x0a", "\x0f\x0c", "\x0f\x24", "\x0f\x25", "\x0f\x26", "\x0f\x27",
		"\x0f\x36", "\x0f\x39", "\x0f\x3b", "\x0f\x3f", "\x0f\x7a", "\x0f\x7b",
		/* Maps that VEX, EVEX and XOP do not have */
		"\xc4\xe0\x78", "\xc4\xe4\x78", "\xc4\xff\x78", "\x62\xf0\x7c\x48",
		"\x62\xf7\x7c\x48", "\x8f\xeb\x78", "\x8f\xff\x78"};

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		struct x86_instruction instruction;
		char bytes[64] = {0};

		memcpy(bytes, invalid[i], strlen(invalid[i]));
		if (decode(bytes, sizeof(bytes), &instruction))
			fail_msg("%02x %02x is accepted", (uint8_t)bytes[0], (uint8_t)bytes[1]);
		assert_refused(bytes, X86_MAX_INSTRUCTION_BYTES);
	}
}

static void refuse_beginnings(const struct encoding *encoding)
{
	struct x86_instruction instruction;

	for (size_t size = 0; size < encoding->size; size++)
		if (decode(encoding->bytes, size, &instruction))
			fail_msg("%s: %zu bytes are enough", encoding->text, size);
}

static void refuses_every_beginning_of_an_instruction(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (size_t j = 0; j < all[i].count; j++)
			refuse_beginnings(&all[i].list[j]);
}

static void refuses_more_prefixes_than_fit(void **state)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x67, 0x26, 0x2e,
					   0x36, 0x3e, 0x64, 0x65, 0xf0};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		struct x86_instruction instruction;
		uint8_t bytes[64];

		memset(bytes, 0x90, sizeof(bytes));
		memset(bytes, prefixes[i], 14);
		assert_int_equal(decode(bytes, sizeof(bytes), &instruction), 15);
		assert_int_equal(instruction.opcode, 0x90);
		memset(bytes, prefixes[i], 15);
		assert_refused(bytes, sizeof(bytes));
		memset(bytes, prefixes[i], 16);
		assert_refused(bytes, sizeof(bytes));
		assert_refused(bytes, 16);
		assert_refused(bytes, 17);
	}
}

static void refuses_instructions_of_more_than_15_bytes(void **state)
{
	static const char movabs[] = "\x49\xba\x88\x77\x66\x55\x44\x33\x22\x11";
	struct x86_instruction instruction;
	uint8_t bytes[64] = {0};

	for (size_t prefixes = 0; prefixes < 14; prefixes++) {
		size_t size = prefixes + sizeof(movabs) - 1;

		memset(bytes, 0x66, prefixes);
		memcpy(bytes + prefixes, movabs, sizeof(movabs) - 1);
		assert_int_equal(decode(bytes, size, &instruction), size <= 15 ? size : 0);
		assert_int_equal(decode(bytes, sizeof(bytes), &instruction), size <= 15 ? size : 0);
	}
}

static uint8_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (uint8_t)(*state >> 56);
}

/* Seldom are random bytes a long run of prefixes: some of them are made so. */
static void reads_no_byte_behind_the_instruction_or_the_end(void **state)
{
	static const uint8_t starts[] = {0x66, 0x48, 0x0f, 0x62, 0x8f, 0xc4, 0xc5, 0xf6};
	uint64_t random = 1;

	for (unsigned int i = 0; i < 20000; i++) {
		size_t given = next_random(&random) % 65;
		size_t prefixes = i % 4 == 0 ? next_random(&random) % 16 : 0;
		struct x86_instruction instruction;
		uint8_t bytes[65];
		size_t size;

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = j < prefixes ? 0x66 : next_random(&random);
		if (i % 2 == 0)
			bytes[prefixes] = starts[next_random(&random) % ARRAY_SIZE(starts)];
		size = decode(bytes, given, &instruction);
		assert_true(size <= given && size <= X86_MAX_INSTRUCTION_BYTES);
		if (size) {
			assert_int_equal(decode(bytes, size, &instruction), size);
			assert_refused(bytes, size - 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_invalid_opcodes),
		cmocka_unit_test(refuses_every_beginning_of_an_instruction),
		cmocka_unit_test(refuses_more_prefixes_than_fit),
		cmocka_unit_test(refuses_instructions_of_more_than_15_bytes),
		cmocka_unit_test(reads_no_byte_behind_the_instruction_or_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
