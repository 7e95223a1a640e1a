// SPDX-License-Identifier: BSD-2-Clause
/* Prints the calls of GPU libraries: what was launched, copied, allocated and waited for, and
 * which code did. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/gpu_calls.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Of the page: a title, a heading of columns, errors, notes, and the stacks. */
#define OTHER_LINES    9
#define ERRORS_SHOWN   8
#define STACKS_SHOWN   20
#define STACKS_ON_PAGE 3

static const struct text_column columns[] = {
	{.title = "pid", .expendable = 2},
	{.title = "comm",
	 .left = true,
	 .max_columns = PKBPF_COMM_SIZE,
	 .flexible = true,
	 .expendable = 2},
	{.title = "call", .left = true, .max_columns = PKBPF_GPU_FUNCTION_BYTES},
	{.title = "of", .left = true, .flexible = true, .max_columns = 60},
	{.title = "calls"},
	{.title = "time"},
	{.title = "mean"},
	{.title = "max", .expendable = 1},
	{.title = "bytes"},
	{.title = "live"},
	{.title = "blocks", .expendable = 3},
	{.title = "streams", .expendable = 3},
	{.title = "runs", .expendable = 2},
	{.title = "GPU time"},
	{.title = "GPU mean", .expendable = 1},
};
/* Those behind are of kernels that a library in the program reports. */
#define COLUMNS_WITHOUT_RUNS (ARRAY_SIZE(columns) - 3)

static void count_cell(struct text_table *table, uint64_t value)
{
	char number[HUMAN_SIZE];

	text_table_cell(table, value ? human_count(number, value) : ".");
}

static void bytes_cell(struct text_table *table, uint64_t value)
{
	char number[HUMAN_SIZE];

	text_table_cell(table, value ? human_bytes(number, value) : ".");
}

static void time_cell(struct text_table *table, uint64_t ns, uint64_t measured)
{
	char number[HUMAN_SIZE];

	text_table_cell(table, measured ? human_time(number, ns) : "-");
}

static bool has_runs(const struct gpu_calls *calls)
{
	return calls->groups[PKBPF_GPU_LAUNCH].runs;
}

static void add_row(struct text_table *table, const struct text_report *report,
		    const struct gpu_calls *calls, const struct gpu_call *call)
{
	const struct profile *profile = report->profile;
	uint64_t measured = call->count - call->unmeasured;
	char kernel[GPU_CALL_TEXT_SIZE];

	text_who(table, report, call->process, profile_string(profile, call->comm));
	text_table_cell(table, profile_string(profile, call->function));
	gpu_call_kernel(kernel, profile, call);
	text_table_cell(table, kernel[0] ? kernel : gpu_call_way(call));
	count_cell(table, call->count);
	time_cell(table, call->ns, measured);
	time_cell(table, measured ? call->ns / measured : 0, measured);
	time_cell(table, call->max_ns, measured);
	bytes_cell(table, call->bytes);
	bytes_cell(table, call->group == PKBPF_GPU_ALLOC ? gpu_call_live_bytes(call) : 0);
	count_cell(table, call->blocks);
	count_cell(table,
		   call->group == PKBPF_GPU_LAUNCH ? gpu_calls_streams(calls, call).count : 0);
	if (!has_runs(calls))
		return;
	count_cell(table, call->runs);
	time_cell(table, call->run_ns, call->runs);
	time_cell(table, call->runs ? call->run_ns / call->runs : 0, call->runs);
}

static void write_title(const struct text_report *report, const struct gpu_calls *calls)
{
	const struct gpu_group_sums *groups = calls->groups;
	char text[512] = "", number[HUMAN_SIZE], more[HUMAN_SIZE];

	if (groups[PKBPF_GPU_LAUNCH].count)
		text_append(text, sizeof(text), ", %s",
			    human_counted(number, groups[PKBPF_GPU_LAUNCH].count, "launches"));
	if (groups[PKBPF_GPU_GRAPH].count)
		text_append(text, sizeof(text), ", %s",
			    human_counted(number, groups[PKBPF_GPU_GRAPH].count, "graph calls"));
	if (groups[PKBPF_GPU_COPY].count)
		text_append(text, sizeof(text), ", %s of %s",
			    human_counted(number, groups[PKBPF_GPU_COPY].count, "copies"),
			    human_bytes(more, groups[PKBPF_GPU_COPY].bytes));
	if (groups[PKBPF_GPU_WAIT].count)
		text_append(text, sizeof(text), ", %s",
			    human_counted(number, groups[PKBPF_GPU_WAIT].count, "waits"));
	if (groups[PKBPF_GPU_WAIT].count > groups[PKBPF_GPU_WAIT].unmeasured)
		text_append(text, sizeof(text), " for %s",
			    human_time(more, groups[PKBPF_GPU_WAIT].ns));
	if (groups[PKBPF_GPU_ALLOC].count)
		text_append(text, sizeof(text), ", %s of %s",
			    human_counted(number, groups[PKBPF_GPU_ALLOC].count, "allocations"),
			    human_bytes(more, groups[PKBPF_GPU_ALLOC].bytes));
	text_heading(report, "GPU calls");
	text_wrap(report->out, report->width, " ", 1, text[0] ? text + 2 : "none");
}

/* " failed: cudaMemcpy with 21 (5 times)" */
static void write_errors(const struct text_report *report, const struct gpu_calls *calls)
{
	char text[1024] = "", number[HUMAN_SIZE], name[PKBPF_GPU_FUNCTION_BYTES];

	for (size_t i = 0; i < calls->error_count && i < ERRORS_SHOWN; i++)
		text_append(text, sizeof(text), "%s%s with code %" PRIu64 " (%s)", i ? ", " : "",
			    escape_terminal(
				    name, sizeof(name),
				    profile_string(report->profile, calls->errors[i]->function)),
			    calls->errors[i]->detail,
			    human_counted(number, calls->errors[i]->count, "times"));
	if (calls->error_count > ERRORS_SHOWN)
		text_append(text, sizeof(text), " and %zu more", calls->error_count - ERRORS_SHOWN);
	if (text[0])
		text_wrap(report->out, report->width, " failed: ", 2, text);
}

/* Which streams there are decides what can go on at the same time. */
static void note_streams(char *text, size_t size, const struct gpu_calls *calls)
{
	struct gpu_streams streams = gpu_calls_streams(calls, NULL);
	char number[HUMAN_SIZE];

	if (!streams.launches)
		return;
	text_append(text, size, "; launches went to %s, %.0f %% of them to the default one",
		    human_counted(number, streams.count, "streams"),
		    100.0 * (double)streams.default_stream / (double)streams.launches);
}

static void write_notes(const struct text_report *report, const struct gpu_calls *calls)
{
	uint64_t unmeasured = 0;
	char text[1024] = "", number[HUMAN_SIZE], more[HUMAN_SIZE];

	for (size_t i = PKBPF_GPU_GRAPH; i < PKBPF_GPU_GROUPS; i++)
		unmeasured += calls->groups[i].unmeasured;
	text_append(text, sizeof(text), "counts are of all calls since their probes were set");
	if (calls->groups[PKBPF_GPU_LAUNCH].count)
		text_append(text, sizeof(text), "; time and errors of launches are not measured");
	if (has_runs(calls))
		text_append(text, sizeof(text),
			    "; GPU time is that of %s, which a library in the program reported",
			    human_counted(number, calls->groups[PKBPF_GPU_LAUNCH].runs, "kernels"));
	note_streams(text, sizeof(text), calls);
	if (unmeasured)
		text_append(text, sizeof(text), "; %s of other calls either",
			    human_count(number, unmeasured));
	if (calls->samples < calls->calls)
		text_append(text, sizeof(text), "; stacks of %s calls were read, for %s",
			    human_count(number, calls->samples),
			    human_count(more, calls->stacks_stand_for));
	text_wrap(report->out, report->width, " ", 1, text);
}

/* Half of the lines are for launches, where there are as many. */
static int write_table(const struct text_report *report, const struct gpu_calls *calls,
		       size_t shown)
{
	size_t launches = calls->sum_count - calls->other_count, others;
	_cleanup_(text_table_free_cleanup) struct text_table *table = text_table_new(
		columns, has_runs(calls) ? ARRAY_SIZE(columns) : COLUMNS_WITHOUT_RUNS);

	if (!table)
		return -ENOMEM;
	others = shown - (launches < shown / 2 ? launches : shown / 2);
	others = others < calls->other_count ? others : calls->other_count;
	for (size_t i = 0; i < shown; i++)
		add_row(table, report, calls,
			calls->sums[i < others ? i : i - others + calls->other_count]);
	return text_table_write(table, report->width, report->out);
}

static void write_stack(const struct text_report *report, const struct function_table *functions,
			const struct gpu_call *call, bool are_all)
{
	char label[160], amount[HUMAN_SIZE];

	if (call->ns)
		human_time(amount, call->ns);
	else if (call->bytes)
		human_bytes(amount, call->bytes);
	else
		human_counted(amount, call->count, "calls");
	snprintf(label, sizeof(label), " %s %s%s: ", gpu_group_name(call->group),
		 are_all ? "" : "about ", amount);
	text_leaf_frames(report, functions, call->stack, SIZE_MAX, label);
}

static int write_calls(const struct text_report *report, const struct function_table *functions,
		       size_t most, size_t most_stacks)
{
	struct gpu_calls calls;
	size_t shown, stacks = 0;
	int err = gpu_calls_make(&calls, report->profile);

	if (err || !calls.sum_count || !most) {
		if (!err)
			gpu_calls_done(&calls);
		return err;
	}
	shown = calls.sum_count < most ? calls.sum_count : most;
	write_title(report, &calls);
	err = write_table(report, &calls, shown);
	text_more(report, calls.sum_count - shown, "calls and kernels");
	write_errors(report, &calls);
	/* The last one is that of most launches. */
	for (size_t i = 0; i < calls.stack_count && stacks < most_stacks && !err; i++) {
		if (calls.stacks[i]->stack == GPU_CALL_NO_STACK ||
		    (stacks + 1 == most_stacks && calls.stacks[i]->group != PKBPF_GPU_LAUNCH &&
		     calls.other_count < calls.sum_count))
			continue;
		write_stack(report, functions, calls.stacks[i], calls.samples == calls.calls);
		stacks++;
	}
	write_notes(report, &calls);
	gpu_calls_done(&calls);
	return err;
}

DEFINE_CLEANUP(struct function_table *, function_table_free)

int text_gpu_calls(const struct text_report *report)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions = NULL;

	if (!profile_gpu_calls(report->profile)->items.count)
		return 0;
	functions = function_table_new(report->profile, &options);
	return functions ? write_calls(report, functions, report->options->top, STACKS_SHOWN)
			 : -ENOMEM;
}

int summary_gpu_calls(const struct summary *summary, size_t lines)
{
	return write_calls(&summary->report, summary->rows->functions,
			   lines > OTHER_LINES ? lines - OTHER_LINES : 1, STACKS_ON_PAGE);
}
