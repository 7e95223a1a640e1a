// SPDX-License-Identifier: BSD-2-Clause
/* Waits that limit a group whatever the rest of the machine does: a rule and a cause for each
 * class. */
#include <string.h>

#include "rows/human.h"
#include "finding/finding_rules.h"

/* Classes of other files. */
#define ELSEWHERE                                                                                  \
	(WAIT_CLASS_BIT(DISK) | WAIT_CLASS_BIT(SOCKET_FULL) | WAIT_CLASS_BIT(CONNECT) |            \
	 WAIT_CLASS_BIT(PIPE_FULL))

static enum finding_rule_number rule_of(const char *name)
{
	unsigned int i = 0;

	while (i + 1 < FINDING_RULE_COUNT && strcmp(finding_rules[i].name, name) != 0)
		i++;
	return i;
}

/* Waits of all classes of the rule count, and are told with the one that is most; 0: another is. */
static double rule_severity(const struct analysis *analysis, const struct activity *activity,
			    enum wait_class class)
{
	uint64_t time_ns = 0;

	for (unsigned int other = 0; other < WAIT_CLASS_COUNT; other++) {
		const char *rule = wait_class_row(other)->rule;

		if (!rule || strcmp(rule, wait_class_row(class)->rule) != 0)
			continue;
		if (activity->waits[other].time_ns > activity->waits[class].time_ns)
			return 0;
		time_ns += activity->waits[other].time_ns;
	}
	return activity_severity(analysis, activity, time_ns);
}

struct cpu_sum {
	const struct analysis *analysis;
	uint64_t classes;
	uint64_t samples;
};

/* What writes data to a disk computes there as well. */
#define SYNCS (WAIT_CLASS_BIT(FSYNC) | WAIT_CLASS_BIT(JOURNAL))

static void add_cpu(void *context, const struct row_weight *weight)
{
	struct cpu_sum *sum = context;
	size_t count;
	const uint32_t *functions =
		resource_rows_stack(sum->analysis->rows, weight->stack.stack, &count);

	if (sum->classes & 1ULL << wait_class_of_functions(sum->analysis->rows, functions, count))
		sum->samples += weight->stack.weight;
}

/* CPU time below the functions of classes: a device may be as fast as the kernel that drives it. */
static uint64_t cpu_below_ns(const struct analysis *analysis, const struct activity *activity,
			     uint64_t classes)
{
	uint32_t frequency = profile_info_read(analysis->rows->profile)->frequency_hz;
	struct cpu_sum sum = {.analysis = analysis, .classes = classes};

	if (!frequency)
		return 0;
	activity_each_stack(analysis, activity, PKBPF_PROFILE_CPU, add_cpu, &sum);
	return sum.samples < LEAST_COUNTED ? 0 : sum.samples * (NS_PER_SECOND / frequency);
}

static void say_class(const struct analysis *analysis, const struct activity *activity,
		      enum wait_class class, struct findings *findings)
{
	const struct wait_class_row *row = wait_class_row(class);
	const struct wait_sums *waits = &activity->waits[class];
	/* fsync waits for writes, which a limit may hold back. */
	const struct relation *limit =
		!strcmp(row->rule, "fsync_bound")
			? finding_io_limit(analysis, activity, waits->time_ns)
			: NULL;
	struct finding finding = finding_new(limit ? FINDING_RULE_io_limit : rule_of(row->rule));
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, 1ULL << class);
	char time[HUMAN_SIZE], count[HUMAN_SIZE];
	uint64_t cpu_ns;

	finding.severity = rule_severity(analysis, activity, class);
	if (finding.severity < ACTIVE_PERCENT)
		return;
	cpu_ns = SYNCS & 1ULL << class ? cpu_below_ns(analysis, activity, SYNCS) : 0;
	finding.cost = finding_cost(analysis->rows, waits->time_ns + cpu_ns);
	if (activity_severity(analysis, activity, waits->time_ns + cpu_ns) > finding.severity)
		finding.severity = activity_severity(analysis, activity, waits->time_ns + cpu_ns);
	finding_say_who(&finding, analysis, activity);
	if (limit)
		finding_say_io_limit(&finding, limit);
	else
		finding_say(finding.cause, "%s", row->cause);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	finding_say_wall(finding.evidence, activity, waits->time_ns);
	finding_say(finding.evidence, " (%s in %s wait%s)", human_time(time, waits->time_ns),
		    human_count(count, waits->count), waits->count == 1 ? "" : "s");
	if (cpu_ns)
		finding_say(finding.evidence, ", and %s of CPU time in it",
			    human_time(time, cpu_ns));
	if (row->next && !limit)
		finding_say(finding.next, "%s", row->next);
	findings_offer(findings, &finding);
}

void find_waits(const struct analysis *analysis, struct findings *findings)
{
	for (size_t i = 0; i < analysis->count; i++)
		for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++)
			if (wait_class_row(class)->rule && !(ELSEWHERE & 1ULL << class) &&
			    strcmp(wait_class_row(class)->rule, "lock_bound") != 0)
				say_class(analysis, &analysis->activities[i], class, findings);
}
