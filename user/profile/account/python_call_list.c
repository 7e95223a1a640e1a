// SPDX-License-Identifier: BSD-2-Clause
/* Adds calls and lines of Python programs up. */
#include "profile/account/python_call_list.h"

#include <errno.h>
#include <stdbool.h>

#include "profile/account/account.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct python_call *call)
{
	uint64_t hash = mix(0, (uint64_t)call->what << 32 | call->name);

	hash = mix(hash, (uint64_t)call->file << 32 | call->line);
	hash = mix(hash, (uint64_t)call->caller_name << 32 | call->caller_file);
	return mix(hash, (uint64_t)call->caller_line << 32 | call->at);
}

static bool is_same(const struct python_call *a, const struct python_call *b)
{
	return a->what == b->what && a->name == b->name && a->file == b->file &&
	       a->line == b->line && a->caller_name == b->caller_name &&
	       a->caller_file == b->caller_file && a->caller_line == b->caller_line &&
	       a->at == b->at;
}

/* Counts are those of a stranger. Of two sums, the one of smaller parts is not the greater one. */
static uint64_t capped_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int python_call_list_add(struct python_call_list *list, const struct python_call *call)
{
	struct python_call *item;
	bool is_full = list->items.count >= PYTHON_CALL_ROWS_MAX, added;
	uint64_t *number;

	/* Of two with one hash the second is found by the next one. */
	for (uint64_t hash = hash_of(call);; hash = mix(hash, 1)) {
		number = is_full ? hash_map_find(&list->numbers, hash)
				 : hash_map_get(&list->numbers, hash, list->items.count, &added);
		if (!number)
			return is_full ? -ENOSPC : -ENOMEM;
		if (*number >= list->items.count)
			break;
		item = &list->items.items[*number];
		if (is_same(item, call)) {
			item->count = capped_sum(item->count, call->count);
			item->primitive = capped_sum(item->primitive, call->primitive);
			item->first = capped_sum(item->first, call->first);
			return 0;
		}
	}
	if (is_full)
		return -ENOSPC;
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *call;
	return 0;
}

uint64_t python_call_list_sum(const struct python_call_list *list, enum python_call_what what)
{
	uint64_t sum = 0;

	array_foreach(&list->items, call)
		sum = capped_sum(sum, call->what == what ? call->count : 0);
	return sum;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(NUMBER, 1, struct python_call, what),
	COLUMN(NAME, 2, struct python_call, name),
	COLUMN(NAME, 3, struct python_call, file),
	COLUMN(NUMBER, 4, struct python_call, line),
	COLUMN(NAME, 5, struct python_call, qualified),
	COLUMN(NAME, 6, struct python_call, caller_name),
	COLUMN(NAME, 7, struct python_call, caller_file),
	COLUMN(NUMBER, 8, struct python_call, caller_line),
	COLUMN(NUMBER, 9, struct python_call, at),
	COLUMN(NUMBER, 10, struct python_call, count),
	COLUMN(NUMBER, 11, struct python_call, primitive),
	COLUMN(NUMBER, 12, struct python_call, first),
};
ALL_MEMBERS(struct python_call, 64);

static int64_t add_row(void *account, const void *row)
{
	return python_call_list_add(account, row);
}

static bool is_valid(const void *row)
{
	const struct python_call *call = row;

	return call->what && call->what < PYTHON_CALL_WHATS && call->primitive <= call->count &&
	       call->first <= call->count;
}

static void done(void *account)
{
	struct python_call_list *list = account;

	array_free(&list->items);
	hash_map_done(&list->numbers);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(90, struct python_call, columns),
	.rows = ACCOUNT_ROWS(struct python_call_list, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
	.is_valid = is_valid,
};

const struct account_ops account_ops_python_calls = {
	.size = sizeof(struct python_call_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
