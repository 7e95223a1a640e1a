// SPDX-License-Identifier: BSD-2-Clause
/* Writes what the kernel counted of processes and cgroups. */
#include "profile/process_age.h"
#include "recording/slice_encoding.h"

static void write_processes(struct slice_encoding *work)
{
	const struct resource_usage *usage = profile_resources(work->profile);
	struct slice_rows processes = {.table = &slice_account_processes};
	struct slice_rows threads = {.table = &slice_account_threads};

	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		struct resource_process *row = slice_rows_add(work, &processes);

		if (!row)
			break;
		*row = resource_usage_raw_process(usage, i);
		/* Which program a process runs is known here alone. */
		row->started_inside = process_is_new(work->profile, row);
	}
	for (size_t i = 0; i < resource_usage_thread_count(usage); i++) {
		struct resource_thread thread, *row;

		if (!resource_usage_raw_thread(usage, i, &thread))
			continue;
		row = slice_rows_add(work, &threads);
		if (row)
			*row = thread;
	}
	slice_rows_write(work, &processes);
	slice_rows_write(work, &threads);
}

static void write_cgroups(struct slice_encoding *work)
{
	const struct resource_usage *usage = profile_resources(work->profile);
	struct slice_rows rows = {.table = &slice_cgroups};
	struct slice_rows limits = {.table = &slice_cgroup_limits};
	size_t cursor = 0;
	struct recorded_cgroup cgroup = {0};

	while ((cgroup.text = resource_usage_cgroup_at(usage, &cursor, &cgroup.cgroup_id))) {
		struct recorded_cgroup *row = slice_rows_add(work, &rows);

		if (row)
			*row = cgroup;
	}
	cgroup.is_container = true;
	cursor = 0;
	while ((cgroup.text = resource_usage_container_at(usage, &cursor, &cgroup.cgroup_id))) {
		struct recorded_cgroup *row = slice_rows_add(work, &rows);

		if (row)
			*row = cgroup;
	}
	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		struct resource_cgroup_limit limit, *row;

		if (!resource_usage_cgroup_limit(usage, i, &limit))
			continue;
		row = slice_rows_add(work, &limits);
		if (row)
			*row = limit;
	}
	slice_rows_write(work, &rows);
	slice_rows_write(work, &limits);
}

void slice_write_resources(struct slice_encoding *work)
{
	write_processes(work);
	write_cgroups(work);
}
