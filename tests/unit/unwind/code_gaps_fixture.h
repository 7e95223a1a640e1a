/* SPDX-License-Identifier: BSD-2-Clause */
/* A file without descriptions of its code, and the rows that unwind/code_gaps makes of it. */
#ifndef PKBPF_TEST_CODE_GAPS_FIXTURE_H
#define PKBPF_TEST_CODE_GAPS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "elf_recipe.h"
#include "unwind/code/code_gaps.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x4000U

/* push %rbx; sub $0x10,%rsp; xor %eax,%eax; add $0x10,%rsp; pop %rbx; ret */
static const uint8_t function[] = {0x53, 0x48, 0x83, 0xec, 0x10, 0x31, 0xc0,
				   0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
#define FUNCTION_SPACE 16 /* with what fills it up */
#define BODY	       5  /* where its stack is largest, by FRAME_BYTES */
#define FRAME_BYTES    32

struct row {
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

/* One file, and the rows made of it. */
static uint8_t *text;
static size_t text_size;
static uint8_t *file;
static struct elf_file *image;
static struct code_gaps *gaps;
static bool postpones;
static ARRAY_OF(struct row) rows;

static inline void fill(size_t start, size_t end, const uint8_t *code, size_t size, size_t space)
{
	for (size_t at = start; at + space <= end; at += space)
		memcpy(text + at, code, size);
}

/* Room for code, all of it int3. */
static inline void make_text(size_t size)
{
	text_size = size;
	text = malloc(size);
	assert_non_null(text);
	memset(text, 0xcc, size);
}

static inline void make_functions(size_t size)
{
	make_text(size);
	fill(0, size, function, sizeof(function), FUNCTION_SPACE);
}

/* The file may cover more than its text. */
static inline void open_gaps(struct elf_recipe recipe, uint64_t covered)
{
	size_t size;

	recipe.text = text;
	recipe.text_size = text_size;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	gaps = code_gaps_new(image, TEXT, covered, postpones);
}

static inline void open_text(void)
{
	open_gaps((struct elf_recipe){0}, text_size);
	assert_non_null(gaps);
}

static inline int tear_down(void **state)
{
	code_gaps_free(gaps);
	gaps = NULL;
	postpones = false;
	elf_program_free(image);
	image = NULL;
	free(file);
	file = NULL;
	free(text);
	text = NULL;
	array_free(&rows);
	return 0;
}

static inline void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct row *row;

	if (rows.count)
		assert_true(offset >= rows.items[rows.count - 1].offset);
	row = array_add(&rows);
	assert_non_null(row);
	*row = (struct row){offset, *rule};
}

static inline void run(uint32_t start, uint32_t end)
{
	code_gaps_run(gaps, start, end, take_row, NULL);
}

/* The row in force at an offset; NULL: none begins before. */
static inline const struct row *row_at(uint32_t offset)
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

static inline void assert_cfa(uint32_t offset, uint8_t kind, int32_t cfa_offset)
{
	const struct row *row = row_at(offset);

	assert_non_null(row);
	if (row->rule.cfa != kind || row->rule.cfa_offset != cfa_offset)
		print_error("at %#x\n", offset);
	assert_int_equal(row->rule.cfa, kind);
	assert_int_equal(row->rule.cfa_offset, cfa_offset);
}

static inline void assert_last_row(uint32_t offset)
{
	assert_true(rows.count > 0);
	assert_int_equal(rows.items[rows.count - 1].offset, offset);
	assert_int_equal(rows.items[rows.count - 1].rule.cfa, PKBPF_CFA_NONE);
}

#endif
