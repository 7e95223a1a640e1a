// SPDX-License-Identifier: BSD-2-Clause
/* Keeps held leases. */
#include "lease_list.h"

#include <errno.h>

#include "profile/account/account.h"

int lease_list_add(struct lease_list *list, const struct lease *lease)
{
	struct lease *item = array_add(&list->items);

	if (!item)
		return -ENOMEM;
	*item = *lease;
	return 0;
}

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct lease, process), COLUMN(NAME, 2, struct lease, comm),
	COLUMN(STACK, 3, struct lease, stack),	   COLUMN(TIME_STEP, 4, struct lease, end_ns),
	COLUMN(NUMBER, 5, struct lease, held_ns),
};
ALL_MEMBERS(struct lease, 32);

static int64_t add_row(void *account, const void *row)
{
	return lease_list_add(account, row);
}

static void done(void *account)
{
	struct lease_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(60000, struct lease, columns),
	.rows = ACCOUNT_ROWS(struct lease_list, items),
	.kinds_mask = 1U << PKBPF_PROFILE_LEASES,
	.add = add_row,
};

const struct account_ops account_ops_leases = {
	.size = sizeof(struct lease_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
