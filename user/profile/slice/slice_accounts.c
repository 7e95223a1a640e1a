// SPDX-License-Identifier: BSD-2-Clause
/* Merges the accounts of slices by the columns of their rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/account.h"
#include "profile/slice/slice_private.h"

struct account_merging {
	struct slice_merging *slices;
	const struct account_table *table;
	void *into;
	/* by number of a row of the first table of `from`: its number in `into` */
	uint32_t *numbers;
};

static int translate_time(const struct account_merging *work, const struct recorded_column *column,
			  uint8_t *row)
{
	uint64_t time_ns;

	memcpy(&time_ns, row + column->offset, sizeof(time_ns));
	time_ns = slice_time_there(work->slices, time_ns);
	memcpy(row + column->offset, &time_ns, sizeof(time_ns));
	return 0;
}

/* The number in `into` of what a member names. */
static uint32_t number_there(const struct account_merging *work, enum recorded_form form,
			     uint32_t number)
{
	const struct slice_merging *slices = work->slices;

	switch (form) {
	case RECORDED_PROCESS:
		return slice_process_there(slices, number);
	case RECORDED_NAME:
		return profile_intern_string(slices->into, profile_string(slices->from, number));
	case RECORDED_STACK:
	case RECORDED_STACK_OR_NONE:
		return number == UINT32_MAX ? number : slices->stacks[number];
	default: /* RECORDED_PLACE, RECORDED_PARENT */
		return number == UINT32_MAX ? number : work->numbers[number];
	}
}

/* -ENOSPC: it refers to a row that had no room. */
static int translate(const struct account_merging *work, const struct recorded_column *column,
		     uint8_t *row)
{
	uint32_t number, there;

	switch (column->form) {
	case RECORDED_TIME:
	case RECORDED_TIME_STEP:
		return translate_time(work, column, row);
	case RECORDED_PROCESS:
	case RECORDED_NAME:
	case RECORDED_STACK:
	case RECORDED_STACK_OR_NONE:
	case RECORDED_PLACE:
	case RECORDED_PARENT:
		number = account_number(column, row);
		there = number_there(work, column->form, number);
		account_set_number(column, row, there);
		if (there != UINT32_MAX || number == UINT32_MAX || column->form == RECORDED_PROCESS)
			return 0;
		return column->form == RECORDED_NAME ? -ENOMEM : -ENOSPC;
	default:
		return 0;
	}
}

static int count_no_room(const struct account_merging *work)
{
	if (work->table->no_room)
		work->slices->into->info.counters[work->table->no_room]++;
	return 0;
}

/* Adds a row, which it changes. */
static int merge_row(const struct account_merging *work, uint8_t *row, uint32_t *ret_number)
{
	const struct recorded_table *recorded = &work->table->recorded;
	int64_t number = 0;

	*ret_number = NOT_THERE;
	if (work->table->joins &&
	    !work->table->joins(row, work->slices->rate, work->slices->into->times))
		return 0;
	for (size_t i = 0; i < recorded->column_count && number >= 0; i++)
		number = translate(work, &recorded->columns[i], row);
	number = number < 0 ? number : work->table->add(work->into, row);
	if (number < 0)
		return number == -ENOSPC ? count_no_room(work) : (int)number;
	*ret_number = (uint32_t)number;
	return 0;
}

static int merge_table(struct account_merging *work, const void *from, bool is_first)
{
	size_t size = work->table->recorded.row_size, count;
	const uint8_t *rows = account_rows(work->table, from, &count);
	_cleanup_free_ uint8_t *copy = malloc(size);
	uint32_t number;
	int err = 0;

	if (is_first)
		work->numbers = malloc((count + 1) * sizeof(*work->numbers));
	if (!copy || !work->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		memcpy(copy, rows + i * size, size);
		err = merge_row(work, copy, &number);
		if (is_first)
			work->numbers[i] = number;
	}
	return err;
}

static int merge_account(struct slice_merging *slices, enum account account)
{
	const struct account_ops *ops = account_ops_of(account);
	const void *from = slices->from->accounts[account];
	struct account_merging work = {.slices = slices, .into = slices->into->accounts[account]};
	int err = 0;

	if (ops->join)
		ops->join(work.into, from);
	for (size_t i = 0; i < ops->table_count && !err; i++) {
		work.table = &ops->tables[i];
		err = merge_table(&work, from, i == 0);
	}
	free(work.numbers);
	return err;
}

int slice_merge_accounts(struct slice_merging *work)
{
	int err = 0;

	for (enum account i = 0; i < ACCOUNT_COUNT && !err; i++) {
		if (!account_ops_of(i)->is_named)
			err = merge_account(work, i);
	}
	return err;
}
