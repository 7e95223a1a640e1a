// SPDX-License-Identifier: BSD-2-Clause
/* Keeps threads of deadlocks: a few, so that they are searched one by one. */
#include "profile/account/deadlock_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "profile/account/account.h"

static bool is_same(const struct deadlock_thread *a, const struct deadlock_thread *b)
{
	return a->tid == b->tid && a->cycle == b->cycle && a->address == b->address &&
	       a->pid == b->pid;
}

static void join(struct deadlock_thread *known, const struct deadlock_thread *later)
{
	if (later->wait_ns > known->wait_ns)
		known->wait_ns = later->wait_ns;
	if (later->behind > known->behind)
		known->behind = later->behind;
	if (known->stack == DEADLOCK_NO_STACK)
		known->stack = later->stack;
}

int deadlock_list_add(struct deadlock_list *list, const struct deadlock_thread *thread)
{
	struct deadlock_thread *item;
	size_t at = 0;

	while (at < list->items.count && list->items.items[at].cycle < thread->cycle)
		at++;
	while (at < list->items.count && list->items.items[at].cycle == thread->cycle &&
	       list->items.items[at].index <= thread->index) {
		if (is_same(&list->items.items[at], thread)) {
			join(&list->items.items[at], thread);
			return 0;
		}
		at++;
	}
	if (list->items.count >= DEADLOCK_THREADS_MAX)
		return -ENOSPC;
	if (!array_add(&list->items))
		return -ENOMEM;
	item = &list->items.items[at];
	memmove(item + 1, item, (list->items.count - 1 - at) * sizeof(*item));
	*item = *thread;
	return 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(NUMBER, 1, struct deadlock_thread, address),
	COLUMN(NUMBER, 2, struct deadlock_thread, wait_ns),
	COLUMN(PID, 3, struct deadlock_thread, pid),
	COLUMN(NUMBER, 4, struct deadlock_thread, tid),
	COLUMN(NUMBER, 5, struct deadlock_thread, cycle),
	COLUMN(NUMBER, 6, struct deadlock_thread, index),
	COLUMN(NUMBER, 7, struct deadlock_thread, count),
	COLUMN(NUMBER, 8, struct deadlock_thread, behind),
	COLUMN(NUMBER, 9, struct deadlock_thread, class),
	COLUMN(STACK_OR_NONE, 10, struct deadlock_thread, stack),
	COLUMN(TEXT, 11, struct deadlock_thread, comm),
};
ALL_MEMBERS(struct deadlock_thread, 72);

static int64_t add_row(void *account, const void *row)
{
	return deadlock_list_add(account, row);
}

static bool is_valid(const void *row)
{
	const struct deadlock_thread *thread = row;

	return thread->tid && thread->index < thread->count;
}

static void done(void *account)
{
	struct deadlock_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(71, struct deadlock_thread, columns),
	.rows = ACCOUNT_ROWS(struct deadlock_list, items),
	.kinds_mask = 1U << PKBPF_PROFILE_OFFCPU,
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
	.is_valid = is_valid,
};

const struct account_ops account_ops_deadlocks = {
	.size = sizeof(struct deadlock_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
