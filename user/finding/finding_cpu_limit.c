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
			     const struct resource_cpu_limit *limit)
{
	if (finding_percent((double)limit->throttled_periods, (double)limit->periods) <
	    LIMIT_PERIODS_PERCENT)
		return 0;
	return finding_severity(rows, limit->throttled_periods * limit->period_ns);
}

static void say_limit(struct finding *finding, const struct resource_rows *rows,
		      const struct resource_cpu_limit *limit)
{
	char name[ROW_CONTAINER_SIZE], period[HUMAN_SIZE];

	cgroup_label(profile_resources(rows->profile), limit->cgroup_id, limit->path, name,
		     sizeof(name));
	finding_say(finding,
		    "%s is limited to %.2f CPUs and was throttled in %.0f %% of its active periods "
		    "of %s",
		    name, (double)limit->quota_ns / (double)limit->period_ns,
		    finding_percent((double)limit->throttled_periods, (double)limit->periods),
		    human_time(period, limit->period_ns));
}

/* Severity of the worst, 0: none; *ret_count: of those worth telling. */
static double worst_limit(const struct resource_rows *rows, struct resource_cpu_limit *ret_worst,
			  size_t *ret_count)
{
	const struct resource_usage *usage = profile_resources(rows->profile);
	struct resource_cpu_limit limit;
	double worst = 0;

	*ret_count = 0;
	for (size_t i = 0; i < resource_usage_cpu_limit_count(usage); i++) {
		double severity = resource_usage_cpu_limit(usage, i, &limit)
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
	struct resource_cpu_limit worst;
	size_t count;

	return profile_info_read(rows->profile)->has_targets &&
	       worst_limit(rows, &worst, &count) >= LIMITED_PERCENT;
}

static bool find_cpu_limit(const struct resource_rows *rows, struct finding *finding)
{
	struct resource_cpu_limit worst;
	size_t count, others;

	finding->severity = worst_limit(rows, &worst, &count);
	if (finding->severity < LEAST_SEVERITY)
		return false;
	others = count - 1;
	say_limit(finding, rows, &worst);
	if (others)
		finding_say(finding, ", %zu other cgroup%s less often", others,
			    others > 1 ? "s" : "");
	finding_say(finding, ": the CPU limit, not the machine, makes its threads wait for a CPU");
	return true;
}

const struct finding_rule finding_rule_cpu_limit = {
	.name = "cpu_limit",
	.summary = "a cgroup is throttled by its CPU limit (cpu.max)",
	.find = find_cpu_limit};
