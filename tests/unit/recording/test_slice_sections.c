// SPDX-License-Identifier: BSD-2-Clause
/* Tests for the descriptions of what is recorded: numbers are for good, so no two are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "profile/account/account.h"
#include "recording/slice_tables.h"

static const struct recorded_table *const tables_of_slices[] = {
	&slice_facts,
	&slice_counters,
	&slice_processes,
	&slice_frames,
	&slice_lines,
	&slice_nodes,
	&slice_stacks,
	&slice_rows,
	&slice_ends,
	&slice_distributions,
	&slice_buckets,
	&slice_devices,
	&slice_cgroups,
	&slice_account_threads,
	&slice_account_processes,
	&slice_cgroup_limits,
};

static void note_section(bool *is_used, uint16_t section)
{
	if (is_used[section])
		fail_msg("two tables have section %u", section);
	is_used[section] = true;
}

static void sections_are_of_one_table_each(void **state)
{
	static bool is_used[UINT16_MAX + 1];

	(void)state;
	memset(is_used, 0, sizeof(is_used));
	is_used[SLICE_STRINGS] = true;
	for (size_t i = 0; i < ARRAY_SIZE(tables_of_slices); i++)
		note_section(is_used, tables_of_slices[i]->section);
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of(i);

		for (size_t j = 0; j < ops->table_count; j++) {
			note_section(is_used, ops->tables[j].recorded.section);
			if (ops->tables[j].parts)
				note_section(is_used, ops->tables[j].parts->recorded.section);
		}
	}
}

static bool is_number_of_others(enum recorded_form form)
{
	return form >= RECORDED_PROCESS && form != RECORDED_TIME && form != RECORDED_TIME_STEP;
}

static void check_columns(const struct recorded_table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct recorded_column *column = &table->columns[i];

		assert_true(column->offset + column->size <= table->row_size);
		if (is_number_of_others(column->form))
			assert_int_equal(column->size, sizeof(uint32_t));
		if (column->form == RECORDED_TIME || column->form == RECORDED_TIME_STEP)
			assert_int_equal(column->size, sizeof(uint64_t));
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(table->columns[j].number, column->number);
			assert_int_not_equal(table->columns[j].offset, column->offset);
		}
	}
}

static void columns_are_of_one_member_each(void **state)
{
	(void)state;
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of(i);

		for (size_t j = 0; j < ops->table_count; j++) {
			check_columns(&ops->tables[j].recorded);
			if (ops->tables[j].parts)
				check_columns(&ops->tables[j].parts->recorded);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_of_one_table_each),
		cmocka_unit_test(columns_are_of_one_member_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
