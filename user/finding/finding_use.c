// SPDX-License-Identifier: BSD-2-Clause
/* The rules about who uses much: CPUs, memory, pages. */
#include <pkbpf/faults.h>

#include "base/unused.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Growth in all, per second, and in what is resident at the end. */
#define GROWTH_BYTES		(10 << 20)
#define GROWTH_BYTES_PER_SECOND (1 << 20)
#define GROWTH_PERCENT		10
#define MAJOR_FAULTS_PER_SECOND 20

static double judge_cpu(const struct resource_rows *rows, const struct resource_row *row)
{
	if (!(row->known & ROW_HAS_INTERVAL) || row->cpu.share < CPU_ROW_PERCENT)
		return -1;
	/* Against the machine: one of many CPUs is no bottleneck of the host, but all of a
	 * program's only thread. */
	return row->threads_seen > 1 ? finding_percent((double)row->cpu.total_ns,
						       (double)rows->total.cpu.total_ns)
				     : finding_severity(rows, row->cpu.total_ns);
}

static void tell_cpu(const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding)
{
	char buffer[HUMAN_SIZE];

	finding_say_who(finding, group);
	if (group->count > 1)
		finding_say(finding, ": %.1f CPUs", group->sum.cpu.share / 100);
	else
		finding_say(finding, ": %.0f %% of one CPU", group->sum.cpu.share);
	finding_say(finding, " (%s)", human_time(buffer, group->sum.cpu.total_ns));
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_CPU, .what = "it"});
}

const struct finding_rule finding_rule_cpu_bound = {
	.name = "cpu_bound",
	.summary = "a process uses half of a CPU or more",
	.judge = judge_cpu,
	.tell = tell_cpu,
};

/* Pages of files and of memory shared with others are no growth of a program's own. */
static double judge_growth(const struct resource_rows *rows, const struct resource_row *row)
{
	int64_t growth = row->memory.own_growth_bytes < row->memory.rss_growth_bytes
				 ? row->memory.own_growth_bytes
				 : row->memory.rss_growth_bytes;
	double rate = finding_seconds(rows) ? (double)growth / finding_seconds(rows) : 0;
	double share = finding_percent((double)growth, (double)row->memory.rss_bytes);

	/* Who began inside has grown by all it has: no leak. */
	if (!(row->known & ROW_HAS_RSS) || row->started_inside || growth < GROWTH_BYTES ||
	    rate < GROWTH_BYTES_PER_SECOND || share < GROWTH_PERCENT)
		return -1;
	return share > 100 ? 100 : share;
}

static void tell_growth(const struct resource_rows *rows, const struct row_group *group,
			struct finding *finding)
{
	double rate = (double)group->sum.memory.rss_growth_bytes / finding_seconds(rows);
	char buffer[HUMAN_SIZE];

	finding_say(finding, "RSS of ");
	finding_say_who(finding, group);
	finding_say(finding, " grew %s/s", human_bytes(buffer, human_whole(rate)));
	finding_say(finding, " to %s", human_bytes(buffer, group->sum.memory.rss_bytes));
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_FAULTS,
							 .what = "its page faults"});
}

const struct finding_rule finding_rule_memory_grows = {
	.name = "memory_grows",
	.summary = "RSS of a process grew by a tenth of it or more, at 1 MiB/s or more",
	.judge = judge_growth,
	.tell = tell_growth,
};

static double judge_oom(_unused_ const struct resource_rows *rows, const struct resource_row *row)
{
	return row->memory.oom_killed ? 100 : -1;
}

static void tell_oom(_unused_ const struct resource_rows *rows, const struct row_group *group,
		     struct finding *finding)
{
	const struct resource_row *sum = &group->sum;
	char buffer[HUMAN_SIZE];

	finding_say_who(finding, group);
	if (sum->memory.oom_killed > 1 || sum->processes > 1)
		finding_say(finding, ": %s of them", human_count(buffer, sum->memory.oom_killed));
	finding_say(finding,
		    "%s killed by the OOM killer: the memory limit of a cgroup, or the memory of "
		    "the machine, is exhausted",
		    sum->memory.oom_killed > 1 ? " were" : " was");
	if (sum->memory.peak_rss_bytes)
		finding_say(finding, "; peak RSS %s",
			    human_bytes(buffer, sum->memory.peak_rss_bytes));
}

const struct finding_rule finding_rule_out_of_memory = {
	.name = "out_of_memory",
	.summary = "a process was killed by the OOM killer",
	.judge = judge_oom,
	.tell = tell_oom,
};

static double judge_major(const struct resource_rows *rows, const struct resource_row *row)
{
	double rate = finding_seconds(rows)
			      ? (double)row->memory.major_faults / finding_seconds(rows)
			      : 0;

	if (rate < MAJOR_FAULTS_PER_SECOND)
		return -1;
	/* A read takes a millisecond or less of somebody's second. */
	return rate / 10 > 100 ? 100 : rate / 10;
}

static void tell_major(const struct resource_rows *rows, const struct row_group *group,
		       struct finding *finding)
{
	finding_say_who(finding, group);
	finding_say(finding, ": %.0f major faults/s (%s in total)",
		    (double)group->sum.memory.major_faults / finding_seconds(rows),
		    human_count((char[HUMAN_SIZE]){0}, group->sum.memory.major_faults));
	finding_say_functions(finding, rows, group,
			      &(struct finding_evidence){.kind = PKBPF_PROFILE_FAULTS,
							 .states = 1U << PKBPF_FAULT_MAJOR,
							 .what = "them"});
}

const struct finding_rule finding_rule_major_faults = {
	.name = "major_faults",
	.summary = "a process has 20 or more major faults per second",
	.judge = judge_major,
	.tell = tell_major,
};
