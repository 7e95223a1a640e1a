// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/code_gaps: which undescribed code of a file gets rows, and which is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_recipe.h"
#include "unwind/code_gaps.h"
#include "unwind/undescribed_code.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x4000U

/* push %rbx; sub $0x10,%rsp; xor %eax,%eax; add $0x10,%rsp; pop %rbx; ret */
static const uint8_t function[] = {0x53, 0x48, 0x83, 0xec, 0x10, 0x31, 0xc0,
				   0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
#define FUNCTION_SPACE 16 /* with what fills it up */
#define BODY	       5  /* where its stack is largest, by FRAME_BYTES */
#define FRAME_BYTES    32

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
static const uint8_t keeps_frame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3};
/* mov -8(%rbp),%rax; ret */
static const uint8_t borrows_frame[] = {0x48, 0x8b, 0x45, 0xf8, 0xc3};

struct row {
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

/* One file, and the rows made of it. */
static uint8_t *text;
static size_t text_size;
static uint8_t *file;
static struct elf_image *image;
static struct code_gaps *gaps;
static bool postpones;
static ARRAY_OF(struct row) rows;

static void fill(size_t start, size_t end, const uint8_t *code, size_t size, size_t space)
{
	for (size_t at = start; at + space <= end; at += space)
		memcpy(text + at, code, size);
}

/* Room for code, all of it int3. */
static void make_text(size_t size)
{
	text_size = size;
	text = malloc(size);
	assert_non_null(text);
	memset(text, 0xcc, size);
}

static void make_functions(size_t size)
{
	make_text(size);
	fill(0, size, function, sizeof(function), FUNCTION_SPACE);
}

/* The file may cover more than its text. */
static void open_gaps(struct elf_recipe recipe, uint64_t covered)
{
	struct error error;
	size_t size;

	recipe.text = text;
	recipe.text_size = text_size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_image_open_memory(file, size, ELF_IMAGE_FILE, &image, &error), 0);
	gaps = code_gaps_new(image, TEXT, covered, postpones);
}

static void open_text(void)
{
	open_gaps((struct elf_recipe){0}, text_size);
	assert_non_null(gaps);
}

static int tear_down(void **state)
{
	code_gaps_free(gaps);
	gaps = NULL;
	postpones = false;
	elf_image_free(image);
	image = NULL;
	free(file);
	file = NULL;
	free(text);
	text = NULL;
	array_free(&rows);
	return 0;
}

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct row *row;

	if (rows.count)
		assert_true(offset >= rows.items[rows.count - 1].offset);
	row = array_add(&rows);
	assert_non_null(row);
	*row = (struct row){offset, *rule};
}

static void run(uint32_t start, uint32_t end)
{
	code_gaps_run(gaps, start, end, take_row, NULL);
}

/* The row in force at an offset; NULL: none begins before. */
static const struct row *row_at(uint32_t offset)
{
	size_t low = 0, high = rows.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &rows.items[low - 1] : NULL;
}

static void assert_cfa(uint32_t offset, uint8_t kind, int32_t cfa_offset)
{
	const struct row *row = row_at(offset);

	assert_non_null(row);
	if (row->rule.cfa != kind || row->rule.cfa_offset != cfa_offset)
		print_error("at %#x\n", offset);
	assert_int_equal(row->rule.cfa, kind);
	assert_int_equal(row->rule.cfa_offset, cfa_offset);
}

static void assert_last_row(uint32_t offset)
{
	assert_true(rows.count > 0);
	assert_int_equal(rows.items[rows.count - 1].offset, offset);
	assert_int_equal(rows.items[rows.count - 1].rule.cfa, PKBPF_CFA_NONE);
}

static void makes_rows_only_between_the_given_offsets(void **state)
{
	make_functions(TEXT_SIZE);
	open_text();
	run(0x40, 0x80);
	assert_int_equal(rows.items[0].offset, 0x40);
	assert_cfa(0x40, PKBPF_CFA_SP, 8);
	assert_cfa(0x41, PKBPF_CFA_SP, 16);
	assert_cfa(0x40 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_cfa(0x70 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_cfa(0x7c, PKBPF_CFA_SP, 8);
	assert_last_row(0x80);
}

static void goes_on_in_the_same_code_from_call_to_call(void **state)
{
	size_t count;

	make_functions(TEXT_SIZE);
	open_text();
	run(0x40, 0x80);
	count = rows.count;
	run(0x100, 0x140);
	assert_int_equal(rows.items[count].offset, 0x100);
	assert_cfa(0x90 + BODY, PKBPF_CFA_NONE, 0);
	assert_cfa(0x130 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row(0x140);
}

static void makes_rows_only_in_executable_code(void **state)
{
	uint8_t data[8 * FUNCTION_SPACE];
	uint64_t data_start = ELF_RECIPE_EH_FRAME_ADDRESS - TEXT;

	/* The same bytes in a section that is not executable, within what the file covers. */
	make_functions(TEXT_SIZE);
	memcpy(data, text, sizeof(data));
	open_gaps((struct elf_recipe){.eh_frame = data, .eh_frame_size = sizeof(data)}, data_start + 0x1000);
	assert_non_null(gaps);
	run(0x100, (uint32_t)data_start + 0x1000);
	assert_cfa(TEXT_SIZE - FUNCTION_SPACE + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row(TEXT_SIZE);
	assert_int_equal(code_gaps_stats(gaps).followed, TEXT_SIZE - 0x100);
}

static void takes_executable_segments_where_there_are_no_sections(void **state)
{
	make_functions(TEXT_SIZE);
	open_gaps((struct elf_recipe){.has_no_sections = true}, 2 * TEXT_SIZE);
	assert_non_null(gaps);
	run(0, 2 * TEXT_SIZE);
	assert_cfa(0x200 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row(TEXT_SIZE);
}

static void makes_no_rows_behind_what_the_file_covers(void **state)
{
	make_functions(TEXT_SIZE);
	open_gaps((struct elf_recipe){0}, 0x400);
	assert_non_null(gaps);
	run(0, TEXT_SIZE);
	assert_cfa(0x3f0 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row(0x400);
}

static void leaves_the_space_between_functions_alone(void **state)
{
	make_functions(TEXT_SIZE);
	open_text();
	run(0x40, 0x40 + CODE_GAPS_MIN_BYTES - 1);
	run(0x60, 0x60);
	assert_int_equal(rows.count, 0);
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
	run(0x80, 0x80 + CODE_GAPS_MIN_BYTES);
	assert_cfa(0x80 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row(0x80 + CODE_GAPS_MIN_BYTES);
}

static void reads_even_the_smallest_code_at_the_end_of_a_section(void **state)
{
	/* .fini: sub $8,%rsp; add $8,%rsp; ret */
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	const uint32_t start = TEXT_SIZE - sizeof(code);

	make_text(TEXT_SIZE);
	memcpy(text + start, code, sizeof(code));
	open_text();
	run(start, TEXT_SIZE);
	assert_cfa(start, PKBPF_CFA_SP, 8);
	assert_cfa(start + 4, PKBPF_CFA_SP, 16);
	assert_cfa(start + 8, PKBPF_CFA_SP, 8);
	assert_last_row(TEXT_SIZE);
}

static void gives_the_rule_of_no_row_behind_the_last_piece(void **state)
{
	/* The end is within a function, whose rule must not go on. */
	make_functions(TEXT_SIZE);
	open_text();
	run(0x40, 0x80 + BODY);
	assert_cfa(0x80 + BODY - 1, PKBPF_CFA_SP, 16);
	assert_last_row(0x80 + BODY);
}

static void leaves_large_code_with_frame_pointers_alone(void **state)
{
	make_text((1U << 20) + TEXT_SIZE);
	fill(0, text_size, keeps_frame, sizeof(keeps_frame), FUNCTION_SPACE);
	open_text();
	run(0, (uint32_t)text_size);
	assert_int_equal(rows.count, 0);
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
}

static void follows_large_code_without_frame_pointers(void **state)
{
	make_functions((1U << 20) + TEXT_SIZE);
	/* Few functions with one do not make it code that keeps them. */
	fill(0, 0x100, keeps_frame, sizeof(keeps_frame), FUNCTION_SPACE);
	open_text();
	run(0, (uint32_t)text_size);
	assert_cfa((1U << 20) + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row((uint32_t)text_size);
}

static void follows_small_code_that_only_uses_frame_pointers_of_its_own(void **state)
{
	const struct row *row;

	make_text(TEXT_SIZE);
	fill(0, TEXT_SIZE, keeps_frame, sizeof(keeps_frame), FUNCTION_SPACE);
	open_text();
	run(0, TEXT_SIZE);
	assert_cfa(0x200, PKBPF_CFA_SP, 8);
	assert_cfa(0x204, PKBPF_CFA_FP, 16);
	row = row_at(0x204);
	assert_int_equal(row->rule.fp, PKBPF_FP_CFA);
	assert_int_equal(row->rule.fp_offset, -16);
	assert_cfa(0x205, PKBPF_CFA_SP, 8);
	assert_int_equal(code_gaps_stats(gaps).followed, TEXT_SIZE);
}

static void leaves_small_code_alone_that_runs_in_frames_of_other_code(void **state)
{
	make_text(TEXT_SIZE);
	fill(0, TEXT_SIZE, borrows_frame, sizeof(borrows_frame), FUNCTION_SPACE);
	fill(TEXT_SIZE - 0x200, TEXT_SIZE, keeps_frame, sizeof(keeps_frame), FUNCTION_SPACE);
	open_text();
	run(0, TEXT_SIZE);
	assert_int_equal(rows.count, 0);
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
}

static void follows_code_without_frame_pointers_that_reads_by_the_register(void **state)
{
	/* The register is one like any other there. */
	make_text(TEXT_SIZE);
	fill(0, TEXT_SIZE, borrows_frame, sizeof(borrows_frame), FUNCTION_SPACE);
	open_text();
	run(0, TEXT_SIZE);
	assert_cfa(0x200, PKBPF_CFA_SP, 8);
}

/* One function in so many reads by the register. */
static void run_with_reads_by_the_register(size_t functions)
{
	make_functions((size_t)4 * TEXT_SIZE);
	fill(0, text_size, borrows_frame, sizeof(borrows_frame), functions * FUNCTION_SPACE);
	for (size_t at = 0; at < text_size; at += functions * FUNCTION_SPACE)
		memset(text + at + sizeof(borrows_frame), 0xcc, FUNCTION_SPACE - sizeof(borrows_frame));
	open_text();
	run(0, (uint32_t)text_size);
}

static void leaves_code_alone_that_keeps_its_stack_behind_the_register(void **state)
{
	run_with_reads_by_the_register(8);
	assert_int_equal(rows.count, 0);
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
}

static void follows_code_that_seldom_reads_by_the_register(void **state)
{
	run_with_reads_by_the_register(16);
	assert_cfa(FUNCTION_SPACE + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_last_row((uint32_t)text_size);
}

/* What the first bytes of a large gap say is believed if those of most before it say so, too. */
static void judges_large_gaps_of_a_file_together(void **state)
{
	const uint32_t gap = 4 * TEXT_SIZE;

	make_functions((size_t)4 * gap);
	fill(0, (size_t)2 * gap, borrows_frame, sizeof(borrows_frame), FUNCTION_SPACE);
	open_text();
	for (uint32_t i = 0; i < 3; i++)
		run(i * gap, (i + 1) * gap);
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
	run(3 * gap, 4 * gap);
	assert_int_equal(code_gaps_stats(gaps).followed, gap);
}

static void does_not_understand_arm64(void **state)
{
	make_functions(TEXT_SIZE);
	open_gaps((struct elf_recipe){.machine = EM_AARCH64}, TEXT_SIZE);
	assert_null(gaps);
}

static void ends_stacks_at_the_entry_of_a_program(void **state)
{
	/* xor %ebp,%ebp; mov %rsp,%rdi; and $-16,%rsp; call …; hlt */
	static const uint8_t start[] = {0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x83, 0xe4,
					0xf0, 0xe8, 0x00, 0x01, 0x00, 0x00, 0xf4};

	make_functions(TEXT_SIZE);
	memset(text + 0x200, 0xcc, 2 * (size_t)FUNCTION_SPACE);
	memcpy(text + 0x200, start, sizeof(start));
	open_gaps((struct elf_recipe){.entry = TEXT + 0x200}, TEXT_SIZE);
	assert_non_null(gaps);
	run(0, TEXT_SIZE);
	assert_cfa(0x1f0 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	for (uint32_t at = 0; at < sizeof(start); at++)
		assert_cfa(0x200 + at, PKBPF_CFA_END, 0);
	assert_cfa(0x220 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
}

/* All functions where a piece may end, some of the others. */
static size_t next_to_check(size_t at, size_t space)
{
	return at + (at % UNDESCRIBED_CODE_PIECE_BYTES < UNDESCRIBED_CODE_PIECE_BYTES - 100 * space ? 37 * space : space);
}

/* Functions that take so much space each, in more than two pieces. */
static void check_pieces(size_t space)
{
	size_t filler = space - FUNCTION_SPACE;
	uint8_t long_function[64];

	memset(long_function, 0x31, sizeof(long_function)); /* xor %esi,(%rcx) */
	memcpy(long_function, function, BODY);
	memcpy(long_function + BODY + filler, function + BODY, sizeof(function) - BODY);
	make_text((2 * UNDESCRIBED_CODE_PIECE_BYTES / space + 1000) * space);
	fill(0, text_size, long_function, filler + sizeof(function), space);
	open_text();
	run(0, (uint32_t)text_size);
	for (size_t at = 0; at < text_size; at = next_to_check(at, space)) {
		uint32_t offset = (uint32_t)at;

		assert_cfa(offset, PKBPF_CFA_SP, 8);
		assert_cfa(offset + 1, PKBPF_CFA_SP, 16);
		assert_cfa(offset + (uint32_t)space / 2, PKBPF_CFA_SP, FRAME_BYTES);
		assert_cfa(offset + (uint32_t)(filler + sizeof(function)) - 1, PKBPF_CFA_SP, 8);
		assert_cfa(offset + (uint32_t)space - 1, PKBPF_CFA_NONE, 0);
	}
	assert_int_equal(code_gaps_stats(gaps).followed, text_size);
}

static void follows_functions_whose_ends_are_those_of_pieces(void **state)
{
	check_pieces(FUNCTION_SPACE);
}

static void follows_functions_that_go_on_in_the_next_piece(void **state)
{
	assert_int_not_equal(UNDESCRIBED_CODE_PIECE_BYTES % 48, 0);
	check_pieces(48);
}

static const Elf64_Sym second_function = {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = TEXT + 0x206};

/* A function with two entries, of which the second is named: push %rbx; mov %r8,%r10; jmp 12; push %rbx; xor %r10,%r10; ud2; ud2 */
static void open_two_entries(void)
{
	static const uint8_t two_entries[] = {0x53, 0x4d, 0x89, 0xc2, 0xeb, 0x06, 0x53,
					      0x4d, 0x31, 0xd2, 0x0f, 0x0b, 0x0f, 0x0b};

	make_functions(TEXT_SIZE);
	memset(text + 0x200, 0xcc, FUNCTION_SPACE);
	memcpy(text + 0x200, two_entries, sizeof(two_entries));
	open_gaps((struct elf_recipe){.symbols = (const uint8_t *)&second_function, .symbols_size = sizeof(second_function)},
		  TEXT_SIZE);
	assert_non_null(gaps);
}

static void begins_functions_at_their_symbols(void **state)
{
	open_two_entries();
	run(0, TEXT_SIZE);
	assert_cfa(0x206, PKBPF_CFA_SP, 8);
	assert_cfa(0x207, PKBPF_CFA_SP, 16);
	assert_cfa(0x20a, PKBPF_CFA_SP, 16);
	assert_cfa(0x210 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
}

static void reads_no_symbols_for_a_small_gap(void **state)
{
	open_two_entries();
	run(0x200, 0x300);
	assert_cfa(0x207, PKBPF_CFA_SP, 24);
	/* One that is not small tells them from then on. */
	run(0x1000, 0x1400);
	assert_cfa(0x1200 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
}

static void counts_the_bytes_that_it_makes_rows_for(void **state)
{
	make_functions(TEXT_SIZE);
	open_text();
	assert_int_equal(code_gaps_stats(gaps).followed, 0);
	run(0x40, 0x80);
	assert_int_equal(code_gaps_stats(gaps).followed, 0x40);
	run(0x80, 0x88);
	assert_int_equal(code_gaps_stats(gaps).followed, 0x40);
	run(0x100, 0x200);
	assert_int_equal(code_gaps_stats(gaps).followed, 0x140);
}

static void looks_at_a_bounded_number_of_bytes(void **state)
{
	make_text(CODE_GAPS_MAX_BYTES + TEXT_SIZE);
	fill(text_size - TEXT_SIZE, text_size, function, sizeof(function), FUNCTION_SPACE);
	open_text();
	run(0, (uint32_t)text_size - 0x1000);
	assert_int_equal(rows.count, 0);
	/* What is too much is not counted: there is room for a smaller gap. */
	run((uint32_t)text_size - 0x1000, (uint32_t)text_size);
	assert_int_equal(code_gaps_stats(gaps).followed, 0x1000);
	assert_int_equal(code_gaps_stats(gaps).left_out, text_size - 0x1000);
}

static void postpones_what_is_too_much_to_be_read_at_once(void **state)
{
	uint32_t large = CODE_GAPS_PROMPT_BYTES;

	make_functions(large + TEXT_SIZE);
	postpones = true;
	open_text();
	run(0, 0x400);
	assert_cfa(0x200 + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	run(0x400, large + 0x400);
	assert_cfa(0x400, PKBPF_CFA_PENDING, 0);
	assert_cfa(large, PKBPF_CFA_PENDING, 0);
	assert_last_row(large + 0x400);
	/* From then on all of it. */
	run(large + 0x800, large + 0x900);
	assert_cfa(large + 0x800, PKBPF_CFA_PENDING, 0);
	assert_last_row(large + 0x900);
	assert_int_equal(code_gaps_stats(gaps).followed, 0x400);
	assert_int_equal(code_gaps_stats(gaps).postponed, large + 0x100);
}

static void postpones_nothing_that_is_left_alone(void **state)
{
	make_text((1U << 20) + TEXT_SIZE);
	fill(0, text_size, keeps_frame, sizeof(keeps_frame), FUNCTION_SPACE);
	postpones = true;
	open_text();
	run(0, (uint32_t)text_size);
	assert_int_equal(rows.count, 0);
	assert_int_equal(code_gaps_stats(gaps).postponed, 0);
}

static void reads_all_at_once_where_nothing_is_postponed(void **state)
{
	make_functions(2 * CODE_GAPS_PROMPT_BYTES);
	open_text();
	run(0, (uint32_t)text_size);
	assert_cfa((uint32_t)text_size - FUNCTION_SPACE + BODY, PKBPF_CFA_SP, FRAME_BYTES);
	assert_int_equal(code_gaps_stats(gaps).postponed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(makes_rows_only_between_the_given_offsets, tear_down),
		cmocka_unit_test_teardown(goes_on_in_the_same_code_from_call_to_call, tear_down),
		cmocka_unit_test_teardown(makes_rows_only_in_executable_code, tear_down),
		cmocka_unit_test_teardown(takes_executable_segments_where_there_are_no_sections, tear_down),
		cmocka_unit_test_teardown(makes_no_rows_behind_what_the_file_covers, tear_down),
		cmocka_unit_test_teardown(leaves_the_space_between_functions_alone, tear_down),
		cmocka_unit_test_teardown(reads_even_the_smallest_code_at_the_end_of_a_section, tear_down),
		cmocka_unit_test_teardown(gives_the_rule_of_no_row_behind_the_last_piece, tear_down),
		cmocka_unit_test_teardown(leaves_large_code_with_frame_pointers_alone, tear_down),
		cmocka_unit_test_teardown(follows_large_code_without_frame_pointers, tear_down),
		cmocka_unit_test_teardown(follows_small_code_that_only_uses_frame_pointers_of_its_own, tear_down),
		cmocka_unit_test_teardown(leaves_small_code_alone_that_runs_in_frames_of_other_code, tear_down),
		cmocka_unit_test_teardown(follows_code_without_frame_pointers_that_reads_by_the_register, tear_down),
		cmocka_unit_test_teardown(leaves_code_alone_that_keeps_its_stack_behind_the_register, tear_down),
		cmocka_unit_test_teardown(follows_code_that_seldom_reads_by_the_register, tear_down),
		cmocka_unit_test_teardown(judges_large_gaps_of_a_file_together, tear_down),
		cmocka_unit_test_teardown(does_not_understand_arm64, tear_down),
		cmocka_unit_test_teardown(ends_stacks_at_the_entry_of_a_program, tear_down),
		cmocka_unit_test_teardown(follows_functions_whose_ends_are_those_of_pieces, tear_down),
		cmocka_unit_test_teardown(follows_functions_that_go_on_in_the_next_piece, tear_down),
		cmocka_unit_test_teardown(begins_functions_at_their_symbols, tear_down),
		cmocka_unit_test_teardown(reads_no_symbols_for_a_small_gap, tear_down),
		cmocka_unit_test_teardown(counts_the_bytes_that_it_makes_rows_for, tear_down),
		cmocka_unit_test_teardown(looks_at_a_bounded_number_of_bytes, tear_down),
		cmocka_unit_test_teardown(postpones_what_is_too_much_to_be_read_at_once, tear_down),
		cmocka_unit_test_teardown(postpones_nothing_that_is_left_alone, tear_down),
		cmocka_unit_test_teardown(reads_all_at_once_where_nothing_is_postponed, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
