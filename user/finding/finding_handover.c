// SPDX-License-Identifier: BSD-2-Clause
/* The rule about threads that wake each other for moments of work. */
#include "finding/finding_rules.h"
#include "finding/waker.h"

/* Per second, of a group whose threads wait for each other. */
#define HANDOVERS_PER_SECOND 5000
/* A switch with its wake-up costs about 5 us. */
#define SWITCH_NS	 5000
#define HANDOVER_WORK_NS 50000
/* With less work in between, system time is due to the switches: where a switch costs
 * more, as on a virtual machine. */
#define SHORT_WORK_NS 20000
/* Of the waits, in the one place: the other is hardly one. */
#define ONE_PLACE_PERCENT 75

/* Waits of one process for itself, and for a process beside it: the latter count when it is of the
 * group. */
#define WITHIN                                                                                     \
	(WAIT_CLASS_BIT(FUTEX) | WAIT_CLASS_BIT(CONDITION) | WAIT_CLASS_BIT(SEMAPHORE) |           \
	 WAIT_CLASS_BIT(PIPE) | WAIT_CLASS_BIT(MUTEX))
#define BETWEEN (WAIT_CLASS_BIT(SOCKET) | WAIT_CLASS_BIT(EVENTS))

enum { PLACES = 32 };

struct places {
	const struct analysis *analysis;
	uint64_t classes;
	struct {
		const struct function *function;
		uint64_t waits;
	} items[PLACES]; /* most first */
	size_t count;
	uint64_t waits;
};

static void add_place(void *context, const struct row_weight *weight)
{
	struct places *places = context;
	const struct function *function = NULL;
	const uint32_t *functions;
	size_t count, i = 0;

	if (!(places->classes & 1ULL << places->analysis->classes[weight->stack.stack]))
		return;
	places->waits += weight->stack.count;
	functions = resource_rows_stack(places->analysis->rows, weight->stack.stack, &count);
	for (; i < count && !function; i++) {
		function = function_table_get(places->analysis->rows->functions, functions[i]);
		function = waker_is_of_program(function) ? function : NULL;
	}
	for (i = 0; function && i < places->count && places->items[i].function != function; i++)
		;
	if (!function || i == PLACES)
		return;
	places->items[i].function = function;
	places->items[i].waits += weight->stack.count;
	places->count += i == places->count;
	for (; i > 0 && places->items[i - 1].waits < places->items[i].waits; i--) {
		typeof(places->items[0]) other = places->items[i];

		places->items[i] = places->items[i - 1];
		places->items[i - 1] = other;
	}
}

/* Both ends: "ask" and "answer". */
static void say_places(struct finding *finding, const struct analysis *analysis,
		       const struct activity *activity, uint64_t classes)
{
	struct places places = {.analysis = analysis, .classes = classes};
	struct class_choice choice;
	struct finding_stacks stacks = class_stacks(&choice, analysis, classes);

	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, add_place, &places);
	if (places.count < 2 || finding_percent((double)places.items[0].waits,
						(double)places.waits) >= ONE_PLACE_PERCENT) {
		finding_set_place(finding, "of it", analysis, activity, &stacks);
		return;
	}
	finding_say(finding->place, "%s` and `%s", places.items[0].function->name,
		    places.items[1].function->name);
}

static double waits_of(const struct activity *activity, uint64_t classes)
{
	double waits = 0;

	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++)
		if (classes & 1ULL << class)
			waits += (double)activity->waits[class].count;
	return waits;
}

/* What it waits for when it waits for itself. */
static uint64_t classes_of(const struct analysis *analysis, const struct activity *activity)
{
	struct wakers wakers;

	if (waits_of(activity, BETWEEN) <= waits_of(activity, WITHIN))
		return WITHIN;
	wakers = wakers_of(analysis, activity, BETWEEN);
	return wakers.most_ns && activity_has_pid(activity, wakers.pid) ? WITHIN | BETWEEN : WITHIN;
}

bool find_handover(const struct analysis *analysis, const struct activity *activity,
		   struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_handover);
	uint64_t classes = activity->has_waits ? classes_of(analysis, activity) : 0;
	double seconds = finding_seconds(analysis->rows), waits = waits_of(activity, classes),
	       work_ns, cost_ns;

	if (!activity->has_waits || seconds <= 0 || waits < HANDOVERS_PER_SECOND * seconds)
		return false;
	work_ns = (double)activity->cpu_ns / waits;
	cost_ns = (double)SWITCH_NS * waits;
	if (work_ns >= HANDOVER_WORK_NS)
		return false;
	if (work_ns < SHORT_WORK_NS && cost_ns < (double)activity->group->sum.cpu.system_ns)
		cost_ns = (double)activity->group->sum.cpu.system_ns;
	if (cost_ns > (double)activity->cpu_ns)
		cost_ns = (double)activity->cpu_ns;
	/* The wake-ups of each other are their run-queue waits as well. */
	finding.severity = finding_percent(cost_ns, (double)activity->cpu_ns);
	if (finding.severity > finding_severity(analysis->rows, activity->active_ns))
		finding.severity = finding_severity(analysis->rows, activity->active_ns);
	if (finding.severity < ACTIVE_PERCENT)
		return false;
	/* Switches that take most of the CPU time explain all of it. */
	finding.cost = finding_cost(analysis->rows, 2 * cost_ns >= (double)activity->cpu_ns
							    ? activity->cpu_ns
							    : (uint64_t)cost_ns);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "hands over without end: its threads wake each other for a few "
				   "microseconds of work");
	say_places(&finding, analysis, activity, classes);
	finding_say(finding.evidence, "%.0f context switches/s, %.1f us on CPU in between",
		    (double)activity->group->sum.cpu.voluntary / seconds, work_ns / 1000);
	finding_say(finding.next, "hand over more at once, or do the work in one thread");
	findings_offer(findings, &finding);
	return true;
}
