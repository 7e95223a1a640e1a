// SPDX-License-Identifier: BSD-2-Clause
/* Bounds the memory of an endless record, step by step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/unused.h"
#include "profile/aggregator_private.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"

/* No limit of memory makes stacks take less: a profile of a few hundred stacks is of use. */
#define LEAST_STACK_BYTES (512U << 10)

/* Updates the stack numbers that the aggregator holds. */
static void renumber(struct aggregator *aggregator, const uint32_t *numbers)
{
	array_foreach(&aggregator->stacks, stack)
		stack->stack = numbers[stack->stack];
	/* The cached frames may have been merged into others. */
	stack_builder_forget_frames(aggregator->builder);
}

/* Plans the next step after a merge or a shortening that left `after` bytes. */
static void plan_next_step(struct aggregator *aggregator, size_t before, size_t after)
{
	const struct aggregator_options *options = &aggregator->options;
	/* Shortening is useless when most of the remaining stacks cannot become shorter. */
	bool of_use = !aggregator->shortening || after < before - before / 16;

	/* Shortening starts before the limit is reached and continues until there is room for a
	 * while. */
	aggregator->shortening =
		of_use && after > (aggregator->shortening ? options->max_bytes / 2
							  : options->max_bytes / 4 * 3);
	aggregator->next_merge_bytes = 2 * after;
	if (aggregator->next_merge_bytes > options->max_bytes && after < options->max_bytes)
		aggregator->next_merge_bytes = options->max_bytes;
	if (aggregator->next_merge_bytes < options->merge_bytes)
		aggregator->next_merge_bytes = options->merge_bytes;
}

static bool keep_stack(struct aggregator *fresh, uint64_t stack_id,
		       const struct numbered_stack *stack)
{
	if (!array_reserve(&fresh->stacks, fresh->stacks.count + 1) ||
	    !hash_map_put(&fresh->stack_numbers, stack_id, fresh->stacks.count))
		return false;
	*array_add(&fresh->stacks) = *stack;
	return true;
}

/* Forgets stack numbers for which is_needed is false. Returns false without memory; then all
 * stay. */
static bool forget_numbers(struct aggregator *aggregator,
			   bool (*is_needed)(const void *context,
					     const struct numbered_stack *stack),
			   const void *context)
{
	struct aggregator fresh = {0};
	const struct hash_map_slot *slot;
	size_t cursor = 0;
	bool kept = true;

	while (kept && (slot = hash_map_next(&aggregator->stack_numbers, &cursor))) {
		struct numbered_stack *stack = &aggregator->stacks.items[slot->value];

		if (is_needed(context, stack))
			kept = keep_stack(&fresh, slot->key, stack);
	}
	if (!kept) {
		array_free(&fresh.stacks);
		hash_map_done(&fresh.stack_numbers);
		return false;
	}
	array_free(&aggregator->stacks);
	hash_map_done(&aggregator->stack_numbers);
	memcpy(&aggregator->stacks, &fresh.stacks, sizeof(fresh.stacks));
	aggregator->stack_numbers = fresh.stack_numbers;
	return true;
}

/* Later events do not refer to stacks of grouped processes. */
static bool has_its_own_row(const void *context, const struct numbered_stack *stack)
{
	const uint32_t *numbers = context;

	return numbers[stack->process] == stack->process;
}

static void forget_stacks_of_merged(struct aggregator *aggregator, const uint32_t *numbers)
{
	if (forget_numbers(aggregator, has_its_own_row, numbers))
		return;
	array_foreach(&aggregator->stacks, stack)
		stack->process = numbers[stack->process];
}

static bool was_named_lately(_unused_ const void *context, const struct numbered_stack *stack)
{
	return stack->named_lately;
}

/* The next time comes when the number of remaining stacks has doubled. That pass keeps only
 * stacks that arrived or were referred to since this one. */
int aggregator_forget_unnamed(struct aggregator *aggregator)
{
	bool forgotten = forget_numbers(aggregator, was_named_lately, NULL);

	array_foreach(&aggregator->stacks, stack)
		stack->named_lately = false;
	aggregator->next_forget = 2 * aggregator->stacks.count;
	if (aggregator->next_forget < aggregator->options.max_numbered_stacks)
		aggregator->next_forget = aggregator->options.max_numbered_stacks;
	return forgotten ? 1 : -ENOMEM;
}

static bool merges_processes(const struct aggregator *aggregator)
{
	return aggregator->options.max_ended_tasks &&
	       profile_ended_tasks(aggregator->running) >= aggregator->next_ended;
}

bool aggregator_forgets_stacks(const struct aggregator *aggregator)
{
	return aggregator->options.max_numbered_stacks &&
	       aggregator->stacks.count >= aggregator->next_forget && !merges_processes(aggregator);
}

void aggregator_keep_stack(struct aggregator *aggregator, uint64_t stack_id)
{
	const uint64_t *number =
		stack_id ? hash_map_find(&aggregator->stack_numbers, stack_id) : NULL;

	if (number)
		aggregator->stacks.items[*number].named_lately = true;
}

static int merge_processes(struct aggregator *aggregator)
{
	uint64_t now_ns = process_table_now_ns(aggregator->processes);
	size_t count = process_table_count(aggregator->processes);
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	aggregator_heap_settle(aggregator);
	err = profile_merge_processes(aggregator->running,
				      now_ns > PROCESS_LATE_NS ? now_ns - PROCESS_LATE_NS : 0,
				      &numbers);

	aggregator->next_ended =
		profile_ended_tasks(aggregator->running) + aggregator->options.max_ended_tasks;
	if (err)
		return err;
	forget_stacks_of_merged(aggregator, numbers);
	for (uint32_t id = 0; id < count; id++) {
		if (numbers[id] != id)
			stack_builder_forget_mappings(aggregator->builder, id);
	}
	return 1;
}

/* The kernel side may still refer to numbered stacks. */
static int cut_stacks(struct aggregator *aggregator, struct symbolizer *symbolizer, size_t bytes,
		      uint32_t **ret_numbers)
{
	_cleanup_free_ bool *awaited =
		calloc(profile_stack_count(aggregator->running) + 1, sizeof(*awaited));
	const struct profile_cut cut = {symbolizer, bytes, awaited};

	if (!awaited)
		return -ENOMEM;
	array_foreach(&aggregator->stacks, stack)
		awaited[stack->stack] = true;
	return aggregator->joining ? profile_join_stacks(aggregator->running, &cut, ret_numbers)
				   : profile_shorten_stacks(aggregator->running, &cut, ret_numbers);
}

bool aggregator_name_places(struct aggregator *aggregator, struct symbolizer *symbolizer)
{
	uint64_t most_ns = aggregator->options.most_naming_ns;

	return profile_name_places(aggregator->running, symbolizer,
				   most_ns ? clock_now_ns() + most_ns : UINT64_MAX);
}

bool aggregator_name_generated(struct aggregator *aggregator, struct symbolizer *symbolizer)
{
	uint64_t most_ns = aggregator->options.most_naming_ns;

	return profile_name_generated(aggregator->running, symbolizer,
				      most_ns ? clock_now_ns() + most_ns : UINT64_MAX);
}

int aggregator_forget_places(struct aggregator *aggregator)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	if (!aggregator_has_one_slice(aggregator))
		return 0;
	err = profile_merge_stacks(aggregator->running, true, &numbers);

	if (numbers)
		renumber(aggregator, numbers);
	return err;
}

int aggregator_limit_memory(struct aggregator *aggregator, struct symbolizer *symbolizer)
{
	size_t before = profile_stack_bytes(aggregator->running),
	       target = aggregator->options.max_bytes / 2;
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	/* Slices about to be closed keep their numbers. */
	if (!aggregator_has_one_slice(aggregator))
		return 0;
	if (merges_processes(aggregator))
		return merge_processes(aggregator);
	if (aggregator_forgets_stacks(aggregator)) {
		aggregator_heap_keep_stacks(aggregator);
		aggregator_memory_keep_stacks(aggregator);
		return aggregator_forget_unnamed(aggregator);
	}
	if (!aggregator->options.merge_bytes ||
	    (!aggregator->shortening && before < aggregator->next_merge_bytes))
		return 0;
	if (aggregator->shortening) {
		err = cut_stacks(aggregator, symbolizer, before > target ? before - target : 0,
				 &numbers);
		aggregator->joining = false;
	} else {
		/* When frames arrive faster than they can be symbolized, the symbolized ones are
		 * merged. */
		if (!aggregator_name_places(aggregator, symbolizer) &&
		    before < aggregator->next_merge_bytes / 4 * 5)
			return 0;
		err = profile_merge_stacks(aggregator->running, false, &numbers);
	}
	if (numbers)
		renumber(aggregator, numbers);
	plan_next_step(aggregator, before, profile_stack_bytes(aggregator->running));
	return err ? err : 1;
}

void aggregator_group_processes(struct aggregator *aggregator)
{
	aggregator->next_ended = 0;
}

bool aggregator_cut_stacks(struct aggregator *aggregator, bool joins)
{
	struct aggregator_options *options = &aggregator->options;
	size_t bytes = profile_stack_bytes(aggregator->running);

	if (!options->max_bytes || bytes <= LEAST_STACK_BYTES)
		return false;
	if (options->max_bytes > bytes)
		options->max_bytes = bytes;
	if (options->merge_bytes > options->max_bytes / 4)
		options->merge_bytes = options->max_bytes / 4;
	aggregator->shortening = true;
	aggregator->joining = joins;
	return true;
}
