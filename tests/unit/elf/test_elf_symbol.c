// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading of symbol tables: without sections, compressed, and of nonsense. */
#include "elf/elf_symbol.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "elf/elf_dynamic.h"
#include "symbol_fixture.h"

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

static Elf64_Ehdr *header_of(struct image *image)
{
	return (Elf64_Ehdr *)image->bytes;
}

static struct elf_file open_image(const struct image *image)
{
	struct elf_file file;

	assert_int_equal(elf_file_open_memory(&file, image->bytes, image->size), 0);
	return file;
}

struct symbols {
	ARRAY_OF(struct elf_symbol) items;
	char last_name[64];
};

static struct symbols read_symbols(const struct image *image, uint32_t type)
{
	struct elf_file file = open_image(image);
	struct symbols symbols = {0};
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;

	assert_int_equal(elf_symbol_reader_open(&file, type, &reader), 0);
	while (elf_symbol_reader_next(&reader, &symbol)) {
		*array_add(&symbols.items) = symbol;
		if (elf_strings_read(&reader.strings, &file, symbol.name, symbols.last_name,
				     sizeof(symbols.last_name)))
			symbols.last_name[0] = 0;
	}
	assert_int_equal(reader.err, 0);
	elf_symbol_reader_close(&reader);
	elf_file_done(&file);
	return symbols;
}

static void check_equal(struct symbols left, struct symbols right)
{
	assert_true(left.items.count > 4);
	assert_int_equal(left.items.count, right.items.count);
	for (size_t i = 0; i < left.items.count; i++) {
		assert_int_equal(left.items.items[i].address, right.items.items[i].address);
		assert_int_equal(left.items.items[i].size, right.items.items[i].size);
		assert_int_equal(left.items.items[i].name, right.items.items[i].name);
		assert_int_equal(left.items.items[i].type, right.items.items[i].type);
	}
	assert_true(left.last_name[0]);
	assert_string_equal(left.last_name, right.last_name);
	array_free(&left.items);
	array_free(&right.items);
}

static void check_without_sections(const char *path)
{
	struct image image = read_image(path);
	struct symbols symbols = read_symbols(&image, SHT_DYNSYM);

	header_of(&image)->e_shoff = header_of(&image)->e_shnum = 0;
	check_equal(symbols, read_symbols(&image, SHT_DYNSYM));
	free(image.bytes);
}

static void finds_exported_symbols_without_sections(void **state)
{
	check_without_sections(FIXTURE_DIR "/exported");
	check_without_sections(FIXTURE_DIR "/exported_sysv");
}

/* Whatever a byte of the hash table says, no more symbols than there can be are read. */
static void damaged_hash_tables_do_no_harm(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/exported");
	struct elf_dynamic dynamic;
	struct elf_file file;
	uint64_t offset, size;

	header_of(&image)->e_shoff = header_of(&image)->e_shnum = 0;
	file = open_image(&image);
	assert_true(elf_dynamic_read(&file, &dynamic));
	assert_true(elf_segments_offset(&file.segments, dynamic.gnu_hash, &offset, &size));
	elf_file_done(&file);
	for (size_t i = 0; i < 64; i++) {
		uint8_t before = image.bytes[offset + i];
		struct symbols symbols;

		image.bytes[offset + i] ^= 0xff;
		symbols = read_symbols(&image, SHT_DYNSYM);
		assert_true(symbols.items.count <= image.size / sizeof(Elf64_Sym));
		array_free(&symbols.items);
		image.bytes[offset + i] = before;
	}
	free(image.bytes);
}

/* Makes a section compressed, at the end of the file. */
static void compress_section(struct image *image, uint32_t number)
{
	Elf64_Shdr section, *sections;
	uLongf size;
	Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 8};
	size_t end = (image->size + 7) & ~(size_t)7;

	sections = (Elf64_Shdr *)(image->bytes + header_of(image)->e_shoff);
	section = sections[number];
	size = compressBound(section.sh_size);
	head.ch_size = section.sh_size;
	image->bytes = realloc(image->bytes, end + sizeof(head) + size);
	assert_non_null(image->bytes);
	assert_int_equal(compress(image->bytes + end + sizeof(head), &size,
				  image->bytes + section.sh_offset, section.sh_size),
			 Z_OK);
	memcpy(image->bytes + end, &head, sizeof(head));
	sections = (Elf64_Shdr *)(image->bytes + header_of(image)->e_shoff);
	sections[number].sh_flags |= SHF_COMPRESSED;
	sections[number].sh_offset = end;
	sections[number].sh_size = sizeof(head) + size;
	image->size = end + sizeof(head) + size;
}

static uint32_t find_symbols(const struct image *image, uint32_t type)
{
	struct elf_file file = open_image(image);
	uint32_t number = 0;

	while (file.sections[number].type != type)
		number++;
	elf_file_done(&file);
	return number;
}

static void unpacks_compressed_tables(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/pie");
	struct symbols symbols = read_symbols(&image, SHT_SYMTAB);
	uint32_t number = find_symbols(&image, SHT_SYMTAB);
	Elf64_Shdr *sections;
	Elf64_Chdr *head;
	struct elf_file file;
	struct elf_symbol_reader reader;

	sections = (Elf64_Shdr *)(image.bytes + header_of(&image)->e_shoff);
	compress_section(&image, sections[number].sh_link);
	compress_section(&image, number);
	check_equal(symbols, read_symbols(&image, SHT_SYMTAB));

	/* It claims more than deflate can pack, another size, another way of packing. */
	sections = (Elf64_Shdr *)(image.bytes + header_of(&image)->e_shoff);
	head = (Elf64_Chdr *)(image.bytes + sections[number].sh_offset);
	file = open_image(&image);
	head->ch_size += 24;
	assert_int_equal(elf_symbol_reader_open(&file, SHT_SYMTAB, &reader), -EBADMSG);
	head->ch_size = 200U << 20;
	assert_int_equal(elf_symbol_reader_open(&file, SHT_SYMTAB, &reader), -EFBIG);
	head->ch_size = 24;
	head->ch_type = 2; /* zstd, which it is not */
	assert_int_equal(elf_symbol_reader_open(&file, SHT_SYMTAB, &reader), -EBADMSG);
	head->ch_type = 3;
	assert_int_equal(elf_symbol_reader_open(&file, SHT_SYMTAB, &reader), -EOPNOTSUPP);
	elf_file_done(&file);
	free(image.bytes);
}

/* A stub's name is one of theirs, and there may be thousands of stubs. */
static void unpacks_nothing_for_the_dynamic_loader(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/exported");
	uint32_t number = find_symbols(&image, SHT_DYNSYM);
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image.bytes + header_of(&image)->e_shoff);
	struct elf_symbol_reader reader;
	struct elf_file file;

	compress_section(&image, sections[number].sh_link);
	file = open_image(&image);
	assert_int_equal(elf_symbol_reader_open(&file, SHT_DYNSYM, &reader), -EBADMSG);
	elf_file_done(&file);
	free(image.bytes);
}

static void says_when_there_is_no_table(void **state)
{
	struct image image = read_image(FIXTURE_DIR "/stripped");
	struct elf_file file = open_image(&image);
	struct elf_symbol_reader reader;

	assert_int_equal(elf_symbol_reader_open(&file, SHT_SYMTAB, &reader), -ENOENT);
	elf_file_done(&file);
	free(image.bytes);
}

/* What a file needs comes first in its dynamic section, and may be hundreds of libraries. */
static void reads_dynamic_sections_of_any_length(void **state)
{
	enum { NEEDED = 300 };
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		Elf64_Dyn items[NEEDED + 2];
	} image = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				       BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB},
			   .e_type = ET_DYN,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
	};
	struct elf_dynamic dynamic;
	struct elf_file file;

	for (int i = 0; i < 2; i++)
		image.segments[i] = (Elf64_Phdr){.p_type = i ? PT_DYNAMIC : PT_LOAD,
						 .p_filesz = sizeof(image),
						 .p_memsz = sizeof(image)};
	image.segments[1].p_offset = image.segments[1].p_vaddr =
		(uint64_t)((char *)image.items - (char *)&image);
	for (int i = 0; i < NEEDED; i++)
		image.items[i].d_tag = DT_NEEDED;
	image.items[NEEDED] = (Elf64_Dyn){.d_tag = DT_SYMTAB, .d_un.d_val = 0x1234};
	assert_int_equal(elf_file_open_memory(&file, &image, sizeof(image)), 0);
	assert_true(elf_dynamic_read(&file, &dynamic));
	assert_int_equal(dynamic.values[DT_SYMTAB], 0x1234);
	/* Nothing ends the list. */
	image.items[NEEDED + 1].d_tag = DT_NEEDED;
	assert_true(elf_dynamic_read(&file, &dynamic));
	assert_int_equal(dynamic.values[DT_SYMTAB], 0x1234);
	elf_file_done(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_exported_symbols_without_sections),
		cmocka_unit_test(damaged_hash_tables_do_no_harm),
		cmocka_unit_test(unpacks_compressed_tables),
		cmocka_unit_test(unpacks_nothing_for_the_dynamic_loader),
		cmocka_unit_test(says_when_there_is_no_table),
		cmocka_unit_test(reads_dynamic_sections_of_any_length),
	};

	return cmocka_run_group_tests_name("elf/elf_symbol", tests, NULL, NULL);
}
