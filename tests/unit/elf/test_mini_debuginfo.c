// SPDX-License-Identifier: BSD-2-Clause
/* Tests unpacking of .gnu_debugdata, and that a small section cannot fill the memory. */
#include "elf/mini_debuginfo.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lzma.h>

/* An open file whose only section is .gnu_debugdata with these bytes. */
static struct elf_file wrap(struct elf_section *section, const void *bytes, size_t size)
{
	*section =
		(struct elf_section){.name = ".gnu_debugdata", .type = SHT_PROGBITS, .size = size};
	return (struct elf_file){
		.fd = -1, .memory = bytes, .size = size, .sections = section, .section_count = 1};
}

static uint8_t *pack(const uint8_t *bytes, size_t size, size_t *ret_size)
{
	size_t room = lzma_stream_buffer_bound(size);
	uint8_t *packed = malloc(room);

	assert_non_null(packed);
	*ret_size = 0;
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, bytes, size, packed,
						 ret_size, room),
			 LZMA_OK);
	return packed;
}

static int unpack_size(const uint8_t *packed, size_t packed_size, size_t *ret_size)
{
	struct elf_section section;
	struct elf_file file = wrap(&section, packed, packed_size);
	void *image = NULL;
	int err = mini_debuginfo_read(&file, &image, ret_size);

	free(image);
	return err;
}

static void unpacks_what_was_packed(void **state)
{
	size_t sizes[] = {0, 1, 300000, 5000000};

	for (size_t i = 0; i < 4; i++) {
		uint8_t *bytes = calloc(1, sizes[i] + 1);
		size_t packed_size, size = 0;
		struct elf_section section;
		struct elf_file file;
		uint8_t *packed;
		void *image;

		for (size_t j = 0; j < sizes[i]; j++)
			bytes[j] = (uint8_t)(j * j / 7);
		packed = pack(bytes, sizes[i], &packed_size);
		file = wrap(&section, packed, packed_size);
		assert_int_equal(mini_debuginfo_read(&file, &image, &size), 0);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(image, bytes, size);
		free(image);
		free(packed);
		free(bytes);
	}
}

static void image_beyond_the_limit_is_refused(void **state)
{
	size_t packed_size, size, bomb = (size_t)MINI_DEBUGINFO_MAX_BYTES + (1U << 20);
	uint8_t *zeros = calloc(1, bomb);
	uint8_t *packed = pack(zeros, bomb, &packed_size);

	assert_true(packed_size < 100000);
	assert_int_equal(unpack_size(packed, packed_size, &size), -EFBIG);
	free(packed);
	free(zeros);
}

static void damaged_or_cut_data_is_refused(void **state)
{
	uint8_t bytes[5000] = {1, 2, 3};
	size_t packed_size, size;
	uint8_t *packed = pack(bytes, sizeof(bytes), &packed_size);

	for (size_t cut = 0; cut < packed_size; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, packed, cut);
		assert_true(unpack_size(copy, cut, &size) < 0);
		free(copy);
	}
	for (size_t at = 0; at < packed_size; at++) {
		packed[at] ^= 0x55;
		assert_true(unpack_size(packed, packed_size, &size) < 0);
		packed[at] ^= 0x55;
	}
	free(packed);
}

static void file_without_the_section_says_so(void **state)
{
	struct elf_file file = {.fd = -1};
	void *image;
	size_t size;

	assert_int_equal(mini_debuginfo_read(&file, &image, &size), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacks_what_was_packed),
		cmocka_unit_test(image_beyond_the_limit_is_refused),
		cmocka_unit_test(damaged_or_cut_data_is_refused),
		cmocka_unit_test(file_without_the_section_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
