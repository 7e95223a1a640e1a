// SPDX-License-Identifier: BSD-2-Clause
/* Writes the locks that threads waited for as comma-separated values: a record each, with the
 * holder for which others waited longest. */
#include <stdio.h>

#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/lock_view.h"

static void write_holder(struct csv_cells *cells, const struct resource_rows *rows,
			 const struct lock_view *view)
{
	const struct lock_share *holder = view->holder_count ? &view->holders[0] : NULL;
	char text[LOCK_HOLDER_TEXT_SIZE];

	csv_text(cells, holder ? lock_share_holder(text, holder, rows->functions) : "");
	csv_percent(cells, holder ? holder->ns : 0, view->held_ns);
}

static void write_lock(struct csv_cells *cells, const struct resource_rows *rows,
		       const struct lock_view *view)
{
	const struct lock *lock = view->lock;
	char name[LOCK_NAME_TEXT_SIZE], address[32] = "";

	if (lock->address)
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)lock->address);
	csv_u64(cells, lock->pid);
	csv_text(cells, lock->comm);
	csv_text(cells, lock_view_name(name, view, rows->functions));
	csv_text(cells, lock_class_name(lock->class));
	csv_text(cells, lock->name);
	csv_text(cells, address);
	csv_u64(cells, lock->waits);
	csv_u64(cells, lock->wait_ns);
	csv_u64(cells, lock->queue_ns);
	csv_u64(cells, lock_percentile_ns(lock, 500));
	csv_u64(cells, lock_percentile_ns(lock, 990));
	csv_u64(cells, lock->max_ns);
	csv_u64(cells, lock->max_waiters);
	csv_u64(cells, view->held_ns);
	write_holder(cells, rows, view);
	csv_end(cells);
}

static int write_locks(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	struct csv_cells cells = {.out = out};
	const struct resource_rows *rows;
	struct lock_views views;
	int err = results_rows(results, &rows);

	err = err ? err : lock_views_make(&views, results->profile, rows->functions);
	if (err)
		return err;
	fputs("pid,comm,lock,class,symbol,address,waits,wait_ns,queue_ns,p50_ns,p99_ns,max_ns,"
	      "max_waiters,held_ns,most_held_by,most_held_percent" CSV_LINE_END,
	      out);
	for (size_t i = 0; i < views.count; i++)
		write_lock(&cells, rows, &views.items[i]);
	lock_views_done(&views);
	return 0;
}

const struct format_ops format_csv_locks = {
	.file = {"csv-locks", ".locks.csv", "locks that threads wait for"},
	.write = write_locks,
};
