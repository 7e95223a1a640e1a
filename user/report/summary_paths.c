// SPDX-License-Identifier: BSD-2-Clause
/* Writes where CPU time and waiting went. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_append.h"
#include "base/unused.h"
#include "profile/kind_table.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/human.h"

#define HEADING_SIZE 256
/* A wait of nearly the whole interval, in percent: its thread did nothing. */
#define WHOLE_PERCENT 95

static void label_share(char *text, size_t size, const struct path_weight *weight, uint64_t whole)
{
	char share[HUMAN_SIZE];

	snprintf(text, size, " %6s  ", human_share(share, weight->weight, whole));
}

static const struct summary_stacks on_cpu_stacks = {.kind = PKBPF_PROFILE_CPU,
						    .label = label_share};

/* ", user 1.2 s, sys 300 ms" */
static void add_time(char *text, size_t size, const char *name, uint64_t time_ns)
{
	char time[HUMAN_SIZE];

	if (time_ns)
		text_append(text, size, ", %s %s", name, human_time(time, time_ns));
}

int summary_on_cpu(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree tree = {0};
	const struct resource_row *total = &summary->rows->total;
	char text[HEADING_SIZE] = "", a[HUMAN_SIZE];
	int err = summary_join_stacks(summary, &on_cpu_stacks, &tree);

	if (err || !tree.sum.weight)
		return err;
	text_append(text, sizeof(text), "On-CPU: %s", human_time(a, total->cpu.total_ns));
	if (total->known & ROW_HAS_INTERVAL)
		text_append(text, sizeof(text), " (%.1f%% of one CPU)", total->cpu.share);
	add_time(text, sizeof(text), "user", total->cpu.user_ns);
	add_time(text, sizeof(text), "sys", total->cpu.system_ns);
	add_time(text, sizeof(text), "spinning for a GPU", total->gpu.spin_ns);
	text_heading(&summary->report, "%s; %s", text, human_counted(a, tree.sum.count, "samples"));
	summary_write_stacks(summary, &on_cpu_stacks, &tree, NULL, lines - 1);
	return 0;
}

/* ---- waiting ---- */

/* Did the thread do nothing else? The time on the run queue belongs to nobody's place. */
static bool is_whole(const struct summary *summary, const struct profile_row *row)
{
	double least = (double)summary->rows->interval_ns * WHOLE_PERCENT / 100;

	return row->state == PKBPF_WAIT_SLEEP && row->count && least > 0 &&
	       (double)row->weight >= least * (double)row->count;
}

bool summary_is_wait(const struct summary *summary, const struct profile_row *row)
{
	return row->state != PKBPF_WAIT_RUNQUEUE &&
	       (!summary->is_host || row->state != PKBPF_WAIT_SLEEP) && !is_whole(summary, row);
}

static bool is_idle(const struct summary *summary, const struct profile_row *row)
{
	return !summary->is_host && is_whole(summary, row);
}

static void label_wait(char *text, size_t size, const struct path_weight *weight,
		       _unused_ uint64_t whole)
{
	char time[HUMAN_SIZE], max[HUMAN_SIZE] = "-", count[HUMAN_SIZE];

	if (weight->max)
		human_time(max, weight->max);
	snprintf(text, size, " %9s %8s %7s  ", human_time(time, weight->weight),
		 human_count(count, weight->count), max);
}

static const struct summary_stacks wait_stacks = {
	.kind = PKBPF_PROFILE_OFFCPU, .is_chosen = summary_is_wait, .label = label_wait};
static const struct summary_stacks idle_stacks = {
	.kind = PKBPF_PROFILE_OFFCPU, .is_chosen = is_idle, .label = label_wait};

/* Times that are next to nothing beside the sum are left out, as is what does not fit. */
static void add_part(const struct summary *summary, char *text, const char *name, uint64_t time_ns)
{
	char part[HEADING_SIZE], time[HUMAN_SIZE];

	if (time_ns == 0 || time_ns < summary->rows->total.waits.offcpu_ns / 1000)
		return;
	snprintf(part, sizeof(part), ", %s %s", name, human_time(time, time_ns));
	if (strlen(text) + strlen(part) <= summary->report.width)
		text_append(text, HEADING_SIZE, "%s", part);
}

static void write_wait_heading(const struct summary *summary)
{
	const struct resource_row *total = &summary->rows->total;
	const struct row_waits *waits = &total->waits;
	char text[HEADING_SIZE] = "Off-CPU", a[HUMAN_SIZE];

	if (total->known & ROW_HAS_WAITS)
		text_append(text, sizeof(text), ": %s", human_time(a, waits->offcpu_ns));
	if (total->threads_seen)
		text_append(text, sizeof(text), " of %s",
			    human_counted(a, total->threads_seen, "threads"));
	add_part(summary, text, "run queue", waits->runqueue_ns);
	add_part(summary, text, "disk wait", waits->disk_ns);
	add_part(summary, text, "D state", waits->uninterruptible_ns);
	add_part(summary, text, "stopped", waits->stopped_ns);
	add_part(summary, text, "GPU wait", total->gpu.wait_ns);
	add_part(summary, text, "sleep", waits->sleep_ns);
	text_heading(&summary->report, "%s", text);
}

/* Threads that slept all the time, behind those that did something in between. */
static void write_idle(const struct summary *summary, struct path_tree *tree, size_t lines)
{
	char title[HEADING_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE];

	if (!tree->sum.weight)
		return;
	snprintf(title, sizeof(title),
		 " %9s  %s slept for the whole interval:", human_time(a, tree->sum.weight),
		 human_counted(b, tree->sum.count, "threads"));
	if (!summary_write_stacks(summary, &idle_stacks, tree, title, lines) && lines)
		fprintf(summary->report.out, "%.*s\n", (int)strlen(title) - 1, title);
}

int summary_off_cpu(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree tree = {0}, idle = {0};
	int err = summary_join_stacks(summary, &wait_stacks, &tree);
	size_t left = lines - 1, for_idle;
	char title[HEADING_SIZE];

	err = err ? err : summary_join_stacks(summary, &idle_stacks, &idle);
	if (err || (!tree.sum.weight && !idle.sum.weight))
		return err;
	write_wait_heading(summary);
	for_idle = !idle.sum.weight ? 0 : left > 8 ? 3 : 1;
	snprintf(title, sizeof(title), " %9s %8s %7s  %s", "time", "waits", "max",
		 "where (caller > callee)");
	if (tree.sum.weight)
		left -= summary_write_stacks(summary, &wait_stacks, &tree, title, left - for_idle);
	write_idle(summary, &idle, left);
	return 0;
}

/* ---- page faults ---- */

static const struct summary_stacks fault_stacks = {.kind = PKBPF_PROFILE_FAULTS,
						   .label = label_share};

/* Fewer faults a second cost nobody anything. */
#define FAULTS_PER_SECOND 1000

static bool has_many_faults(const struct summary *summary, const struct path_tree *tree)
{
	return (double)tree->sum.weight * 1e9 >=
	       (double)summary->rows->interval_ns * FAULTS_PER_SECOND;
}

static void write_memory(const struct summary *summary)
{
	const struct resource_row *total = &summary->rows->total;
	int64_t growth = total->memory.rss_growth_bytes;
	char text[HEADING_SIZE] = "Memory:", a[HUMAN_SIZE];
	const char *separator = " ";

	if (total->known & ROW_HAS_RSS) {
		/* Pages that processes share count in each. */
		text_append(text, sizeof(text), "%s RSS %s",
			    summary->rows->all_count > 1 ? " sum of" : "",
			    human_bytes(a, total->memory.rss_bytes));
		if (growth)
			text_append(text, sizeof(text), " (%c%s in the interval)",
				    growth < 0 ? '-' : '+',
				    human_bytes(a, (uint64_t)(growth < 0 ? -growth : growth)));
		separator = ", ";
	}
	text_append(text, sizeof(text), "%s%s", separator,
		    human_counted(a, total->memory.minor_faults, "minor faults"));
	text_append(text, sizeof(text), ", %s",
		    human_counted(a, total->memory.major_faults, "major faults"));
	text_heading(&summary->report, "%s", text);
}

int summary_memory(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree tree = {0};
	int err;

	if (!(summary->rows->total.known & ROW_HAS_USAGE))
		return 0;
	err = summary_join_stacks(summary, &fault_stacks, &tree);
	if (err)
		return err;
	write_memory(summary);
	if (lines > 1)
		lines -= text_memory_limits(&summary->report, 1);
	if (has_many_faults(summary, &tree) && lines > 1)
		summary_write_stacks(summary, &fault_stacks, &tree, NULL, lines - 1);
	return 0;
}
