// SPDX-License-Identifier: BSD-2-Clause
/* Tests that each account has tables, and numbers in recordings, of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/account/account.h"

#define SECTIONS 256

static void note_section(bool *has, const struct recorded_table *table)
{
	assert_in_range(table->section, 1, SECTIONS - 1);
	if (has[table->section])
		fail_msg("two tables are recorded as section %u", table->section);
	has[table->section] = true;
	for (size_t i = 0; i < table->column_count; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(table->columns[i].number, table->columns[j].number);
}

static void sections_and_columns_have_numbers_of_their_own(void **state)
{
	bool has[SECTIONS] = {false};

	for (int i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of((enum account)i);

		assert_int_not_equal(ops->table_count, 0);
		for (size_t j = 0; j < ops->table_count; j++) {
			note_section(has, &ops->tables[j].recorded);
			if (ops->tables[j].parts)
				note_section(has, &ops->tables[j].parts->recorded);
		}
	}
}

static void an_account_begins_and_ends_empty(void **state)
{
	for (int i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of((enum account)i);
		void *account = account_new((enum account)i);

		assert_non_null(account);
		for (size_t j = 0; j < ops->table_count; j++) {
			size_t count;

			account_rows(&ops->tables[j], account, &count);
			assert_int_equal(count, 0);
		}
		account_free((enum account)i, account);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_and_columns_have_numbers_of_their_own),
		cmocka_unit_test(an_account_begins_and_ends_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
