// SPDX-License-Identifier: BSD-2-Clause
/* Reads the accounts of a profile by the columns of their rows, which may hold anything. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/account.h"
#include "recording/slice_decoding.h"

struct account_decoding {
	struct slice_decoding *slice;
	enum account account;
	const struct account_table *table;
	bool is_chosen; /* the row */
	int err;
};

static bool slice_has_pid(const struct slice_decoding *work, uint32_t pid)
{
	struct process_table *table = profile_processes(work->profile);

	for (size_t i = 0; i < work->processes.count; i++) {
		const struct process *process =
			work->processes.items[i] == NOT_CHOSEN
				? NULL
				: process_table_by_id(table, work->processes.items[i]);

		if (process && process->pid == pid)
			return true;
	}
	return false;
}

static void read_place(struct account_decoding *work, const struct recorded_column *column,
		       uint8_t *row)
{
	const struct slice_numbers *numbers = &work->slice->accounts[work->account];
	uint32_t place = account_number(column, row), number;

	if (column->form == RECORDED_PARENT && !place--) {
		account_set_number(column, row, UINT32_MAX);
		return;
	}
	if (place >= numbers->count) {
		work->err = -EBADMSG;
		return;
	}
	number = numbers->items[place];
	work->is_chosen = work->is_chosen && number != NOT_CHOSEN;
	account_set_number(column, row, number);
}

static void read_stack(struct account_decoding *work, const struct recorded_column *column,
		       uint8_t *row)
{
	const struct slice_numbers *stacks = &work->slice->stacks;
	uint32_t place = account_number(column, row);

	if (place > stacks->count || (!place && column->form == RECORDED_STACK))
		work->err = -EBADMSG;
	else
		account_set_number(column, row, slice_find_stack(work->slice, place));
}

static void read_process(struct account_decoding *work, const struct recorded_column *column,
			 uint8_t *row)
{
	uint32_t id = UINT32_MAX;

	work->is_chosen =
		slice_find_process(work->slice, account_number(column, row), &id, &work->err) &&
		work->is_chosen;
	account_set_number(column, row, id);
}

/* Turns places into numbers of the profile, and sees whether the row is of what was chosen. */
static void read_member(struct account_decoding *work, const struct recorded_column *column,
			uint8_t *row)
{
	uint32_t number;

	switch (column->form) {
	case RECORDED_PROCESS:
		read_process(work, column, row);
		break;
	case RECORDED_PID:
		work->is_chosen = work->is_chosen &&
				  (!slice_choice_is_of_processes(work->slice->choice) ||
				   slice_has_pid(work->slice, account_number(column, row)));
		break;
	case RECORDED_KIND:
		number = account_number(column, row);
		if (number >= PKBPF_PROFILE_KINDS)
			work->err = -EBADMSG;
		work->is_chosen = work->is_chosen && slice_has_kind(work->slice, number);
		break;
	case RECORDED_STACK:
	case RECORDED_STACK_OR_NONE:
		read_stack(work, column, row);
		break;
	case RECORDED_PLACE:
	case RECORDED_PARENT:
		read_place(work, column, row);
		break;
	default:
		break;
	}
}

/* Only of a row that is chosen: others need no names in the profile. */
static void read_names(struct account_decoding *work, uint8_t *row)
{
	const struct recorded_table *table = &work->table->recorded;

	for (size_t i = 0; i < table->column_count && !work->err; i++) {
		const struct recorded_column *column = &table->columns[i];
		uint32_t number;

		if (column->form != RECORDED_NAME)
			continue;
		number = profile_intern_string(
			work->slice->profile,
			slice_text(recorded_strings_get(&work->slice->strings,
							account_number(column, row))));
		account_set_number(column, row, number);
		work->err = number == UINT32_MAX ? -ENOMEM : 0;
	}
}

static bool has_kind_of_table(const struct account_decoding *work)
{
	const struct slice_choice *choice = work->slice->choice;

	return !work->table->kinds_mask || !choice || !choice->kinds_mask ||
	       choice->kinds_mask & work->table->kinds_mask;
}

static uint32_t add_row(struct account_decoding *work, uint8_t *row)
{
	struct profile *profile = work->slice->profile;
	int64_t number = work->table->add(profile_account_at(profile, work->account), row);

	if (number == -ENOSPC && work->table->no_room)
		profile_info(profile)->counters[work->table->no_room]++;
	else if (number < 0 && number != -ENOSPC)
		work->err = (int)number;
	return number < 0 ? NOT_CHOSEN : (uint32_t)number;
}

/* Its number in the profile. */
static uint32_t read_row(struct account_decoding *work, uint8_t *row)
{
	const struct recorded_table *table = &work->table->recorded;

	if (work->table->is_valid && !work->table->is_valid(row))
		work->err = -EBADMSG;
	work->is_chosen = has_kind_of_table(work);
	for (size_t i = 0; i < table->column_count && !work->err; i++)
		read_member(work, &table->columns[i], row);
	if (work->err || !work->is_chosen)
		return NOT_CHOSEN;
	read_names(work, row);
	return work->err ? NOT_CHOSEN : add_row(work, row);
}

static int read_table(struct account_decoding *work, bool is_first)
{
	const struct account_parts *with = work->table->parts;
	struct slice_numbers *numbers = &work->slice->accounts[work->account];
	_cleanup_free_ uint8_t *rows = NULL;
	_cleanup_free_ void *parts = NULL;
	size_t count, part_count;
	int err = slice_read_table(work->slice, &work->table->recorded, &rows, &count);

	if (!err && with) {
		err = slice_read_table(work->slice, &with->recorded, &parts, &part_count);
		err = err ? err : with->put(rows, count, parts, part_count);
	}
	if (!err && is_first)
		numbers->items = malloc((count + 1) * sizeof(*numbers->items));
	if (err || !numbers->items)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < count && !work->err; i++) {
		uint32_t number = read_row(work, rows + i * work->table->recorded.row_size);

		/* A row may refer to those before it. */
		if (is_first)
			numbers->items[numbers->count++] = number;
	}
	return work->err;
}

int slice_read_accounts(struct slice_decoding *slice, bool is_named)
{
	int err = 0;

	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		const struct account_ops *ops = account_ops_of(i);
		struct account_decoding work = {.slice = slice, .account = i};

		for (size_t j = 0; j < ops->table_count && ops->is_named == is_named && !err; j++) {
			work.table = &ops->tables[j];
			err = read_table(&work, j == 0);
		}
	}
	return err;
}
