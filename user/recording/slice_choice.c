// SPDX-License-Identifier: BSD-2-Clause
/* Decides which processes of a recorded slice are wanted. */
#include "recording/slice_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_append.h"
#include "process/cgroup/container_match.h"
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

/* The name that was recorded for a cgroup, or its path; NULL: none. */
static const char *recorded_text(uint64_t cgroup_id, bool is_container,
				 const struct recorded_cgroup *cgroups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cgroups[i].cgroup_id == cgroup_id && cgroups[i].is_container == is_container)
			return cgroups[i].text;
	return NULL;
}

/* The container of the cgroup or one that this runs in, or a unit. */
static bool has_container(const struct slice_choice *choice, uint64_t cgroup_id,
			  const struct recorded_cgroup *cgroups, size_t cgroup_count)
{
	const char *path = recorded_text(cgroup_id, false, cgroups, cgroup_count);
	const char *name = recorded_text(cgroup_id, true, cgroups, cgroup_count);
	_cleanup_free_ char *above = path ? strdup(path) : NULL;
	struct container container;
	struct cgroup_name innermost;

	if (!choice->container)
		return true;
	if (!above)
		return false;
	cgroup_name_parse(path, &innermost);
	for (size_t length = strlen(above); length; length--) {
		if (path[length] && path[length] != '/')
			continue;
		above[length] = '\0';
		if (container_from(above, name && length == innermost.container_end ? name : "",
				   &container) &&
		    container_match(choice->container, &container) != CONTAINER_DIFFERS)
			return true;
	}
	return false;
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
