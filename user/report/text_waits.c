// SPDX-License-Identifier: BSD-2-Clause
/* Prints where the time of processes went, how long their waits were, and the longest of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "profile/function_table.h"
#include "profile/account/wait_state.h"
#include "rows/gpu_call.h"
#include "rows/human.h"
#include "report/text_rows.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/waits.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)
DEFINE_CLEANUP(struct function_table *, function_table_free)

static int write_times(const struct text_report *report, const struct waits *waits, size_t shown)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
		{.title = "threads"},
		{.title = "cswch"},
		{.title = "nvcswch"},
		{.title = "on-CPU"},
		{.title = "run queue"},
		{.title = "sleep"},
		{.title = "disk wait"},
		{.title = "D state", .expendable = 1},
		{.title = "stopped", .expendable = 2},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	char buffer[HUMAN_SIZE];

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct waits_process *process = &waits->processes[i];

		text_who(table, report, process->process, NULL);
		text_table_cell(table, human_count(buffer, process->thread_count));
		text_table_cell(table, human_count(buffer, process->voluntary));
		text_table_cell(table, human_count(buffer, process->involuntary));
		for (int state = 0; state < PKBPF_WAIT_STATES; state++)
			text_rows_time(table, true, process->time_ns[state]);
	}
	return text_table_write(table, report->width, report->out);
}

static uint64_t sum_of_states_ns(const struct waits *waits)
{
	return waits_blocked_ns(&waits->all) + waits->all.time_ns[PKBPF_WAIT_NONE] +
	       waits->all.time_ns[PKBPF_WAIT_RUNQUEUE];
}

/* To 1 %: more is worth a reader's doubt. */
static bool adds_up(const struct waits *waits)
{
	uint64_t sum_ns = sum_of_states_ns(waits), wall_ns = waits->all.wall_ns;

	return (sum_ns > wall_ns ? sum_ns - wall_ns : wall_ns - sum_ns) <= wall_ns / 100;
}

static void write_check(const struct text_report *report, const struct waits *waits)
{
	uint64_t sum_ns = sum_of_states_ns(waits);
	char sum[HUMAN_SIZE], wall[HUMAN_SIZE], miss[HUMAN_SIZE], text[512];

	snprintf(text, sizeof(text),
		 "all states add up to %s of %s wall time (%.3f%%) of %" PRIu32 " threads",
		 human_time(sum, sum_ns), human_time(wall, waits->all.wall_ns),
		 waits->all.wall_ns ? 100.0 * (double)sum_ns / (double)waits->all.wall_ns : 0.0,
		 waits->all.thread_count);
	if (waits->worst_miss_ns)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "; largest difference: thread %" PRIu32 ", %s", waits->worst_tid,
			 human_time(miss, waits->worst_miss_ns));
	text_wrap(report->out, report->width, "", 1, text);
}

static void add_lengths(struct text_table *table, const struct text_report *report,
			const struct waits_process *process, enum pkbpf_wait_state state,
			struct histogram *histogram)
{
	static const unsigned int permilles[] = {500, 950, 990};
	char buffer[HUMAN_SIZE];

	waits_lengths(report->profile, process->process, state, histogram);
	if (!histogram->count)
		return;
	text_who(table, report, process->process, NULL);
	text_table_cell(table, wait_state_name((uint8_t)state));
	text_table_cell(table, human_count(buffer, histogram->count));
	for (size_t i = 0; i < ARRAY_SIZE(permilles); i++)
		text_table_cell(table,
				human_time(buffer, histogram_percentile(histogram, permilles[i])));
	text_table_cell(table, human_time(buffer, histogram->max));
}

static int write_lengths(const struct text_report *report, const struct waits *waits, size_t shown)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
		{.title = "state", .left = true},
		{.title = "waits"},
		{.title = "p50"},
		{.title = "p95"},
		{.title = "p99"},
		{.title = "max"},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	_cleanup_free_ struct histogram *histogram = calloc(1, sizeof(*histogram));

	if (!table || !histogram)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		for (int state = PKBPF_WAIT_RUNQUEUE; state < PKBPF_WAIT_STATES; state++)
			add_lengths(table, report, &waits->processes[i],
				    (enum pkbpf_wait_state)state, histogram);
	}
	text_heading(report, "Off-CPU: wait-time distribution (waits of at least --min-block)");
	return text_table_write(table, report->width, report->out);
}

static int compare_max(const void *left, const void *right)
{
	const struct profile_row *a = *(const struct profile_row *const *)left;
	const struct profile_row *b = *(const struct profile_row *const *)right;

	return a->max > b->max ? -1 : a->max < b->max;
}

static void write_long_wait(const struct text_report *report, const struct profile_row *row,
			    const struct function_table *functions)
{
	const struct process *process =
		process_table_by_id(profile_processes(report->profile), row->process);
	const char *comm = profile_string(report->profile, row->comm);
	char label[128], name[4 * PKBPF_COMM_SIZE + 1], time[HUMAN_SIZE], pid[16] = "";

	escape_terminal(name, sizeof(name), comm[0] ? comm : "[unknown]");
	if (process_has_pid(process))
		snprintf(pid, sizeof(pid), " %" PRIu32, process->pid);
	snprintf(label, sizeof(label), " %10s %-8s %s%s: ", human_time(time, row->max),
		 wait_state_name(row->state), name, pid);
	text_leaf_frames(report, functions, row->stack, SIZE_MAX, label);
}

static int write_longest(const struct text_report *report)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions = NULL;
	_cleanup_free_ const struct profile_row **sorted = NULL;
	size_t row_count, count = 0;
	const struct profile_row *rows = profile_rows(report->profile, &row_count);

	sorted = calloc(row_count + 1, sizeof(*sorted));
	functions = function_table_new(report->profile, &options);
	if (!sorted || !functions)
		return -ENOMEM;
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].kind == PKBPF_PROFILE_OFFCPU && rows[i].max)
			sorted[count++] = &rows[i];
	}
	if (!count)
		return 0;
	qsort(sorted, count, sizeof(*sorted), compare_max);
	text_heading(report, "Off-CPU: longest waits (leaf <- caller)");
	for (size_t i = 0; i < count && i < report->options->top; i++)
		write_long_wait(report, sorted[i], functions);
	return 0;
}

/* Where the kernel's account is known, its times and switches have been shown already; these here
 * are measured at context switches, and check it. */
static bool is_worth_showing(const struct text_report *report, const struct waits *waits)
{
	return report->options->details || !adds_up(waits) ||
	       !resource_usage_known(profile_resources(report->profile));
}

/* Out of memory: no. */
static bool has_gpu_waits(const struct profile *profile)
{
	const struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(profile, &options);

	for (size_t i = 0; functions && i < function_table_count(functions); i++)
		if (gpu_call_waits(function_table_get(functions, (uint32_t)i)))
			return true;
	return false;
}

static int write_states(const struct text_report *report, const struct waits *waits, size_t shown)
{
	int err;

	text_heading(report, "Thread states by process, by context switches (sum of all threads)");
	err = write_times(report, waits, shown);
	text_more(report, waits->count - shown, "processes");
	if (has_gpu_waits(report->profile))
		text_wrap(report->out, report->width, " ", 1,
			  "On-CPU and sleep include GPU waits here.");
	if (report->options->details || !adds_up(waits))
		write_check(report, waits);
	return err;
}

int text_waits(const struct text_report *report)
{
	struct waits waits;
	size_t shown;
	int err = waits_init(&waits, report->profile);

	if (err)
		return err;
	shown = waits.count < report->options->top ? waits.count : report->options->top;
	if (shown) {
		if (is_worth_showing(report, &waits))
			err = write_states(report, &waits, shown);
		if (waits.estimated)
			text_wrap(report->out, report->width, " ", 1,
				  "Times by stack are estimates: stacks of some waits were skipped "
				  "to stay within --max-overhead. Times by process cover all "
				  "waits.");
		err = err ? err : write_lengths(report, &waits, shown);
		err = err ? err : write_longest(report);
	}
	waits_done(&waits);
	return err;
}
