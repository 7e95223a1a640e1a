// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/elf_extent: where symbols without a size end among functions without a
 * symbol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/elf_extent.h"

enum {
	TEXT = 0x1000,
	TEXT_BYTES = 0x3000,
	TABLE_AT = TEXT_BYTES,
	FDE_AT = TABLE_AT + 0x100,
	IMAGE_BYTES = FDE_AT + 0x100
};

/* Text at 0x1000, filled with an instruction that is neither a return nor padding, and optionally a
 * description of one function. */
struct image {
	uint8_t bytes[IMAGE_BYTES];
	struct elf_segment segments[2];
	struct elf_file file;
	struct elf_functions functions;
	struct symbol_table table;
};

static void image_init(struct image *image, uint16_t machine)
{
	*image = (struct image){0};
	memset(image->bytes, 0x50, TEXT_BYTES);
	image->segments[0] =
		(struct elf_segment){PT_LOAD, PF_R | PF_X, 0, TEXT, IMAGE_BYTES, IMAGE_BYTES};
	image->segments[1] =
		(struct elf_segment){PT_GNU_EH_FRAME, PF_R, TABLE_AT, TEXT + TABLE_AT, 20, 20};
	image->file = (struct elf_file){
		.fd = -1,
		.memory = image->bytes,
		.size = IMAGE_BYTES,
		.is_64 = true,
		.machine = machine,
		.segments = {.items = image->segments, .count = 1},
	};
}

static void put(struct image *image, uint64_t address, const char *bytes, size_t size)
{
	memcpy(image->bytes + address - TEXT, bytes, size);
}

#define PUT(image, address, bytes) put(image, address, bytes, sizeof(bytes) - 1)

static void describe(struct image *image, int32_t start, int32_t size)
{
	const int32_t fields[] = {0x3b031b01, 0, 1, start - (TEXT + TABLE_AT), FDE_AT - TABLE_AT};
	const int32_t fde[] = {28, 0, start - (TEXT + FDE_AT + 8), size};

	memcpy(image->bytes + TABLE_AT, fields, sizeof(fields));
	memcpy(image->bytes + FDE_AT, fde, sizeof(fde));
	image->file.segments.count = 2;
	assert_int_equal(elf_functions_load(&image->functions, &image->file), 0);
}

/* Symbols without a size at 0x1000 and `next`, bounded. */
static void bound(struct image *image, uint64_t next)
{
	const struct symbol_range text = {TEXT, TEXT + TEXT_BYTES};

	assert_int_equal(symbol_table_add(&image->table, TEXT, 0, 1, SYMBOL_RANK_LABEL), 0);
	assert_int_equal(symbol_table_add(&image->table, TEXT, 0, 2, SYMBOL_RANK_LABEL), 0);
	assert_int_equal(symbol_table_add(&image->table, next, 0, 3, SYMBOL_RANK_EXPORTED), 0);
	assert_int_equal(symbol_table_finish(&image->table, &text, 1), 0);
	elf_extent_bound(&image->table, &image->functions, &image->file);
}

static uint64_t end_of_first(const struct image *image)
{
	assert_int_equal(image->table.entries[0].size, image->table.entries[1].size);
	return TEXT + image->table.entries[0].size;
}

static void image_done(struct image *image)
{
	elf_functions_done(&image->functions);
	symbol_table_done(&image->table);
}

static void reaches_to_the_next_symbol_where_nothing_else_is_known(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	PUT(&image, 0x1020, "\xc3");				     /* a return in the middle */
	PUT(&image, 0x1031, "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00"); /* padding before a loop */
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x2800);
	image_done(&image);
}

static void ends_before_a_described_function(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	describe(&image, 0x1230, 0x40);
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x1230);
	image_done(&image);
}

static void ends_with_the_described_function_around_it(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	describe(&image, TEXT, 0x55);
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x1055);
	/* The last symbol lies behind all that is described. */
	assert_int_equal(image.table.entries[2].size, TEXT + TEXT_BYTES - 0x2800);
	image_done(&image);
}

static void ends_behind_a_return_that_padding_follows(void **state)
{
	static const size_t sizes[] = {10, 5, 6, 10};
	static const char bytes[][11] = {
		"\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc",
		"\xc3\x0f\x1f\x40\x00",
		"\xc3\x0f\x1f\x44\x00\x00",
		"\xc3\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct image image;

		image_init(&image, EM_X86_64);
		put(&image, 0x1350 - sizes[i], bytes[i], sizes[i]);
		bound(&image, 0x2800);
		assert_int_equal(end_of_first(&image), 0x1351 - sizes[i]);
		image_done(&image);
	}
}

static void goes_on_behind_a_return_that_is_jumped_across(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	PUT(&image, 0x1004, "\x75\x2a"); /* jne 0x1030 */
	PUT(&image, 0x1029, "\xc3\x0f\x1f\x44\x00\x00\x90");
	PUT(&image, 0x1036, "\x0f\x84\xc4\x00\x00\x00"); /* je 0x1100 */
	PUT(&image, 0x10fe, "\xc3\x90");
	PUT(&image, 0x120b, "\xc3\x0f\x1f\x40\x00");
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x120c);
	image_done(&image);
}

static void takes_no_part_of_an_instruction_for_a_return_or_a_jump(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	PUT(&image, 0x102b, "\xb8\xc3\x0f\x1f\x00"); /* mov $0x1f0fc3,%eax */
	PUT(&image, 0x1033, "\xb8\x75\x0a\x00\x00"); /* mov $0xa75,%eax, in which is jne 0x1040 */
	PUT(&image, 0x103b, "\xc3\x0f\x1f\x40\x00");
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x103c);
	image_done(&image);
}

static void believes_unwind_information_that_goes_on_behind_a_return(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	describe(&image, TEXT, 0x155);
	PUT(&image, 0x104b, "\xc3\x0f\x1f\x40\x00");
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x1155);
	image_done(&image);
}

static void reads_a_bounded_part_of_a_large_file(void **state)
{
	const struct symbol_range text = {TEXT, TEXT + (1ULL << 40)};
	struct image image;

	/* Its text is a terabyte, of which next to nothing is there. */
	image_init(&image, EM_X86_64);
	image.segments[0].file_size = image.segments[0].memory_size = 1ULL << 40;
	assert_int_equal(symbol_table_add(&image.table, TEXT, 0, 1, SYMBOL_RANK_LABEL), 0);
	assert_int_equal(symbol_table_finish(&image.table, &text, 1), 0);
	elf_extent_bound(&image.table, &image.functions, &image.file);
	assert_int_equal(image.table.entries[0].size, 64 << 10);
	image_done(&image);
}

static void looks_at_a_bounded_number_of_places(void **state)
{
	const struct symbol_range text = {TEXT, TEXT + (1ULL << 40)};
	struct image image;

	image_init(&image, EM_X86_64);
	image.segments[0].file_size = image.segments[0].memory_size = 1ULL << 40;
	for (uint32_t i = 0; i < 4100; i++)
		assert_int_equal(symbol_table_add(&image.table, TEXT + i * (1ULL << 20), 0, i + 1,
						  SYMBOL_RANK_LABEL),
				 0);
	assert_int_equal(symbol_table_finish(&image.table, &text, 1), 0);
	elf_extent_bound(&image.table, &image.functions, &image.file);
	assert_int_equal(image.table.entries[4095].size, 64 << 10);
	assert_int_equal(image.table.entries[4096].size, 1 << 20);
	image_done(&image);
}

static void sees_a_return_anywhere(void **state)
{
	for (uint64_t at = 0x1fe8; at < 0x2010; at++) {
		struct image image;

		if (at % 16 == 15)
			continue;
		image_init(&image, EM_X86_64);
		memset(image.bytes + at - TEXT, 0x90, 16 - at % 16);
		image.bytes[at - TEXT] = 0xc3;
		bound(&image, 0x2800);
		assert_int_equal(end_of_first(&image), at + 1);
		image_done(&image);
	}
}

static void knows_the_returns_of_arm64(void **state)
{
	struct image image;

	image_init(&image, EM_AARCH64);
	PUT(&image, 0x1100, "\xc0\x03\x5f\xd6\x1f\x20\x03\xd5\x1f\x20\x03\xd5\x00\x00\x00\x00");
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x1104);
	image_done(&image);
}

static void leaves_sizes_that_the_file_states_alone(void **state)
{
	const struct symbol_range text = {TEXT, TEXT + TEXT_BYTES};
	struct image image;

	image_init(&image, EM_X86_64);
	describe(&image, 0x1010, 0x10);
	assert_int_equal(symbol_table_add(&image.table, TEXT, 0x300, 1, SYMBOL_RANK_EXPORTED), 0);
	assert_int_equal(symbol_table_finish(&image.table, &text, 1), 0);
	elf_extent_bound(&image.table, &image.functions, &image.file);
	assert_int_equal(image.table.entries[0].size, 0x300);
	image_done(&image);
}

static void keeps_its_guess_where_the_text_cannot_be_read(void **state)
{
	struct image image;

	image_init(&image, EM_X86_64);
	PUT(&image, 0x1340, "\xc3\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\xcc\xcc\xcc\xcc\xcc\xcc");
	image.file.size = 0x200;
	bound(&image, 0x2800);
	assert_int_equal(end_of_first(&image), 0x2800);
	image_done(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reaches_to_the_next_symbol_where_nothing_else_is_known),
		cmocka_unit_test(ends_before_a_described_function),
		cmocka_unit_test(ends_with_the_described_function_around_it),
		cmocka_unit_test(ends_behind_a_return_that_padding_follows),
		cmocka_unit_test(goes_on_behind_a_return_that_is_jumped_across),
		cmocka_unit_test(takes_no_part_of_an_instruction_for_a_return_or_a_jump),
		cmocka_unit_test(believes_unwind_information_that_goes_on_behind_a_return),
		cmocka_unit_test(reads_a_bounded_part_of_a_large_file),
		cmocka_unit_test(looks_at_a_bounded_number_of_places),
		cmocka_unit_test(sees_a_return_anywhere),
		cmocka_unit_test(knows_the_returns_of_arm64),
		cmocka_unit_test(leaves_sizes_that_the_file_states_alone),
		cmocka_unit_test(keeps_its_guess_where_the_text_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
