// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/special_code: code that is known by its bytes, in the table that comes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_program.h"
#include "cfi_bytes.h"
#include "elf_recipe.h"
#include "unwind/table/unwind_table.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x20000

static const uint8_t musl_start[] = {0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d, 0x35, 1, 2,
				     3,	   4,	 0x48, 0x83, 0xe4, 0xf0, 0xe8, 1,    2,	   3, 4};
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
static const uint8_t clone_child[] = {0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89, 0xc7,
				      0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4};
static const uint8_t context_start[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
					0x24, 0x48, 0x85, 0xff, 0x74, 0x08, 0xe8, 1,	2,    3,
					4,    0x48, 0x89, 0xc7, 0xe8, 1,    2,	  3,	4,    0xf4};
static const uint8_t lld_plt[] = {0xff, 0x35, 0, 0,    0,    0, 0xff, 0x25, 0, 0,    0, 0, 0x0f,
				  0x1f, 0x40, 0, 0xff, 0x25, 0, 0,    0,    0, 0x68, 0, 0, 0,
				  0,	0xe9, 0, 0,    0,    0, 0xff, 0x25, 0, 0,    0, 0, 0x68,
				  1,	0,    0, 0,    0xe9, 0, 0,    0,    0};

static struct rule_set *rules;
static uint8_t text[TEXT_SIZE];
static uint32_t second_start, second_size; /* of another described function */

static int set_up(void **state)
{
	memset(text, 0xcc, sizeof(text));
	second_size = 0;
	rules = rule_set_new();
	return rules ? 0 : -1;
}

static int tear_down(void **state)
{
	rule_set_free(rules);
	return 0;
}

/* The text with a described function at [0x100, 0x200). */
static struct unwind_table *build(uint64_t entry, uint64_t plt_size)
{
	struct cfi_bytes bytes = {0};
	struct elf_recipe recipe = {
		.text = text, .text_size = TEXT_SIZE, .entry = entry, .plt_size = plt_size};
	struct unwind_table *table = NULL;
	struct elf_file *image;
	struct error error;
	uint8_t *file;
	size_t size;

	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT + 0x100, 0x100, "");
	if (second_size)
		CFI_FDE(&bytes, TEXT + second_start, second_size, "");
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	assert_int_equal(unwind_table_build(image, false, rules, &table, &error), 0);
	elf_program_free(image);
	free(file);
	cfi_bytes_done(&bytes);
	return table;
}

static uint8_t cfa_at(const struct unwind_table *table, uint64_t offset)
{
	return unwind_table_lookup(table, rules, TEXT + offset)->cfa;
}

static void ends_stacks_in_the_entry_code_of_musl(void **state)
{
	struct unwind_table *table;

	memcpy(text + 0x40, musl_start, sizeof(musl_start));
	table = build(TEXT + 0x40, 0);
	assert_int_equal(cfa_at(table, 0x3f), PKBPF_CFA_NONE);
	assert_int_equal(cfa_at(table, 0x40), PKBPF_CFA_END);
	assert_int_equal(cfa_at(table, 0x40 + sizeof(musl_start) - 1), PKBPF_CFA_END);
	assert_int_equal(cfa_at(table, 0x40 + sizeof(musl_start)), PKBPF_CFA_NONE);
	assert_int_equal(table->stats.special_count, 1);
	unwind_table_free(table);
}

static void believes_call_frame_information_about_the_entry(void **state)
{
	struct unwind_table *table;

	memcpy(text + 0x140, musl_start, sizeof(musl_start));
	table = build(TEXT + 0x140, 0);
	assert_int_equal(cfa_at(table, 0x140), PKBPF_CFA_SP);
	unwind_table_free(table);
}

static void finds_signal_trampolines_between_functions(void **state)
{
	struct unwind_table *table;

	memcpy(text + 0x80, sigreturn, sizeof(sigreturn));
	memcpy(text + 0x140, sigreturn, sizeof(sigreturn)); /* inside the described function */
	/* Across a border of the windows in which the text is read. */
	memcpy(text + 0x200 + 65536 - 3, sigreturn, sizeof(sigreturn));
	table = build(TEXT, 0);
	assert_int_equal(cfa_at(table, 0x7e), PKBPF_CFA_NONE);
	assert_int_equal(cfa_at(table, 0x7f),
			 PKBPF_CFA_SIGNAL); /* where return addresses are looked up */
	assert_int_equal(cfa_at(table, 0x88), PKBPF_CFA_SIGNAL);
	assert_int_equal(cfa_at(table, 0x89), PKBPF_CFA_NONE);
	assert_int_equal(cfa_at(table, 0x140), PKBPF_CFA_SP);
	assert_int_equal(cfa_at(table, 0x200 + 65536), PKBPF_CFA_SIGNAL);
	assert_int_equal(table->stats.special_count, 2);
	unwind_table_free(table);
}

static void ends_stacks_in_the_thread_start_of_musl(void **state)
{
	struct unwind_table *table;

	memcpy(text + 0x300, clone_child, sizeof(clone_child));
	table = build(TEXT, 0);
	assert_int_equal(cfa_at(table, 0x305), PKBPF_CFA_END);
	assert_int_equal(cfa_at(table, 0x2ff), PKBPF_CFA_NONE);
	unwind_table_free(table);
}

static void ends_stacks_where_the_function_of_a_context_returns_to(void **state)
{
	for (uint32_t skipped = 0; skipped <= 4; skipped += 4) {
		struct unwind_table *table;

		second_start = 0x208;
		second_size = (uint32_t)sizeof(context_start) - skipped;
		memcpy(text + second_start, context_start + skipped, second_size);
		table = build(TEXT, 0);
		assert_int_equal(cfa_at(table, 0x206), PKBPF_CFA_SP);
		assert_int_equal(cfa_at(table, 0x207), PKBPF_CFA_END);
		assert_int_equal(cfa_at(table, second_start + second_size - 1), PKBPF_CFA_END);
		assert_int_equal(table->stats.special_count, 1);
		unwind_table_free(table);
	}
}

/* Then the byte before is a call's that does not return. */
static void lets_a_function_end_where_the_start_of_a_context_begins(void **state)
{
	struct unwind_table *table;

	second_start = 0x200;
	second_size = (uint32_t)sizeof(context_start);
	memcpy(text + second_start, context_start, second_size);
	table = build(TEXT, 0);
	assert_int_equal(cfa_at(table, 0x1ff), PKBPF_CFA_SP);
	assert_int_equal(cfa_at(table, 0x200), PKBPF_CFA_END);
	unwind_table_free(table);
}

static void ends_stacks_above_the_address_of_abort(void **state)
{
	struct unwind_table *table = NULL;
	struct elf_file *image;
	struct error error;
	Dl_info library;
	uint64_t at;
	int fd;

	/* Of this program's own C library. */
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "abort"), &library));
	at = (uint64_t)((char *)library.dli_saddr - (char *)library.dli_fbase);
	fd = open(library.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_program_open(fd, &image), 0);
	close(fd);
	if (image->machine == EM_X86_64) {
		assert_int_equal(unwind_table_build(image, false, rules, &table, &error), 0);
		assert_int_equal(unwind_table_lookup(table, rules, at - 1)->cfa, PKBPF_CFA_END);
		assert_int_equal(unwind_table_lookup(table, rules, at - 1)->aux, 1);
		assert_int_equal(unwind_table_lookup(table, rules, at)->cfa, PKBPF_CFA_SP);
		unwind_table_free(table);
	}
	elf_program_free(image);
}

static void describes_a_plt_that_the_linker_did_not(void **state)
{
	const struct pkbpf_unwind_rule *rule;
	struct unwind_table *table;

	memcpy(text, lld_plt, sizeof(lld_plt));
	table = build(0, sizeof(lld_plt));
	rule = unwind_table_lookup(table, rules, TEXT);
	assert_int_equal(rule->cfa, PKBPF_CFA_SP);
	assert_int_equal(rule->cfa_offset, 16);
	rule = unwind_table_lookup(table, rules, TEXT + 6);
	assert_int_equal(rule->cfa_offset, 24);
	rule = unwind_table_lookup(table, rules, TEXT + 0x20);
	assert_int_equal(rule->cfa, PKBPF_CFA_PLT);
	assert_int_equal(rule->cfa_offset, 11);
	assert_int_equal(rule->ra_offset, -8);
	assert_int_equal(cfa_at(table, sizeof(lld_plt)), PKBPF_CFA_NONE);
	unwind_table_free(table);
}

static void describes_the_plt_of_a_static_program(void **state)
{
	static const uint8_t entry[] = {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90};
	struct unwind_table *table;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		memcpy(text + i * sizeof(entry), entry, sizeof(entry));
	table = build(0, 5 * sizeof(entry));
	for (uint32_t at = 0; at < 5 * sizeof(entry); at++)
		assert_int_equal(cfa_at(table, at), PKBPF_CFA_SP);
	assert_int_equal(cfa_at(table, 5 * sizeof(entry)), PKBPF_CFA_NONE);
	unwind_table_free(table);
}

static void leaves_a_plt_alone_that_it_does_not_know(void **state)
{
	struct unwind_table *table = build(0, sizeof(lld_plt));

	assert_int_equal(cfa_at(table, 0x20), PKBPF_CFA_NONE);
	assert_int_equal(table->stats.special_count, 0);
	unwind_table_free(table);
}

/* The same bytes within a function are what it says. */
static void searches_no_further_than_the_next_function(void **state)
{
	struct unwind_table *table;

	memcpy(text + 0x40, sigreturn, sizeof(sigreturn));
	memcpy(text + 0x140, sigreturn, sizeof(sigreturn));
	table = build(TEXT, 0);
	assert_int_equal(table->stats.special_count, 1);
	assert_int_equal(cfa_at(table, 0x140), PKBPF_CFA_SP);
	unwind_table_free(table);
}

static void looks_at_a_bounded_number_of_pieces(void **state)
{
	struct unwind_table *table;

	for (size_t at = 0x400; at + 16 <= TEXT_SIZE; at += 16)
		memcpy(text + at, sigreturn, sizeof(sigreturn));
	table = build(TEXT, 0);
	assert_int_equal(table->stats.special_count, 64);
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_stacks_in_the_entry_code_of_musl, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(believes_call_frame_information_about_the_entry,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(finds_signal_trampolines_between_functions, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(ends_stacks_in_the_thread_start_of_musl, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			ends_stacks_where_the_function_of_a_context_returns_to, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			lets_a_function_end_where_the_start_of_a_context_begins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_stacks_above_the_address_of_abort, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(describes_a_plt_that_the_linker_did_not, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(describes_the_plt_of_a_static_program, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(leaves_a_plt_alone_that_it_does_not_know, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(searches_no_further_than_the_next_function, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(looks_at_a_bounded_number_of_pieces, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
