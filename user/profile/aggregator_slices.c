// SPDX-License-Identifier: BSD-2-Clause
/* Begins a slice at each cut of the stream, and closes the previous one when no more records can
 * come to it. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/aggregator_private.h"
#include "python/python_functions.h"
#include "symbol/jit/code_history.h"

struct profile *aggregator_running(const struct aggregator *aggregator)
{
	return aggregator->running;
}

struct profile *aggregator_slice(struct aggregator *aggregator, uint64_t time_ns)
{
	struct profile_info *info = profile_info(aggregator->running);

	/* The first slice has no cut before it. */
	if (!info->sequence || time_ns >= info->start_ns)
		return aggregator->running;
	if (aggregator->closing && time_ns >= profile_info(aggregator->closing)->start_ns)
		return aggregator->closing;
	info->counters[PKBPF_COUNTER_LATE_RECORDS]++;
	return aggregator->running;
}

uint32_t aggregator_stack_in(const struct aggregator *aggregator, struct profile *slice,
			     uint32_t stack)
{
	if (stack == UINT32_MAX || profile_has_same_names(slice, aggregator->running))
		return stack;
	return profile_adopt_stack(slice, aggregator->running, stack);
}

static void close_slice(struct aggregator *aggregator)
{
	const struct resource_slices slices = {
		.closing = profile_resources(aggregator->closing),
		.running = profile_resources(aggregator->running),
	};

	if (resource_usage_close(&slices))
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_EVENTS_NO_MEMORY]++;
	/* Room was reserved at the cut, as for the open slices. */
	*array_add(&aggregator->closed) = aggregator->closing;
	aggregator->closing = NULL;
}

static bool names_are_due(const struct aggregator *aggregator, uint64_t time_ns)
{
	const struct aggregator_options *options = &aggregator->options;

	if (options->max_names_ns && aggregator->names_since_ns &&
	    time_ns >= aggregator->names_since_ns + options->max_names_ns)
		return true;
	return options->max_names_bytes &&
	       profile_names_bytes(aggregator->running) >= options->max_names_bytes;
}

bool aggregator_plan_cut(struct aggregator *aggregator, uint64_t time_ns)
{
	aggregator->is_planned = true;
	aggregator->renews_names = names_are_due(aggregator, time_ns);
	return aggregator->renews_names;
}

static void mark_python(const struct profile *profile, bool *is_used)
{
	for (size_t i = 0; i < profile_frame_count(profile); i++) {
		const struct frame_location *location =
			&profile_frame(profile, (uint32_t)i)->location;

		if (location->space == FRAME_PYTHON && location->object != PYTHON_FUNCTION_NONE)
			is_used[location->object] = true;
	}
}

/* Gives back the Python functions that only earlier generations of names refer to. */
static void forget_python(struct aggregator *aggregator, const struct profile *next)
{
	struct python_functions *python = aggregator->options.python;
	bool *is_used =
		python ? calloc(python_functions_count(python) + 1, sizeof(*is_used)) : NULL;

	if (!is_used)
		return;
	mark_python(aggregator->running, is_used);
	mark_python(next, is_used);
	array_foreach(&aggregator->closed, slice)
		mark_python(*slice, is_used);
	python_functions_forget(python, is_used);
	free(is_used);
}

/* Renumbers recently referenced stacks for the new generation of names. Later events that refer
 * to other stacks have no stack, which is counted. */
static void renew_names(struct aggregator *aggregator, struct profile *next)
{
	const struct profile *before = aggregator->running;

	aggregator_heap_keep_stacks(aggregator);
	aggregator_memory_keep_stacks(aggregator);
	aggregator_forget_unnamed(aggregator);
	array_foreach(&aggregator->stacks, stack) {
		stack->stack = profile_adopt_stack(next, before, stack->stack);
		/* Without memory, the empty stack replaces it. */
		if (stack->stack == UINT32_MAX)
			stack->stack = profile_intern_stack(next, NULL, 0);
	}
	stack_builder_forget_frames(aggregator->builder);
	forget_python(aggregator, next);
	aggregator->next_merge_bytes = aggregator->options.merge_bytes;
	aggregator->shortening = false;
}

static void mark_files(const struct profile *slice, bool *is_used)
{
	for (size_t i = 0; i < profile_frame_count(slice); i++) {
		const struct frame_location *location =
			&profile_frame(slice, (uint32_t)i)->location;

		if (location->space == FRAME_FILE)
			is_used[location->object] = true;
	}
}

void aggregator_mark_files(const struct aggregator *aggregator, bool *is_used)
{
	mark_files(aggregator->running, is_used);
	if (aggregator->closing)
		mark_files(aggregator->closing, is_used);
	array_foreach(&aggregator->closed, slice)
		mark_files(*slice, is_used);
}

void aggregator_release_processes(struct aggregator *aggregator)
{
	size_t count = process_table_count(aggregator->processes);
	_cleanup_free_ bool *is_used = NULL;

	if (!aggregator->running || aggregator->closed.count)
		return;
	is_used = calloc(count + 1, sizeof(*is_used));
	if (!is_used)
		return;
	profile_mark_processes(aggregator->running, is_used);
	profile_mark_frame_processes(aggregator->running, is_used);
	if (aggregator->closing) {
		profile_mark_processes(aggregator->closing, is_used);
		profile_mark_frame_processes(aggregator->closing, is_used);
	}
	array_foreach(&aggregator->stacks, stack)
		is_used[stack->process] = true;
	aggregator_heap_settle(aggregator);
	if (aggregator->heap)
		heap_mark_processes(aggregator->heap, is_used);
	aggregator_memory_settle(aggregator);
	aggregator_memory_mark(aggregator, is_used);
	if (aggregator->options.code_history)
		code_history_mark_processes(aggregator->options.code_history, is_used);
	process_table_release(aggregator->processes, is_used);
	for (uint32_t id = 0; id < count; id++) {
		if (process_table_by_id(aggregator->processes, id))
			continue;
		stack_builder_forget_mappings(aggregator->builder, id);
		if (aggregator->options.python)
			python_functions_forget_process(aggregator->options.python, id);
	}
}

static struct profile *next_slice(struct aggregator *aggregator, uint64_t time_ns)
{
	struct profile *before = aggregator->running, *next;

	if (!aggregator->is_planned)
		aggregator->renews_names = names_are_due(aggregator, time_ns);
	aggregator->is_planned = false;
	next = aggregator->renews_names ? profile_new_apart(before) : profile_new_beside(before);

	if (next && array_reserve(&aggregator->closed, aggregator->closed.count + OPEN_SLICES) &&
	    resource_usage_follow(profile_resources(next), profile_resources(before)) == 0) {
		slow_io_list_limit(profile_slow_io(next), aggregator->options.slow_io_limit);
		slow_region_list_limit(profile_slow_regions(next),
				       aggregator->options.slow_region_limit);
		request_list_limit(profile_contexts(next), aggregator->options.slow_request_limit);
		return next;
	}
	profile_free(next);
	return NULL;
}

/* Without memory the cut is skipped: the current slice continues. */
void aggregator_cut(struct aggregator *aggregator, const struct cut_view *cut)
{
	struct profile *next = next_slice(aggregator, cut->time_ns);

	if (!next) {
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_EVENTS_NO_MEMORY]++;
		return;
	}
	aggregator_heap_cut(aggregator);
	aggregator_memory_cut(aggregator);
	if (aggregator->closing)
		close_slice(aggregator);
	if (aggregator->renews_names)
		renew_names(aggregator, next);
	if (aggregator->renews_names || !aggregator->names_since_ns)
		aggregator->names_since_ns = cut->time_ns;
	profile_info(aggregator->running)->end_ns = cut->time_ns;
	profile_info(next)->sequence = cut->sequence;
	profile_info(next)->start_ns = cut->time_ns;
	profile_info(next)->start_unix_ns = cut->unix_ns;
	aggregator->closing = aggregator->running;
	aggregator->running = next;
	stack_builder_set_profile(aggregator->builder, next);
}

struct profile *aggregator_take_closed(struct aggregator *aggregator, uint64_t now_ns)
{
	struct profile *slice;

	if (aggregator->closing &&
	    now_ns >= profile_info(aggregator->closing)->end_ns + PROCESS_LATE_NS)
		close_slice(aggregator);
	if (!aggregator->closed.count)
		return NULL;
	slice = aggregator->closed.items[0];
	for (size_t i = 1; i < aggregator->closed.count; i++)
		aggregator->closed.items[i - 1] = aggregator->closed.items[i];
	aggregator->closed.count--;
	return slice;
}

bool aggregator_is_done(const struct aggregator *aggregator)
{
	return !aggregator->running && !aggregator->closed.count;
}

void aggregator_end(struct aggregator *aggregator)
{
	aggregator_heap_finish(aggregator);
	aggregator_memory_finish(aggregator);
	if (aggregator->closing)
		close_slice(aggregator);
	*array_add(&aggregator->closed) = aggregator->running;
	aggregator->running = NULL;
}
