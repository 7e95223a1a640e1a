// SPDX-License-Identifier: BSD-2-Clause
/* Decides which processes of a recorded slice are wanted. */
#include "recording/slice_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text_append.h"
#include "process/cgroup/cgroup_name.h"
#include "recording/slice_tables.h"

bool slice_choice_is_of_processes(const struct slice_choice *choice)
{
	return choice && (choice->pid_count || choice->comm || choice->container);
}

static bool has_pid(const struct slice_choice *choice, uint32_t pid)
{
	for (size_t i = 0; i < choice->pid_count; i++)
		if (choice->pids[i] == pid)
			return true;
	return !choice->pid_count;
}

/* As docker and its like do: a name, or enough of an id. */
static bool is_container(const char *wanted, const struct recorded_cgroup *cgroup)
{
	struct cgroup_name name;

	if (!cgroup->text)
		return false;
	if (cgroup->is_container)
		return strcmp(cgroup->text, wanted) == 0;
	cgroup_name_parse(cgroup->text, &name);
	return name.runtime && name.id[0] && strncmp(name.id, wanted, strlen(wanted)) == 0;
}

static bool has_container(const struct slice_choice *choice, uint64_t cgroup_id,
			  const struct recorded_cgroup *cgroups, size_t cgroup_count)
{
	for (size_t i = 0; choice->container && i < cgroup_count; i++)
		if (cgroups[i].cgroup_id == cgroup_id &&
		    is_container(choice->container, &cgroups[i]))
			return true;
	return !choice->container;
}

bool slice_choice_has(const struct slice_choice *choice, uint32_t pid, const char *comm,
		      uint64_t cgroup_id, const struct recorded_cgroup *cgroups,
		      size_t cgroup_count)
{
	if (!slice_choice_is_of_processes(choice))
		return true;
	return has_pid(choice, pid) && (!choice->comm || strcmp(choice->comm, comm) == 0) &&
	       has_container(choice, cgroup_id, cgroups, cgroup_count);
}

void slice_choice_describe(const struct slice_choice *choice, const char *all, char *ret_text,
			   size_t size)
{
	const char *gap = "";

	ret_text[0] = '\0';
	for (size_t i = 0; i < choice->pid_count; i++)
		text_append(ret_text, size, i ? ",%" PRIu32 : "pid %" PRIu32, choice->pids[i]);
	gap = ret_text[0] ? ", " : "";
	if (choice->comm)
		text_append(ret_text, size, "%scomm %s", gap, choice->comm);
	gap = ret_text[0] ? ", " : "";
	if (choice->container)
		text_append(ret_text, size, "%scontainer %s", gap, choice->container);
	text_append(ret_text, size, " of %s", all);
}
