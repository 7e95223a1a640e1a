// SPDX-License-Identifier: BSD-2-Clause
/* The rules about memory: growth, OOM kills, too little of it. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "rows/cgroup_label.h"
#include "rows/human.h"
#include "rows/memory_trend.h"
#include "finding/finding_rules.h"

/* Growth in all, per second, and in what is resident at the end. */
#define GROWTH_BYTES		(10 << 20)
#define GROWTH_BYTES_PER_SECOND (1 << 20)
#define GROWTH_PERCENT		10
/* Of the peak, resident at the end: less has been given back since. */
#define PEAK_PERCENT	    97
#define MEMORY_LEFT_PERCENT 5

/* Pages of files and of memory shared with others are no growth of a program's own. */
static int64_t own_growth(const struct resource_row *row)
{
	return row->memory.own_growth_bytes < row->memory.rss_growth_bytes
		       ? row->memory.own_growth_bytes
		       : row->memory.rss_growth_bytes;
}

/* Is this as much as it has had, but for little? Unknown peaks prove nothing. */
static bool is_at_peak(const struct resource_row *row)
{
	return finding_percent((double)row->memory.rss_bytes, (double)row->memory.peak_rss_bytes) >=
	       PEAK_PERCENT;
}

/* Who began inside has grown by all it has, and who had more before fills up again what it gave
 * back: no leak. */
static bool grows(const struct resource_row *row)
{
	return row->known & ROW_HAS_RSS && !row->started_inside && own_growth(row) > 0 &&
	       (!row->memory.peak_rss_bytes || is_at_peak(row));
}

/* Growth of fluctuating memory, for processes with a memory series. */
static double swinging_growth(const struct memory_rows *series, const struct resource_row *row)
{
	for (size_t i = 0; i < series->count; i++)
		if (memory_row_last(&series->items[i])->pid == row->pid)
			return (double)memory_trend_growth(&series->items[i]);
	return 0;
}

static void find_growth(const struct analysis *analysis, const struct activity *activity,
			const struct memory_rows *series, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_memory_grows);
	struct finding_stacks pages = {.kind = PKBPF_PROFILE_MEMORY};
	struct finding_stacks faults = {.kind = PKBPF_PROFILE_FAULTS};
	double growth = 0, swinging = 0, rss = 0, rate;
	bool all_at_peak = true, is_swinging;
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < activity->group->count; i++) {
		const struct resource_row *row = activity->group->members[i];

		if (grows(row))
			growth += (double)own_growth(row);
		else
			swinging += swinging_growth(series, row);
		rss += (double)row->memory.rss_bytes;
		all_at_peak = all_at_peak && is_at_peak(row);
	}
	if (finding_seconds(analysis->rows) <= 0)
		return;
	is_swinging = swinging > growth;
	growth += swinging;
	rate = growth / finding_seconds(analysis->rows);
	finding.severity = finding_percent(growth, rss);
	if (growth < GROWTH_BYTES || rate < GROWTH_BYTES_PER_SECOND ||
	    finding.severity < GROWTH_PERCENT)
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "memory grows by %s/s", human_bytes(buffer, human_whole(rate)));
	/* Pages that are still there say more than all that came. */
	if (!finding_set_place(&finding, "of its resident pages", analysis, activity, &pages))
		finding_set_place(&finding, "of its page faults", analysis, activity, &faults);
	finding_say(finding.evidence,
		    is_swinging	  ? "RSS %s at the end; it fluctuates, but its minima rise"
		    : all_at_peak ? "RSS %s, its peak"
				  : "RSS %s at the end",
		    human_bytes(buffer, (uint64_t)rss));
	finding_say(finding.next,
		    "record for longer: a leak grows on, a cache or the loading of data "
		    "ends");
	findings_offer(findings, &finding);
}

static const struct relation *kill_of(const struct analysis *analysis,
				      const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_OOM &&
		    activity_has_pid(activity, relation->pid))
			return relation;
	}
	return NULL;
}

static void find_kills(const struct analysis *analysis, const struct activity *activity,
		       struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	const struct relation *kill = kill_of(analysis, activity);
	struct finding finding = finding_new(FINDING_RULE_out_of_memory);
	char buffer[HUMAN_SIZE], killer[ROW_CONTAINER_SIZE];

	if (!sum->memory.oom_killed)
		return;
	finding.severity = 100;
	finding.cost = FINDING_COST_OF_ALL;
	finding_say_who(&finding, analysis, activity);
	/* The kernel marks all that share the memory it takes, whether it kills them or not. */
	finding_say(finding.cause, kill ? "was killed by the OOM killer"
					: "ended when the OOM killer took its memory");
	if (sum->memory.oom_killed > 1)
		finding_say(finding.cause, " (%s processes)",
			    human_count(buffer, sum->memory.oom_killed));
	if (kill && kill->text[0])
		cgroup_label(profile_resources(analysis->rows->profile), 0, kill->text, killer,
			     sizeof(killer));
	if (kill && kill->text[0] && kill->value)
		finding_say(finding.by, "by the memory limit of %s (%s)", killer,
			    human_bytes(buffer, kill->value));
	else if (kill && kill->text[0])
		finding_say(finding.by, "by the memory limit of %s", killer);
	else if (kill)
		finding_say(finding.by, "the memory of the machine was exhausted");
	else
		finding_say(finding.by, "the memory limit of a cgroup, or the memory of the "
					"machine, is exhausted");
	if (sum->memory.peak_rss_bytes)
		finding_say(finding.evidence, "peak RSS %s",
			    human_bytes(buffer, sum->memory.peak_rss_bytes));
	if (kill && kill->text[0])
		finding_say(finding.next, "raise memory.max of %s, or use less memory", killer);
	else
		finding_say(finding.next,
			    kill ? "use less memory, or add some"
				 : "raise the limit (memory.max), or use less memory");
	findings_offer(findings, &finding);
}

static void find_low(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	double left = finding_percent((double)rows->machine.memory_available_bytes,
				      (double)rows->machine.memory_bytes);
	struct finding finding = finding_new(FINDING_RULE_memory_low);
	const struct activity *most = NULL;
	char buffer[HUMAN_SIZE];

	if (!rows->machine.known || !rows->machine.memory_bytes || left >= MEMORY_LEFT_PERCENT)
		return;
	finding_say(finding.cause, "only %s of memory available by the kernel's estimate (%.1f %%)",
		    human_bytes(buffer, rows->machine.memory_available_bytes), left);
	/* Who holds it can be told when all were looked at. */
	for (size_t i = 0; i < analysis->count && !analysis->has_targets; i++)
		if (!most || analysis->activities[i].group->sum.memory.rss_bytes >
				     most->group->sum.memory.rss_bytes)
			most = &analysis->activities[i];
	if (most && most->group->sum.memory.rss_bytes) {
		finding_say(finding.evidence, "largest RSS: ");
		finding_say_group(finding.evidence, most->group);
		finding_say(finding.evidence, " with %s",
			    human_bytes(buffer, most->group->sum.memory.rss_bytes));
	}
	finding.severity = 100 - left;
	finding.tier = analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
	findings_offer(findings, &finding);
}

void find_memory(const struct analysis *analysis, struct findings *findings)
{
	_cleanup_(memory_rows_done) struct memory_rows series = {0};

	find_low(analysis, findings);
	/* Without memory, what swings is not known. */
	if (memory_rows_make(analysis->rows->profile, &series))
		series.count = 0;
	for (size_t i = 0; i < analysis->count; i++) {
		find_kills(analysis, &analysis->activities[i], findings);
		find_growth(analysis, &analysis->activities[i], &series, findings);
		find_heap(analysis, &analysis->activities[i], findings);
	}
}
