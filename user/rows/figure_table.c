// SPDX-License-Identifier: BSD-2-Clause
/* The figures there are: a row each. */
#include "rows/figure_table.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

static bool lost_total(const struct resource_rows *rows, double *ret_value)
{
	struct profile_account account = profile_account(rows->profile);

	*ret_value = (double)account.lost + (double)account.lost_other;
	return true;
}

static bool lost_samples(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)profile_account(rows->profile).lost;
	return true;
}

static bool lost_share(const struct resource_rows *rows, double *ret_value)
{
	struct profile_account account = profile_account(rows->profile);

	if (!account.expected)
		return false;
	*ret_value = 100 * (double)account.lost / (double)account.expected;
	return true;
}

static bool machine_busy(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = rows->busy_percent;
	return rows->busy_percent >= 0;
}

static bool machine_memory(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)rows->machine.memory_available_bytes;
	return rows->machine.known;
}

static bool cost_share(const struct resource_rows *rows, double *ret_value)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	if (!rows->interval_ns)
		return false;
	*ret_value = 100 * ((double)profile_own_cpu_since_start(info) + (double)info->bpf_cpu_ns) /
		     (double)rows->interval_ns;
	return true;
}

static bool run_rows(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)rows->count;
	return true;
}

#define ROW(group_, name_, unit_, field, needs_, summary_)                                         \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_ROW,    \
		.offset = offsetof(struct resource_row, field), .needs = needs_,                   \
		.summary = summary_                                                                \
	}
#define RUN(group_, name_, unit_, function, summary_)                                              \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_RUN,    \
		.of_run = function, .summary = summary_                                            \
	}
#define LENGTH(group_, name_, field, part, needs_, summary_)                                       \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_NS, .scope = FIGURE_OF_ROW,         \
		.offset = offsetof(struct resource_row, field.part),                               \
		.max_offset = offsetof(struct resource_row, field.max_ns), .needs = needs_,        \
		.summary = summary_                                                                \
	}
#define LENGTHS(group_, prefix, field, needs_, what)                                               \
	LENGTH(group_, prefix "p50", field, p50_ns, needs_, "half of " what " were shorter"),      \
		LENGTH(group_, prefix "p95", field, p95_ns, needs_,                                \
		       "95 % of " what " were shorter"),                                           \
		LENGTH(group_, prefix "p99", field, p99_ns, needs_,                                \
		       "99 % of " what " were shorter"),                                           \
		LENGTH(group_, prefix "max", field, max_ns, needs_, "the longest of " what)

static const struct figure figures[] = {
	ROW("cpu", "total", NS, cpu_ns, 0, "time on CPUs"),
	ROW("cpu", "user", NS, user_ns, ROW_HAS_USAGE, "part of it in the program"),
	ROW("cpu", "system", NS, system_ns, ROW_HAS_USAGE, "part of it in the kernel"),
	ROW("cpu", "share", PERCENT, cpu_share, ROW_HAS_INTERVAL, "of one CPU"),
	ROW("cpu", "samples", COUNT, samples, ROW_HAS_SAMPLES, "CPU samples"),
	ROW("cpu", "voluntary", COUNT, voluntary, ROW_HAS_USAGE,
	    "context switches in order to wait"),
	ROW("cpu", "involuntary", COUNT, involuntary, ROW_HAS_USAGE,
	    "context switches by preemption"),

	ROW("waiting", "runqueue", NS, runqueue_ns, 0, "able to run, waiting for a CPU"),
	ROW("offcpu", "total", NS, offcpu_ns, ROW_HAS_WAITS, "not on a CPU, all threads together"),
	ROW("offcpu", "oncpu", NS, on_cpu_ns, ROW_HAS_WAITS, "on a CPU, by the same clock"),
	ROW("offcpu", "wall", NS, wall_ns, ROW_HAS_WAITS, "both: the time of all threads"),
	ROW("offcpu", "sleep", NS, sleep_ns, ROW_HAS_WAITS, "interruptible waits"),
	ROW("offcpu", "disk", NS, disk_ns, ROW_HAS_WAITS, "waits for I/O"),
	ROW("offcpu", "disk_share", PERCENT, disk_share, ROW_HAS_WAITS,
	    "waits for I/O in the time of all threads"),
	ROW("offcpu", "uninterruptible", NS, uninterruptible_ns, ROW_HAS_WAITS,
	    "other uninterruptible waits"),
	ROW("offcpu", "stopped", NS, stopped_ns, ROW_HAS_WAITS,
	    "stopped by a signal or a debugger"),
	ROW("offcpu", "waits", COUNT, waits, ROW_HAS_WAIT_LENGTHS,
	    "number of waits, each with its end on the run queue; estimated where a part of them "
	    "gets stacks"),
	LENGTHS("offcpu", "", wait, ROW_HAS_WAIT_LENGTHS,
		"the parts of all waits (before and after the wake-up, each by itself)"),
	LENGTHS("offcpu", "runqueue_", runqueue, ROW_HAS_WAIT_LENGTHS,
		"waits for a CPU (preempted, or after a wake-up)"),
	LENGTHS("offcpu", "disk_", disk, ROW_HAS_WAIT_LENGTHS, "waits for I/O (up to the wake-up)"),

	ROW("blockio", "requests", COUNT, requests, ROW_HAS_BLOCKIO, "block requests of any kind"),
	ROW("blockio", "reads", COUNT, reads, ROW_HAS_BLOCKIO, "block requests that read"),
	ROW("blockio", "writes", COUNT, writes, ROW_HAS_BLOCKIO, "block requests that write"),
	ROW("blockio", "read", BYTES, read_bytes, ROW_HAS_BLOCKIO, "read from devices"),
	ROW("blockio", "written", BYTES, written_bytes, ROW_HAS_BLOCKIO, "written to devices"),
	ROW("blockio", "total", NS, device_ns, ROW_HAS_BLOCKIO,
	    "time of requests with their device, added up"),
	LENGTHS("blockio", "", device, ROW_HAS_BLOCKIO, "requests, with the device"),
	LENGTHS("blockio", "queue_", queue, ROW_HAS_BLOCKIO, "requests, in the queue"),

	ROW("memory", "minor_faults", COUNT, minor_faults, ROW_HAS_USAGE,
	    "page faults without I/O"),
	ROW("memory", "major_faults", COUNT, major_faults, ROW_HAS_USAGE,
	    "page faults that had to read"),
	ROW("memory", "rss", BYTES, rss_bytes, ROW_HAS_RSS,
	    "resident at the end; what several processes share counts for each"),
	ROW("memory", "rss_growth", SIGNED_BYTES, rss_growth_bytes, ROW_HAS_RSS,
	    "more resident than at the start"),
	ROW("memory", "rss_peak", BYTES, peak_rss_bytes, ROW_HAS_PEAK,
	    "most ever resident; of several processes of the largest, or all of them at the end, "
	    "whichever is more"),
	ROW("memory", "oom_killed", COUNT, oom_killed, ROW_HAS_PEAK,
	    "processes killed for want of memory"),
	ROW("memory", "sampled_faults", COUNT, fault_weight, ROW_HAS_FAULTS,
	    "page faults behind the recorded stacks"),

	ROW("storage", "read", BYTES, storage_read_bytes, ROW_HAS_USAGE,
	    "caused to be read from storage"),
	ROW("storage", "written", BYTES, storage_written_bytes, ROW_HAS_USAGE,
	    "caused to be written to storage, sooner or later"),

	ROW("threads", "alive", COUNT, threads, 0, "at the end"),
	ROW("threads", "seen", COUNT, threads_seen, ROW_HAS_USAGE, "at any time"),

	RUN("lost", "total", COUNT, lost_total,
	    "anything lost: samples, records, requests, threads"),
	RUN("lost", "samples", COUNT, lost_samples, "samples lost"),
	RUN("lost", "share", PERCENT, lost_share, "of the samples expected"),
	RUN("machine", "busy", PERCENT, machine_busy, "of all CPUs"),
	RUN("machine", "memory_available", BYTES, machine_memory, "at the end"),
	RUN("cost", "share", PERCENT, cost_share,
	    "of one CPU since the start, by the program and its BPF programs"),
	RUN("rows", "total", COUNT, run_rows, "rows with anything to tell"),
};

const struct figure *figure_at(size_t index)
{
	return index < ARRAY_SIZE(figures) ? &figures[index] : NULL;
}

const struct figure *figure_find(const char *name)
{
	const char *dot = strchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (strlen(figures[i].group) == length &&
		    strncmp(figures[i].group, name, length) == 0 &&
		    strcmp(figures[i].name, dot ? dot + 1 : "total") == 0)
			return &figures[i];
	return NULL;
}

const char *figure_unit_suffix(enum figure_unit unit)
{
	switch (unit) {
	case FIGURE_NS:
		return "_ns";
	case FIGURE_BYTES:
	case FIGURE_SIGNED_BYTES:
		return "_bytes";
	case FIGURE_PERCENT:
		return "_percent";
	case FIGURE_COUNT:
		break;
	}
	return "";
}

bool figure_known(const struct figure *figure, const struct resource_row *row)
{
	uint64_t max = 1;

	if (figure->max_offset)
		memcpy(&max, (const char *)row + figure->max_offset, sizeof(max));
	return figure->scope == FIGURE_OF_ROW && (row->known & figure->needs) == figure->needs &&
	       max;
}

uint64_t figure_u64(const struct figure *figure, const struct resource_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)row + figure->offset, sizeof(value));
	return value;
}

bool figure_value(const struct figure *figure, const struct resource_rows *rows,
		  const struct resource_row *row, double *ret_value)
{
	uint64_t value;

	if (figure->scope == FIGURE_OF_RUN)
		return figure->of_run(rows, ret_value);
	if (!row || !figure_known(figure, row))
		return false;
	value = figure_u64(figure, row);
	if (figure->unit == FIGURE_PERCENT)
		memcpy(ret_value, &value, sizeof(*ret_value));
	else if (figure->unit == FIGURE_SIGNED_BYTES)
		*ret_value = (double)(int64_t)value;
	else
		*ret_value = (double)value;
	return true;
}
