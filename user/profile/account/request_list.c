// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the slowest of any number of requests. */
#include "profile/account/request_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/largest.h"
#include "profile/account/account.h"

struct request_list {
	struct largest slowest;
	ARRAY_OF(struct slow_request) items; /* by their slot */
};

void request_list_limit(struct request_list *list, size_t limit)
{
	list->slowest.limit = limit;
}

size_t request_list_max(const struct request_list *list)
{
	return list->slowest.limit;
}

int request_list_add(struct request_list *list, const struct slow_request *request)
{
	size_t slot;
	int kept;

	/* Reserved first, so that every slot has its place. */
	if (!array_reserve(&list->items, list->items.count + 1))
		return -ENOMEM;
	kept = largest_add(&list->slowest, request->wall_ns, &slot);
	if (kept <= 0)
		return kept;
	if (slot == list->items.count)
		array_add(&list->items);
	list->items.items[slot] = *request;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct slow_request *a = *(const struct slow_request *const *)left,
				  *b = *(const struct slow_request *const *)right;

	if (a->wall_ns != b->wall_ns)
		return a->wall_ns > b->wall_ns ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int request_list_sorted(const struct request_list *list, const struct slow_request ***ret_items,
			size_t *ret_count)
{
	size_t count = list->items.count;
	const struct slow_request **items = calloc(count + 1, sizeof(struct slow_request *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = &list->items.items[i];
	qsort(items, count, sizeof(struct slow_request *), compare);
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* ---- the account ---- */

/* Ids are arrays of bytes: a column for each, so that no order of bytes matters. */
#define BYTE(number, member) COLUMN(NUMBER, number, struct slow_request, member)
#define BYTES_8(number, member, at)                                                                \
	BYTE(number, member[at]), BYTE(number + 1, member[at + 1]),                                \
		BYTE(number + 2, member[at + 2]), BYTE(number + 3, member[at + 3]),                \
		BYTE(number + 4, member[at + 4]), BYTE(number + 5, member[at + 5]),                \
		BYTE(number + 6, member[at + 6]), BYTE(number + 7, member[at + 7])
#define REASON(number, at)                                                                         \
	COLUMN(STACK_OR_NONE, number, struct slow_request, reasons[at].stack),                     \
		COLUMN(NUMBER, (number) + 1, struct slow_request, reasons[at].wait_ns)

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct slow_request, process),
	COLUMN(NUMBER, 2, struct slow_request, tid),
	COLUMN(NAME, 3, struct slow_request, comm),
	COLUMN(NAME, 4, struct slow_request, labels[0]),
	COLUMN(NAME, 5, struct slow_request, labels[1]),
	COLUMN(NAME, 6, struct slow_request, labels[2]),
	COLUMN(NAME, 7, struct slow_request, labels[3]),
	COLUMN(NUMBER, 8, struct slow_request, cgroup_id),
	COLUMN(TIME, 9, struct slow_request, start_ns),
	COLUMN(NUMBER, 10, struct slow_request, wall_ns),
	COLUMN(NUMBER, 11, struct slow_request, edge_ns),
	COLUMN(NUMBER, 12, struct slow_request, part_ns[PKBPF_WAIT_NONE]),
	COLUMN(NUMBER, 13, struct slow_request, part_ns[PKBPF_WAIT_RUNQUEUE]),
	COLUMN(NUMBER, 14, struct slow_request, part_ns[PKBPF_WAIT_SLEEP]),
	COLUMN(NUMBER, 15, struct slow_request, part_ns[PKBPF_WAIT_DISK]),
	COLUMN(NUMBER, 16, struct slow_request, part_ns[PKBPF_WAIT_UNINTERRUPTIBLE]),
	COLUMN(NUMBER, 17, struct slow_request, part_ns[PKBPF_WAIT_STOPPED]),
	REASON(18, 0),
	REASON(20, 1),
	REASON(22, 2),
	REASON(24, 3),
	COLUMN(NUMBER, 26, struct slow_request, flags),
	BYTES_8(32, trace, 0),
	BYTES_8(40, trace, 8),
	BYTES_8(48, span, 0),
	REASON(64, 4),
	REASON(66, 5),
	REASON(68, 6),
	REASON(70, 7),
	REASON(72, 8),
	REASON(74, 9),
	REASON(76, 10),
	REASON(78, 11),
	REASON(80, 12),
	REASON(82, 13),
	REASON(84, 14),
	REASON(86, 15),
};
ALL_MEMBERS(struct slow_request, 400);
_Static_assert(PKBPF_CONTEXT_REASONS == 16, "a reason needs a column here");

static int64_t add_row(void *account, const void *row)
{
	return request_list_add(account, row);
}

static void join(void *account, const void *other)
{
	if (request_list_max(other) > request_list_max(account))
		request_list_limit(account, request_list_max(other));
}

static void done(void *account)
{
	struct request_list *list = account;

	largest_done(&list->slowest);
	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(73, struct slow_request, columns),
	.rows = ACCOUNT_ROWS(struct request_list, items),
	.add = add_row,
};

const struct account_ops account_ops_contexts = {
	.size = sizeof(struct request_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.join = join,
};
