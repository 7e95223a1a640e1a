// SPDX-License-Identifier: BSD-2-Clause
/* Keeps single events. */
#include "profile/account/moment_list.h"

#include <errno.h>

#include "profile/account/account.h"

int moment_list_add(struct moment_list *list, const struct moment *moment)
{
	/* Accounts come last, and tell how much is missing. */
	size_t most = MOMENT_MAX + (moment_is_life(moment) ? MOMENT_LIVES_MAX : 0);
	struct moment *added;

	if (list->items.count >= most)
		return -ENOSPC;
	added = array_add(&list->items);
	if (!added)
		return -ENOMEM;
	*added = *moment;
	return 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(STEP, 1, struct moment, begin_ns),   COLUMN(NUMBER, 2, struct moment, length_ns),
	COLUMN(NUMBER, 3, struct moment, queue_ns), COLUMN(KIND, 4, struct moment, kind),
	COLUMN(PROCESS, 5, struct moment, process), COLUMN(NUMBER, 6, struct moment, tid),
	COLUMN(NAME, 7, struct moment, comm),	    COLUMN(STACK, 8, struct moment, stack),
	COLUMN(NUMBER, 9, struct moment, place),    COLUMN(NUMBER, 10, struct moment, weight),
	COLUMN(NUMBER, 11, struct moment, state),   COLUMN(NUMBER, 12, struct moment, ran_ns),
	COLUMN(NUMBER, 13, struct moment, waker),   COLUMN(NUMBER, 14, struct moment, owner),
	COLUMN(NUMBER, 15, struct moment, wake),
};
ALL_MEMBERS(struct moment, 72);

static int64_t add_row(void *account, const void *row)
{
	return moment_list_add(account, row);
}

static uint32_t scaled(uint32_t weight, double rate)
{
	return rate == 1 ? weight : (uint32_t)((double)weight * rate + 0.5);
}

/* What shows times of merged slices shows single events; others take slice by slice. */
static bool joins(void *row, double rate, bool has_times)
{
	struct moment *moment = row;

	if (moment->kind == PKBPF_PROFILE_CPU)
		moment->weight = scaled(moment->weight, rate);
	return has_times;
}

static void raise_rate(void *account, double rate)
{
	struct moment_list *list = account;

	array_foreach(&list->items, moment) {
		if (moment->kind == PKBPF_PROFILE_CPU)
			moment->weight = scaled(moment->weight, rate);
	}
}

static void done(void *account)
{
	struct moment_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(112, struct moment, columns),
	.rows = ACCOUNT_ROWS(struct moment_list, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_TRACE_TOO_MANY,
	.joins = joins,
};

const struct account_ops account_ops_moments = {
	.size = sizeof(struct moment_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.raise_rate = raise_rate,
};
