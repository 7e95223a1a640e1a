// SPDX-License-Identifier: BSD-2-Clause
/* Puts targets into words, and into the options of a session. */
#include "live/live_targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_append.h"
#include "capture/session/session.h"

/* As many as three quarters of the text hold: what follows says how they were chosen. */
static void add_list(char *text, size_t size, const char *what, const struct u32_list *list)
{
	size_t shown = 0;
	char number[16];

	text_append(text, size, "%s ", what);
	for (; shown < list->count; shown++) {
		snprintf(number, sizeof(number), "%s%" PRIu32, shown ? "," : "",
			 list->items[shown]);
		if (strlen(text) + strlen(number) >= size - size / 4)
			break;
		text_append(text, size, "%s", number);
	}
	if (shown < list->count)
		text_append(text, size, " ... and %zu more", list->count - shown);
}

void live_targets_describe(const struct live_targets *targets, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	if (targets->pids.count)
		add_list(ret_text, size, "pid", &targets->pids);
	else if (targets->tids.count)
		add_list(ret_text, size, "tid", &targets->tids);
	else if (targets->cgroup_path)
		text_append(ret_text, size, "cgroup %s", targets->cgroup_path);
	else if (targets->container)
		text_append(ret_text, size, "container %s", targets->container);
	else if (!targets->command)
		text_append(ret_text, size, "whole host");
	/* Its arguments may hold secrets, and reports are passed on. */
	if (targets->command)
		text_append(ret_text, size, "command %s", targets->command[0]);
	if (targets->follow == PKBPF_FOLLOW_DESCENDANTS)
		text_append(ret_text, size, " and descendants");
	else if (targets->pids.count && targets->follow == PKBPF_FOLLOW_WORKERS)
		text_append(ret_text, size, " and workers");
	if (targets->comm)
		text_append(ret_text, size, ", comm %s", targets->comm);
}

void live_targets_choose(const struct live_targets *targets, const struct cgroup_paths *cgroups,
			 const uint32_t *command_pid, struct session_options *session)
{
	session->comm = targets->comm;
	session->follow = targets->follow;
	if (*command_pid) {
		session->target_mode = PKBPF_TARGET_PROCESS;
		session->pids = command_pid;
		session->pid_count = 1;
		session->waiting_pid = *command_pid;
		session->command = targets->command ? targets->command[0] : NULL;
		if (targets->follow != PKBPF_FOLLOW_NONE)
			session->follow = PKBPF_FOLLOW_DESCENDANTS;
	} else if (targets->pids.count) {
		session->target_mode = PKBPF_TARGET_PROCESS;
		session->pids = targets->pids.items;
		session->pid_count = targets->pids.count;
	} else if (targets->tids.count) {
		session->target_mode = PKBPF_TARGET_THREAD;
		session->tids = targets->tids.items;
		session->tid_count = targets->tids.count;
	} else if (targets->cgroup_path || targets->container) {
		session->target_mode = PKBPF_TARGET_CGROUP;
		session->cgroups = cgroups;
	}
}

void live_targets_done(struct live_targets *targets)
{
	free(targets->pids.items);
	free(targets->tids.items);
	*targets = (struct live_targets){0};
}
