// SPDX-License-Identifier: BSD-2-Clause
/* Keeps slices, makes the rows that are shown of them, and finds the worst alarm. */
#include "top/top_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "profile/slice/slice.h"

/* Findings need some time to be true, and cost more than a table does. */
#define FINDING_EVERY_NS (15 * NS_PER_SECOND)
/* Time without looking, in times of what it took: 0.1 % of a CPU. */
#define FINDING_REST_TIMES 1000

struct top *top_new(const struct top_options *options)
{
	struct top *top = calloc(1, sizeof(*top));

	if (!top)
		return NULL;
	top->options = *options;
	top->slices.only_last = options->only_tables;
	top->by = options->by;
	top->sort = options->sort >= 0 ? options->sort : top_column_find("CPU%", options->by);
	for (size_t i = 0; i < TOP_HISTORY; i++)
		top->history[i] = -1;
	return top;
}

/* What is shown is the last slice, or our own. */
static void forget_shown(struct top *top)
{
	top_tree_clear(&top->tree);
	if (top->has_results) {
		plumbing_done(&top->plumbing);
		results_done(&top->results);
	}
	top->has_results = false;
	top->all = NULL;
	top->rows.count = 0;
}

static void drop_shown(struct top *top)
{
	forget_shown(top);
	if (top->shown != top->slices.last)
		profile_free(top->shown);
	top->shown = NULL;
}

void top_free(struct top *top)
{
	if (!top)
		return;
	drop_shown(top);
	top_slices_done(&top->slices);
	top_tree_done(&top->tree);
	array_free(&top->rows);
	array_free(&top->base);
	free(top);
}

void top_say(struct top *top, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(top->message, sizeof(top->message), format, arguments);
	va_end(arguments);
}

/* ---- rows ---- */

void top_name_row(const struct top *top, const struct resource_row *row,
		  struct top_row_name *ret_name)
{
	if (top->by == ROWS_BY_PROCESS || top->by == ROWS_BY_THREAD)
		snprintf(ret_name->text, sizeof(ret_name->text), "%u/%u/%s", row->pid, row->tid,
			 row->pid ? "" : row->name);
	else
		snprintf(ret_name->text, sizeof(ret_name->text), "%s",
			 top->by == ROWS_BY_CONTAINER ? row->container : row->name);
}

const struct resource_row *top_find_row(const struct top *top, const struct top_row_name *name,
					size_t *ret_index)
{
	for (size_t i = 0; i < top->rows.count; i++) {
		struct top_row_name other;

		top_name_row(top, top->rows.items[i], &other);
		if (strcmp(other.text, name->text) == 0) {
			*ret_index = i;
			return top->rows.items[i];
		}
	}
	return NULL;
}

static bool passes_filter(const struct top *top, const struct resource_row *row)
{
	char pid[16];

	if (!top->filter[0])
		return true;
	snprintf(pid, sizeof(pid), "%u", row->pid);
	return strcasestr(row->name, top->filter) || strcasestr(row->container, top->filter) ||
	       strcmp(pid, top->filter) == 0;
}

static int by_column(const void *left, const void *right, void *context)
{
	const struct resource_row *a = *(const struct resource_row *const *)left,
				  *b = *(const struct resource_row *const *)right;
	const struct top *top = context;
	const struct top_column *column = top_column_at((size_t)top->sort);
	int order = top->reversed ? -1 : 1;

	if (column->text) {
		int texts = strcasecmp(column->text(a), column->text(b));

		if (texts)
			return texts * order;
	} else {
		double x = 0, y = 0;
		bool has_x = top_column_value(column, top->all, a, &x),
		     has_y = top_column_value(column, top->all, b, &y);

		if (has_x != has_y)
			return has_x ? -1 : 1;
		/* Numbers of processes are read upwards, amounts downwards. */
		if (x != y)
			return (x > y) == (column->unit != TOP_UNIT_NUMBER) ? -order : order;
	}
	/* Rows are in a fixed order already. */
	return a < b ? -1 : a > b;
}

int top_sort(struct top *top)
{
	size_t index;

	top->rows.count = 0;
	if (!top->all)
		return 0;
	if (!array_reserve(&top->rows, top->all->count))
		return -ENOMEM;
	for (size_t i = 0; i < top->all->count; i++)
		if (passes_filter(top, &top->all->items[i]))
			top->rows.items[top->rows.count++] = &top->all->items[i];
	if (top->rows.count)
		qsort_r(top->rows.items, top->rows.count, sizeof(*top->rows.items), by_column, top);
	if (top->follows && top_find_row(top, &top->followed, &index))
		top->cursor = index;
	if (top->cursor >= top->rows.count)
		top->cursor = top->rows.count ? top->rows.count - 1 : 0;
	return 0;
}

int top_refresh_tree(struct top *top)
{
	const struct resource_row *row;
	size_t index;

	top_tree_clear(&top->tree);
	row = top->all ? top_find_row(top, &top->tree_of, &index) : NULL;
	return row ? top_tree_build(&top->tree, top->all, row) : 0;
}

int top_refresh(struct top *top)
{
	int err = 0;

	if (!top->frozen || !top->shown) {
		drop_shown(top);
		if (top->minute)
			err = top_slices_minute(&top->slices, &top->shown);
		else
			top->shown = top->slices.last;
		if (err < 0 && err != -ENODATA)
			return err;
	}
	forget_shown(top);
	if (!top->shown)
		return 0;
	results_init(&top->results, top->shown, top->by);
	top->has_results = true;
	err = results_rows(&top->results, &top->all);
	if (err == 0)
		err = plumbing_init(&top->plumbing, top->all->functions);
	if (err < 0) {
		results_done(&top->results);
		top->has_results = false;
		top->all = NULL;
		return err;
	}
	err = top_sort(top);
	return err == 0 && top->mode == TOP_TREE ? top_refresh_tree(top) : err;
}

/* ---- slices ---- */

static int find_alarm(struct top *top)
{
	const struct findings *findings;
	struct profile *minute;
	struct results results;
	int err = top_slices_minute(&top->slices, &minute);

	if (err < 0)
		return err == -ENODATA ? 0 : err;
	results_init(&results, minute, ROWS_BY_PROCESS);
	top->finding[0] = '\0';
	err = results_findings(&results, &findings);
	for (size_t i = 0; err == 0 && i < findings->count && !top->finding[0]; i++)
		if (findings->findings[i].is_alarm)
			snprintf(top->finding, sizeof(top->finding), "%s",
				 findings->findings[i].text);
	results_done(&results);
	profile_free(minute);
	return err;
}

static void note_busy(struct top *top, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	struct resource_machine machine = resource_usage_machine(profile_resources(slice));
	double whole = (double)resource_machine_cpu_ns(&machine, info->cpu_count);
	double rest = (double)machine.idle_ns + (double)machine.steal_ns;

	memmove(top->history, top->history + 1, sizeof(top->history) - sizeof(*top->history));
	top->history[TOP_HISTORY - 1] =
		machine.known && whole > 0 && rest < whole ? 100 * (1 - rest / whole) : -1;
}

int top_add_slice(struct top *top, struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	int err, alarm_err = 0;

	note_busy(top, slice);
	/* What is shown outlives the slice that it was. */
	if (top->shown == top->slices.last && top->shown) {
		if (top->frozen)
			top->slices.last = NULL;
		else
			drop_shown(top);
	}
	err = top_slices_add(&top->slices, slice);
	top->since_finding_ns += info->end_ns - info->start_ns;
	if (top->since_finding_ns >= FINDING_EVERY_NS &&
	    top->since_finding_ns / FINDING_REST_TIMES >= top->finding_took_ns) {
		uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

		top->since_finding_ns = 0;
		alarm_err = find_alarm(top);
		top->finding_took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
	if (!top->frozen) {
		int shown_err = top_refresh(top);

		err = err < 0 ? err : shown_err;
	}
	return err < 0 ? err : alarm_err;
}

const struct top_base_row *top_base_of(const struct top *top, const struct resource_row *row)
{
	struct top_row_name name;

	top_name_row(top, row, &name);
	array_foreach(&top->base, base)
		if (strcmp(base->name.text, name.text) == 0)
			return base;
	return NULL;
}
