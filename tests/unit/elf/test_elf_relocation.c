// SPDX-License-Identifier: BSD-2-Clause
/* Tests for elf/elf_relocation: which table is searched, and how much of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "elf/elf_relocation.h"

#define WANTED	   0x1234U
#define TABLE_SIZE 1000U

struct tables {
	struct elf_section *sections;
	Elf64_Rela *relocations;
	struct elf_file file;
};

/* So many sections that all show the same table, and one with the relocation that is wanted. */
static void make(struct tables *tables, size_t count)
{
	size_t size = (TABLE_SIZE + 1) * sizeof(*tables->relocations);

	tables->sections = calloc(count + 1, sizeof(*tables->sections));
	tables->relocations = calloc(1, size);
	assert_non_null(tables->sections);
	assert_non_null(tables->relocations);
	tables->relocations[TABLE_SIZE] = (Elf64_Rela){.r_offset = WANTED, .r_addend = 7};
	for (size_t i = 0; i <= count; i++)
		tables->sections[i] = (struct elf_section){
			.type = SHT_RELA, .size = TABLE_SIZE * sizeof(*tables->relocations)};
	tables->sections[count].offset = TABLE_SIZE * sizeof(*tables->relocations);
	tables->sections[count].size = sizeof(*tables->relocations);
	tables->file = elf_file_of_bytes(tables->relocations, size);
	tables->file.sections = tables->sections;
	tables->file.section_count = count + 1;
}

static void done(struct tables *tables)
{
	free(tables->sections);
	free(tables->relocations);
}

static void finds_a_relocation_in_the_tables_of_its_kind(void **state)
{
	struct tables tables;
	Elf64_Rela found;

	(void)state;
	make(&tables, 3);
	assert_true(
		elf_relocation_find(&tables.file, ELF_RELOCATIONS_WITHOUT_TARGET, WANTED, &found));
	assert_int_equal(found.r_addend, 7);
	assert_false(elf_relocation_find(&tables.file, ELF_RELOCATIONS_WITHOUT_TARGET, WANTED + 1,
					 &found));
	assert_false(
		elf_relocation_find(&tables.file, ELF_RELOCATIONS_WITH_TARGET, WANTED, &found));
	tables.sections[3].info = 1;
	assert_true(elf_relocation_find(&tables.file, ELF_RELOCATIONS_WITH_TARGET, WANTED, &found));
	done(&tables);
}

/* A file can show one large table in each of 65,536 sections. */
static void many_tables_are_searched_no_longer_than_one_large_table(void **state)
{
	struct tables tables;
	Elf64_Rela found;

	(void)state;
	make(&tables, 5000);
	assert_false(
		elf_relocation_find(&tables.file, ELF_RELOCATIONS_WITHOUT_TARGET, WANTED, &found));
	done(&tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_relocation_in_the_tables_of_its_kind),
		cmocka_unit_test(many_tables_are_searched_no_longer_than_one_large_table),
	};

	return cmocka_run_group_tests_name("elf/elf_relocation", tests, NULL, NULL);
}
