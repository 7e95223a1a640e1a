// SPDX-License-Identifier: BSD-2-Clause
/* Merges exited processes, and shortens stacks, when a merged profile has grown. */
#include "profile/shrink/slice_limit.h"

#include "base/cleanup.h"
#include "profile/shrink/process_merge.h"
#include "profile/shrink/profile_merge.h"

static int limit_processes(struct slice_limit *limit, struct profile *profile)
{
	uint64_t end_ns = profile_info(profile)->end_ns;
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	if (profile_ended_tasks(profile) < limit->next_ended)
		return 0;
	/* The next slice may have late records of those that have just exited. */
	err = profile_merge_processes(
		profile, end_ns > PROCESS_LATE_NS ? end_ns - PROCESS_LATE_NS : 0, &numbers);
	limit->next_ended = profile_ended_tasks(profile) + limit->ended_tasks;
	return err;
}

static int limit_stacks(struct slice_limit *limit, struct profile *profile)
{
	size_t before = profile_stack_bytes(profile), after;
	_cleanup_free_ uint32_t *numbers = NULL;
	int err;

	if (before < limit->next_bytes)
		return 0;
	/* Slices are symbolized. */
	err = profile_shorten_stacks(
		profile, &(struct profile_cut){.bytes = before - limit->stack_bytes / 2}, &numbers);
	after = profile_stack_bytes(profile);
	/* When most stacks cannot become shorter, trying again with each slice is of no use. */
	limit->next_bytes = after > limit->stack_bytes / 4 * 3 ? after + limit->stack_bytes / 4
							       : limit->stack_bytes;
	return err;
}

int slice_limit_memory(struct slice_limit *limit, struct profile *profile)
{
	int err, stack_err;

	if (!limit->stack_bytes)
		limit->stack_bytes = SLICE_LIMIT_STACK_BYTES;
	if (!limit->ended_tasks)
		limit->ended_tasks = SLICE_LIMIT_ENDED_TASKS;
	if (!limit->next_bytes)
		limit->next_bytes = limit->stack_bytes;
	if (!limit->next_ended)
		limit->next_ended = limit->ended_tasks;
	err = limit_processes(limit, profile);
	stack_err = limit_stacks(limit, profile);
	return err ? err : stack_err;
}
