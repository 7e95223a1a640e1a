// SPDX-License-Identifier: BSD-2-Clause
/* Merges what the kernel counted of processes and cgroups. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/slice/slice_private.h"

/* Does it list all processes that live at its end, later than what is there? */
static bool lists_who_lives(const struct slice_merging *work)
{
	const struct profile_info *into = &work->into->info, *from = &work->from->info;

	return !into->has_targets && !from->has_targets &&
	       from->start_ns + work->clock_ns + CLOCK_SLACK_NS >= into->end_ns;
}

static int merge_threads(struct slice_merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	size_t count = resource_usage_process_count(from);
	_cleanup_free_ uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		struct resource_process process = resource_usage_raw_process(from, i);

		process.start_ns = slice_time_there(work, process.start_ns);
		process.end_ns = slice_time_there(work, process.end_ns);
		numbers[i] = resource_usage_put_process(into, &process);
		err = numbers[i] == UINT32_MAX ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < resource_usage_thread_count(from) && !err; i++) {
		struct resource_thread thread;

		if (!resource_usage_raw_thread(from, i, &thread))
			continue;
		thread.process = numbers[thread.process];
		thread.start_ns = slice_time_there(work, thread.start_ns);
		thread.end_ns = slice_time_there(work, thread.end_ns);
		err = slice_left_out(work, resource_usage_put_thread(into, &thread));
	}
	if (!err && lists_who_lives(work))
		err = resource_usage_forget_rss(into, numbers, count);
	return err;
}

static int merge_cgroups(struct slice_merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	struct resource_cgroup_limit limit;
	const char *text;
	uint64_t id;
	int err = 0;

	for (size_t cursor = 0; !err && (text = resource_usage_cgroup_at(from, &cursor, &id));)
		err = resource_usage_put_cgroup(into, id, text);
	for (size_t cursor = 0; !err && (text = resource_usage_container_at(from, &cursor, &id));)
		err = resource_usage_put_container(into, id, text);
	for (size_t i = 0; !err && i < resource_usage_cgroup_limit_count(from); i++) {
		if (resource_usage_cgroup_limit(from, i, &limit))
			err = slice_left_out(work, resource_usage_put_cgroup_limit(into, &limit));
	}
	return err;
}

/* Exited threads are known even where an edge was not read. */
int slice_merge_resources(struct slice_merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	struct resource_machine machine = resource_usage_machine(from);
	int err = merge_cgroups(work);

	resource_usage_put_known(into, slice_time_there(work, resource_usage_start_ns(from)),
				 slice_time_there(work, resource_usage_end_ns(from)),
				 resource_usage_missing(from));
	resource_usage_put_machine(into, &machine);
	return err ? err : merge_threads(work);
}
