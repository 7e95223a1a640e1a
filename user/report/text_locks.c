// SPDX-License-Identifier: BSD-2-Clause
/* Prints the locks that threads wait for, and what their holders do meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/lock_view.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)
DEFINE_CLEANUP(struct function_table *, function_table_free)

/* Of the page: the title, a heading of columns and the line of signals; two lines a lock. */
#define HEAD_LINES    3
#define LINES_OF_LOCK 2
/* Holders named of a lock. Those with less than 1/SMALL of its time are left out. */
#define HOLDERS_SHOWN  4
#define SMALL	       100
#define HOLDERS_INDENT 4

static const struct text_column columns[] = {
	{.title = "#"},
	{.title = "wait"},
	{.title = "waits"},
	{.title = "p50"},
	{.title = "p99", .expendable = 2},
	{.title = "max"},
	{.title = "most", .expendable = 1},
	{.title = "pid"},
	{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
	{.title = "lock", .left = true, .flexible = true, .max_columns = 100},
};

static void add_row(struct text_table *table, const struct lock_view *view,
		    const struct function_table *functions, size_t rank)
{
	const struct lock *lock = view->lock;
	char text[LOCK_NAME_TEXT_SIZE], number[HUMAN_SIZE];

	text_table_cellf(table, "%zu", rank);
	text_table_cell(table, human_time(number, lock->wait_ns));
	text_table_cell(table, human_count(number, lock->waits));
	text_table_cell(table, human_time(number, lock_percentile_ns(lock, 500)));
	text_table_cell(table, human_time(number, lock_percentile_ns(lock, 990)));
	text_table_cell(table, human_time(number, lock->max_ns));
	text_table_cell(table,
			lock_is_of_kernel(lock) ? "-" : human_count(number, lock->max_waiters));
	text_table_cellf(table, "%" PRIu32, lock->pid);
	text_table_cell(table, lock->comm[0] ? lock->comm : "[unknown]");
	text_table_cell(table, lock_view_name(text, view, functions));
}

static int write_table(const struct text_report *report, const struct lock_views *views,
		       const struct function_table *functions, size_t shown)
{
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++)
		add_row(table, &views->items[i], functions, i + 1);
	return text_table_write(table, report->width, report->out);
}

/* " #1 held by: flush_index (disk wait: fsync) 68%, hand-over 11%" */
static void write_holders(const struct text_report *report, const struct lock_view *view,
			  const struct function_table *functions, size_t rank, size_t lines)
{
	char text[2048] = "", label[40];
	struct text_wrapping wrapping = {
		.label = label, .next_indent = HOLDERS_INDENT, .lines = lines};

	snprintf(label, sizeof(label), " #%zu %s: ", rank, lock_view_held(view));
	for (size_t i = 0; i < view->holder_count && i < HOLDERS_SHOWN; i++) {
		const struct lock_share *share = &view->holders[i];
		char holder[LOCK_HOLDER_TEXT_SIZE], clean[LOCK_HOLDER_TEXT_SIZE], part[HUMAN_SIZE];

		if (share->ns < view->held_ns / SMALL)
			break;
		escape_terminal(clean, sizeof(clean), lock_share_holder(holder, share, functions));
		text_append(text, sizeof(text), "%s%s %s", i ? ", " : "", clean,
			    human_share(part, share->ns, view->held_ns));
	}
	text_wrap_lines(report->out, report->width, &wrapping, text[0] ? text : "not known");
}

static void write_title(const struct text_report *report, const struct lock_views *views)
{
	char time[HUMAN_SIZE], waits[HUMAN_SIZE], locks[HUMAN_SIZE];

	text_heading(report, "Locks: %s in %s for %s", human_time(time, views->wait_ns),
		     human_counted(waits, views->waits, "waits"),
		     human_counted(locks, views->count, "locks"));
}

/* Waits of threads for each other that are for no lock. */
static void write_signals(const struct text_report *report, const struct lock_views *views)
{
	char text[160], time[HUMAN_SIZE];

	if (!views->signal_ns)
		return;
	snprintf(text, sizeof(text),
		 "Waits to be signalled (condition variables, semaphores): %s, not counted above",
		 human_time(time, views->signal_ns));
	text_wrap(report->out, report->width, " ", 1, text);
}

static int write_locks(const struct text_report *report, const struct function_table *functions,
		       size_t most, size_t lines_of_holders)
{
	struct lock_views views;
	size_t shown;
	int err = lock_views_make(&views, report->profile, functions);

	if (err)
		return err;
	shown = views.count < most ? views.count : most;
	if (views.count || views.signal_ns)
		write_title(report, &views);
	if (shown)
		err = write_table(report, &views, functions, shown);
	for (size_t i = 0; i < shown && !err; i++)
		if (views.items[i].lock->class != PKBPF_LOCK_OTHERS &&
		    !lock_is_of_kernel(views.items[i].lock))
			write_holders(report, &views.items[i], functions, i + 1, lines_of_holders);
	if (!err)
		write_signals(report, &views);
	if (shown && lines_of_holders != 1)
		text_more(report, views.count - shown, "locks");
	lock_views_done(&views);
	return err;
}

int text_locks(const struct text_report *report)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(report->profile, &options);

	return functions ? write_locks(report, functions, report->options->top, 0) : -ENOMEM;
}

int summary_locks(const struct summary *summary, size_t lines)
{
	const struct text_report *report = &summary->report;
	size_t most = lines > HEAD_LINES ? (lines - HEAD_LINES) / LINES_OF_LOCK : 0;

	return write_locks(report, summary->rows->functions, most, 1);
}
