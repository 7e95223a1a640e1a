// SPDX-License-Identifier: BSD-2-Clause
/* The rule about limits of CPU time. */
#include <string.h>

#include "rows/cgroup_label.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of the periods in which a cgroup had something to run. */
#define LIMIT_PERIODS_PERCENT 5
/* Of the interval throttled: from then on, waits for CPUs say nothing of the machine. */
#define LIMITED_PERCENT 25

/* Its processes, and those of cgroups in it. */
static bool is_within(const char *path, const char *cgroup)
{
	size_t length = strlen(cgroup);

	return path && length && !strncmp(path, cgroup, length) &&
	       (!path[length] || path[length] == '/');
}

/* Throttled within its periods: a part of each, or all of some. Of several CPUs, the kernel adds
 * the times up. */
static uint64_t throttled_ns(const struct resource_cgroup_limit *limit)
{
	uint64_t periods_ns = limit->throttled_periods * limit->period_ns;

	return limit->throttled_ns && limit->throttled_ns < periods_ns ? limit->throttled_ns
								       : periods_ns;
}

/* Of the interval, what went by throttled. */
static double limit_severity(const struct resource_rows *rows,
			     const struct resource_cgroup_limit *limit)
{
	if (finding_percent((double)limit->throttled_periods, (double)limit->periods) <
	    LIMIT_PERIODS_PERCENT)
		return 0;
	return finding_severity(rows, throttled_ns(limit));
}

/* Severity of the worst, 0: none; *ret_count: of those worth telling. */
static double worst_limit(const struct resource_rows *rows, struct resource_cgroup_limit *ret_worst,
			  size_t *ret_count)
{
	const struct resource_usage *usage = profile_resources(rows->profile);
	struct resource_cgroup_limit limit;
	double worst = 0;

	*ret_count = 0;
	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		double severity = resource_usage_cgroup_limit(usage, i, &limit)
					  ? limit_severity(rows, &limit)
					  : 0;

		if (severity <= worst)
			continue;
		worst = severity;
		*ret_worst = limit;
	}
	/* A limit holds back what is in its cgroup: those above and below are throttled with it. */
	for (size_t i = 0; worst > 0 && i < resource_usage_cgroup_limit_count(usage); i++)
		*ret_count += resource_usage_cgroup_limit(usage, i, &limit) &&
			      limit_severity(rows, &limit) >= LEAST_SEVERITY &&
			      (limit.cgroup_id == ret_worst->cgroup_id ||
			       (!is_within(limit.path, ret_worst->path) &&
				!is_within(ret_worst->path, limit.path)));
	return worst;
}

bool finding_targets_are_limited(const struct resource_rows *rows)
{
	struct resource_cgroup_limit worst;
	size_t count;

	return profile_info_read(rows->profile)->has_targets &&
	       worst_limit(rows, &worst, &count) >= LIMITED_PERCENT;
}

/* Where the path of a process is that of another hierarchy, times tell: what waits for a CPU as
 * long as the cgroup was throttled waited for that. */
static bool holds_back(const struct resource_cgroup_limit *limit, const struct activity *activity)
{
	uint64_t held_ns = limit->throttled_ns;

	for (size_t i = 0; i < activity->group->count; i++)
		if (is_within(activity->group->members[i]->cgroup, limit->path))
			return true;
	return held_ns && activity->runqueue_ns / 2 <= held_ns &&
	       held_ns / 2 <= activity->runqueue_ns;
}

bool finding_is_limited(const struct analysis *analysis, const struct activity *activity)
{
	const struct resource_usage *usage = profile_resources(analysis->rows->profile);
	struct resource_cgroup_limit limit;

	if (analysis->has_targets)
		return finding_targets_are_limited(analysis->rows);
	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++)
		if (resource_usage_cgroup_limit(usage, i, &limit) &&
		    limit_severity(analysis->rows, &limit) >= LIMITED_PERCENT &&
		    holds_back(&limit, activity))
			return true;
	return false;
}

void find_cpu_limit(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	const struct resource_row *total = &rows->total;
	struct finding finding = finding_new(FINDING_RULE_cpu_limit);
	char name[ROW_CONTAINER_SIZE], period[HUMAN_SIZE], time[HUMAN_SIZE];
	struct resource_cgroup_limit limit;
	size_t count;

	finding.severity = worst_limit(rows, &limit, &count);
	if (finding.severity < LEAST_SEVERITY)
		return;
	finding.cost =
		finding_cost(rows, limit.throttled_ns ? limit.throttled_ns : throttled_ns(&limit));
	cgroup_label(profile_resources(rows->profile), limit.cgroup_id, limit.path, name,
		     sizeof(name));
	finding_say(finding.who, "%s", name);
	finding_say(finding.cause,
		    "is limited to %.2f CPUs and was throttled in %.0f %% of its "
		    "active periods of %s",
		    (double)limit.quota_ns / (double)limit.period_ns,
		    finding_percent((double)limit.throttled_periods, (double)limit.periods),
		    human_time(period, limit.period_ns));
	finding_say(finding.evidence,
		    "the CPU limit, not the machine, makes its threads wait for "
		    "a CPU: throttled for %s",
		    human_time(time, limit.throttled_ns));
	if (analysis->has_targets && total->waits.runqueue_ns) {
		double part = finding_percent((double)limit.throttled_ns,
					      (double)total->waits.runqueue_ns);

		finding_say(finding.evidence, ", %.0f %% of the run-queue wait",
			    part > 100 ? 100 : part);
	}
	if (count > 1)
		finding_say(finding.evidence, "; %zu other cgroup%s less often", count - 1,
			    count > 2 ? "s" : "");
	finding_say(finding.next, "raise cpu.max of %s (--cpus), or use less CPU time", name);
	findings_offer(findings, &finding);
}
