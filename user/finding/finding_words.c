// SPDX-License-Identifier: BSD-2-Clause
/* The figures rules ask for, and the words all findings share. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finding/finding_rules.h"

/* Functions of a stack that are looked at for one outside of the kernel. */
#define ADDRESS_DEPTH 256

#define NEARLY_ALL_PERCENT 95

double finding_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

double finding_seconds(const struct resource_rows *rows)
{
	return rows->interval_ns ? (double)rows->interval_ns / (double)NS_PER_SECOND : 0;
}

void finding_say(char part[FINDING_PART_SIZE], const char *format, ...)
{
	size_t length = strlen(part);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(part + length, FINDING_PART_SIZE - length, format, arguments);
	va_end(arguments);
}

const char *finding_name(const struct resource_row *row)
{
	return row->name[0] ? row->name : row->container[0] ? row->container : "[unknown]";
}

void finding_say_group(char part[FINDING_PART_SIZE], const struct row_group *group)
{
	const struct resource_row *row = group->worst;

	finding_say(part, "%s", finding_name(row));
	if (group->count > 1)
		finding_say(part, " (%zu %s)", group->count, row->tid ? "threads" : "processes");
	else if (row->tid)
		finding_say(part, " %" PRIu32 "/%" PRIu32, row->pid, row->tid);
	else if (row->pid)
		finding_say(part, " %" PRIu32, row->pid);
}

static const char *script_of(const struct analysis *analysis, const struct activity *activity)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_SCRIPT &&
		    activity_has_pid(activity, relation->pid))
			return relation->text;
	}
	return NULL;
}

void finding_say_who(struct finding *finding, const struct analysis *analysis,
		     const struct activity *activity)
{
	const struct row_group *group = activity->group;
	const char *script = group->count == 1 ? script_of(analysis, activity) : NULL;

	finding_say_group(finding->who, group);
	if (script)
		finding_say(finding->who, " (%s)", script);
	finding->pid = group->worst->pid;
	finding->has_ended = group->worst->ended_inside;
}

void finding_say_peer_advice(struct finding *finding, uint32_t pid, bool is_due)
{
	finding_say(finding->next, "profile the peer");
	if (pid && !finding->has_ended)
		finding_say(finding->next, " (pkbpf -p %" PRIu32 ")", pid);
	finding_say(finding->next, "%s",
		    is_due ? ", unless it answers late by design (long poll, events)"
			   : ", if an answer is due");
}

bool activity_has_pid(const struct activity *activity, uint32_t pid)
{
	for (size_t i = 0; i < activity->group->count; i++)
		if (activity->group->members[i]->pid == pid)
			return true;
	return false;
}

void finding_say_wall(char part[FINDING_PART_SIZE], const struct activity *activity,
		      uint64_t time_ns)
{
	const struct resource_row *sum = &activity->group->sum;
	double share = finding_percent((double)time_ns, (double)activity->wall_ns);

	finding_say(part, "%.0f %% of wall time", share > 100 ? 100 : share);
	if (sum->threads_seen > 1)
		finding_say(part, " of %" PRIu64 " threads", sum->threads_seen);
}

/* Self weight of unnamed addresses in stacks of a group. */
struct address_sum {
	const struct function_table *table;
	uint64_t *weights; /* by function of the table */
	uint64_t unnamed, whole;
};

static void add_address(struct address_sum *sum, const struct profile *profile,
			const struct profile_row *row)
{
	uint32_t functions[ADDRESS_DEPTH];
	size_t count =
		function_table_stack(sum->table, profile, row->stack, functions, ADDRESS_DEPTH);

	sum->whole += row->weight;
	for (size_t i = 0; i < count && i < ADDRESS_DEPTH; i++) {
		const struct function *function = function_table_get(sum->table, functions[i]);

		if (function_is_outside(function))
			continue;
		if (!function->named && function->module[0]) {
			sum->weights[functions[i]] += row->weight;
			sum->unnamed += row->weight;
		}
		return;
	}
}

static void add_addresses(struct address_sum *sum, const struct analysis *analysis,
			  const struct activity *activity)
{
	const struct profile *profile = analysis->rows->profile;
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < activity->group->count; j++)
			if (rows[i].kind == PKBPF_PROFILE_CPU &&
			    analysis->rows->places[i].number == activity->group->members[j]->number)
				add_address(sum, profile, &rows[i]);
}

/* The weight of a place, and of all stacks looked at. */
struct place {
	uint64_t weight, whole;
};

static double place_percent(const struct place *place)
{
	return finding_percent((double)place->weight, (double)place->whole);
}

/* Of programs without names, the address that runs most often: "[gzip+0x1234]". */
static struct place say_address(char part[FINDING_PART_SIZE], const struct analysis *analysis,
				const struct activity *activity)
{
	const struct function_table_options apart = {0};
	struct function_table *table = function_table_new(analysis->rows->profile, &apart);
	struct address_sum sum = {.table = table};
	struct place place = {0};
	uint32_t most = 0;

	sum.weights = table ? calloc(function_table_count(table) + 1, sizeof(uint64_t)) : NULL;
	if (sum.weights)
		add_addresses(&sum, analysis, activity);
	for (uint32_t i = 0; sum.weights && i < function_table_count(table); i++)
		most = sum.weights[i] > sum.weights[most] ? i : most;
	if (sum.unnamed >= sum.whole / 2 && sum.weights && sum.weights[most] >= LEAST_COUNTED) {
		finding_say(part, "%s", function_table_get(table, most)->name);
		place = (struct place){sum.weights[most], sum.whole};
	}
	free(sum.weights);
	function_table_free(table);
	return place;
}

static struct place say_place(char part[FINDING_PART_SIZE], const struct analysis *analysis,
			      const struct activity *activity, const struct finding_stacks *stacks)
{
	const struct row_group *group = activity->group;
	struct row_explanation explanation =
		resource_rows_explain(analysis->rows, group->members, group->count, stacks->kind,
				      stacks->states, stacks->choice);
	const struct place nowhere = {0};
	bool is_named = false;

	for (size_t i = 0; i < explanation.count; i++)
		is_named |= explanation.functions[i]->named;
	/* "[unknown]" tells nobody where to look, an address does. */
	if (!is_named && stacks->kind == PKBPF_PROFILE_CPU)
		return say_address(part, analysis, activity);
	if (!is_named || explanation.weight < explanation.whole / 2 ||
	    (stacks->kind == PKBPF_PROFILE_CPU && explanation.weight < LEAST_COUNTED))
		return nowhere;
	for (size_t i = 0; i < explanation.count; i++)
		finding_say(part, "%s%s", i ? " > " : "", explanation.functions[i]->name);
	return (struct place){explanation.weight, explanation.whole};
}

double finding_say_place(char part[FINDING_PART_SIZE], const struct analysis *analysis,
			 const struct activity *activity, const struct finding_stacks *stacks)
{
	struct place place = say_place(part, analysis, activity, stacks);

	return place_percent(&place);
}

bool finding_set_place(struct finding *finding, const char *base, const struct analysis *analysis,
		       const struct activity *activity, const struct finding_stacks *stacks)
{
	struct place place = say_place(finding->place, analysis, activity, stacks);
	double percent = place_percent(&place);

	finding->place_percent = percent < NEARLY_ALL_PERCENT ? percent : 0;
	finding->place_base = base;
	/* Times of waits and numbers of pages are sums of all. */
	if (stacks->kind == PKBPF_PROFILE_CPU)
		finding->place_error = finding_share_error(percent, place.whole);
	return place.weight > 0;
}

double finding_share_error(double percent, uint64_t samples)
{
	double part = percent < 100 ? percent / 100 : 1;

	return samples ? 200 * sqrt(part * (1 - part) / (double)samples) : 0;
}

const char *finding_share(char buffer[FINDING_SHARE_SIZE], double percent, double error)
{
	/* Less than the last digit. */
	if (error < 0.5)
		snprintf(buffer, FINDING_SHARE_SIZE, "%.0f %%", percent);
	else
		snprintf(buffer, FINDING_SHARE_SIZE, "%.0f +- %.0f %%", percent, error);
	return buffer;
}

static bool takes_class(void *context, const struct row_weight *weight)
{
	const struct class_choice *choice = context;
	enum wait_class class = choice->analysis->classes[weight->stack.stack];

	for (unsigned int state = PKBPF_WAIT_SLEEP; state < PKBPF_WAIT_STOPPED; state++)
		if (weight->state_weight[state] &&
		    choice->classes & 1ULL << wait_class_in_state(class, state))
			return true;
	return false;
}

struct finding_stacks class_stacks(struct class_choice *choice, const struct analysis *analysis,
				   uint64_t classes)
{
	*choice = (struct class_choice){
		.analysis = analysis,
		.classes = classes,
		.choice = {.takes = takes_class, .context = choice},
	};
	return (struct finding_stacks){
		.kind = PKBPF_PROFILE_OFFCPU,
		.states = 1U << PKBPF_WAIT_SLEEP | 1U << PKBPF_WAIT_DISK |
			  1U << PKBPF_WAIT_UNINTERRUPTIBLE,
		.choice = &choice->choice,
	};
}

double finding_queue_percent(const struct resource_row *total)
{
	return finding_percent((double)total->waits.runqueue_ns,
			       (double)total->waits.runqueue_ns + (double)total->cpu.total_ns);
}

double finding_cost(const struct resource_rows *rows, uint64_t time_ns)
{
	return finding_percent((double)time_ns, (double)rows->interval_ns);
}

double finding_severity(const struct resource_rows *rows, uint64_t time_ns)
{
	double share = finding_cost(rows, time_ns);

	return share > 100 ? 100 : share;
}

double activity_severity(const struct analysis *analysis, const struct activity *activity,
			 uint64_t time_ns)
{
	/* Without the time in which it waited for a CPU: what a program would do on an idle machine
	 * comes before that others use this one. */
	double wall = (double)activity->wall_ns, queue = (double)activity->runqueue_ns,
	       left = wall > queue && wall > 0 ? 1 - queue / wall : 1;
	double most,
		of_active = finding_percent((double)time_ns, (double)activity->active_ns - queue);
	double of_interval = finding_percent((double)time_ns, (double)analysis->rows->interval_ns *
								      (left > 0.02 ? left : 0.02));

	/* Of a whole machine, what concerns all of it comes first. */
	most = analysis->has_targets ? 100 : 95;
	of_active = of_active < of_interval ? of_active : of_interval;
	return of_active < most ? of_active : most;
}
