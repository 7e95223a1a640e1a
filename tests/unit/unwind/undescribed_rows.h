/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows that unwind/undescribed_code makes of a few instructions, and looks at them. */
#ifndef PKBPF_TEST_UNDESCRIBED_ROWS_H
#define PKBPF_TEST_UNDESCRIBED_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/code/undescribed_code.h"

#define MAX_ROWS   64
#define NO_ENTRY   UINT64_MAX
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

struct row {
	uint32_t offset;
	struct pkbpf_unwind_rule rule;
};

struct rows {
	struct row items[MAX_ROWS];
	size_t count;
};

static struct undescribed_code *work;

static inline int set_up(void **state)
{
	(void)state;
	work = undescribed_code_new();
	return work ? 0 : -1;
}

static inline int tear_down(void **state)
{
	(void)state;
	undescribed_code_free(work);
	return 0;
}

static inline void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct rows *rows = context;

	assert_true(rows->count < MAX_ROWS);
	if (rows->count > 0)
		assert_true(offset > rows->items[rows->count - 1].offset);
	rows->items[rows->count++] = (struct row){offset, *rule};
}

static inline struct rows run_at(uint32_t offset, uint64_t entry, const uint8_t *code, size_t size)
{
	struct rows rows = {0};

	assert_int_equal(undescribed_code_run(work,
					      &(struct code_piece){code, size, offset, entry, true},
					      take_row, &rows),
			 size);
	assert_true(rows.count > 0);
	assert_int_equal(rows.items[0].offset, offset);
	return rows;
}

static inline struct rows run(const uint8_t *code, size_t size)
{
	return run_at(0, NO_ENTRY, code, size);
}

static inline const struct pkbpf_unwind_rule *rule_at(const struct rows *rows, uint32_t offset)
{
	const struct pkbpf_unwind_rule *rule = NULL;

	for (size_t i = 0; i < rows->count && rows->items[i].offset <= offset; i++)
		rule = &rows->items[i].rule;
	assert_non_null(rule);
	return rule;
}

static inline void check_cfa(const struct rows *rows, uint32_t offset, enum pkbpf_cfa_kind kind,
			     int cfa_offset)
{
	const struct pkbpf_unwind_rule *rule = rule_at(rows, offset);

	assert_int_equal(rule->cfa, kind);
	if (kind == PKBPF_CFA_NONE || kind == PKBPF_CFA_END)
		return;
	assert_int_equal(rule->cfa_offset, cfa_offset);
	assert_int_equal(rule->ra, PKBPF_RA_CFA);
	assert_int_equal(rule->ra_offset, -8);
}

static inline void check_fp(const struct rows *rows, uint32_t offset, enum pkbpf_fp_kind kind,
			    int fp_offset)
{
	assert_int_equal(rule_at(rows, offset)->fp, kind);
	assert_int_equal(rule_at(rows, offset)->fp_offset, fp_offset);
}

#endif
