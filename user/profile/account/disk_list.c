// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the disks of a machine: few, so that they are searched one by one. */
#include "profile/account/disk_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "profile/account/account.h"

static void add(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

int disk_list_add(struct disk_list *list, const struct disk *disk)
{
	struct disk *item;

	array_foreach(&list->items, known) {
		if (strcmp(known->name, disk->name) != 0)
			continue;
		add(&known->reads, disk->reads);
		add(&known->writes, disk->writes);
		add(&known->read_bytes, disk->read_bytes);
		add(&known->written_bytes, disk->written_bytes);
		add(&known->busy_ns, disk->busy_ns);
		add(&known->queue_ns, disk->queue_ns);
		add(&known->of_ns, disk->of_ns);
		return 0;
	}
	if (list->items.count >= DISK_LIST_MAX)
		return -ENOSPC;
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *disk;
	return 0;
}

static double part_of(uint64_t part_ns, uint64_t of_ns)
{
	return of_ns ? (double)part_ns / (double)of_ns : 0;
}

double disk_busy_percent(const struct disk *disk)
{
	return 100 * part_of(disk->busy_ns, disk->of_ns);
}

double disk_queue(const struct disk *disk)
{
	return part_of(disk->queue_ns, disk->of_ns);
}

const struct disk *disk_list_busiest(const struct disk_list *list)
{
	const struct disk *busiest = NULL;

	array_foreach(&list->items, disk)
		if (disk->of_ns &&
		    (!busiest || disk_busy_percent(disk) > disk_busy_percent(busiest)))
			busiest = disk;
	return busiest;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(TEXT, 1, struct disk, name),
	COLUMN(NUMBER, 2, struct disk, reads),
	COLUMN(NUMBER, 3, struct disk, writes),
	COLUMN(NUMBER, 4, struct disk, read_bytes),
	COLUMN(NUMBER, 5, struct disk, written_bytes),
	COLUMN(NUMBER, 6, struct disk, busy_ns),
	COLUMN(NUMBER, 7, struct disk, queue_ns),
	COLUMN(NUMBER, 8, struct disk, of_ns),
};
ALL_MEMBERS(struct disk, 88);

static int64_t add_row(void *account, const void *row)
{
	return disk_list_add(account, row);
}

static bool is_valid(const void *row)
{
	const struct disk *disk = row;

	return disk->name[0] && disk->busy_ns <= disk->of_ns;
}

static void done(void *account)
{
	struct disk_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(91, struct disk, columns),
	.rows = ACCOUNT_ROWS(struct disk_list, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
	.is_valid = is_valid,
};

const struct account_ops account_ops_disks = {
	.size = sizeof(struct disk_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
