// SPDX-License-Identifier: BSD-2-Clause
// Prints one line per process: what it used, which function it was in most.
#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

static const char *life_text(const struct process *process)
{
	if (!process)
		return "";
	if (process->started_inside)
		return process->end_ns ? "short-lived" : "started";
	return process->end_ns ? "exited" : "";
}

/* Share of user stacks known to reach the root among those of which anything is known. */
static void complete_share(const struct profile *profile, uint32_t process, char buffer[HUMAN_SIZE])
{
	uint64_t complete = 0, known = 0;

	for (unsigned int end = PKBPF_END_NONE + 1; end < PKBPF_END_COUNT; end++) {
		uint64_t count = profile_end_count(profile, process, end);

		if (stack_end_is_complete(end))
			complete += count;
		if (end != PKBPF_END_UNVERIFIED && !stack_end_is_gone(end))
			known += count;
	}
	human_share(buffer, complete, known);
}

static void add_cpu_cells(struct text_table *table, const struct text_report *report,
			  uint64_t samples)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint64_t interval_ns = text_interval_ns(report);
	char share[HUMAN_SIZE] = "-";
	double seconds;

	/* The kernel's account knows it better, and has its own table. */
	if (resource_usage_known(profile_resources(report->profile))) {
		text_table_cell(table, "");
		text_table_cell(table, "");
		return;
	}
	if (!info->frequency_hz) {
		text_table_cell(table, "-");
		text_table_cell(table, "-");
		return;
	}
	seconds = (double)samples / info->frequency_hz;
	text_table_cellf(table, "%.2f", seconds);
	if (interval_ns)
		snprintf(share, sizeof(share), "%.1f%%",
			 100 * seconds * NS_PER_SECOND / (double)interval_ns);
	text_table_cell(table, share);
}

static void add_row(struct text_table *table, const struct text_report *report,
		    const struct tally *tally, const struct tally_process *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(report->profile), row->process);
	const struct function *hottest =
		function_table_get(tally->functions, row->hottest_function);
	char buffer[HUMAN_SIZE];

	text_who(table, report, row->process, NULL);
	text_table_cell(table, human_weight(buffer, tally->kind, row->weight));
	text_table_cell(table, human_share(buffer, row->weight, tally->weight));
	if (kind_ops_of(tally->kind)->is_expected)
		add_cpu_cells(table, report, row->count);
	else if (kind_has_measure(kind_ops_of(tally->kind)))
		text_table_cell(table, human_count(buffer, row->count));
	else
		text_table_cell(table, ""); /* the weight is the count */
	if (process && process->thread_count)
		text_table_cell(table, human_count(buffer, process->thread_count));
	else
		text_table_cell(table, "-");
	text_table_cell(table, life_text(process));
	complete_share(report->profile, row->process, buffer);
	text_table_cell(table, buffer);
	text_table_cell(table, hottest ? hottest->name : "-");
}

static void heading(const struct text_report *report, const struct tally *tally)
{
	const struct kind_ops *kind = kind_ops_of(tally->kind);
	char count[HUMAN_SIZE], weight[HUMAN_SIZE];

	human_counted(count, tally->count, kind->count_unit);
	if (kind_has_measure(kind))
		text_heading(report, "%s by process: %s, %s in total", kind->title, count,
			     human_weight(weight, tally->kind, tally->weight));
	else
		text_heading(report, "%s by process: %s", kind->title, count);
}

int text_processes(const struct text_report *report, const struct tally *tally)
{
	static const struct text_column cpu_columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE},
		{.title = "samples"},
		{.title = "share"},
		{.title = "CPU s"},
		{.title = "%CPU"},
		{.title = "threads"},
		{.title = "in interval", .left = true},
		{.title = "unwound"},
		{.title = "hottest function", .left = true, .flexible = true},
	};
	const struct kind_ops *kind = kind_ops_of(tally->kind);
	const struct text_column other_columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE},
		{.title = kind_measure(kind)},
		{.title = "share"},
		{.title = kind->count_unit},
		{.title = "threads"},
		{.title = "in interval", .left = true},
		{.title = "unwound"},
		{.title = "hottest function", .left = true, .flexible = true},
	};
	bool is_cpu = kind->is_expected;
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(is_cpu ? cpu_columns : other_columns,
			       is_cpu ? ARRAY_SIZE(cpu_columns) : ARRAY_SIZE(other_columns));
	size_t shown = tally->process_count;
	int err;

	if (!table)
		return -ENOMEM;
	if (shown > report->options->top)
		shown = report->options->top;
	for (size_t i = 0; i < shown; i++)
		add_row(table, report, tally, &tally->processes[i]);
	heading(report, tally);
	err = text_table_write(table, report->width, report->out);
	if (err)
		return err;
	text_more(report, tally->process_count - shown, "processes");
	return 0;
}
