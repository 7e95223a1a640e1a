// SPDX-License-Identifier: BSD-2-Clause
/* Prints the requests of thread contexts that took longest one by one, with what they waited for.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "report/request_causes.h"
#include "report/summary.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/request_text.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* A title and a heading of columns; then at least two lines for each request. */
#define HEAD_LINES    3
#define PLACE_COLUMNS 60

static const struct text_column columns[] = {
	{.title = "#"},
	{.title = "start s", .max_columns = 10},
	{.title = "pid"},
	{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
	{.title = "tid", .expendable = 2},
	{.title = "label", .left = true, .flexible = true, .max_columns = 48},
	/* Hostile recordings may say anything. */
	{.title = "time", .max_columns = 12},
	{.title = "on-CPU", .max_columns = 12},
	{.title = "run queue", .max_columns = 12},
	{.title = "sleep", .max_columns = 12},
	{.title = "disk", .max_columns = 12, .expendable = 1},
};

static void cell_time(struct text_table *table, uint64_t time_ns)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, time_ns ? human_time(buffer, time_ns) : ".");
}

static void add_row(struct text_table *table, const struct text_report *report,
		    const struct slow_request *request, size_t rank)
{
	const struct profile_info *info = profile_info_read(report->profile);
	/* It may have begun before its interval. */
	double at_ns = (double)(int64_t)(request->start_ns - info->start_ns);
	const uint64_t *part_ns = request->part_ns;
	const char *label = profile_string(report->profile, request->labels[0]);

	text_table_cellf(table, "%zu", rank);
	text_table_cellf(table, "%.3f", at_ns / NS_PER_SECOND);
	text_who(table, report, request->process, profile_string(report->profile, request->comm));
	text_table_cellf(table, "%u", request->tid);
	text_table_cell(table, label[0] ? label : "-");
	cell_time(table, request->wall_ns);
	cell_time(table, part_ns[PKBPF_WAIT_NONE]);
	cell_time(table, part_ns[PKBPF_WAIT_RUNQUEUE]);
	cell_time(table, part_ns[PKBPF_WAIT_SLEEP] + part_ns[PKBPF_WAIT_STOPPED]);
	cell_time(table, part_ns[PKBPF_WAIT_DISK] + part_ns[PKBPF_WAIT_UNINTERRUPTIBLE]);
}

/* "180 ms waits for a mutex in Pool::get > pthread_mutex_lock" */
static void write_cause(const struct text_report *report, const struct resource_rows *rows,
			const struct plumbing *plumbing, const struct request_cause *cause)
{
	_cleanup_free_ char *place = request_cause_place(rows, plumbing, cause, PLACE_COLUMNS);
	char buffer[HUMAN_SIZE];

	fprintf(report->out, "%s %s%s%s", human_time(buffer, cause->wait_ns), cause->text,
		place ? " in " : "", place ? place : "");
}

/* " #1 trace … span …: 180 ms waits for a mutex in …, 20 ms other waits" */
static void write_details(const struct text_report *report, const struct resource_rows *rows,
			  const struct plumbing *plumbing, const struct slow_request *request,
			  size_t rank)
{
	char trace[REQUEST_ID_TEXT], span[REQUEST_ID_TEXT], buffer[HUMAN_SIZE];
	struct request_cause causes[PKBPF_CONTEXT_REASONS];
	size_t count = request_causes(rows, request, causes);
	uint64_t other_ns = request_other_wait_ns(request);
	const char *between = ": ";

	fprintf(report->out, " #%zu trace %s span %s", rank,
		request_id_text(trace, request->trace, sizeof(request->trace)),
		request_id_text(span, request->span, sizeof(request->span)));
	if (request->flags & PKBPF_REQUEST_OPEN)
		fputs(", not ended", report->out);
	for (size_t i = 0; i < count; i++) {
		fputs(between, report->out);
		write_cause(report, rows, plumbing, &causes[i]);
		between = ", ";
	}
	if (other_ns)
		fprintf(report->out, "%s%s other waits", between, human_time(buffer, other_ns));
	fputc('\n', report->out);
}

static int write_slowest(const struct text_report *report, const struct resource_rows *rows,
			 size_t most)
{
	_cleanup_(text_table_free_cleanup) struct text_table *table = NULL;
	_cleanup_free_ const struct slow_request **items = NULL;
	_cleanup_(plumbing_done) struct plumbing plumbing = {0};
	size_t count;
	int err = request_list_sorted(profile_contexts(report->profile), &items, &count);

	if (err || !count || !most)
		return err;
	count = count < most ? count : most;
	table = text_table_new(columns, ARRAY_SIZE(columns));
	if (!table || plumbing_init(&plumbing, rows->functions) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_row(table, report, items[i], i + 1);
	text_heading(report, "Slowest requests (by thread contexts)");
	err = text_table_write(table, report->width, report->out);
	for (size_t i = 0; i < count && !err; i++)
		write_details(report, rows, &plumbing, items[i], i + 1);
	return err;
}

int text_requests(const struct text_report *report, const struct resource_rows *rows)
{
	return write_slowest(report, rows, SIZE_MAX);
}

int summary_requests(const struct summary *summary, size_t lines)
{
	return write_slowest(&summary->report, summary->rows,
			     lines > HEAD_LINES ? (lines - HEAD_LINES) / 2 : 0);
}
