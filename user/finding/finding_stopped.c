// SPDX-License-Identifier: BSD-2-Clause
/* The rules about what does nothing since it may not: frozen cgroups, stopped processes. */
#include "rows/cgroup_label.h"
#include "rows/human.h"
#include "finding/finding_rules.h"

/* Of the wall time. */
#define STOPPED_PERCENT 20

/* A profile of a paused container shows next to nothing: this is why. */
void find_frozen(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_usage *usage = profile_resources(analysis->rows->profile);
	struct finding finding = finding_new(FINDING_RULE_frozen);
	uint64_t used_ns = analysis->rows->total.cpu.total_ns;
	struct resource_cgroup_limit limit;
	char used[HUMAN_SIZE];
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
	finding.severity = LEAST_SEVERITY;
	/* The state is that of the end: how long it was so, only the CPU time of targets tells. */
	if (analysis->has_targets) {
		finding.severity = 100 - finding_severity(analysis->rows, used_ns);
		finding.cost = used_ns ? finding.severity : FINDING_COST_OF_ALL;
	}
	finding_say(finding.cause, "is frozen (paused)");
	finding_say(finding.evidence, "its threads did nothing at the end of the interval");
	if (analysis->has_targets && used_ns)
		finding_say(finding.evidence, ", %s of CPU time before it",
			    human_time(used, used_ns));
	if (count > 1)
		finding_say(finding.evidence, ", nor did those of %zu other cgroup%s", count - 1,
			    count > 2 ? "s" : "");
	finding_say(finding.next, "resume it (docker unpause; cgroup.freeze, freezer.state)");
	findings_offer(findings, &finding);
}

static bool has_frozen(const struct analysis *analysis)
{
	const struct resource_usage *usage = profile_resources(analysis->rows->profile);
	struct resource_cgroup_limit limit;

	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++)
		if (resource_usage_cgroup_limit(usage, i, &limit) && limit.frozen)
			return true;
	return false;
}

/* On a host, whoever stopped it knows. What is frozen is in this state, too. */
void find_stopped(const struct analysis *analysis, const struct activity *activity,
		  struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_stopped);
	uint64_t stopped_ns = activity->group->sum.waits.stopped_ns;
	double share = finding_percent((double)stopped_ns, (double)activity->wall_ns);
	char time[HUMAN_SIZE];

	if (!analysis->has_targets || !activity->has_waits || share < STOPPED_PERCENT ||
	    has_frozen(analysis))
		return;
	finding.severity = share;
	finding.cost = finding_cost(analysis->rows, stopped_ns);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "is stopped by a signal or a debugger");
	finding_say_wall(finding.evidence, activity, stopped_ns);
	finding_say(finding.evidence, " (%s)", human_time(time, stopped_ns));
	finding_say(finding.next,
		    "continue it (kill -CONT PID), or see what stopped it: job control, a "
		    "debugger");
	findings_offer(findings, &finding);
}
