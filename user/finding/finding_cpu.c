// SPDX-License-Identifier: BSD-2-Clause
/* The rules about CPUs: who computes, who waits for a CPU and for whom. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/unused.h"
#include "rows/human.h"
#include "finding/finding_gpu.h"

/* Of all CPUs: less leaves room for everybody. */
#define CPU_BUSY_PERCENT 90
/* Of runnable time, in the run queue. */
#define CPU_QUEUED_PERCENT 50
/* Of all CPUs: less, and a thread that waits found one idle most of the time. */
#define CPU_IDLE_PERCENT 75
/* Of one CPU, for one row. */
#define CPU_ROW_PERCENT 50
/* Of one CPU, for a row that would use half of one if it had it: less, and it waits for it more
 * than it computes. */
#define CPU_LEAST_PERCENT 20
/* Of the machine's CPU time, to be named as one who uses it. */
#define USER_PERCENT 10
/* Of the waits for a CPU, behind one other program. */
#define RIVAL_PERCENT 75

#define RIVALS 16

struct rival {
	uint32_t pid;
	char comm[PKBPF_COMM_SIZE + 1];
	uint64_t value_ns, own_ns; /* own: by threads of the group itself */
};

/* Programs that ran while this group waited, most first, and their number: none below LEAST_COUNTED
 * sampled waits. */
static size_t rivals_of(const struct analysis *analysis, const struct activity *activity,
			struct rival rivals[RIVALS], uint64_t *ret_all_ns)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	uint64_t samples = 0;
	size_t count = 0, j;

	*ret_all_ns = 0;
	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind != PKBPF_RELATION_RIVAL ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		*ret_all_ns += relation->value;
		samples += relation->count;
		for (j = 0; j < count && strcmp(rivals[j].comm, relation->other_comm) != 0; j++)
			;
		if (j == RIVALS)
			continue;
		if (j == count) {
			rivals[count] = (struct rival){.pid = relation->other_pid};
			memcpy(rivals[count++].comm, relation->other_comm, sizeof(rivals[0].comm));
		}
		rivals[j].value_ns += relation->value;
		rivals[j].own_ns +=
			activity_has_pid(activity, relation->other_pid) ? relation->value : 0;
		if (rivals[j].pid != relation->other_pid)
			rivals[j].pid = 0;
		for (; j > 0 && rivals[j - 1].value_ns < rivals[j].value_ns; j--) {
			struct rival other = rivals[j];

			rivals[j] = rivals[j - 1];
			rivals[j - 1] = other;
		}
	}
	return samples < LEAST_COUNTED ? 0 : count;
}

static void say_rivals(struct finding *finding, const struct analysis *analysis,
		       const struct activity *activity)
{
	struct rival rivals[RIVALS];
	uint64_t all_ns;
	size_t count = rivals_of(analysis, activity, rivals, &all_ns);

	for (size_t i = 0; i < count && i < 2; i++) {
		double share = finding_percent((double)rivals[i].value_ns, (double)all_ns);

		if (share < USER_PERCENT)
			break;
		finding_say(finding->by, "%s%s", i ? ", " : "meanwhile the CPU ran ",
			    rivals[i].comm[0] ? rivals[i].comm : "[unknown]");
		if (2 * rivals[i].own_ns > rivals[i].value_ns)
			finding_say(finding->by, " (its own %s)",
				    activity->group->count > 1 ? "processes" : "threads");
		else if (rivals[i].pid)
			finding_say(finding->by, " %" PRIu32, rivals[i].pid);
		finding_say(finding->by, " (%.0f %%)", share);
	}
}

/* The run-queue wait is due to wake-ups. Not where CPUs are busy and half of the runnable time
 * goes by in it: threads that compute for a moment at a time never wait for a time slice. */
static bool waits_are_wake_ups(const struct resource_rows *rows, const struct resource_row *sum)
{
	return sum->known & ROW_HAS_WAIT_LENGTHS && sum->waits.runqueue.p99_ns < RUNQUEUE_P99_NS &&
	       (rows->busy_percent < CPU_BUSY_PERCENT ||
		finding_queue_percent(sum) < CPU_QUEUED_PERCENT);
}

static bool is_cpu_starved(const struct resource_rows *rows)
{
	return rows->busy_percent >= CPU_BUSY_PERCENT &&
	       finding_queue_percent(&rows->total) >= CPU_QUEUE_PERCENT &&
	       !waits_are_wake_ups(rows, &rows->total) && !finding_targets_are_limited(rows);
}

static int by_cpu(const void *left, const void *right)
{
	const struct activity *const *a = left, *const *b = right;

	if ((*a)->cpu_ns != (*b)->cpu_ns)
		return (*a)->cpu_ns > (*b)->cpu_ns ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static int by_queue(const void *left, const void *right)
{
	const struct activity *const *a = left, *const *b = right;

	if ((*a)->runqueue_ns != (*b)->runqueue_ns)
		return (*a)->runqueue_ns > (*b)->runqueue_ns ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static void say_users(struct finding *finding, const struct analysis *analysis,
		      const struct activity **sorted)
{
	uint64_t all_ns = analysis->rows->total.cpu.total_ns;

	qsort(sorted, analysis->count, sizeof(*sorted), by_cpu);
	for (size_t i = 0; i < analysis->count && i < LISTED; i++) {
		double share = finding_percent((double)sorted[i]->cpu_ns, (double)all_ns);

		if (i && share < USER_PERCENT)
			break;
		finding_say(finding->by, "%s", i ? ", " : "most of it used by ");
		finding_say_group(finding->by, sorted[i]->group);
		finding_say(finding->by, " (%.0f %%)", share);
	}
	qsort(sorted, analysis->count, sizeof(*sorted), by_queue);
	for (size_t i = 0; i < analysis->count && i < LISTED - 1 && sorted[i]->runqueue_ns; i++) {
		finding_say(finding->evidence, "%s", i ? ", " : "; longest waits: ");
		finding_say_group(finding->evidence, sorted[i]->group);
	}
}

static void find_starved(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	const struct resource_row *total = &rows->total;
	struct finding finding = finding_new(FINDING_RULE_cpu_starved);
	const struct activity **sorted = calloc(analysis->count + 1, sizeof(*sorted));
	double queue = finding_queue_percent(total);
	char buffer[HUMAN_SIZE];

	if (!sorted || analysis->has_targets || !is_cpu_starved(rows)) {
		free(sorted);
		return;
	}
	for (size_t i = 0; i < analysis->count; i++)
		sorted[i] = &analysis->activities[i];
	finding_say(finding.cause,
		    "CPU-starved: more threads are runnable than the CPUs can run "
		    "(%.0f %% busy)",
		    rows->busy_percent);
	finding_say(finding.evidence, "run-queue wait ");
	if (total->waits.runqueue.p99_ns)
		finding_say(finding.evidence, "p99 %s, ",
			    human_time(buffer, total->waits.runqueue.p99_ns));
	finding_say(finding.evidence, "%s in total (%.0f %% of runnable time)",
		    human_time(buffer, total->waits.runqueue_ns), queue);
	say_users(&finding, analysis, sorted);
	free(sorted);
	/* Everybody suffers: as bad as the CPUs are busy once a fifth of the time that wanted one
	 * went by in waiting; but no worse than that is long. */
	finding.severity = rows->busy_percent * (queue < 20 ? queue / 20 : 1);
	if (finding.severity > finding_severity(rows, total->waits.runqueue_ns))
		finding.severity = finding_severity(rows, total->waits.runqueue_ns);
	finding.cost = finding_cost(rows, total->waits.runqueue_ns);
	findings_offer(findings, &finding);
}

static double queue_severity(const struct analysis *analysis, const struct activity *activity)
{
	double of_active =
		finding_percent((double)activity->runqueue_ns, (double)activity->active_ns);
	double of_interval = finding_severity(analysis->rows, activity->runqueue_ns);

	return of_active < of_interval ? of_active : of_interval;
}

/* Of the sampled waits for a CPU, percent behind threads of the group itself. */
static double own_rival_percent(const struct analysis *analysis, const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	uint64_t own_ns = 0, all_ns = 0;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind != PKBPF_RELATION_RIVAL ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		all_ns += relation->value;
		own_ns += activity_has_pid(activity, relation->other_pid) ? relation->value : 0;
	}
	return finding_percent((double)own_ns, (double)all_ns);
}

static void say_queue_cause(struct finding *finding, const struct activity *activity, double own)
{
	const char *rivals = activity->group->count > 1 ? "its own processes" : "its own threads";

	if (own >= RIVAL_PERCENT)
		finding_say(finding->cause, "waits for a CPU that %s use", rivals);
	else if (own > 100 - RIVAL_PERCENT)
		finding_say(finding->cause, "waits for a CPU that %s and others use", rivals);
	else
		finding_say(finding->cause, "waits for a CPU that others use");
}

static const char *queue_advice(const struct analysis *analysis, double own)
{
	const struct resource_machine *machine = &analysis->rows->machine;
	uint64_t all_ns = machine->busy_ns + machine->idle_ns + machine->steal_ns;
	double busy = analysis->rows->busy_percent;

	if (own >= RIVAL_PERCENT)
		return "run fewer threads, or see how many CPUs it may use (taskset -pc PID)";
	/* What the hypervisor took was not idle. */
	return busy + 100 * row_ratio((double)machine->steal_ns, (double)all_ns) < CPU_IDLE_PERCENT
		       ? "CPUs are idle part of the time: see whether it may use all (taskset -pc "
			 "PID), or wakes many threads at once"
		       : "run less beside it, or give it priority (nice, cpu.weight)";
}

static void find_queue(const struct analysis *analysis, const struct activity *activity,
		       struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_queue_bound);
	double own = own_rival_percent(analysis, activity);
	char buffer[HUMAN_SIZE];

	finding.severity = queue_severity(analysis, activity);
	if (finding.severity < ACTIVE_PERCENT || finding_queue_percent(sum) < CPU_QUEUE_PERCENT ||
	    waits_are_wake_ups(analysis->rows, sum) || finding_is_limited(analysis, activity))
		return;
	finding.cost = finding_cost(analysis->rows, activity->runqueue_ns);
	finding_say_who(&finding, analysis, activity);
	say_queue_cause(&finding, activity, own);
	say_rivals(&finding, analysis, activity);
	finding_say(finding.evidence, "%.0f %% of runnable time (%s)", finding_queue_percent(sum),
		    human_time(buffer, activity->runqueue_ns));
	if (sum->waits.runqueue.p99_ns)
		finding_say(finding.evidence, ", p99 %s",
			    human_time(buffer, sum->waits.runqueue.p99_ns));
	finding_say(finding.evidence, "; CPUs of the machine %.0f %% busy",
		    analysis->rows->busy_percent < 0 ? 0 : analysis->rows->busy_percent);
	finding_say(finding.next, "%s", queue_advice(analysis, own));
	findings_offer(findings, &finding);
}

double computing_severity(const struct analysis *analysis, const struct activity *activity)
{
	const struct resource_row *sum = &activity->group->sum;
	double severity = activity_severity(analysis, activity, activity->on_cpu_ns),
	       wanted = finding_severity(analysis->rows,
					 activity->on_cpu_ns + activity->runqueue_ns);

	return sum->cpu.involuntary > sum->cpu.voluntary && wanted > severity ? wanted : severity;
}

/* Threads that wait for a lock longer than all of them compute or would: the lock is worse, and
 * where they compute they may well hold it. */
static double severity_beside_locks(const struct analysis *analysis,
				    const struct activity *activity, double severity)
{
	uint64_t used_ns = activity->on_cpu_ns + activity->runqueue_ns;

	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
		uint64_t time_ns = activity->waits[class].time_ns;
		const char *rule = wait_class_row(class)->rule;
		double of_lock;

		if (!rule || strcmp(rule, "lock_bound") != 0 || time_ns <= used_ns)
			continue;
		of_lock = activity_severity(analysis, activity, time_ns);
		if (of_lock >= ACTIVE_PERCENT && severity >= of_lock)
			severity = of_lock - 1;
	}
	return severity;
}

static void find_computing(const struct analysis *analysis, const struct activity *activity,
			   struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_cpu_bound);
	const struct wait_choice computes = finding_computes(analysis);
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_CPU, .choice = &computes};
	/* The one of the report, without spinning for a GPU. */
	double share =
		sum->cpu.share * row_ratio((double)activity->on_cpu_ns, (double)activity->cpu_ns);
	char buffer[HUMAN_SIZE];

	finding.is_alarm = false;
	finding.severity = computing_severity(analysis, activity);
	if (!(sum->known & ROW_HAS_INTERVAL) || finding.severity < CPU_ROW_PERCENT ||
	    finding_cost(analysis->rows, activity->on_cpu_ns) < CPU_LEAST_PERCENT)
		return;
	finding.severity = severity_beside_locks(analysis, activity, finding.severity);
	finding.cost = finding_cost(analysis->rows, activity->on_cpu_ns);
	/* That it may not compute more is the finding. */
	if (finding_is_limited(analysis, activity)) {
		finding.severity =
			finding.severity < ACTIVE_PERCENT ? finding.severity : ACTIVE_PERCENT;
		finding.cost = finding.cost < ACTIVE_PERCENT ? finding.cost : ACTIVE_PERCENT;
	}
	/* Of a whole machine, what is in trouble comes first. One of many CPUs is no bottleneck of
	 * the host, but all of a program's only thread. */
	if (!analysis->has_targets) {
		finding.tier = FINDING_OF_RUN;
		finding.severity =
			sum->threads_seen > activity->group->count
				? finding_percent((double)activity->on_cpu_ns,
						  (double)analysis->rows->total.cpu.total_ns)
				: finding_severity(analysis->rows, activity->on_cpu_ns);
	}
	finding_say_who(&finding, analysis, activity);
	if (share >= 150)
		finding_say(finding.cause, "computes: %.1f CPUs", share / 100);
	else
		finding_say(finding.cause, "computes: %.0f %% of one CPU", share);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	finding_say(finding.evidence, "%s on CPU", human_time(buffer, activity->on_cpu_ns));
	findings_offer(findings, &finding);
}

/* Severity of the worst limit is in finding_cpu_limit.c. */
void find_cpu(const struct analysis *analysis, struct findings *findings)
{
	bool starved = is_cpu_starved(analysis->rows);

	find_starved(analysis, findings);
	find_frozen(analysis, findings);
	find_cpu_limit(analysis, findings);
	find_short_lived(analysis, findings);
	for (size_t i = 0; i < analysis->count; i++) {
		/* When everybody waits for CPUs, that is the finding, and not each who does. */
		if (analysis->has_targets || !starved)
			find_queue(analysis, &analysis->activities[i], findings);
		find_stopped(analysis, &analysis->activities[i], findings);
		find_computing(analysis, &analysis->activities[i], findings);
	}
}
