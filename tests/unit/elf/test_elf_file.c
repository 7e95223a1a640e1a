// SPDX-License-Identifier: BSD-2-Clause
/* Tests that headers of ELF files are read, and that no number in them is believed. */
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "symbol_fixture.h"
#include "symbol/elf/elf_symbols.h"

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image read_image(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct image image;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_non_null(image.bytes);
	assert_int_equal(read(fd, image.bytes, image.size), (ssize_t)image.size);
	close(fd);
	return image;
}

static void finds_sections_and_addresses(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/no_pie", "outer_function");
	int fd = open(FIXTURE_DIR "/no_pie", O_RDONLY);
	struct elf_file file;
	uint64_t address = 0;

	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(file.is_64);
	assert_non_null(elf_file_find_section(&file, ".text"));
	assert_non_null(elf_file_find_section_type(&file, SHT_SYMTAB));
	assert_null(elf_file_find_section(&file, ".nothing"));
	assert_true(elf_segments_address(&file.segments, place.offset, &address));
	assert_true(address == place.address);
	assert_false(elf_segments_address(&file.segments, UINT64_MAX, &address));
	elf_file_done(&file);
	close(fd);
}

static void executable_segment_wins_where_two_share_a_page(void **state)
{
	struct elf_segment items[] = {
		{.type = PT_LOAD,
		 .flags = PF_R,
		 .offset = 0,
		 .address = 0x1000,
		 .file_size = 0x2000},
		{.type = PT_NOTE,
		 .flags = PF_X,
		 .offset = 0,
		 .address = 0x9000,
		 .file_size = 0x9000},
		{.type = PT_LOAD,
		 .flags = PF_R | PF_X,
		 .offset = 0x1800,
		 .address = 0x5800,
		 .file_size = 0x1000},
		{.type = PT_LOAD,
		 .flags = PF_R,
		 .offset = 0x1800,
		 .address = 0x8800,
		 .file_size = 0x100},
	};
	const struct elf_segments segments = {.items = items, .count = 4};
	uint64_t address;

	assert_true(elf_segments_address(&segments, 0x1810, &address));
	assert_true(address == 0x5810);
	assert_true(elf_segments_address(&segments, 0x10, &address));
	assert_true(address == 0x1010);
	assert_false(elf_segments_address(&segments, 0x2800, &address));
}

static void page_at_a_seam_of_writable_segments_is_shared(void **state)
{
	struct elf_segment items[] = {
		{.type = PT_LOAD,
		 .flags = PF_R | PF_W,
		 .offset = 0x9d0,
		 .address = 0x29d0,
		 .file_size = 0x1e8},
		{.type = PT_LOAD,
		 .flags = PF_R | PF_W,
		 .offset = 0xbb8,
		 .address = 0x3bb8,
		 .file_size = 0x40},
	};
	const struct elf_segments segments = {.items = items, .count = 2};

	assert_true(elf_segments_page_is_shared(&segments, 0x3bc0));
	assert_false(elf_segments_page_is_shared(&segments, 0x29e0));
	assert_false(elf_segments_page_is_shared(&segments, 0x9000));
	items[0].flags = PF_R;
	assert_false(elf_segments_page_is_shared(&segments, 0x3bc0));
	items[0].flags = PF_R | PF_W;
	items[1].offset = 0x100000;
	assert_false(elf_segments_page_is_shared(&segments, 0x3bc0));
}

static void refuses_what_is_no_elf_file(void **state)
{
	static const uint8_t text[] =
		"#!/bin/sh\necho hello; this is long enough for a header\n......";
	struct elf_file file;
	int fds[2];

	assert_int_equal(elf_file_open_memory(&file, text, sizeof(text)), -ENOEXEC);
	assert_int_equal(elf_file_open_memory(&file, text, 0), -ENOEXEC);
	assert_int_equal(elf_file_open_memory(&file, NULL, 0), -ENOEXEC);
	/* Reading a pipe would block. */
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(elf_file_open(&file, fds[0]), -ENOEXEC);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(elf_file_open(&file, -1), -EBADF);
}

static void refuses_the_other_byte_order(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/pie");
	struct elf_file file;

	image.bytes[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_int_equal(elf_file_open_memory(&file, image.bytes, image.size), -ENOEXEC);
	free(image.bytes);
}

/* At every length, from an exact-size buffer: an address sanitizer sees any byte read beyond. */
static void truncation_anywhere_does_no_harm(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/static");
	size_t opened = 0;

	for (size_t size = 0; size < image.size; size += 1 + size / 64) {
		uint8_t *copy = malloc(size ? size : 1);
		struct elf_symbols symbols;
		struct elf_file file;

		assert_non_null(copy);
		memcpy(copy, image.bytes, size);
		if (!elf_file_open_memory(&file, copy, size)) {
			opened++;
			if (!elf_symbols_read(&file, SHT_SYMTAB, &symbols))
				elf_symbols_done(&symbols);
			elf_file_done(&file);
		}
		free(copy);
	}
	assert_true(opened > 0);
	free(image.bytes);
}

static void section_beyond_the_end_is_empty(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/pie");
	Elf64_Ehdr header;
	struct elf_file file;

	memcpy(&header, image.bytes, sizeof(header));
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
		Elf64_Shdr section;

		memcpy(&section, image.bytes + at, sizeof(section));
		if (section.sh_type == SHT_SYMTAB)
			section.sh_size = UINT64_MAX - 100;
		memcpy(image.bytes + at, &section, sizeof(section));
	}
	assert_int_equal(elf_file_open_memory(&file, image.bytes, image.size), 0);
	assert_null(elf_file_find_section_type(&file, SHT_SYMTAB));
	elf_file_done(&file);
	free(image.bytes);
}

/* The owner cuts the file while we read it: an error, never a signal. */
static void file_that_shrinks_after_opening_is_an_error(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/pie");
	char path[] = "/tmp/pkbpf-shrink-XXXXXX";
	int fd = mkstemp(path);
	struct elf_symbols symbols;
	struct elf_file file;

	assert_int_equal(write(fd, image.bytes, image.size), (ssize_t)image.size);
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(elf_symbols_read(&file, SHT_SYMTAB, &symbols), -EIO);
	elf_file_done(&file);
	close(fd);
	unlink(path);
	free(image.bytes);
}

static void string_ends_with_its_section(void **state)
{
	static const char text[] = "abc\0defgh";
	struct elf_file file = {.fd = -1, .memory = (const uint8_t *)text, .size = 9};
	char name[16];

	assert_int_equal(elf_file_read_string(&file, 0, 9, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "abc");
	assert_int_equal(elf_file_read_string(&file, 0, 9, 4, name, sizeof(name)), 0);
	assert_string_equal(name, "defgh");
	assert_int_equal(elf_file_read_string(&file, 0, 9, 4, name, 4), 0);
	assert_string_equal(name, "def");
	assert_int_equal(elf_file_read_string(&file, 0, 7, 4, name, sizeof(name)), 0);
	assert_string_equal(name, "def");
	assert_int_equal(elf_file_read_string(&file, 0, 9, 9, name, sizeof(name)), -EINVAL);
	assert_int_equal(elf_file_read_string(&file, 4, 9, 2, name, sizeof(name)), -EIO);
}

static void what_cannot_be_read_is_not_called_no_elf_file(void **state)
{
	struct elf_file file;
	int fd = open(FIXTURE_DIR "/pie", O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&file, fd), -EBADF);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_sections_and_addresses),
		cmocka_unit_test(executable_segment_wins_where_two_share_a_page),
		cmocka_unit_test(page_at_a_seam_of_writable_segments_is_shared),
		cmocka_unit_test(refuses_what_is_no_elf_file),
		cmocka_unit_test(what_cannot_be_read_is_not_called_no_elf_file),
		cmocka_unit_test(refuses_the_other_byte_order),
		cmocka_unit_test(truncation_anywhere_does_no_harm),
		cmocka_unit_test(section_beyond_the_end_is_empty),
		cmocka_unit_test(file_that_shrinks_after_opening_is_an_error),
		cmocka_unit_test(string_ends_with_its_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
