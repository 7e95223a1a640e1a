// SPDX-License-Identifier: BSD-2-Clause
/* Puts what procfs tells of processes and those beside them into the record stream. */
#include "live/live_relations.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse_value.h"
#include "live/live_capture_private.h"
#include "process/cgroup/cgroup.h"
#include "process/relation/process_counts.h"

static bool is_host(const struct live_capture *live)
{
	const struct session_options *options = &live->options.session;

	return options->target_mode == PKBPF_TARGET_HOST && !options->comm;
}

/* Its cgroup of version 2, or one above it, is this folder. */
static bool is_in_cgroup(const char *folder, uint32_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[PATH_MAX];
	size_t length, all = strlen(folder);

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *cgroup = line + 3;

		if (strncmp(line, "0::", 3) != 0)
			continue;
		cgroup[strcspn(cgroup, "\n")] = '\0';
		for (; cgroup[0] == '/' && cgroup[1]; *strrchr(cgroup, '/') = '\0') {
			length = strlen(cgroup);
			if (all >= length && !strcmp(folder + all - length, cgroup))
				return true;
		}
		return false;
	}
	return false;
}

static bool is_called(uint32_t tid, const char *name)
{
	char comm[PKBPF_COMM_SIZE + 1];

	relation_read_comm(tid, comm);
	return strcmp(comm, name) == 0;
}

/* Targets by name are threads. */
static bool has_thread_called(uint32_t pid, const char *name)
{
	struct dirent *entry;
	char path[32];
	DIR *folder;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = entry->d_name[0] != '.' &&
			is_called((uint32_t)strtoul(entry->d_name, NULL, 10), name);
	if (folder)
		closedir(folder);
	return found;
}

/* The kernel side chooses by name and cgroup as threads come by. */
static bool is_target(const struct live_capture *live, const struct u32_list *targets, uint32_t pid)
{
	const struct session_options *options = &live->options.session;
	struct stat status;
	char path[64];

	switch (options->target_mode) {
	case PKBPF_TARGET_HOST:
		return true;
	case PKBPF_TARGET_CGROUP:
		array_foreach(options->cgroups, cgroup)
			if (is_in_cgroup(*cgroup, pid))
				return true;
		return false;
	case PKBPF_TARGET_THREAD:
		for (size_t i = 0; i < options->tid_count; i++) {
			snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, options->tids[i]);
			if (stat(path, &status) == 0)
				return true;
		}
		return false;
	default:
		break;
	}
	for (size_t i = 0; i < targets->count; i++)
		if (targets->items[i] == pid)
			return true;
	return false;
}

bool live_is_target(const struct live_capture *live, uint32_t pid)
{
	const char *comm = live->options.session.comm;
	struct u32_list targets = {0};
	bool found;

	if (session_targets_now(live->session, &targets))
		targets.count = 0;
	found = is_target(live, &targets, pid) && (!comm || has_thread_called(pid, comm));
	array_free(&targets);
	return found;
}

/* The processes that are targets now, by the name of their first thread, ascending; the caller
 * frees them. */
static uint32_t *target_pids(const struct live_capture *live, size_t *ret_count)
{
	const char *comm = live->options.session.comm;
	uint32_t *pids;
	struct u32_list targets = {0};
	size_t kept = 0;

	*ret_count = relation_list_pids("/proc", &pids);
	if (!pids || is_host(live))
		return pids;
	if (session_targets_now(live->session, &targets))
		targets.count = 0;
	for (size_t i = 0; i < *ret_count; i++)
		if ((!comm || is_called(pids[i], comm)) && is_target(live, &targets, pids[i]))
			pids[kept++] = pids[i];
	array_free(&targets);
	*ret_count = kept;
	return pids;
}

void live_relations_begin(struct live_capture *live)
{
	uint32_t *pids;
	size_t count;

	if (!live->options.session.want_resources)
		return;
	pids = target_pids(live, &count);
	if (pids)
		live->counts = process_counts_new(pids, count, is_host(live));
	free(pids);
}

void live_relations_end(struct live_capture *live)
{
	struct event_buffer buffer = {0};
	struct relation_writer writer = {.buffer = &buffer, .time_ns = clock_now_ns()};
	uint32_t *pids;

	if (!live->counts)
		return;
	pids = target_pids(live, &writer.pid_count);
	writer.pids = pids;
	if (pids) {
		relation_file_locks(&writer);
		relation_sockets(&writer);
		/* Counted since the start: too much for the last of several intervals. */
		if (!live->sequence)
			process_counts_write(live->counts, &writer);
		relation_io_limits(&writer);
		relation_scripts(&writer);
		session_add_records(live->session, &buffer);
	}
	free(pids);
	event_buffer_done(&buffer);
	process_counts_free(live->counts);
	live->counts = NULL;
}
