// SPDX-License-Identifier: BSD-2-Clause
/* Adds up what processes of one name waited for. */
#include "finding/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/stack_table.h"

static bool is_outside(const struct resource_rows *rows, const struct resource_row *row)
{
	return rows_are_of_regions(rows->by) && strcmp(row->name, rows_rest_name(rows->by)) == 0;
}

static bool has_regions(const struct resource_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!rows->items[i].no_process && !is_outside(rows, &rows->items[i]))
			return true;
	return false;
}

/* What is outside of all regions is no region that could be made faster; without any it is all
 * there is. */
static double judge(const struct resource_rows *rows, const struct resource_row *row)
{
	return row->no_process || (is_outside(rows, row) && has_regions(rows)) ? -1 : 0;
}

static int classify(struct analysis *analysis)
{
	const struct resource_rows *rows = analysis->rows;
	uint32_t most = 0;

	for (size_t i = 0; i < rows->weight_count; i++)
		if (rows->weights[i].stack.stack > most)
			most = rows->weights[i].stack.stack;
	analysis->class_count = (size_t)most + 1;
	analysis->classes = calloc(analysis->class_count, 1);
	if (!analysis->classes)
		return -ENOMEM;
	for (size_t i = 0; i < rows->weight_count; i++) {
		const struct row_weight *weight = &rows->weights[i];
		uint8_t *class = &analysis->classes[weight->stack.stack];

		const uint32_t *functions;
		size_t count;

		if (weight->kind != PKBPF_PROFILE_OFFCPU || *class != WAIT_CLASS_OTHER)
			continue;
		functions = resource_rows_stack(rows, weight->stack.stack, &count);
		*class = (uint8_t)wait_class_of_functions(rows, functions, count);
	}
	return 0;
}

struct adding {
	const struct analysis *analysis;
	struct activity *activity;
};

static void add_waits(void *context, const struct row_weight *weight)
{
	const struct adding *adding = context;
	enum wait_class class = adding->analysis->classes[weight->stack.stack], most = class;
	uint64_t most_ns = 0;

	for (unsigned int state = PKBPF_WAIT_SLEEP; state < PKBPF_WAIT_STOPPED; state++) {
		enum wait_class in_state = wait_class_in_state(class, state);

		adding->activity->waits[in_state].time_ns += weight->state_weight[state];
		if (weight->state_weight[state] >= most_ns) {
			most = in_state;
			most_ns = weight->state_weight[state];
		}
	}
	adding->activity->waits[most].count += weight->stack.count;
}

static void sum_up(const struct analysis *analysis, struct activity *activity)
{
	const struct resource_row *sum = &activity->group->sum;
	struct adding adding = {analysis, activity};

	activity->has_waits = sum->known & ROW_HAS_WAITS;
	/* Two clocks measure it: the page says the former. */
	activity->on_cpu_ns =
		sum->cpu.total_ns ? sum->cpu.total_ns - sum->gpu.spin_ns : sum->waits.on_cpu_ns;
	activity->cpu_ns = sum->cpu.total_ns ? sum->cpu.total_ns : sum->waits.on_cpu_ns;
	activity->runqueue_ns = sum->waits.runqueue_ns;
	activity->wall_ns =
		sum->waits.wall_ns > sum->lifetime_ns ? sum->waits.wall_ns : sum->lifetime_ns;
	activity->active_ns = activity->on_cpu_ns + activity->runqueue_ns;
	if (!activity->has_waits)
		return;
	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, add_waits, &adding);
	for (unsigned int i = 0; i < WAIT_CLASS_COUNT; i++)
		if (wait_class_row(i)->rule)
			activity->active_ns += activity->waits[i].time_ns;
}

void activity_each_stack(const struct analysis *analysis, const struct activity *activity,
			 enum pkbpf_profile_kind kind,
			 void (*take)(void *context, const struct row_weight *weight),
			 void *context)
{
	for (size_t i = 0; i < activity->group->count; i++) {
		size_t count;
		const struct row_weight *weights =
			resource_rows_weights(analysis->rows, activity->group->members[i], &count);

		for (size_t j = 0; j < count; j++)
			if (weights[j].kind == kind)
				take(context, &weights[j]);
	}
}

int analysis_init(struct analysis *analysis, const struct resource_rows *rows)
{
	*analysis = (struct analysis){.rows = rows,
				      .has_targets = profile_info_read(rows->profile)->has_targets};
	row_groups_find(&analysis->groups, rows, judge);
	analysis->activities = calloc(analysis->groups.count + 1, sizeof(*analysis->activities));
	if (!analysis->activities || classify(analysis)) {
		analysis_done(analysis);
		return -ENOMEM;
	}
	for (size_t i = 0; i < analysis->groups.count; i++) {
		analysis->activities[i].group = &analysis->groups.items[i];
		sum_up(analysis, &analysis->activities[i]);
	}
	analysis->count = analysis->groups.count;
	return 0;
}

void analysis_done(struct analysis *analysis)
{
	row_groups_done(&analysis->groups);
	free(analysis->activities);
	free(analysis->classes);
	*analysis = (struct analysis){0};
}
