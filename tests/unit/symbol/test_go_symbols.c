// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/go_symbols: names from the table that Go programs carry, and tables that are
 * none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/go_table.h"
#include "elf_recipe.h"
#include "symbol/elf/elf_module.h"
#include "symbol/elf/go_symbols.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x1000U

/* Offsets in the table below. */
enum {
	OLD_TABLE_BYTES = 256,
	NAMES = 72,
	UNITS = 128,
	FUNCTIONS = 136,
	FIRST_RECORD = 32,
	TABLE_BYTES = FUNCTIONS + 64
};

/* main.main from 0x100 on, main.(*T).run from 0x180 on up to 0x1c0. */
static void make_table(uint8_t *table, uint32_t magic, uint64_t text_start)
{
	static const uint32_t functions[] = {0x100, FIRST_RECORD, 0x180, FIRST_RECORD + 8, 0x1c0};
	static const uint32_t records[] = {0x100, 1, 0x180, 11};
	static const char names[] = "\0main.main\0main.(*T).run";
	const uint64_t header[] = {2, 0, text_start, NAMES, UNITS, UNITS, UNITS, FUNCTIONS};

	memset(table, 0, TABLE_BYTES);
	memcpy(table, &magic, sizeof(magic));
	table[6] = 1;
	table[7] = 8;
	memcpy(table + 8, header, sizeof(header));
	memcpy(table + NAMES, names, sizeof(names));
	memcpy(table + FUNCTIONS, functions, sizeof(functions));
	memcpy(table + FUNCTIONS + FIRST_RECORD, records, sizeof(records));
}

struct opened {
	uint8_t *bytes;
	struct elf_file file;
	struct elf_symbols symbols;
	int ret;
};

static struct opened open_table(const char *section, const uint8_t *table, size_t size)
{
	const struct elf_recipe recipe = {.text_size = TEXT_SIZE,
					  .extra_section = section,
					  .extra = table,
					  .extra_size = size};
	struct opened opened = {0};
	size_t file_size;

	opened.bytes = elf_recipe_make(&recipe, &file_size);
	assert_non_null(opened.bytes);
	assert_int_equal(elf_file_open_memory(&opened.file, opened.bytes, file_size), 0);
	opened.ret = go_symbols_read(&opened.file, &opened.symbols);
	return opened;
}

static void close_table(struct opened *opened)
{
	if (opened->ret == 0)
		elf_symbols_done(&opened->symbols);
	elf_file_done(&opened->file);
	free(opened->bytes);
}

static void check_name(const struct opened *opened, uint64_t address, const char *expected)
{
	char name[64] = "";
	uint64_t start;
	int ret = elf_symbols_find(&opened->symbols, &opened->file, address, name, sizeof(name),
				   &start);

	assert_int_equal(ret, expected ? 0 : -ENOENT);
	if (expected)
		assert_string_equal(name, expected);
}

static void check_names(struct opened opened)
{
	assert_int_equal(opened.ret, 0);
	check_name(&opened, TEXT + 0xff, NULL);
	check_name(&opened, TEXT + 0x100, "main.main");
	check_name(&opened, TEXT + 0x17f, "main.main");
	check_name(&opened, TEXT + 0x180, "main.(*T).run");
	check_name(&opened, TEXT + 0x1bf, "main.(*T).run");
	check_name(&opened, TEXT + 0x1c0, NULL);
	close_table(&opened);
}

static void names_functions(void **state)
{
	uint8_t table[TABLE_BYTES];

	(void)state;
	make_table(table, 0xfffffff0, TEXT);
	check_names(open_table(".gopclntab", table, sizeof(table)));
	make_table(table, 0xfffffff1, TEXT);
	check_names(open_table(".data.rel.ro.gopclntab", table, sizeof(table)));
	/* Position-independent: offsets count from the section's start. */
	make_table(table, 0xfffffff1, 0);
	check_names(open_table(".gopclntab", table, sizeof(table)));
}

/* Tables of before Go 1.18 have full addresses, and words of 8 bytes. */
static size_t make_old_table(uint8_t *table, uint32_t magic)
{
	static const char names[] = "\0main.main\0main.(*T).run";
	bool is_1_16 = magic == 0xfffffffa;
	size_t functions_at = is_1_16 ? 128 : 16, names_at = is_1_16 ? 64 : 160;
	size_t records_at = functions_at + 48;
	/* Offsets of names count from the names, or from the table; those of records alike. */
	uint32_t name = is_1_16 ? 0 : (uint32_t)names_at,
		 record = is_1_16 ? 48 : (uint32_t)records_at;
	const uint64_t header[] = {2, 0, names_at, 100, 100, 100, functions_at};
	const uint64_t functions[] = {TEXT + 0x100, record, TEXT + 0x180, record + 16,
				      TEXT + 0x1c0};
	const struct {
		uint64_t start;
		uint32_t name, arguments;
	} records[] = {{TEXT + 0x100, name + 1, 0}, {TEXT + 0x180, name + 11, 0}};

	memset(table, 0, OLD_TABLE_BYTES);
	memcpy(table, &magic, sizeof(magic));
	table[6] = 1;
	table[7] = 8;
	memcpy(table + 8, header, is_1_16 ? sizeof(header) : sizeof(header[0]));
	memcpy(table + names_at, names, sizeof(names));
	memcpy(table + functions_at, functions, sizeof(functions));
	memcpy(table + records_at, records, sizeof(records));
	return OLD_TABLE_BYTES;
}

static void names_functions_of_old_versions(void **state)
{
	uint8_t table[OLD_TABLE_BYTES];
	size_t size = make_old_table(table, 0xfffffffa);

	check_names(open_table(".gopclntab", table, size));
	size = make_old_table(table, 0xfffffffb);
	check_names(open_table(".gopclntab", table, size));
}

/* A position-independent program with the C linker's code in front of Go's: the dynamic loader gets
 * told where Go's begins. */
static void takes_the_start_of_the_text_from_its_relocation(void **state)
{
	uint8_t table[TABLE_BYTES];
	Elf64_Rela relocations[] = {
		{.r_offset = 1, .r_addend = 2},
		{.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE), .r_addend = TEXT + 0x20}};
	struct elf_recipe recipe = {.text_size = TEXT_SIZE,
				    .extra_section = ".gopclntab",
				    .extra = table,
				    .extra_size = sizeof(table),
				    .symbols = (const uint8_t *)relocations,
				    .symbols_size = sizeof(relocations)};
	struct opened opened = {0};
	const struct elf_section *section;
	Elf64_Shdr *sections;
	Elf64_Phdr *segments;
	size_t size;

	make_table(table, 0xfffffff1, 0);
	opened.bytes = elf_recipe_make(&recipe, &size);
	assert_non_null(opened.bytes);
	segments = (Elf64_Phdr *)(opened.bytes + sizeof(Elf64_Ehdr));
	segments[0].p_filesz = segments[0].p_memsz = size - segments[0].p_offset;
	sections = (Elf64_Shdr *)(opened.bytes + ((Elf64_Ehdr *)opened.bytes)->e_shoff);
	for (size_t i = 0; i < ((Elf64_Ehdr *)opened.bytes)->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			sections[i].sh_type = SHT_RELA;
	assert_int_equal(elf_file_open_memory(&opened.file, opened.bytes, size), 0);
	section = elf_file_find_section(&opened.file, ".gopclntab");
	relocations[1].r_offset = section->offset - segments[0].p_offset + TEXT + 24;
	section = elf_file_find_section_type(&opened.file, SHT_RELA);
	memcpy(opened.bytes + section->offset, relocations, sizeof(relocations));
	opened.ret = go_symbols_read(&opened.file, &opened.symbols);
	assert_int_equal(opened.ret, 0);
	check_name(&opened, TEXT + 0x11f, NULL);
	check_name(&opened, TEXT + 0x120, "main.main");
	close_table(&opened);
}

/* Go 1.26, linked by a C linker: only the run-time's description of the program says it. */
static void takes_the_start_of_the_text_from_the_description_of_the_program(void **state)
{
	uint64_t bytes[(TABLE_BYTES + 192) / 8 + 1] = {0}, *description = bytes + TABLE_BYTES / 8;
	struct elf_recipe recipe = {.text_size = TEXT_SIZE,
				    .extra_section = ".gopclntab",
				    .extra = (const uint8_t *)bytes,
				    .extra_size = sizeof(bytes)};
	const struct elf_section *section;
	struct opened opened = {0};
	Elf64_Phdr *segments;
	uint64_t address;
	size_t size;

	make_table((uint8_t *)bytes, 0xfffffff1, 0);
	for (unsigned int i = 0; i < 2; i++) {
		opened.bytes = elf_recipe_make(&recipe, &size);
		assert_non_null(opened.bytes);
		segments = (Elf64_Phdr *)(opened.bytes + sizeof(Elf64_Ehdr));
		segments[0].p_filesz = segments[0].p_memsz = size - segments[0].p_offset;
		segments[0].p_flags = PF_R | PF_W;
		assert_int_equal(elf_file_open_memory(&opened.file, opened.bytes, size), 0);
		section = elf_file_find_section(&opened.file, ".gopclntab");
		address = section->offset - segments[0].p_offset + TEXT;
		opened.ret = go_symbols_read(&opened.file, &opened.symbols);
		assert_int_equal(opened.ret, 0);
		/* None yet, so that it is the section's start. */
		check_name(&opened, TEXT + 0x100, i ? NULL : "main.main");
		check_name(&opened, TEXT + 0x120, "main.main");
		if (i)
			check_name(&opened, TEXT + 0x119 + 0x86, "main.main");
		close_table(&opened);
		description[0] = address;
		description[1] = address + NAMES;
		description[20] = TEXT + 0x20 + 0x100;
		description[22] = TEXT + 0x20;
	}
}

static void find_without_sections(uint16_t machine, uint8_t instruction_size)
{
	uint8_t table[TABLE_BYTES];
	struct elf_recipe recipe = {.machine = machine,
				    .text_size = TEXT_SIZE,
				    .has_no_sections = true,
				    .extra_section = ".gopclntab",
				    .extra = table,
				    .extra_size = sizeof(table)};
	struct opened opened = {0};
	Elf64_Phdr *segments;
	size_t size;

	make_table(table, 0xfffffff1, TEXT);
	table[6] = instruction_size;
	opened.bytes = elf_recipe_make(&recipe, &size);
	assert_non_null(opened.bytes);
	segments = (Elf64_Phdr *)(opened.bytes + sizeof(Elf64_Ehdr));
	segments[0].p_filesz = segments[0].p_memsz = size - segments[0].p_offset;
	assert_int_equal(elf_file_open_memory(&opened.file, opened.bytes, size), 0);
	assert_true(go_table_is_expected(&opened.file));
	opened.ret = go_symbols_read(&opened.file, &opened.symbols);
	check_names(opened);
}

static void finds_the_table_without_sections(void **state)
{
	(void)state;
	find_without_sections(EM_X86_64, 1);
	find_without_sections(EM_AARCH64, 4);
}

static void leaves_out_what_makes_no_sense(void **state)
{
	uint8_t table[TABLE_BYTES];
	struct opened opened;

	(void)state;
	make_table(table, 0xfffffff1, TEXT);
	/* The first function's record lies outside, */
	memset(table + FUNCTIONS + 4, 0xff, 4);
	opened = open_table(".gopclntab", table, sizeof(table));
	assert_int_equal(opened.ret, 0);
	check_name(&opened, TEXT + 0x100, NULL);
	check_name(&opened, TEXT + 0x180, "main.(*T).run");
	close_table(&opened);
	/* or its name does; the second ends where it begins. Nothing is left. */
	make_table(table, 0xfffffff1, TEXT);
	memset(table + FUNCTIONS + FIRST_RECORD + 4, 0x7f, 4);
	table[FUNCTIONS + 16] = 0x80;
	opened = open_table(".gopclntab", table, sizeof(table));
	assert_int_equal(opened.ret, -ENOENT);
	close_table(&opened);
}

static void refuses_tables_of_other_formats(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} changes[] = {{0, 0xfb}, {0, 0xfa}, {5, 1},  {6, 2},  {7, 4},
		       {8, 0xff}, {8, 0},    {33, 1}, {46, 1}, {64, 0xf0}};
	uint8_t table[TABLE_BYTES];
	struct opened opened;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		make_table(table, 0xfffffff1, TEXT);
		table[changes[i].offset] = changes[i].value;
		opened = open_table(".gopclntab", table, sizeof(table));
		if (opened.ret != -ENOENT)
			fail_msg("change %zu was accepted", i);
		close_table(&opened);
	}
	make_table(table, 0xfffffff1, TEXT);
	for (size_t size = 0; size < FUNCTIONS + 24; size += 8) {
		opened = open_table(".gopclntab", table, size);
		assert_int_equal(opened.ret, -ENOENT);
		close_table(&opened);
	}
	opened = open_table(".rodata", table, sizeof(table));
	assert_int_equal(opened.ret, -ENOENT);
	close_table(&opened);
}

static void names_stripped_files(void **state)
{
	static const struct elf_module_options options = {
		.search = {.root = "", .debug_dir = "", .path = ""}};
	const struct symbol_entry *entry;
	uint8_t table[TABLE_BYTES];
	struct elf_module module;
	struct opened opened;
	static char name[ELF_SYMBOL_NAME_SIZE];

	(void)state;
	make_table(table, 0xfffffff1, TEXT);
	opened = open_table(".gopclntab", table, sizeof(table));
	elf_module_load(&module, &opened.file, &options);
	assert_int_equal(module.state, SYMBOL_FOUND);
	assert_int_equal(module.without_symbol, SYMBOL_NOT_IN_TABLE);
	assert_int_equal(elf_module_find(&module, -1, opened.bytes, TEXT + 0x190, name, &entry), 0);
	assert_string_equal(name, "main.(*T).run");
	elf_module_done(&module);
	close_table(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions),
		cmocka_unit_test(names_functions_of_old_versions),
		cmocka_unit_test(takes_the_start_of_the_text_from_its_relocation),
		cmocka_unit_test(takes_the_start_of_the_text_from_the_description_of_the_program),
		cmocka_unit_test(finds_the_table_without_sections),
		cmocka_unit_test(leaves_out_what_makes_no_sense),
		cmocka_unit_test(refuses_tables_of_other_formats),
		cmocka_unit_test(names_stripped_files),
	};

	return cmocka_run_group_tests_name("symbol/go_symbols", tests, NULL, NULL);
}
