// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/go_pclntab: a table written by hand, and what the builder makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "cfi_bytes.h"
#include "elf_recipe.h"
#include "unwind/table/unwind_table.h"

#define TEXT	     ELF_RECIPE_TEXT_ADDRESS
#define GO_TEXT	     (TEXT + 0x200) /* C code may lie before it */
#define TEXT_SIZE    0x3000
#define HEADER_SIZE  72
#define RECORD_BYTES 44

enum { TOP = 1, SP_WRITE = 2, ASSEMBLY = 4 };

struct go_function {
	uint32_t entry;
	uint32_t values; /* offset in values[] */
	uint32_t name;
	uint8_t flags;
};

/* Offset 0 means "none", so tables begin at 1. */
static const uint8_t values[] = {
	0,    0x02, 4,	  0x10, 1, 0x30, 0x3b, 0x2f, 8, 0x0f, 0xff, 0x7f, 0, /* 1: 0, 8, 32, 8, 0 */
	0x02, 0x10, 0x0f, 0x10, 0, /* 13: 0, then negative */
	0x02, 0x80,		   /* 18: cut off */
};

static const char names[] = "main.main\0runtime.sigtramp.abi0\0runtime.mcall\0runtime.mcall2";

static const struct go_function functions[] = {
	{0x000, 1, 0, 0},
	{0x100, 0, 0, 0},
	{0x140, 1, 0, TOP},
	{0x180, 1, 0, SP_WRITE},
	{0x1c0, 1, 10, TOP | ASSEMBLY},
	{0x200, 1, 0, ASSEMBLY},
	{0x240, 13, 0, 0},
	{0x280, 18, 0, 0},
	{0x2c0, 0xffffff, 0, 0},
	{0x300, 1, 32, SP_WRITE | ASSEMBLY},
	{0x340, 1, 46, SP_WRITE | ASSEMBLY},
};

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

static void put_u32(struct cfi_bytes *bytes, uint32_t value)
{
	cfi_bytes_put(bytes, &value, sizeof(value));
}

static void put_u64(struct cfi_bytes *bytes, uint64_t value)
{
	cfi_bytes_put(bytes, &value, sizeof(value));
}

static void make_table(struct cfi_bytes *bytes, uint32_t magic, uint64_t go_text)
{
	uint64_t values_offset = HEADER_SIZE + sizeof(names);
	uint32_t record = 8 * ARRAY_SIZE(functions) + 4;
	uint32_t record_bytes = magic == 0xfffffff1 ? RECORD_BYTES : RECORD_BYTES - 4;

	put_u32(bytes, magic);
	cfi_bytes_put(bytes, "\0\0\1\10", 4);
	put_u64(bytes, ARRAY_SIZE(functions));
	put_u64(bytes, 0);
	put_u64(bytes, go_text);
	put_u64(bytes, HEADER_SIZE); /* names */
	put_u64(bytes, values_offset);
	put_u64(bytes, values_offset);
	put_u64(bytes, values_offset);
	put_u64(bytes, values_offset + sizeof(values));
	cfi_bytes_put(bytes, names, sizeof(names));
	cfi_bytes_put(bytes, values, sizeof(values));
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		put_u32(bytes, functions[i].entry);
		put_u32(bytes, record + (uint32_t)i * record_bytes);
	}
	put_u32(bytes, 0x380);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		put_u32(bytes, functions[i].entry);
		put_u32(bytes, functions[i].name);
		put_u64(bytes, 0);
		put_u32(bytes, functions[i].values);
		put_u64(bytes, 0);
		put_u64(bytes, 0);
		if (magic == 0xfffffff1)
			put_u32(bytes, 7); /* start line */
		cfi_bytes_put(bytes, "", 1);
		cfi_bytes_put(bytes, &functions[i].flags, 1);
		cfi_bytes_put(bytes, "\0", 2);
	}
}

static int build(const struct cfi_bytes *bytes, struct unwind_table **ret_table)
{
	static uint8_t text[TEXT_SIZE];
	struct elf_recipe recipe = {.text = text,
				    .text_size = TEXT_SIZE,
				    .extra_section = ".gopclntab",
				    .extra = bytes->data,
				    .extra_size = bytes->size};
	struct elf_file *image;
	struct error error;
	size_t size;
	uint8_t *file;
	int ret;

	/* mov 0x38(%rdx),%rsp: stack pointers are written 2 bytes into three functions. */
	memcpy(text + 0x380, "\x90\x90\x48\x8b\x62\x38", 6);
	memcpy(text + 0x500, "\x90\x90\x48\x8b\x62\x38", 6);
	memcpy(text + 0x540, "\x90\x90\x48\x8b\x62\x38", 6);
	/* The function at 0x200 of the Go text is rt_sigreturn. */
	memcpy(text + 0x400, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	ret = unwind_table_build(image, false, rules, ret_table, &error);
	elf_program_free(image);
	free(file);
	return ret;
}

static const struct pkbpf_unwind_rule *at(const struct unwind_table *table, uint64_t offset)
{
	return unwind_table_lookup(table, rules, GO_TEXT + offset);
}

static void check_rules(const struct unwind_table *table)
{
	assert_int_equal(unwind_table_lookup(table, rules, TEXT + 0x100)->cfa, PKBPF_CFA_NONE);
	/* push; sub; …; add; pop: the frame pointer is saved below the return address from the push
	 * on */
	assert_int_equal(at(table, 0)->cfa_offset, 8);
	assert_int_equal(at(table, 0)->fp, PKBPF_FP_SAME);
	assert_int_equal(at(table, 4)->cfa_offset, 16);
	assert_int_equal(at(table, 4)->fp, PKBPF_FP_CFA);
	assert_int_equal(at(table, 4)->fp_offset, -16);
	assert_int_equal(at(table, 5)->cfa_offset, 40);
	assert_int_equal(at(table, 0x3f)->cfa_offset, 40);
	assert_int_equal(at(table, 0x40)->cfa_offset, 16);
	assert_int_equal(at(table, 0x48)->cfa_offset, 8);
	assert_int_equal(at(table, 0xff)->cfa_offset, 8);
	assert_int_equal(at(table, 0xff)->ra_offset, -8);
	assert_int_equal(at(table, 0x100)->cfa, PKBPF_CFA_NONE); /* without a stack table */
	assert_int_equal(at(table, 0x140)->cfa, PKBPF_CFA_END);
	assert_int_equal(at(table, 0x185)->cfa, PKBPF_CFA_SP);
	assert_int_equal(at(table, 0x186)->cfa, PKBPF_CFA_UNSUPPORTED); /* switches stacks */
	assert_int_equal(at(table, 0x1c0)->cfa, PKBPF_CFA_SP);		/* sigtramp goes on */
	assert_int_equal(at(table, 0x1ff)->cfa, PKBPF_CFA_SIGNAL);
	assert_int_equal(at(table, 0x208)->cfa, PKBPF_CFA_SIGNAL);
	assert_int_equal(at(table, 0x240)->cfa_offset, 8);
	assert_int_equal(at(table, 0x250)->cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(at(table, 0x280)->cfa, PKBPF_CFA_NONE);
	assert_int_equal(at(table, 0x2c0)->cfa, PKBPF_CFA_NONE);
	assert_int_equal(at(table, 0x305)->cfa_offset, 40); /* mcall */
	assert_int_equal(at(table, 0x306)->cfa, PKBPF_CFA_END);
	assert_int_equal(at(table, 0x350)->cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(at(table, 0x2d0)->cfa, PKBPF_CFA_NONE);
	assert_int_equal(at(table, 0x380)->cfa, PKBPF_CFA_NONE);
}

static void reads_the_table_of_go_1_20(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	make_table(&bytes, 0xfffffff1, GO_TEXT);
	assert_int_equal(build(&bytes, &table), 0);
	assert_int_equal(table->stats.function_count, ARRAY_SIZE(functions));
	check_rules(table);
	unwind_table_free(table);
	cfi_bytes_done(&bytes);
}

static void reads_the_table_of_go_1_18(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	make_table(&bytes, 0xfffffff0, GO_TEXT);
	assert_int_equal(build(&bytes, &table), 0);
	check_rules(table);
	unwind_table_free(table);
	cfi_bytes_done(&bytes);
}

/* Of Go 1.16: full addresses, and no flags; the run-time knows its functions by name. */
static void make_table_of_1_16(struct cfi_bytes *bytes)
{
	static const char old_names[] =
		"main.main\0runtime.goexit\0runtime.systemstack\0runtime.sigreturn\0runtime.mcall";
	static const struct {
		uint64_t entry;
		uint32_t name;
	} old[] = {{0, 0}, {0x140, 10}, {0x180, 25}, {0x200, 45}, {0x240, 0}, {0x300, 63}};
	const uint64_t values_offset = 64 + sizeof(old_names);
	const uint64_t header[] = {ARRAY_SIZE(old),
				   0,
				   64,
				   values_offset,
				   values_offset,
				   values_offset,
				   values_offset + sizeof(values)};

	put_u32(bytes, 0xfffffffa);
	cfi_bytes_put(bytes, "\0\0\1\10", 4);
	cfi_bytes_put(bytes, header, sizeof(header));
	cfi_bytes_put(bytes, old_names, sizeof(old_names));
	cfi_bytes_put(bytes, values, sizeof(values));
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		put_u64(bytes, GO_TEXT + old[i].entry);
		put_u64(bytes, 16 * ARRAY_SIZE(old) + 8 + 44 * i);
	}
	put_u64(bytes, GO_TEXT + 0x340);
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		put_u64(bytes, GO_TEXT + old[i].entry);
		put_u32(bytes, old[i].name);
		put_u64(bytes, 0);
		put_u32(bytes, 1);
		put_u64(bytes, 0);
		put_u64(bytes, 0);
		put_u32(bytes, 0);
	}
}

static void reads_the_table_of_go_1_16(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	make_table_of_1_16(&bytes);
	assert_int_equal(build(&bytes, &table), 0);
	assert_int_equal(table->stats.function_count, 6);
	assert_int_equal(at(table, 5)->cfa_offset, 40);
	assert_int_equal(at(table, 0x150)->cfa, PKBPF_CFA_END);
	assert_int_equal(at(table, 0x190)->cfa, PKBPF_CFA_UNSUPPORTED);
	assert_int_equal(at(table, 0x208)->cfa, PKBPF_CFA_SIGNAL);
	assert_int_equal(at(table, 0x310)->cfa, PKBPF_CFA_END);
	unwind_table_free(table);
	cfi_bytes_done(&bytes);
}

static void takes_the_section_where_the_table_says_no_address(void **state)
{
	struct cfi_bytes bytes = {0};
	struct unwind_table *table;

	make_table(&bytes, 0xfffffff1, 0);
	assert_int_equal(build(&bytes, &table), 0);
	assert_int_equal(unwind_table_lookup(table, rules, TEXT + 5)->cfa_offset, 40);
	unwind_table_free(table);
	cfi_bytes_done(&bytes);
}

static void refuses_tables_of_other_formats(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} changes[] = {{0, 0xfb}, {0, 0xfa},  {5, 1},	   {6, 4},	{7, 4}, {8, 0xff},
		       {13, 1},	  {15, 0xff}, {56 + 5, 1}, {64 + 2, 1}, {64, 1}};
	struct unwind_table *table = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct cfi_bytes bytes = {0};

		make_table(&bytes, 0xfffffff1, GO_TEXT);
		bytes.data[changes[i].offset] = changes[i].value;
		if (build(&bytes, &table) != -ENODATA)
			fail_msg("change %zu was accepted", i);
		cfi_bytes_done(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_the_table_of_go_1_20, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_the_table_of_go_1_18, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_the_table_of_go_1_16, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_the_section_where_the_table_says_no_address,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(refuses_tables_of_other_formats, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
