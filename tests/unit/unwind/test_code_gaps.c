// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/code_gaps: the rows that undescribed code of a file gets. */
#include <elf.h>

#include "code_gaps_fixture.h"
#include "unwind/code/undescribed_code.h"

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
	open_gaps((struct elf_recipe){.eh_frame = data, .eh_frame_size = sizeof(data)},
		  data_start + 0x1000);
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
	return at + (at % UNDESCRIBED_CODE_PIECE_BYTES < UNDESCRIBED_CODE_PIECE_BYTES - 100 * space
			     ? 37 * space
			     : space);
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

static const Elf64_Sym second_function = {
	.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = TEXT + 0x206};

/* A function with two entries, of which the second is named: push %rbx; mov %r8,%r10; jmp 12; push
 * %rbx; xor %r10,%r10; ud2; ud2 */
static void open_two_entries(void)
{
	static const uint8_t two_entries[] = {0x53, 0x4d, 0x89, 0xc2, 0xeb, 0x06, 0x53,
					      0x4d, 0x31, 0xd2, 0x0f, 0x0b, 0x0f, 0x0b};

	make_functions(TEXT_SIZE);
	memset(text + 0x200, 0xcc, FUNCTION_SPACE);
	memcpy(text + 0x200, two_entries, sizeof(two_entries));
	open_gaps((struct elf_recipe){.symbols = (const uint8_t *)&second_function,
				      .symbols_size = sizeof(second_function)},
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
	run(0x200, 0x280);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(makes_rows_only_between_the_given_offsets, tear_down),
		cmocka_unit_test_teardown(goes_on_in_the_same_code_from_call_to_call, tear_down),
		cmocka_unit_test_teardown(makes_rows_only_in_executable_code, tear_down),
		cmocka_unit_test_teardown(takes_executable_segments_where_there_are_no_sections,
					  tear_down),
		cmocka_unit_test_teardown(makes_no_rows_behind_what_the_file_covers, tear_down),
		cmocka_unit_test_teardown(leaves_the_space_between_functions_alone, tear_down),
		cmocka_unit_test_teardown(reads_even_the_smallest_code_at_the_end_of_a_section,
					  tear_down),
		cmocka_unit_test_teardown(gives_the_rule_of_no_row_behind_the_last_piece,
					  tear_down),
		cmocka_unit_test_teardown(ends_stacks_at_the_entry_of_a_program, tear_down),
		cmocka_unit_test_teardown(follows_functions_whose_ends_are_those_of_pieces,
					  tear_down),
		cmocka_unit_test_teardown(follows_functions_that_go_on_in_the_next_piece,
					  tear_down),
		cmocka_unit_test_teardown(begins_functions_at_their_symbols, tear_down),
		cmocka_unit_test_teardown(reads_no_symbols_for_a_small_gap, tear_down),
		cmocka_unit_test_teardown(counts_the_bytes_that_it_makes_rows_for, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
