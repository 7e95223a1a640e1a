// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/code_gaps: which undescribed code is followed, and which is left alone or for
 * later. */
#include <elf.h>

#include "code_gaps_fixture.h"

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
static const uint8_t keeps_frame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3};
/* mov -8(%rbp),%rax; ret */
static const uint8_t borrows_frame[] = {0x48, 0x8b, 0x45, 0xf8, 0xc3};

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
		memset(text + at + sizeof(borrows_frame), 0xcc,
		       FUNCTION_SPACE - sizeof(borrows_frame));
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
		cmocka_unit_test_teardown(leaves_large_code_with_frame_pointers_alone, tear_down),
		cmocka_unit_test_teardown(follows_large_code_without_frame_pointers, tear_down),
		cmocka_unit_test_teardown(
			follows_small_code_that_only_uses_frame_pointers_of_its_own, tear_down),
		cmocka_unit_test_teardown(leaves_small_code_alone_that_runs_in_frames_of_other_code,
					  tear_down),
		cmocka_unit_test_teardown(
			follows_code_without_frame_pointers_that_reads_by_the_register, tear_down),
		cmocka_unit_test_teardown(
			leaves_code_alone_that_keeps_its_stack_behind_the_register, tear_down),
		cmocka_unit_test_teardown(follows_code_that_seldom_reads_by_the_register,
					  tear_down),
		cmocka_unit_test_teardown(judges_large_gaps_of_a_file_together, tear_down),
		cmocka_unit_test_teardown(does_not_understand_arm64, tear_down),
		cmocka_unit_test_teardown(looks_at_a_bounded_number_of_bytes, tear_down),
		cmocka_unit_test_teardown(postpones_what_is_too_much_to_be_read_at_once, tear_down),
		cmocka_unit_test_teardown(postpones_nothing_that_is_left_alone, tear_down),
		cmocka_unit_test_teardown(reads_all_at_once_where_nothing_is_postponed, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
