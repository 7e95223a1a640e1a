// SPDX-License-Identifier: BSD-2-Clause
/* Does to all accounts what their columns suffice for. */
#include "profile/account/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const struct account_ops *account_ops_of(enum account account)
{
	static const struct account_ops *const ops[ACCOUNT_COUNT] = {
#define X(name, type) [ACCOUNT_##name] = &account_ops_##name,
		ACCOUNT_LIST(X)
#undef X
	};

	return ops[account];
}

void *account_new(enum account account)
{
	const struct account_ops *ops = account_ops_of(account);
	void *list = calloc(1, ops->size);

	if (list && ops->init)
		ops->init(list);
	return list;
}

void account_free(enum account account, void *list)
{
	if (list)
		account_ops_of(account)->done(list);
	free(list);
}

void *account_rows(const struct account_table *table, const void *list, size_t *ret_count)
{
	const uint8_t *array = (const uint8_t *)list + table->rows;
	void *items;

	memcpy(&items, array + offsetof(ARRAY_OF(void), items), sizeof(items));
	memcpy(ret_count, array + offsetof(ARRAY_OF(void), count), sizeof(*ret_count));
	return items;
}

const struct recorded_column *account_column(const struct recorded_table *table,
					     enum recorded_form form)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].form == form)
			return &table->columns[i];
	}
	return NULL;
}

uint32_t account_number(const struct recorded_column *column, const void *row)
{
	uint32_t number;

	memcpy(&number, (const uint8_t *)row + column->offset, sizeof(number));
	return number;
}

void account_set_number(const struct recorded_column *column, void *row, uint32_t number)
{
	memcpy((uint8_t *)row + column->offset, &number, sizeof(number));
}

static bool is_of_form(const struct recorded_column *column, enum recorded_form form)
{
	return column->form == form ||
	       (form == RECORDED_STACK && column->form == RECORDED_STACK_OR_NONE);
}

/* What is done to the numbers of a column. */
struct renumbering {
	enum recorded_form form;
	bool *is_used;		 /* marks them; or NULL */
	const uint32_t *numbers; /* changes them */
	size_t count;		 /* of either; larger numbers are left alone */
};

static void visit_column(const struct account_table *table, const struct recorded_column *column,
			 void *list, const struct renumbering *work)
{
	size_t count;
	uint8_t *rows = account_rows(table, list, &count);

	for (size_t i = 0; i < count; i++) {
		uint8_t *row = rows + i * table->recorded.row_size;
		uint32_t number = account_number(column, row);

		if (number >= work->count)
			continue;
		if (work->is_used)
			work->is_used[number] = true;
		else
			account_set_number(column, row, work->numbers[number]);
	}
}

static void visit_columns(enum account account, void *list, const struct renumbering *work)
{
	const struct account_ops *ops = account_ops_of(account);

	for (size_t i = 0; i < ops->table_count; i++) {
		const struct recorded_table *table = &ops->tables[i].recorded;

		for (size_t j = 0; j < table->column_count; j++) {
			if (is_of_form(&table->columns[j], work->form))
				visit_column(&ops->tables[i], &table->columns[j], list, work);
		}
	}
}

void account_mark(enum account account, const void *list, enum recorded_form form, bool *is_used,
		  size_t count)
{
	const struct renumbering work = {.form = form, .is_used = is_used, .count = count};

	visit_columns(account, (void *)list, &work);
}

void account_renumber(enum account account, void *list, const uint32_t *numbers, size_t count)
{
	const struct renumbering work = {
		.form = RECORDED_STACK, .numbers = numbers, .count = count};

	visit_columns(account, list, &work);
	if (account_ops_of(account)->rekey)
		account_ops_of(account)->rekey(list);
}
