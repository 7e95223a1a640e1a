// SPDX-License-Identifier: BSD-2-Clause
/* The rule about threads that wait for each other. */
#include <inttypes.h>

#include "rows/human.h"
#include "rows/lock_view.h"
#include "finding/finding_rules.h"

/* Threads of a cycle that are named. */
#define THREADS_NAMED 4

bool activity_has_deadlock(const struct analysis *analysis, const struct activity *activity)
{
	const struct deadlock_list *list = profile_deadlocks(analysis->rows->profile);

	array_foreach(&list->items, thread)
		if (activity_has_pid(activity, thread->pid))
			return true;
	return false;
}

static const struct activity *activity_of(const struct analysis *analysis, uint32_t pid)
{
	for (size_t i = 0; i < analysis->count; i++)
		if (activity_has_pid(&analysis->activities[i], pid))
			return &analysis->activities[i];
	return NULL;
}

static char *place_of(char text[LOCK_PLACE_TEXT_SIZE], const struct analysis *analysis,
		      const struct deadlock_thread *thread)
{
	text[0] = '\0';
	if (thread->stack != DEADLOCK_NO_STACK)
		lock_place_of_stack(text, analysis->rows->functions, analysis->rows->profile,
				    thread->stack);
	return text;
}

/* "thread 12 waits in `f` for a mutex held by 13, 13 in `g` for a mutex held by 12" */
static void say_threads(struct finding *finding, const struct analysis *analysis,
			const struct deadlock_thread *threads, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < THREADS_NAMED; i++) {
		char place[LOCK_PLACE_TEXT_SIZE];

		if (i)
			finding_say(finding->by, ", %" PRIu32, threads[i].tid);
		else
			finding_say(finding->by, "thread %" PRIu32 " waits", threads[i].tid);
		if (place_of(place, analysis, &threads[i])[0])
			finding_say(finding->by, " in `%s`", place);
		finding_say(finding->by, " for a %s", lock_class_name(threads[i].class));
		if (count == 1)
			finding_say(finding->by, " that it holds");
		else
			finding_say(finding->by, " held by %" PRIu32, threads[(i + 1) % count].tid);
	}
	if (count > THREADS_NAMED)
		finding_say(finding->by, ", and so on");
}

/* threads: a complete cycle. */
static void find_deadlock(const struct analysis *analysis, const struct deadlock_thread *threads,
			  uint32_t count, struct findings *findings)
{
	const struct activity *activity = activity_of(analysis, threads->pid);
	struct finding finding = finding_new(FINDING_RULE_deadlock);
	uint64_t least_ns = threads->wait_ns;
	char time[HUMAN_SIZE];

	for (uint32_t i = 1; i < count; i++)
		if (threads[i].wait_ns < least_ns)
			least_ns = threads[i].wait_ns;
	if (activity)
		finding_say_who(&finding, analysis, activity);
	else
		finding_say(finding.who, "%s %" PRIu32, threads->comm, threads->pid);
	finding.pid = threads->pid;
	finding.severity = 100;
	finding.cost = FINDING_COST_OF_ALL;
	if (count == 1)
		finding_say(finding.cause, "deadlock of a thread with itself");
	else
		finding_say(finding.cause, "deadlock of %" PRIu32 " threads", count);
	say_threads(&finding, analysis, threads, count);
	finding_say(finding.evidence, "%s for %s",
		    count == 1 ? "it has not run" : "none of them has run",
		    human_time(time, least_ns));
	if (threads->behind)
		finding_say(finding.evidence, ", %" PRIu32 " more thread%s for %s", threads->behind,
			    threads->behind == 1 ? " waits" : "s wait", count == 1 ? "it" : "them");
	finding_say(finding.next, "%s",
		    count == 1 ? "do not take the lock again where it is held, or make it recursive"
			       : "take these locks in the same order everywhere");
	findings_offer(findings, &finding);
}

void find_deadlocks(const struct analysis *analysis, struct findings *findings)
{
	const struct deadlock_list *list = profile_deadlocks(analysis->rows->profile);

	for (size_t i = 0; i < list->items.count; i++) {
		const struct deadlock_thread *threads = &list->items.items[i];

		/* Of a choice of processes a part may be missing. */
		if (!threads->index && threads->count <= list->items.count - i &&
		    threads[threads->count - 1].cycle == threads->cycle &&
		    threads[threads->count - 1].index == threads->count - 1)
			find_deadlock(analysis, threads, threads->count, findings);
	}
}
