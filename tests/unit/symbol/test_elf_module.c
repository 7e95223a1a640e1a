// SPDX-License-Identifier: BSD-2-Clause
/* Tests which symbol tables speak for a file. */
#include "symbol/elf/elf_module.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "symbol_fixture.h"

/* Name of the function that begins where a symbol of another file, built alike, does. */
static const char *name_in(const char *path, const char *symbol, struct elf_module *module)
{
	static const struct elf_module_options options = {
		.search = {.root = "", .debug_dir = "", .path = ""}};
	static char name[ELF_SYMBOL_NAME_SIZE];
	struct place place = find_place(FIXTURE_DIR "/exported", symbol);
	const struct symbol_entry *entry;
	int fd = open(path, O_RDONLY);
	struct elf_file file;
	int err;

	assert_int_equal(elf_file_open(&file, fd), 0);
	elf_module_load(module, &file, &options);
	elf_file_done(&file);
	err = elf_module_find(module, fd, NULL, place.address + place.size / 2, name, &entry);
	close(fd);
	elf_module_done(module);
	assert_true(err == 0 || err == -ENOENT);
	return err ? "" : name;
}

static void a_few_kept_symbols_do_not_hide_the_exported_ones(void **state)
{
	struct elf_module module;

	assert_string_equal(name_in(FIXTURE_DIR "/reduced", "local_function", &module),
			    "local_function");
	assert_string_equal(name_in(FIXTURE_DIR "/reduced", "outer_function", &module),
			    "outer_function");
}

static void exported_symbols_name_files_without_sections(void **state)
{
	struct elf_module module;

	assert_string_equal(name_in(FIXTURE_DIR "/no_sections", "outer_function", &module),
			    "outer_function");
	assert_string_equal(name_in(FIXTURE_DIR "/no_sections", "local_function", &module), "");
}

/* How the file's addresses without a symbol are told, when the flags of the sections of this type
 * are others. */
static enum symbol_result reason_with(const char *path, uint32_t type, uint64_t flags)
{
	static const struct elf_module_options options = {.search = {.root = "", .path = ""}};
	int fd = open(path, O_RDONLY);
	struct elf_module module;
	struct elf_file file;
	enum symbol_result reason;

	assert_int_equal(elf_file_open(&file, fd), 0);
	for (size_t i = 0; i < file.section_count; i++)
		if (file.sections[i].type == type)
			file.sections[i].flags = flags;
	elf_module_load(&module, &file, &options);
	reason = module.without_symbol;
	elf_module_done(&module);
	elf_file_done(&file);
	close(fd);
	return reason;
}

static void a_table_that_is_refused_is_no_missing_one(void **state)
{
	assert_int_equal(reason_with(FIXTURE_DIR "/exported", SHT_SYMTAB, 0), SYMBOL_NOT_IN_TABLE);
	assert_int_equal(reason_with(FIXTURE_DIR "/stripped", SHT_SYMTAB, 0), SYMBOL_STRIPPED);
	/* What is there as if it were packed is nonsense. */
	assert_int_equal(reason_with(FIXTURE_DIR "/exported", SHT_SYMTAB, SHF_COMPRESSED),
			 SYMBOL_TABLE_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_kept_symbols_do_not_hide_the_exported_ones),
		cmocka_unit_test(exported_symbols_name_files_without_sections),
		cmocka_unit_test(a_table_that_is_refused_is_no_missing_one),
	};

	return cmocka_run_group_tests_name("symbol/elf_module", tests, NULL, NULL);
}
