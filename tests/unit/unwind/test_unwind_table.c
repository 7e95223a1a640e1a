// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/unwind_table: packing into pages, and look-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_program.h"
#include "cfi_bytes.h"
#include "elf_recipe.h"
#include "unwind/table/unwind_table.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x8000

static struct rule_set *rules;

static int set_up(void **state)
{
	rules = rule_set_new();
	return rules ? 0 : -1;
}

static int tear_down(void **state)
{
	rule_set_free(rules);
	return 0;
}

static struct unwind_table *build(struct cfi_bytes *bytes)
{
	struct elf_recipe recipe = {
		.text_size = TEXT_SIZE, .eh_frame = bytes->data, .eh_frame_size = bytes->size};
	struct unwind_table *table = NULL;
	struct elf_file *image;
	struct error error;
	size_t size;
	uint8_t *file = elf_recipe_make(&recipe, &size);

	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	assert_int_equal(unwind_table_build(image, false, rules, &table, &error), 0);
	elf_program_free(image);
	free(file);
	cfi_bytes_done(bytes);
	return table;
}

/* The second piece of a small program's code, as linker scripts place it. */
static struct unwind_table *build_with_far_segment(struct cfi_bytes *bytes, uint64_t address)
{
	struct elf_recipe recipe = {
		.text_size = TEXT_SIZE, .eh_frame = bytes->data, .eh_frame_size = bytes->size};
	struct unwind_table *table = NULL;
	struct elf_file *image;
	size_t size;
	uint8_t *file = elf_recipe_make(&recipe, &size);
	Elf64_Phdr *far = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)) + 2;

	assert_non_null(file);
	*far = (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = ELF_RECIPE_TEXT_OFFSET,
			    .p_vaddr = address,
			    .p_filesz = 0x1000,
			    .p_memsz = 0x1000};
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	assert_int_equal(unwind_table_build(image, false, rules, &table, NULL), 0);
	elf_program_free(image);
	free(file);
	cfi_bytes_done(bytes);
	return table;
}

static int32_t cfa_offset_at(const struct unwind_table *table, uint64_t offset)
{
	return unwind_table_lookup(table, rules, TEXT + offset)->cfa_offset;
}

static uint8_t cfa_at(const struct unwind_table *table, uint64_t offset)
{
	return unwind_table_lookup(table, rules, TEXT + offset)->cfa;
}

static void finds_the_rule_of_every_address(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "\x41\x0e\x10\x4f\x0e\x08");
	table = build(&bytes);
	assert_int_equal(table->text_start, TEXT);
	assert_int_equal(cfa_at(table, 0xff), PKBPF_CFA_NONE);
	assert_int_equal(cfa_offset_at(table, 0x100), 8);
	assert_int_equal(cfa_offset_at(table, 0x101), 16);
	assert_int_equal(cfa_offset_at(table, 0x10f), 16);
	assert_int_equal(cfa_offset_at(table, 0x110), 8);
	assert_int_equal(cfa_offset_at(table, 0x11f), 8);
	assert_int_equal(cfa_at(table, 0x120), PKBPF_CFA_NONE);
	assert_int_equal(cfa_at(table, 0x7000), PKBPF_CFA_NONE);
	assert_int_equal(cfa_at(table, UINT64_MAX - TEXT), PKBPF_CFA_NONE);
	assert_int_equal(unwind_table_lookup_id(table, TEXT - 1), RULE_ID_NONE);
	assert_int_equal(table->page_count, 1);
	unwind_table_free(table);
}

static void covers_pieces_of_code_that_lie_megabytes_apart(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x20, "\x41\x0e\x10");
	CFI_FDE(&bytes, TEXT + (8U << 20) + 0x100, 0x20, "\x41\x0e\x18");
	table = build_with_far_segment(&bytes, TEXT + (8U << 20));
	assert_int_equal(cfa_offset_at(table, 0x110), 16);
	assert_int_equal(cfa_at(table, 4U << 20), PKBPF_CFA_NONE);
	assert_int_equal(cfa_offset_at(table, (8U << 20) + 0x110), 24);
	unwind_table_free(table);
}

static void begins_each_page_with_a_row(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x1010, 0x3010, "\x41\x0e\x10");
	table = build(&bytes);
	assert_int_equal(table->page_count, 5);
	assert_int_equal(table->pages[0].count, 0);
	assert_int_equal(table->pages[1].count, 3);
	assert_int_equal(table->pages[2].count, 1);
	assert_int_equal(table->pages[3].count, 1);
	assert_int_equal(table->pages[4].count, 2);
	assert_int_equal(table->row_count, 7);
	assert_int_equal(table->pages[4].first, 5);
	assert_int_equal(table->rows[table->pages[1].first], PKBPF_ROW(0, RULE_ID_NONE));
	assert_int_equal(PKBPF_ROW_OFFSET(table->rows[table->pages[2].first]), 0);
	assert_int_equal(cfa_offset_at(table, 0x2000), 16);
	assert_int_equal(cfa_offset_at(table, 0x401f), 16);
	assert_int_equal(cfa_at(table, 0x4020), PKBPF_CFA_NONE);
	unwind_table_free(table);
}

static void covers_a_function_that_ends_with_the_text(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT, TEXT_SIZE, "");
	table = build(&bytes);
	assert_int_equal(table->page_count, TEXT_SIZE / 4096);
	for (uint64_t offset = 0; offset < TEXT_SIZE; offset += 0x800)
		assert_int_equal(cfa_offset_at(table, offset), 8);
	assert_int_equal(cfa_at(table, TEXT_SIZE), PKBPF_CFA_NONE);
	unwind_table_free(table);
}

static void keeps_the_last_rule_in_padding_but_not_in_gaps(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x10, 0x11, "");
	CFI_FDE(&bytes, TEXT + 0x30, 0x10, "\x0e\x18");
	CFI_FDE(&bytes, TEXT + 0x50, 0x10, "\x0e\x18");
	table = build(&bytes);
	assert_int_equal(cfa_offset_at(table, 0x2f), 8); /* 15 bytes of padding */
	assert_int_equal(cfa_offset_at(table, 0x30), 24);
	assert_int_equal(cfa_at(table, 0x40), PKBPF_CFA_NONE); /* 16 bytes of something else */
	assert_int_equal(cfa_offset_at(table, 0x50), 24);
	unwind_table_free(table);
}

static void drops_rows_that_repeat_the_one_before(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT, 0x40, "\x41\x0e\x08\x41\x0e\x08\x41\x0e\x10");
	CFI_FDE(&bytes, TEXT + 0x40, 0x40, "\x0e\x10");
	table = build(&bytes);
	/* 0: 8, 3: 16, 0x80: none */
	assert_int_equal(table->row_count, 3);
	assert_int_equal(table->stats.raw_row_count, 5);
	assert_int_equal(table->stats.function_count, 2);
	unwind_table_free(table);
}

static void holds_a_row_for_every_byte_of_a_page(void **state)
{
	struct cfi_bytes bytes = {0};
	struct cfi_bytes program = {0};
	struct unwind_table *table;

	for (unsigned int i = 0; i < 5000; i++)
		cfi_bytes_put(&program, i % 2 ? "\x0e\x10\x41" : "\x0e\x08\x41", 3);
	cfi_bytes_cie(&bytes, "zR");
	cfi_bytes_fde(&bytes, TEXT, 5000, program.data, program.size);
	table = build(&bytes);
	assert_int_equal(table->pages[0].count, PKBPF_MAX_PAGE_ROWS);
	for (uint64_t offset = 0; offset < 5000; offset++)
		assert_int_equal(cfa_offset_at(table, offset), offset % 2 ? 16 : 8);
	unwind_table_free(table);
	cfi_bytes_done(&program);
}

static void uses_one_id_for_one_rule_in_all_files(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *first;
	struct unwind_table *second;
	uint32_t count;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT, 0x40, "\x41\x0e\x10");
	first = build(&bytes);
	count = rule_set_count(rules);
	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x40, "\x41\x0e\x10");
	second = build(&bytes);
	assert_int_equal(rule_set_count(rules), count);
	assert_int_equal(unwind_table_lookup_id(first, TEXT + 1),
			 unwind_table_lookup_id(second, TEXT + 0x101));
	unwind_table_free(first);
	unwind_table_free(second);
}

static int build_without_functions(const uint8_t *text, struct unwind_table **ret_table)
{
	struct elf_recipe recipe = {.text = text, .text_size = 0x1000};
	struct elf_file *image;
	struct error error;
	size_t size;
	uint8_t *file = elf_recipe_make(&recipe, &size);
	int ret;

	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	ret = unwind_table_build(image, false, rules, ret_table, &error);
	elf_program_free(image);
	free(file);
	return ret;
}

static void reads_the_code_of_a_file_without_functions(void **state)
{
	/* push %rbx; sub $16,%rsp; xor %eax,%eax; add $16,%rsp; pop %rbx; ret */
	static uint8_t text[0x1000] = {0x53, 0x48, 0x83, 0xec, 0x10, 0x31, 0xc0,
				       0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
	struct unwind_table *table = NULL;

	assert_int_equal(build_without_functions(text, &table), 0);
	assert_int_equal(unwind_table_lookup(table, rules, TEXT + 5)->cfa_offset, 32);
	assert_int_equal(table->stats.function_count, 0);
	unwind_table_free(table);
}

static void says_no_data_for_a_file_without_functions_and_code(void **state)
{
	struct unwind_table *table = NULL;

	assert_int_equal(build_without_functions(NULL, &table), -ENODATA);
	assert_null(table);
}

/* At 0: push %rbp; mov %rsp,%rbp; call 16; pop %rbp; ret. At 16: xor %eax,%eax; ret. */
static const uint8_t two_functions[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0x07, 0x00, 0x00, 0x00, 0x5d,
					0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x31, 0xc0, 0xc3};

static struct unwind_table *build_described_as_one(const char *program, size_t program_size)
{
	static uint8_t text[0x1000];
	struct cfi_bytes bytes = {0};
	struct elf_recipe recipe = {.text = text, .text_size = sizeof(text)};
	struct unwind_table *table = NULL;
	struct elf_file *image;
	size_t size;
	uint8_t *file;

	memset(text, 0xcc, sizeof(text));
	memcpy(text, two_functions, sizeof(two_functions));
	cfi_bytes_cie(&bytes, "zR");
	cfi_bytes_fde(&bytes, TEXT, 0x20, program, program_size);
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	assert_int_equal(unwind_table_build(image, false, rules, &table, NULL), 0);
	elf_program_free(image);
	free(file);
	cfi_bytes_done(&bytes);
	return table;
}

static void reads_the_code_of_many_functions_that_are_described_as_one(void **state)
{
	static const struct {
		const char *program;
		size_t size;
	} descriptions[] = {
		{"\x0c\x06\x10\x86\x02", 5}, /* rbp + 16, everywhere */
		{"", 0},		     /* rsp + 8 */
	};

	for (size_t i = 0; i < 2; i++) {
		struct unwind_table *table =
			build_described_as_one(descriptions[i].program, descriptions[i].size);

		assert_int_equal(cfa_at(table, 0), PKBPF_CFA_SP);
		assert_int_equal(cfa_offset_at(table, 0), 8);
		assert_int_equal(cfa_offset_at(table, 1), 16);
		assert_int_equal(cfa_at(table, 4), PKBPF_CFA_FP);
		assert_int_equal(cfa_offset_at(table, 4), 16);
		assert_int_equal(cfa_at(table, 10), PKBPF_CFA_SP);
		assert_int_equal(cfa_at(table, 16), PKBPF_CFA_SP);
		assert_int_equal(cfa_offset_at(table, 16), 8);
		unwind_table_free(table);
	}
}

static void believes_a_description_that_knows_of_its_frame(void **state)
{
	/* A byte later than it is set up, which the code would tell better. */
	struct unwind_table *table = build_described_as_one("\x45\x0c\x06\x10\x86\x02", 6);

	assert_int_equal(cfa_offset_at(table, 4), 8);
	assert_int_equal(cfa_at(table, 5), PKBPF_CFA_FP);
	assert_int_equal(cfa_at(table, 16), PKBPF_CFA_FP);
	unwind_table_free(table);
}

static bool find_own_mapping(const char *name, uintptr_t *ret_start, uintptr_t *ret_end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, name) &&
			sscanf(line, "%" SCNxPTR "-%" SCNxPTR, ret_start, ret_end) == 2;
	if (maps)
		fclose(maps);
	return found;
}

static void builds_the_table_of_the_vdso_from_memory(void **state)
{
	struct unwind_table *table = NULL;
	struct elf_file *image;
	struct error error;
	uintptr_t start;
	uintptr_t end;
	uint64_t bias;

	if (!find_own_mapping("[vdso]", &start, &end))
		skip();
	assert_int_equal(elf_program_open_memory((const void *)start, end - start, &image), 0);
	assert_true(elf_segments_bias(&image->segments, start, end, 0, &bias));
	assert_int_equal(bias, start);
	assert_int_equal(unwind_table_build(image, false, rules, &table, &error), 0);
	assert_true(table->stats.function_count > 3);
	assert_int_equal(table->stats.unsupported_count, 0);
	unwind_table_free(table);
	elf_program_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			reads_the_code_of_many_functions_that_are_described_as_one, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(believes_a_description_that_knows_of_its_frame,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(finds_the_rule_of_every_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(covers_pieces_of_code_that_lie_megabytes_apart,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(begins_each_page_with_a_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(covers_a_function_that_ends_with_the_text, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keeps_the_last_rule_in_padding_but_not_in_gaps,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(drops_rows_that_repeat_the_one_before, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(holds_a_row_for_every_byte_of_a_page, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(uses_one_id_for_one_rule_in_all_files, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(builds_the_table_of_the_vdso_from_memory, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(reads_the_code_of_a_file_without_functions, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(says_no_data_for_a_file_without_functions_and_code,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
