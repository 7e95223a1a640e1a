// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/elf_functions: starts of nameless functions, and search tables that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_functions.h"

enum { IMAGE_BASE = 0x1000, TABLE_AT = 0, FDES_AT = 0x100, IMAGE_BYTES = 0x200 };

/* An image of one PT_LOAD at address 0x1000 with functions 0x5000 (16 bytes), 0x5020 (32) and
 * 0x6000 (256). */
struct image {
	uint8_t bytes[IMAGE_BYTES];
	struct elf_segment segments[2];
	struct elf_file file;
};

static void put(struct image *image, size_t at, int32_t value)
{
	memcpy(image->bytes + at, &value, sizeof(value));
}

static void image_init(struct image *image)
{
	static const struct {
		int32_t start, size;
	} functions[] = {{0x5000, 16}, {0x5020, 32}, {0x6000, 256}};
	static const uint8_t encodings[] = {1, 0x1b, 0x03, 0x3b};

	*image = (struct image){0};
	memcpy(image->bytes, encodings, sizeof(encodings));
	put(image, 8, 3);
	for (int i = 0; i < 3; i++) {
		int32_t fde = FDES_AT + 32 * i;

		put(image, (size_t)(12 + 8 * i), functions[i].start - IMAGE_BASE);
		put(image, (size_t)(16 + 8 * i), fde);
		put(image, (size_t)fde, 28);
		put(image, (size_t)fde + 8, functions[i].start - (IMAGE_BASE + fde + 8));
		put(image, (size_t)fde + 12, functions[i].size);
	}
	image->segments[0] =
		(struct elf_segment){PT_LOAD, PF_R, 0, IMAGE_BASE, IMAGE_BYTES, IMAGE_BYTES};
	image->segments[1] =
		(struct elf_segment){PT_GNU_EH_FRAME, PF_R, TABLE_AT, IMAGE_BASE, 36, 36};
	image->file = (struct elf_file){
		.fd = -1,
		.memory = image->bytes,
		.size = IMAGE_BYTES,
		.is_64 = true,
		.segments = {.items = image->segments, .count = 2},
	};
}

static int find(const struct image *image, struct elf_functions *functions, uint64_t address,
		uint64_t *ret_start)
{
	return elf_functions_find(functions, &image->file, address, ret_start);
}

static void finds_the_start_of_the_function_around_an_address(void **state)
{
	struct elf_functions functions = {0};
	struct image image;
	uint64_t start;

	image_init(&image);
	assert_int_equal(elf_functions_load(&functions, &image.file), 0);
	assert_int_equal(find(&image, &functions, 0x5000, &start), 0);
	assert_int_equal(start, 0x5000);
	assert_int_equal(find(&image, &functions, 0x500f, &start), 0);
	assert_int_equal(start, 0x5000);
	assert_int_equal(find(&image, &functions, 0x60ff, &start), 0);
	assert_int_equal(start, 0x6000);
	elf_functions_done(&functions);
}

static void knows_nothing_between_and_outside_functions(void **state)
{
	struct elf_functions functions = {0};
	struct image image;
	uint64_t start;

	image_init(&image);
	assert_int_equal(elf_functions_load(&functions, &image.file), 0);
	assert_int_equal(find(&image, &functions, 0x4fff, &start), -ENOENT);
	assert_int_equal(find(&image, &functions, 0x5010, &start), -ENOENT);
	/* What was found last says nothing about the gap behind it. */
	assert_int_equal(find(&image, &functions, 0x500f, &start), 0);
	assert_int_equal(find(&image, &functions, 0x5010, &start), -ENOENT);
	assert_int_equal(find(&image, &functions, 0x4fff, &start), -ENOENT);
	assert_int_equal(find(&image, &functions, 0x6100, &start), -ENOENT);
	assert_int_equal(find(&image, &functions, UINT64_MAX, &start), -ENOENT);
	elf_functions_done(&functions);
}

static void refuses_tables_larger_than_their_segment(void **state)
{
	struct elf_functions functions = {0};
	struct image image;

	image_init(&image);
	put(&image, 8, 4);
	assert_int_equal(elf_functions_load(&functions, &image.file), -EBADMSG);
	put(&image, 8, -1);
	assert_int_equal(elf_functions_load(&functions, &image.file), -EBADMSG);
	put(&image, 8, 0);
	assert_int_equal(elf_functions_load(&functions, &image.file), -EBADMSG);
	image.bytes[3] = 0x1b;
	assert_int_equal(elf_functions_load(&functions, &image.file), -ENOENT);
	assert_null(functions.entries);
}

static void does_not_believe_a_description_of_another_function(void **state)
{
	struct elf_functions functions = {0};
	struct image image;
	uint64_t start;

	image_init(&image);
	put(&image, FDES_AT + 8, 12345);    /* another start */
	put(&image, 12 + 8 + 4, 0x7ffffff); /* a description outside the file */
	assert_int_equal(elf_functions_load(&functions, &image.file), 0);
	assert_int_equal(find(&image, &functions, 0x5000, &start), -ENOENT);
	assert_int_equal(find(&image, &functions, 0x5020, &start), -ENOENT);
	elf_functions_done(&functions);
}

/* Linkers keep one entry of an address: perhaps that of a function without a byte, whose
 * description the other one's follows. */
static void an_empty_function_does_not_hide_the_one_behind_it(void **state)
{
	struct elf_functions functions = {0};
	struct image image;
	uint64_t start;

	image_init(&image);
	put(&image, FDES_AT + 12, 0);
	put(&image, FDES_AT + 32 + 8, 0x5000 - (IMAGE_BASE + FDES_AT + 32 + 8));
	assert_int_equal(elf_functions_load(&functions, &image.file), 0);
	assert_int_equal(find(&image, &functions, 0x501f, &start), 0);
	assert_int_equal(start, 0x5000);
	assert_int_equal(find(&image, &functions, 0x6000, &start), 0);
	elf_functions_done(&functions);
}

/* Every description says the same start, none a size, and the last one is its own successor. */
static void gives_up_among_empty_functions(void **state)
{
	struct elf_functions functions = {0};
	struct image image;
	uint64_t start;

	image_init(&image);
	put(&image, FDES_AT, -4);
	put(&image, FDES_AT + 12, 0);
	assert_int_equal(elf_functions_load(&functions, &image.file), 0);
	assert_int_equal(find(&image, &functions, 0x5000, &start), -ENOENT);
	elf_functions_done(&functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_start_of_the_function_around_an_address),
		cmocka_unit_test(knows_nothing_between_and_outside_functions),
		cmocka_unit_test(refuses_tables_larger_than_their_segment),
		cmocka_unit_test(does_not_believe_a_description_of_another_function),
		cmocka_unit_test(an_empty_function_does_not_hide_the_one_behind_it),
		cmocka_unit_test(gives_up_among_empty_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
