// SPDX-License-Identifier: BSD-2-Clause
/* Reads what the kernel counted of processes and cgroups. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recording/slice_decoding.h"

int slice_read_cgroups(struct slice_decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	int err = slice_read_table(work, &slice_cgroups, &work->cgroups, &work->cgroup_count);

	for (size_t i = 0; i < work->cgroup_count && !err; i++) {
		const struct recorded_cgroup *cgroup = &work->cgroups[i];

		err = cgroup->is_container ? resource_usage_put_container(usage, cgroup->cgroup_id,
									  slice_text(cgroup->text))
					   : resource_usage_put_cgroup(usage, cgroup->cgroup_id,
								       slice_text(cgroup->text));
	}
	return err;
}

static int read_account_processes(struct slice_decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_process *rows = NULL;
	int err = slice_read_table(work, &slice_account_processes, &rows,
				   &work->account_processes.count);

	work->account_processes.items = malloc((work->account_processes.count + 1) *
					       sizeof(*work->account_processes.items));
	if (!err && !work->account_processes.items)
		err = -ENOMEM;
	for (size_t i = 0; i < work->account_processes.count && !err; i++) {
		work->account_processes.items[i] = NOT_CHOSEN;
		if (!slice_has_process(work, rows[i].pid, rows[i].comm, rows[i].cgroup_id))
			continue;
		work->account_processes.items[i] = resource_usage_put_process(usage, &rows[i]);
		if (work->account_processes.items[i] == UINT32_MAX)
			err = -ENOMEM;
	}
	return err;
}

static int read_account_threads(struct slice_decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_thread *rows = NULL;
	size_t count;
	int err = slice_read_table(work, &slice_account_threads, &rows, &count);

	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].process >= work->account_processes.count)
			return -EBADMSG;
		rows[i].process = work->account_processes.items[rows[i].process];
		if (rows[i].process != NOT_CHOSEN)
			err = slice_left_out(work, resource_usage_put_thread(usage, &rows[i]));
	}
	return err;
}

static bool is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/');
}

/* A limit of a cgroup that no chosen process is in limits others. */
static bool limits_chosen(const struct slice_decoding *work,
			  const struct resource_cgroup_limit *limit)
{
	const struct resource_usage *usage = profile_resources(work->profile);

	if (!slice_choice_is_of_processes(work->choice))
		return true;
	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		uint64_t cgroup_id = resource_usage_raw_process(usage, i).cgroup_id;
		const char *path = resource_usage_cgroup(usage, cgroup_id);

		if (cgroup_id == limit->cgroup_id || (path && is_within(path, limit->path)))
			return true;
	}
	return false;
}

int slice_read_resources(struct slice_decoding *work)
{
	struct resource_usage *usage = profile_resources(work->profile);
	_cleanup_free_ struct resource_cgroup_limit *limits = NULL;
	size_t limit_count;
	int err;

	resource_usage_put_known(usage, work->facts.account_start_ns, work->facts.account_end_ns,
				 work->facts.account_missing);
	if (work->facts.machine.known)
		resource_usage_put_machine(usage, &work->facts.machine);
	err = read_account_processes(work);
	err = err ? err : read_account_threads(work);
	err = err ? err : slice_read_table(work, &slice_cgroup_limits, &limits, &limit_count);
	for (size_t i = 0; !err && i < limit_count; i++) {
		limits[i].path = slice_text(limits[i].path);
		if (limits_chosen(work, &limits[i]))
			err = slice_left_out(work,
					     resource_usage_put_cgroup_limit(usage, &limits[i]));
	}
	return err;
}
