// SPDX-License-Identifier: BSD-2-Clause
/* Prints the regions of programs as trees, with how long each took and where that time went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_region_cells.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/region_list.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Of the page: a title, a heading of columns, and a line for what needs explaining. */
#define OTHER_LINES 3
#define MAX_INDENT  16

static const struct text_column columns[] = {
	{.title = "region", .left = true, .flexible = true, .max_columns = 48},
	{.title = "count"},
	{.title = "wall"},
	{.title = "of parent", .expendable = 2},
	{.title = "on-CPU"},
	{.title = "run queue", .expendable = 1},
	{.title = "sleep"},
	{.title = "disk", .expendable = 1},
	{.title = "p50"},
	{.title = "p95", .expendable = 4},
	{.title = "p99"},
	{.title = "max"},
};

/* Behind the others, where there is anything of it. */
static const struct text_column item_column = {.title = "items/s", .expendable = 3};
static const struct text_column heap_columns[] = {
	{.title = "allocated", .expendable = 1},
	{.title = "live"},
};

/* Growth: from begin to end, of all regions together. */
static const struct text_column memory_columns[] = {
	{.title = "peak RSS", .expendable = 5},
	{.title = "RSS growth", .expendable = 6},
};

struct extra_columns {
	bool items, heap, memory;
};

static void add_memory(struct text_table *table, const struct region_line *line)
{
	int64_t growth_kib = line->sums.rss_growth_kib;
	char buffer[HUMAN_SIZE];

	if (!line->sums.rss_readings) {
		text_table_cell(table, ".");
		text_table_cell(table, ".");
		return;
	}
	text_table_cell(table, human_bytes(buffer, line->sums.rss_max_kib * 1024));
	human_bytes(buffer, (growth_kib < 0 ? -(uint64_t)growth_kib : (uint64_t)growth_kib) * 1024);
	text_table_cellf(table, "%s%s", growth_kib < 0 ? "-" : growth_kib ? "+" : "", buffer);
}

static void add_extra(struct text_table *table, const struct region_line *line,
		      struct extra_columns extra)
{
	const struct region_heap *heap = &line->heap;
	char buffer[HUMAN_SIZE];

	if (extra.items && line->sums.items)
		text_table_cell(table, human_count(buffer, human_whole(line->items_per_second)));
	else if (extra.items)
		text_table_cell(table, ".");
	if (extra.memory)
		add_memory(table, line);
	if (!extra.heap)
		return;
	text_table_cell(table,
			heap->allocated_bytes ? human_bytes(buffer, heap->allocated_bytes) : ".");
	text_table_cell(table, heap->live_bytes ? human_bytes(buffer, heap->live_bytes) : ".");
}

static void add_line(struct text_table *table, const struct region_list *list, size_t index,
		     struct extra_columns extra)
{
	const struct region_line *line = &list->lines[index];
	int indent = line->depth < MAX_INDENT / 2 ? 2 * (int)line->depth : MAX_INDENT;
	char buffer[HUMAN_SIZE];

	text_table_cellf(table, "%*s%s%s", indent, "", line->name,
			 line->is_request ? " (requests)"
			 : line->by_id	  ? " (by id)"
					  : "");
	text_table_cellf(table, "%s%s", human_count(buffer, region_line_calls(line)),
			 line->is_let_go ? "+" : "");
	text_region_time(table, line->sums.total_ns, line->sums.count);
	text_table_cell(table, line->parent == REGION_ROOT
				       ? ""
				       : human_share(buffer, line->sums.total_ns,
						     list->lines[line->parent].sums.total_ns));
	text_region_parts(table, &line->sums);
	text_region_time(table, line->p50_ns, line->sums.count);
	text_region_time(table, line->p95_ns, line->sums.count);
	text_region_time(table, line->p99_ns, line->sums.count);
	text_region_time(table, line->sums.max_ns, line->sums.count);
	add_extra(table, line, extra);
}

static const char *comm_of(const struct region_list *list, size_t index)
{
	return list->lines[index].comm;
}

/* The lines of one comm, which follow each other. */
static size_t lines_of_comm(const struct region_list *list, size_t first)
{
	size_t end = first + 1;

	while (end < list->count &&
	       (list->lines[end].depth || strcmp(comm_of(list, end), comm_of(list, first)) == 0))
		end++;
	return end - first;
}

static struct extra_columns extra_of(const struct region_list *list, size_t first, size_t count)
{
	struct extra_columns extra = {0};

	for (size_t i = first; i < first + count; i++) {
		extra.items |= list->lines[i].sums.items != 0;
		extra.memory |= list->lines[i].sums.rss_readings != 0;
		extra.heap |=
			list->lines[i].heap.allocated_objects || list->lines[i].heap.live_objects;
	}
	return extra;
}

#define MOST_COLUMNS                                                                               \
	(ARRAY_SIZE(columns) + 1 + ARRAY_SIZE(memory_columns) + ARRAY_SIZE(heap_columns))

/* Returns how many there are. */
static size_t choose_columns(struct text_column *all, struct extra_columns extra)
{
	size_t count = ARRAY_SIZE(columns);

	memcpy(all, columns, sizeof(columns));
	if (extra.items)
		all[count++] = item_column;
	for (size_t i = 0; extra.memory && i < ARRAY_SIZE(memory_columns); i++)
		all[count++] = memory_columns[i];
	for (size_t i = 0; extra.heap && i < ARRAY_SIZE(heap_columns); i++)
		all[count++] = heap_columns[i];
	return count;
}

static int write_comm(const struct text_report *report, const struct region_list *list,
		      size_t first, size_t count)
{
	struct extra_columns extra = extra_of(list, first, count);
	struct text_column all[MOST_COLUMNS];
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(all, choose_columns(all, extra));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_line(table, list, first + i, extra);
	return text_table_write(table, report->width, report->out);
}

/* Of one line, at most. */
#define NOTE_MAX 256

/* In the order of the lines. */
static void add_limits(const struct region_list *list, char *text, size_t size)
{
	size_t more = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct region_line *line = &list->lines[i];
		char some[HUMAN_SIZE], all[HUMAN_SIZE], limit[HUMAN_SIZE], name[PKBPF_SPAN_NAME];

		if (region_sums_has_limit(&line->sums) && strlen(text) + NOTE_MAX >= size)
			more++;
		else if (region_sums_has_limit(&line->sums))
			text_append(text, size, "%s: %s of %s over %s; ",
				    escape_terminal(name, sizeof(name), line->name),
				    human_count(some, line->sums.over),
				    human_count(all, line->sums.count),
				    human_time(limit, line->sums.limit_ns));
	}
	if (more)
		text_append(text, size, "and %zu more with a limit; ", more);
}

/* Counts of a part of the time are no counts of all of it. */
static void add_watched(const struct profile *profile, const struct region_list *list, char *text,
			size_t size)
{
	uint64_t recorded_ns = profile_info_read(profile)->regions_ns;
	size_t more = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct region_line *line = &list->lines[i];
		uint64_t missed_ns = line->missed_ns;
		char some[HUMAN_SIZE], all[HUMAN_SIZE], name[PKBPF_SPAN_NAME];

		if (missed_ns && strlen(text) + NOTE_MAX >= size)
			more++;
		else if (missed_ns)
			text_append(text, size,
				    "%s was watched for %s of %s, since its probes cost too much; ",
				    escape_terminal(name, sizeof(name), line->name),
				    human_time(some, recorded_ns > missed_ns
							     ? recorded_ns - missed_ns
							     : 0),
				    human_time(all, recorded_ns));
	}
	if (more)
		text_append(text, size, "and %zu more for a part of the time; ", more);
}

/* What does not show in the columns. */
static void write_notes(const struct text_report *report, const struct region_list *list)
{
	uint64_t not_left = 0, unfinished = 0, undivided_ns = 0, total_ns = 0;
	char text[1024] = "", number[HUMAN_SIZE];
	bool any_let_go = false, any_missed = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct region_sums *sums = &list->lines[i].sums;

		any_let_go |= list->lines[i].is_let_go;
		any_missed |= list->lines[i].missed_ns != 0;
		not_left += sums->lost_end;
		unfinished += sums->unfinished;
		if (!list->lines[i].by_id && sums->count > sums->interleaved) {
			undivided_ns += region_sums_undivided_ns(sums);
			total_ns += sums->total_ns;
		}
	}
	if (any_let_go)
		text_append(text, sizeof(text),
			    "+: there were more, but probes cost more than --probe-cost and were "
			    "taken off; ");
	if (unfinished)
		text_append(text, sizeof(text), "%s open at the end; ",
			    human_counted(number, unfinished, "regions"));
	if (not_left)
		text_append(text, sizeof(text),
			    any_missed
				    ? "%s ended without being left, or while there were no probes; "
				    : "%s ended without being left; ",
			    human_counted(number, not_left, "regions"));
	if (undivided_ns)
		text_append(text, sizeof(text),
			    "%s of their time is not divided (record offcpu events as well); ",
			    human_share(number, undivided_ns, total_ns));
	if (extra_of(list, 0, list->count).heap)
		text_append(text, sizeof(text),
			    "allocated and live: estimates, with regions inside; ");
	add_watched(report->profile, list, text, sizeof(text));
	add_limits(list, text, sizeof(text));
	if (!text[0])
		return;
	text[strlen(text) - 2] = '\0';
	text_wrap(report->out, report->width, " ", 2, text);
}

static int write_all(const struct text_report *report, const struct region_list *list, size_t lines)
{
	size_t shown = 0;
	int err = 0;

	for (size_t first = 0; first < list->count && shown < lines && !err;) {
		size_t count = lines_of_comm(list, first);
		size_t fits = count < lines - shown ? count : lines - shown;

		text_heading(report, "Regions of %s (shares: of the wall time)",
			     comm_of(list, first)[0] ? comm_of(list, first) : "a process");
		err = write_comm(report, list, first, fits);
		shown += fits;
		first += count;
	}
	text_more(report, list->count - shown, "regions");
	return err;
}

static bool has_only_calls(const struct region_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->lines[i].is_function)
			return false;
	return true;
}

static int write_regions(const struct text_report *report, size_t lines)
{
	_cleanup_(region_list_done) struct region_list list = {0};
	int err;

	if (!region_table_count(profile_regions(report->profile)) || !lines)
		return 0;
	err = region_list_init(&list, report->profile, REGION_BY_COMM);
	/* The page has a table of calls. */
	if (!err && lines != SIZE_MAX && has_only_calls(&list))
		return 0;
	err = err ? err : write_all(report, &list, lines);
	if (!err)
		write_notes(report, &list);
	return err;
}

int text_regions(const struct text_report *report)
{
	return write_regions(report, SIZE_MAX);
}

int summary_regions(const struct summary *summary, size_t lines)
{
	return write_regions(&summary->report, lines > OTHER_LINES ? lines - OTHER_LINES : 0);
}
