// SPDX-License-Identifier: BSD-2-Clause
/* Adds up resident memory and page faults by the kernel's account. */
#include "rows/part/row_memory.h"

#include "base/array.h"
#include "base/unused.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("memory", "minor_faults", COUNT, memory.minor_faults, ROW_HAS_USAGE,
		   "minor page faults", .is_activity = true),
	FIGURE_ROW("memory", "major_faults", COUNT, memory.major_faults, ROW_HAS_USAGE,
		   "major page faults", .is_activity = true),
	FIGURE_ROW("memory", "rss", BYTES, memory.rss_bytes, ROW_HAS_RSS,
		   "RSS at the end; shared memory counts in each process", .is_level = true),
	FIGURE_ROW("memory", "private", BYTES, memory.private_bytes, ROW_HAS_RSS,
		   "resident memory at the end, neither of files nor shared", .is_level = true),
	FIGURE_ROW("memory", "rss_growth", SIGNED_BYTES, memory.rss_growth_bytes, ROW_HAS_RSS,
		   "growth of RSS in the interval"),
	FIGURE_ROW("memory", "rss_peak", BYTES, memory.peak_rss_bytes, ROW_HAS_PEAK,
		   "peak RSS since the process started; of several processes the largest, or the "
		   "sum of their RSS at the end if that is more",
		   .is_largest = true, .is_level = true),
	FIGURE_ROW("memory", "rss_mean", BYTES, memory.mean_rss_bytes, ROW_HAS_MEAN_RSS,
		   "mean RSS while memory events are recorded; of several processes that of all "
		   "together",
		   .is_level = true),
	FIGURE_ROW("memory", "oom_killed", COUNT, memory.oom_killed, ROW_HAS_PEAK,
		   "processes killed by the OOM killer"),
};

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	row->memory.minor_faults += used->minor_faults;
	row->memory.major_faults += used->major_faults;
}

static void add_process(struct resource_row *row, const struct resource_process *process)
{
	row->memory.oom_killed += process->oom_killed;
	if (process->threads_counted)
		row->known |= ROW_HAS_PEAK;
	if (process->peak_rss_bytes > row->memory.peak_rss_bytes)
		row->memory.peak_rss_bytes = process->peak_rss_bytes;
	if (!process->rss_known)
		return;
	row->known |= ROW_HAS_RSS;
	row->memory.rss_bytes += process->rss_bytes;
	row->memory.private_bytes += process->anonymous_rss_bytes;
	row->memory.rss_growth_bytes += (int64_t)(process->rss_bytes - process->start_rss_bytes);
	row->memory.own_growth_bytes +=
		(int64_t)(process->anonymous_rss_bytes - process->start_anonymous_rss_bytes);
}

static void finish(_unused_ const struct resource_rows *rows, struct resource_row *row)
{
	if (row->memory.peak_rss_bytes < row->memory.rss_bytes)
		row->memory.peak_rss_bytes = row->memory.rss_bytes;
}

const struct row_part row_memory_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_used = add_used,
	.add_process = add_process,
	.finish = finish,
};
