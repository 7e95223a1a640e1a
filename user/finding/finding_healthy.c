// SPDX-License-Identifier: BSD-2-Clause
/* What a process does with its time when nothing limits it. */
#include <inttypes.h>
#include <string.h>

#include "rows/human.h"
#include "finding/finding_gpu.h"
#include "finding/waker.h"

/* Of wall time, to be named. */
#define NAMED_PERCENT 5
/* Of one CPU: a process that uses less beside others (a shell that starts a program, wc at the end
 * of a pipe) is a helper. Starting a program takes about 1 ms, so a shell that starts 20 a second
 * has 2. */
#define HELPER_CPU_PERCENT 5
/* Of the wall time in waits for one thing, and of these, ended by one process. */
#define MOST_PERCENT 50
/* Of the wall time, held up by whatever it is. */
#define SMALL_PERCENT 10
/* Of the wake-ups by threads of its own, in or of functions of the program that have no names. */
#define NAMELESS_PERCENT 50

static bool has_finding(const struct findings *findings, const struct activity *activity,
			enum finding_tier tier)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->findings[i];

		/* The cgroup's limits are about nobody in particular. */
		if (finding->tier == tier &&
		    (finding->pid ? activity_has_pid(activity, finding->pid)
				  : tier == FINDING_OF_TARGET))
			return true;
	}
	return false;
}

/* The two classes of waits that take most of the wall time. */
static void say_waits(struct finding *finding, const struct analysis *analysis,
		      const struct activity *activity)
{
	uint64_t told = 0;

	for (int i = 0; i < 2; i++) {
		unsigned int most = 0;
		char place[FINDING_PART_SIZE] = "";
		struct class_choice choice;
		struct finding_stacks stacks;
		double share;

		for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++)
			if (!(told & 1ULL << class) &&
			    (told & 1ULL << most ||
			     activity->waits[class].time_ns > activity->waits[most].time_ns))
				most = class;
		share = finding_percent((double)activity->waits[most].time_ns,
					(double)activity->wall_ns);
		if (share < NAMED_PERCENT)
			return;
		told |= 1ULL << most;
		stacks = class_stacks(&choice, analysis, 1ULL << most);
		finding_say(finding->evidence, ", %.0f %% %s", share, wait_class_row(most)->cause);
		if (finding_say_place(place, analysis, activity, &stacks) > 0)
			finding_say(finding->evidence, " in `%s`", place);
	}
}

/* Waits for other threads may be for a lock or for work; the functions of the program tell. */
static bool may_wait_for_a_lock(const struct analysis *analysis, const struct activity *activity)
{
	const uint64_t classes =
		WAIT_CLASS_BIT(FUTEX) | WAIT_CLASS_BIT(CONDITION) | WAIT_CLASS_BIT(SEMAPHORE);
	const struct wakers wakers = wakers_of(analysis, activity, classes);
	uint64_t time_ns = activity->waits[WAIT_CLASS_FUTEX].time_ns +
			   activity->waits[WAIT_CLASS_CONDITION].time_ns +
			   activity->waits[WAIT_CLASS_SEMAPHORE].time_ns;

	return finding_percent((double)time_ns, (double)activity->wall_ns) >= ACTIVE_PERCENT &&
	       finding_percent((double)wakers.own_ns, (double)wakers.value_ns) >= NAMED_PERCENT &&
	       finding_percent((double)wakers.nameless_ns, (double)wakers.own_ns) >=
		       NAMELESS_PERCENT;
}

#define GO_RUNTIME "runtime.mcall"

struct go_search {
	const struct analysis *analysis;
	bool is_found;
};

/* How functions of the program get names. */
static const char *way_to_names(const struct analysis *analysis)
{
	bool is_jvm = false;

	for (uint32_t i = 0; i < function_table_count(analysis->rows->functions); i++)
		is_jvm |= strncmp(function_table_get(analysis->rows->functions, i)->module,
				  "libjvm", strlen("libjvm")) == 0;
	/* Of one program the table has no other's functions. */
	if (is_jvm && analysis->count == 1)
		return "pkbpf doctor --pid PID has the reason";
	return "install its debug symbols, or keep them when it is built";
}

/* Waits that are for nothing but work or time. */
#define IDLE                                                                                       \
	(WAIT_CLASS_BIT(WORK) | WAIT_CLASS_BIT(TIMER) | WAIT_CLASS_BIT(RUNTIME_WORK) |             \
	 WAIT_CLASS_BIT(PG_WORK) | WAIT_CLASS_BIT(PG_SLEEP))

/* Is all known that may limit it, and small? What its other waits are for, their stacks do not
 * tell: of a socket an answer may be due, or none. */
static bool is_all_small(const struct analysis *analysis, const struct activity *activity)
{
	uint64_t held_ns = activity->runqueue_ns + activity->group->sum.waits.stopped_ns;

	if (!activity->has_waits || finding_is_limited(analysis, activity))
		return false;
	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++)
		held_ns += IDLE & 1ULL << class ? 0 : activity->waits[class].time_ns;
	return finding_percent((double)held_ns, (double)activity->wall_ns) < SMALL_PERCENT;
}

static void see_go(void *context, const struct row_weight *weight)
{
	const struct analysis *analysis = ((struct go_search *)context)->analysis;
	const uint32_t *functions;
	size_t count;

	functions = resource_rows_stack(analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++)
		if (strncmp(function_table_get(analysis->rows->functions, functions[i])->name,
			    GO_RUNTIME, strlen(GO_RUNTIME)) == 0)
			((struct go_search *)context)->is_found = true;
}

/* Its threads wait in the scheduler of the Go runtime. */
static bool is_go(const struct analysis *analysis, const struct activity *activity)
{
	struct go_search search = {analysis, false};

	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, see_go, &search);
	return search.is_found;
}

/* Most of the time it waits at the empty end of a pipe, and one process ends these waits: it may be
 * too slow, or have nothing to write. */
static void say_writer(struct finding *finding, const struct analysis *analysis,
		       const struct activity *activity)
{
	struct wakers wakers = wakers_of(analysis, activity, WAIT_CLASS_BIT(PIPE));
	uint64_t time_ns = activity->waits[WAIT_CLASS_PIPE].time_ns;

	if (wakers.count < LEAST_COUNTED || !wakers.pid ||
	    finding_percent((double)wakers.most_ns, (double)wakers.value_ns) < MOST_PERCENT ||
	    finding_percent((double)time_ns, (double)activity->wall_ns) < MOST_PERCENT ||
	    activity_has_pid(activity, wakers.pid))
		return;
	finding_say(finding->by, "%s %" PRIu32 " writes to the pipe that it reads", wakers.comm,
		    wakers.pid);
	finding_say(finding->next, "profile the writer");
	if (!finding->has_ended)
		finding_say(finding->next, " (pkbpf -p %" PRIu32 ")", wakers.pid);
	finding_say(finding->next, ", unless it has nothing to write");
}

/* What its waits leave open. */
static void say_next(struct finding *finding, const struct analysis *analysis,
		     const struct activity *activity)
{
	say_writer(finding, analysis, activity);
	if (finding->next[0])
		return;
	if (may_wait_for_a_lock(analysis, activity))
		finding_say(finding->next,
			    "its threads wake each other: whether for a lock or for work, its "
			    "functions tell, which have no names here (%s)",
			    way_to_names(analysis));
	else if (is_go(analysis, activity))
		finding_say(finding->next,
			    "goroutines wait without a thread, unseen here: see its block and "
			    "mutex profiles (runtime/pprof)");
}

static void find_one(const struct analysis *analysis, const struct activity *activity,
		     struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_healthy);
	const struct wait_choice computes = finding_computes(analysis);
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_CPU, .choice = &computes};
	double cpu = finding_percent((double)activity->on_cpu_ns, (double)activity->wall_ns);
	char place[FINDING_PART_SIZE] = "";

	if (!activity->wall_ns || has_finding(findings, activity, FINDING_OF_TARGET))
		return;
	finding.is_alarm = false;
	finding.tier = FINDING_HEALTHY;
	finding.severity = 1 + finding_severity(analysis->rows, activity->on_cpu_ns) / 2;
	finding_say_who(&finding, analysis, activity);
	/* A busy machine does not hide what it does. */
	finding_say(finding.cause, "nothing%s %s it",
		    has_finding(findings, activity, FINDING_OF_HOST) ? " else" : "",
		    is_all_small(analysis, activity) ? "limits" : "is known to limit");
	if (cpu < 1)
		finding_say(finding.evidence, "wall time: less than 1 %% on CPU");
	else
		finding_say(finding.evidence, "wall time: %.0f %% on CPU", cpu > 100 ? 100 : cpu);
	if (cpu >= NAMED_PERCENT && finding_say_place(place, analysis, activity, &stacks) > 0)
		finding_say(finding.evidence, " in `%s`", place);
	if (activity->has_waits)
		say_waits(&finding, analysis, activity);
	if (activity->has_waits)
		say_next(&finding, analysis, activity);
	findings_offer(findings, &finding);
}

static void find_quiet_host(const struct analysis *analysis, struct findings *findings)
{
	const struct resource_rows *rows = analysis->rows;
	struct finding finding = finding_new(FINDING_RULE_healthy);
	const struct activity *most = NULL;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->findings[i].is_alarm)
			return;
	if (rows->busy_percent < 0)
		return;
	for (size_t i = 0; i < analysis->count; i++)
		if (!most || analysis->activities[i].cpu_ns > most->cpu_ns)
			most = &analysis->activities[i];
	finding.is_alarm = false;
	finding.tier = FINDING_HEALTHY;
	finding.severity = LEAST_SEVERITY;
	finding_say(finding.cause, "nothing limits a process of this machine");
	finding_say(finding.evidence, "CPUs %.0f %% busy", rows->busy_percent);
	if (most && most->cpu_ns) {
		finding_say(finding.evidence, ", most CPU time%s: ",
			    profile_info_read(rows->profile)->own_pid ? " beside pkbpf" : "");
		finding_say_group(finding.evidence, most->group);
		finding_say(
			finding.evidence, " (%.0f %%)",
			finding_percent((double)most->cpu_ns, (double)rows->total.cpu.total_ns));
	}
	findings_offer(findings, &finding);
}

static bool is_helper(const struct analysis *analysis, const struct activity *activity)
{
	return finding_cost(analysis->rows, activity->on_cpu_ns) < HELPER_CPU_PERCENT;
}

/* Of programs that do little, the one that computes most: of those that only wait for their
 * children when there are no others. */
static const struct activity *least_idle(const struct analysis *analysis)
{
	const struct activity *most = NULL;
	bool most_is_parent = true;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];
		bool is_parent = finding_percent((double)activity->waits[WAIT_CLASS_CHILD].time_ns,
						 (double)activity->wall_ns) >= MOST_PERCENT;

		if (most &&
		    (is_parent > most_is_parent ||
		     (is_parent == most_is_parent && activity->on_cpu_ns <= most->on_cpu_ns)))
			continue;
		most = activity;
		most_is_parent = is_parent;
	}
	return most;
}

static bool is_about_targets(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->findings[i].tier == FINDING_OF_TARGET)
			return true;
	return false;
}

/* Helpers are named only when there is nothing else to say. */
void find_healthy(const struct analysis *analysis, struct findings *findings)
{
	bool has_others = is_about_targets(findings);
	const struct activity *helper = least_idle(analysis);

	if (!analysis->has_targets) {
		find_quiet_host(analysis, findings);
		return;
	}
	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];

		if (is_helper(analysis, activity))
			continue;
		has_others = true;
		find_one(analysis, activity, findings);
	}
	if (!has_others && helper)
		find_one(analysis, helper, findings);
}
