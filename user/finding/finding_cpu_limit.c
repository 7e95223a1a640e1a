// SPDX-License-Identifier: BSD-2-Clause
/* The rule about limits of CPU time. */
#include "rows/cgroup_label.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of the periods in which a cgroup had something to run. */
#define LIMIT_PERIODS_PERCENT 5
/* Of the interval throttled: from then on, waits for CPUs say nothing of the machine. */
#define LIMITED_PERCENT 25

/* Of the interval, what went by in periods in which it was throttled. */
static double limit_severity(const struct resource_rows *rows,
			     const struct resource_cgroup_limit *limit)
{
	if (finding_percent((double)limit->throttled_periods, (double)limit->periods) <
	    LIMIT_PERIODS_PERCENT)
		return 0;
	return finding_severity(rows, limit->throttled_periods * limit->period_ns);
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

		*ret_count += severity >= LEAST_SEVERITY;
		if (severity <= worst)
			continue;
		worst = severity;
		*ret_worst = limit;
	}
	return worst;
}

bool finding_targets_are_limited(const struct resource_rows *rows)
{
	struct resource_cgroup_limit worst;
	size_t count;

	return profile_info_read(rows->profile)->has_targets &&
	       worst_limit(rows, &worst, &count) >= LIMITED_PERCENT;
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
	finding_say(finding.next, "raise cpu.max (--cpus), or use less CPU time");
	findings_offer(findings, &finding);
}

/* A profile of a paused container shows next to nothing: this is why. */
void find_frozen(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_usage *usage = profile_resources(analysis->rows->profile);
	struct finding finding = finding_new(FINDING_RULE_frozen);
	struct resource_cgroup_limit limit;
	size_t count = 0;

	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		char name[ROW_CONTAINER_SIZE];

		if (!resource_usage_cgroup_limit(usage, i, &limit) || !limit.frozen || count++)
			continue;
		cgroup_label(usage, limit.cgroup_id, limit.path, name, sizeof(name));
		finding_say(finding.who, "%s", name);
	}
	if (!count)
		return;
	/* On a host somebody may have paused it on purpose, and knows. */
	finding.is_alarm = analysis->has_targets;
	finding.tier = analysis->has_targets ? FINDING_OF_TARGET : FINDING_OF_RUN;
	finding.severity = analysis->has_targets ? 100 : LEAST_SEVERITY;
	finding_say(finding.cause, "is frozen (paused)");
	finding_say(finding.evidence, "its threads did nothing at the end of the interval");
	if (count > 1)
		finding_say(finding.evidence, ", nor did those of %zu other cgroup%s", count - 1,
			    count > 2 ? "s" : "");
	finding_say(finding.next, "resume it (docker unpause; cgroup.freeze, freezer.state)");
	findings_offer(findings, &finding);
}
