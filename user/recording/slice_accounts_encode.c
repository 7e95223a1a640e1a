// SPDX-License-Identifier: BSD-2-Clause
/* Writes the accounts of a profile by the columns of their rows. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "profile/account/account.h"
#include "recording/slice_encoding.h"

/* What is written for a member that names something of the profile. */
static uint32_t number_to_write(struct slice_encoding *work, enum recorded_form form,
				uint32_t number)
{
	uint32_t string;

	switch (form) {
	case RECORDED_PROCESS:
		return slice_place(work->processes, work->process_count, number);
	case RECORDED_STACK:
	case RECORDED_STACK_OR_NONE:
		return slice_place(work->stacks, work->stack_count, number);
	case RECORDED_NAME:
		string =
			recorded_strings_add(&work->strings, profile_string(work->profile, number));
		work->failed = work->failed || string == UINT32_MAX;
		return string;
	case RECORDED_PARENT:
		return number + 1; /* UINT32_MAX: 0 */
	default:
		return number;
	}
}

static bool names_something(enum recorded_form form)
{
	return form == RECORDED_PROCESS || form == RECORDED_STACK ||
	       form == RECORDED_STACK_OR_NONE || form == RECORDED_NAME || form == RECORDED_PARENT;
}

static void translate_rows(struct slice_encoding *work, const struct slice_rows *rows)
{
	for (size_t i = 0; i < rows->table->column_count; i++) {
		const struct recorded_column *column = &rows->table->columns[i];
		uint8_t *row = rows->items;

		if (!names_something(column->form))
			continue;
		for (size_t j = 0; j < rows->count; j++, row += rows->table->row_size)
			account_set_number(
				column, row,
				number_to_write(work, column->form, account_number(column, row)));
	}
}

static void add_parts(struct slice_encoding *work, const struct account_parts *parts,
		      const void *row, uint32_t place, struct slice_rows *rows)
{
	size_t cursor = 0;
	void *part;

	while ((part = slice_rows_add(work, rows)) && parts->next(row, place, &cursor, part))
		;
	/* The last one was not filled. */
	rows->count -= part != NULL;
}

static void write_table(struct slice_encoding *work, const struct account_table *table,
			const void *account)
{
	struct slice_rows rows = {.table = &table->recorded};
	struct slice_rows parts = {.table = table->parts ? &table->parts->recorded : NULL};
	size_t size = table->recorded.row_size, count;
	const uint8_t *from = account_rows(table, account, &count);

	for (size_t i = 0; i < count; i++) {
		void *row = slice_rows_add(work, &rows);

		if (!row)
			break;
		memcpy(row, from + i * size, size);
		if (table->parts)
			add_parts(work, table->parts, from + i * size, (uint32_t)i, &parts);
	}
	translate_rows(work, &rows);
	slice_rows_write(work, &rows);
	if (table->parts)
		slice_rows_write(work, &parts);
}

void slice_write_accounts(struct slice_encoding *work, bool is_named)
{
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of(i);

		for (size_t j = 0; j < ops->table_count && ops->is_named == is_named; j++)
			write_table(work, &ops->tables[j], profile_account_at(work->profile, i));
	}
}

/* ---- devices ---- */

static void add_device(struct slice_encoding *work, struct hash_map *known, uint32_t device,
		       struct slice_rows *rows)
{
	const char *name = profile_device_name(work->profile, device);
	struct recorded_device *row;

	if (!name || hash_map_find(known, device))
		return;
	work->failed = work->failed || !hash_map_put(known, device, 1);
	row = slice_rows_add(work, rows);
	if (row)
		*row = (struct recorded_device){device, name};
}

static void add_devices(struct slice_encoding *work, struct hash_map *known, enum account account,
			struct slice_rows *rows)
{
	const struct account_ops *ops = account_ops_of(account);

	for (size_t i = 0; i < ops->table_count; i++) {
		const struct recorded_table *table = &ops->tables[i].recorded;
		const struct recorded_column *device = account_column(table, RECORDED_DEVICE);
		size_t count;
		const uint8_t *row = account_rows(
			&ops->tables[i], profile_account_at(work->profile, account), &count);

		for (size_t j = 0; device && j < count; j++, row += table->row_size)
			add_device(work, known, account_number(device, row), rows);
	}
}

void slice_write_devices(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_devices};
	_cleanup_(hash_map_done) struct hash_map known = {0};
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++)
		add_device(work, &known, distribution->key.device, &rows);
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		add_devices(work, &known, i, &rows);
	slice_rows_write(work, &rows);
}
