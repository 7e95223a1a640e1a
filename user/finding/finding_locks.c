// SPDX-License-Identifier: BSD-2-Clause
/* The rules about locks: where threads wait, who holds meanwhile, and conditions nobody signals. */
#include <inttypes.h>
#include <string.h>

#include "rows/human.h"
#include "rows/lock_view.h"
#include "finding/finding_rules.h"
#include "finding/waker.h"

/* Waits in which threads wait for each other; whether that limits them, the wakers tell. */
#define HANDED_OVER (WAIT_CLASS_BIT(FUTEX) | WAIT_CLASS_BIT(CONDITION) | WAIT_CLASS_BIT(SEMAPHORE))
/* Of the waits of a place, ended by a timer: then nobody signals it. */
#define TIMER_PERCENT 90
/* Of the waits, ended by threads that run the same function as the waiters: what they wait for is
 * what these give back. */
#define SIBLING_PERCENT 75
/* Of the interval, a lock that one thread at a time holds; samples are no exact times. */
#define HELD_PERCENT_MAX 110
/* Of the interval, the mean of waits that did not end in it. */
#define WHOLE_PERCENT 98
/* Fewer samples tell little. */
#define LEAST_SAMPLES 8
/* Of one CPU: who uses less has nothing to do. */
#define WORKS_PERCENT 0.5
/* Holders of a lock that are named, with at least so much of its time. */
#define HOLDERS_NAMED  3
#define HOLDER_PERCENT 5
/* Of work after each wait, at least. */
#define WORK_NS 500000

/* Stacks with one function, but not these waits. */
struct holder_choice {
	const struct analysis *analysis;
	uint32_t function;
	uint64_t classes;
};

static bool holds(void *context, const struct row_weight *weight)
{
	const struct holder_choice *choice = context;
	const uint32_t *functions;
	size_t count;

	if (weight->kind == PKBPF_PROFILE_OFFCPU &&
	    choice->classes & 1ULL << choice->analysis->classes[weight->stack.stack])
		return false;
	functions = resource_rows_stack(choice->analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++)
		if (functions[i] == choice->function)
			return true;
	return false;
}

struct holder_sum {
	struct holder_choice *choice;
	uint64_t weight;
};

static void add_holder(void *context, const struct row_weight *weight)
{
	struct holder_sum *sum = context;

	if (holds(sum->choice, weight))
		sum->weight += weight->stack.weight;
}

/* Whether the time below a function can be that in which the lock was held: by one thread at a
 * time, so no longer than the interval, and while others wait, so no shorter than each of them
 * waited. Else the function does more than hold the lock, or something else. */
static bool is_hold(const struct analysis *analysis, const struct activity *activity,
		    uint64_t classes, uint64_t held_ns)
{
	uint64_t threads = activity->group->sum.threads_seen, waited_ns = 0;

	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++)
		waited_ns += classes & 1ULL << class ? activity->waits[class].time_ns : 0;
	return finding_cost(analysis->rows, held_ns) <= HELD_PERCENT_MAX &&
	       2 * held_ns >= waited_ns / (threads ? threads : 1);
}

/* Where the lock's holder spends its time: on a CPU or waiting, below the function that takes or
 * gives back the lock. */
static void say_holder(struct finding *finding, const struct analysis *analysis,
		       const struct activity *activity, uint64_t classes, uint32_t function)
{
	struct holder_choice holder = {analysis, function, classes};
	const struct wait_choice choice = {
		.takes = holds, .context = &holder, .programs_only = true};
	struct holder_sum cpu = {&holder, 0}, waits = {&holder, 0};
	uint32_t frequency = profile_info_read(analysis->rows->profile)->frequency_hz;
	struct finding_stacks stacks = {.choice = &choice};
	char place[FINDING_PART_SIZE] = "";

	if (function == WAKER_NO_FUNCTION)
		return;
	activity_each_stack(analysis, activity, PKBPF_PROFILE_CPU, add_holder, &cpu);
	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, add_holder, &waits);
	if (!is_hold(analysis, activity, classes,
		     waits.weight + (frequency ? cpu.weight * (NS_PER_SECOND / frequency) : 0)))
		return;
	stacks.kind = frequency && cpu.weight * (NS_PER_SECOND / frequency) > waits.weight
			      ? PKBPF_PROFILE_CPU
			      : PKBPF_PROFILE_OFFCPU;
	if (finding_say_place(place, analysis, activity, &stacks) > 0)
		finding_say(finding->by, "held meanwhile in `%s`", place);
}

/* The innermost function of the program that waits. */
static uint32_t function_of_place(const struct analysis *analysis, const struct activity *activity,
				  const struct finding_stacks *stacks)
{
	const struct row_group *group = activity->group;
	struct row_explanation explanation =
		resource_rows_explain(analysis->rows, group->members, group->count, stacks->kind,
				      stacks->states, stacks->choice);
	size_t count = function_table_count(analysis->rows->functions);

	for (size_t i = explanation.count; i > 0; i--) {
		const struct function *function = explanation.functions[i - 1];

		if (strncmp(function->module, "libc", 4) == 0 || !function->named)
			continue;
		for (uint32_t j = 0; j < count; j++)
			if (function_table_get(analysis->rows->functions, j) == function)
				return j;
	}
	return WAKER_NO_FUNCTION;
}

/* Who holds a file lock that the group waits for; false: not known. */
static bool say_file_lock(struct finding *finding, const struct analysis *analysis,
			  const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind != PKBPF_RELATION_FILE_LOCK ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		finding_say(finding->by, "held by %s %" PRIu32,
			    relation->other_comm[0] ? relation->other_comm : "process",
			    relation->other_pid);
		if (relation->text[0])
			finding_say(finding->by, " (%s)", relation->text);
		return true;
	}
	return false;
}

static bool is_followed(enum wait_class class)
{
	return class == WAIT_CLASS_MUTEX || class == WAIT_CLASS_RWLOCK;
}

/* The lock of this kind that the group waits for most, of those that were followed, and its
 * holders. */
static const struct lock_view *lock_of(const struct lock_views *views,
				       const struct activity *activity, enum wait_class class)
{
	for (size_t i = 0; i < views->count; i++)
		if (views->items[i].holder_count &&
		    views->items[i].lock->class != PKBPF_LOCK_OTHERS &&
		    (views->items[i].lock->class == PKBPF_LOCK_RWLOCK) ==
			    (class == WAIT_CLASS_RWLOCK) &&
		    activity_has_pid(activity, views->items[i].lock->pid))
			return &views->items[i];
	return NULL;
}

/* What the holders of the lock did while the group waited. false: no lock was followed. *ret_next:
 * what to do about it; unchanged where nothing in particular. */
static bool say_followed_lock(struct finding *finding, const struct analysis *analysis,
			      const struct activity *activity, enum wait_class class,
			      const char **ret_next)
{
	const char *next = NULL;
	const struct function_table *functions = analysis->rows->functions;
	char name[LOCK_NAME_TEXT_SIZE], holder[LOCK_HOLDER_TEXT_SIZE];
	const struct lock_view *view;
	struct lock_views views;

	if (lock_views_make(&views, analysis->rows->profile, functions))
		return false;
	view = lock_of(&views, activity, class);
	if (view)
		finding_say(finding->by, "most for the %s", lock_view_name(name, view, functions));
	for (size_t i = 0; view && i < view->holder_count && i < HOLDERS_NAMED; i++) {
		const struct lock_share *share = &view->holders[i];
		double percent = finding_percent((double)share->ns, (double)view->held_ns);

		if (percent < HOLDER_PERCENT)
			break;
		finding_say(finding->by, ", %s%s`%s` %.0f %%", i ? "" : lock_view_held(view),
			    i ? "" : " ", lock_share_holder(holder, share, functions), percent);
	}
	if (view)
		next = finding_say_lock_pattern(finding, analysis, view);
	if (next)
		*ret_next = next;
	lock_views_done(&views);
	return view;
}

static void say_who_holds(struct finding *finding, const struct analysis *analysis,
			  const struct activity *activity, enum wait_class class,
			  const char **ret_next)
{
	struct wakers wakers = wakers_of(analysis, activity, 1ULL << class);
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, 1ULL << class);
	bool is_own = activity_has_pid(activity, wakers.pid);
	uint32_t function = wakers.function;

	if (class == WAIT_CLASS_FILE_LOCK && say_file_lock(finding, analysis, activity))
		return;
	if (!wakers.most_ns || function == WAKER_NO_FUNCTION)
		function = function_of_place(analysis, activity, &stacks);
	if (is_followed(class) && say_followed_lock(finding, analysis, activity, class, ret_next))
		return;
	if (class < WAIT_CLASS_PG_WORK && (is_own || !wakers.most_ns))
		say_holder(finding, analysis, activity, 1ULL << class, function);
	if (!wakers.most_ns)
		return;
	finding_say(finding->by, "%sreleased by %s", finding->by[0] ? ", " : "",
		    wakers.comm[0] ? wakers.comm : "[unknown]");
	/* One of many of its kind is nobody in particular. */
	if (activity->group->count == 1 || !is_own)
		finding_say(finding->by, " %" PRIu32, wakers.pid);
	if (wakers.place[0])
		finding_say(finding->by, " in `%s`", wakers.place);
}

static void say_waits(struct finding *finding, const struct activity *activity, uint64_t time_ns,
		      uint64_t waits)
{
	char time[HUMAN_SIZE], count[HUMAN_SIZE];

	finding_say_wall(finding->evidence, activity, time_ns);
	finding_say(finding->evidence, " (%s in %s wait%s)", human_time(time, time_ns),
		    human_count(count, waits), waits == 1 ? "" : "s");
}

/* Did no wait end? Then there was no release in all of the interval. */
static bool is_never_released(const struct analysis *analysis, const struct wait_sums *waits)
{
	return waits->count &&
	       finding_cost(analysis->rows, waits->time_ns / waits->count) >= WHOLE_PERCENT;
}

static void find_lock(const struct analysis *analysis, const struct activity *activity,
		      enum wait_class class, struct findings *findings)
{
	const struct wait_class_row *row = wait_class_row(class);
	const struct wait_sums *waits = &activity->waits[class];
	struct finding finding = finding_new(FINDING_RULE_lock_bound);
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, 1ULL << class);
	bool is_kept = is_never_released(analysis, waits);
	const char *next = NULL;

	finding.severity = activity_severity(analysis, activity, waits->time_ns);
	finding.cost = finding_cost(analysis->rows, waits->time_ns);
	if (finding.severity < ACTIVE_PERCENT ||
	    (is_kept && activity_has_deadlock(analysis, activity)))
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "%s", row->cause);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	say_who_holds(&finding, analysis, activity, class, &next);
	if (is_kept)
		finding_say(finding.by, "%snot released in the whole interval",
			    finding.by[0] ? ", " : "");
	say_waits(&finding, activity, waits->time_ns, waits->count);
	if (is_kept && !next)
		finding_say(finding.next, "see what its owner does: where that waits for a lock, "
					  "too, it is a deadlock (gdb -p PID -batch -ex 'thread "
					  "apply all bt')");
	else
		finding_say(finding.next, "%s",
			    next	? next
			    : row->next ? row->next
					: "do less while the lock is held, or divide it");
	findings_offer(findings, &finding);
}

static bool works(const struct activity *activity)
{
	return activity->group->sum.cpu.share >= WORKS_PERCENT;
}

/* Who only looks whether there is something, and seldom finds it, has nothing to do. */
static bool works_after_time_outs(const struct analysis *analysis, const struct activity *activity,
				  uint64_t waits)
{
	return analysis->has_targets && waits && activity->on_cpu_ns / waits >= WORK_NS;
}

static void find_handed_over(const struct analysis *analysis, const struct activity *activity,
			     struct findings *findings)
{
	struct wakers wakers = wakers_of(analysis, activity, HANDED_OVER);
	bool by_timer = finding_percent((double)wakers.timer_ns, (double)wakers.value_ns) >=
			TIMER_PERCENT,
	     by_siblings = finding_percent((double)wakers.sibling_ns, (double)wakers.value_ns) >=
			   SIBLING_PERCENT;
	struct finding finding =
		finding_new(by_timer ? FINDING_RULE_timeout_bound : FINDING_RULE_lock_bound);
	uint64_t time_ns = activity->waits[WAIT_CLASS_FUTEX].time_ns +
			   activity->waits[WAIT_CLASS_CONDITION].time_ns +
			   activity->waits[WAIT_CLASS_SEMAPHORE].time_ns,
		 count = activity->waits[WAIT_CLASS_FUTEX].count +
			 activity->waits[WAIT_CLASS_CONDITION].count +
			 activity->waits[WAIT_CLASS_SEMAPHORE].count;
	/* Waits that did not end were ended by nobody: threads of a pool without work. */
	uint64_t ended_ns = by_timer ? wakers.timer_ns : wakers.value_ns;
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, HANDED_OVER);

	time_ns = time_ns < ended_ns ? time_ns : ended_ns;
	if (wakers.count < LEAST_SAMPLES || (!by_timer && !by_siblings) || !works(activity) ||
	    (by_timer && !works_after_time_outs(analysis, activity, count)))
		return;
	finding.severity =
		finding_percent((double)time_ns, (double)activity->active_ns + (double)time_ns);
	if (finding.severity > finding_severity(analysis->rows, time_ns))
		finding.severity = finding_severity(analysis->rows, time_ns);
	finding.cost = finding_cost(analysis->rows, time_ns);
	if (finding.severity < ACTIVE_PERCENT)
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "%s",
		    by_timer ? "its waits for a condition end by their time-out, not by a signal"
			     : "waits for what other threads give back (a lock, a pool)");
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	if (by_siblings && wakers.place[0])
		finding_say(finding.by, "given back in `%s`", wakers.place);
	if (by_timer)
		finding_say(finding.evidence, "%.0f %% of sampled waits ended by a timer; ",
			    finding_percent((double)wakers.timer_ns, (double)wakers.value_ns));
	say_waits(&finding, activity, time_ns, count);
	finding_say(finding.next, "%s",
		    by_timer ? "signal the condition when there is something to do, unless it is "
			       "a clock"
			     : "hold it for a shorter time, or have more of it");
	findings_offer(findings, &finding);
}

void find_locks(const struct analysis *analysis, struct findings *findings)
{
	for (size_t i = 0; i < analysis->count; i++) {
		const struct activity *activity = &analysis->activities[i];

		if (!activity->has_waits)
			continue;
		for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
			const char *rule = wait_class_row(class)->rule;

			if (rule && !strcmp(rule, "lock_bound"))
				find_lock(analysis, activity, class, findings);
		}
		find_handed_over(analysis, activity, findings);
	}
}
