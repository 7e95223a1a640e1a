// SPDX-License-Identifier: BSD-2-Clause
/* Merges the processes and stacks that a slice uses, and so gives them numbers. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/slice/slice_private.h"

int slice_merge_processes(struct slice_merging *work)
{
	struct process_table *from = work->from->processes, *into = work->into->processes;
	size_t count = process_table_count(from);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));

	if (!is_used)
		return -ENOMEM;
	profile_mark_processes(work->from, is_used);
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = is_used[id] ? process_table_by_id(from, id) : NULL;
		const struct process *there;
		struct process copy;

		work->processes[id] = NOT_THERE;
		if (!process)
			continue;
		copy = *process;
		copy.start_ns = slice_time_there(work, copy.start_ns);
		copy.born_ns = slice_time_there(work, copy.born_ns);
		copy.end_ns = slice_time_there(work, copy.end_ns);
		copy.heard_ns = slice_time_there(work, copy.heard_ns);
		there = process_table_put(into, &copy);
		if (!there)
			return -ENOMEM;
		work->processes[id] = there->id;
	}
	return 0;
}

static uint32_t frame_there(struct slice_merging *work, uint32_t number)
{
	const struct frame *frame = profile_frame(work->from, number);

	if (work->frames[number] == NOT_THERE)
		work->frames[number] = profile_put_frame(work->into, frame);
	return work->frames[number];
}

static int merge_stack(struct slice_merging *work, uint32_t number)
{
	size_t count;
	const uint32_t *frames = profile_stack(work->from, number, &count);

	for (size_t i = 0; i < count; i++) {
		work->stack[i] = frame_there(work, frames[i]);
		if (work->stack[i] == UINT32_MAX)
			return -ENOMEM;
	}
	work->stacks[number] = profile_intern_stack(work->into, work->stack, count);
	return work->stacks[number] == UINT32_MAX ? -ENOMEM : 0;
}

static size_t longest_stack(const struct profile *profile)
{
	size_t longest = 0, count;

	for (uint32_t i = 0; i < profile_stack_count(profile); i++) {
		profile_stack(profile, i, &count);
		longest = count > longest ? count : longest;
	}
	return longest;
}

int slice_merge_stacks(struct slice_merging *work)
{
	size_t count = profile_stack_count(work->from);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));
	_cleanup_free_ uint32_t *stack = malloc((longest_stack(work->from) + 1) * sizeof(*stack));
	int err = is_used && stack ? 0 : -ENOMEM;

	if (err)
		return err;
	work->stack = stack;
	for (size_t i = 0; i < profile_frame_count(work->from); i++)
		work->frames[i] = NOT_THERE;
	profile_mark_stacks(work->from, is_used);
	for (uint32_t i = 0; i < count && !err; i++)
		err = is_used[i] ? merge_stack(work, i) : 0;
	work->stack = NULL;
	return err;
}
