// SPDX-License-Identifier: BSD-2-Clause
/* Follows fork, exec and exit, and the mappings of each program in between. */
#include "process/library_watch.h"

#include <errno.h>
#include <string.h>

#define LOADING_NS 100000000ULL

static struct library_watch_process *find(struct library_watch *watch, uint32_t pid)
{
	array_foreach(&watch->processes, process) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static struct library_watch_process *add(struct library_watch *watch, uint32_t pid)
{
	struct library_watch_process *process = find(watch, pid);

	if (!process && watch->processes.count < LIBRARY_WATCH_MAX)
		process = array_add(&watch->processes);
	if (process)
		*process = (struct library_watch_process){.pid = pid};
	return process;
}

int library_watch_add(struct library_watch *watch, uint32_t pid)
{
	return add(watch, pid) ? 0 : -ENOMEM;
}

static void end_program(struct library_watch *watch, const struct library_watch_process *process)
{
	if (!process->is_program || process->is_loaded)
		return;
	if (!watch->without++)
		memcpy(watch->first, process->comm, sizeof(watch->first));
}

static void on_fork(struct library_watch *watch, const struct task_view *task)
{
	const struct library_watch_process *parent = find(watch, task->parent_pid);

	/* Not of a thread, nor of processes that are not followed. */
	if (task->pid != task->parent_pid && parent && !add(watch, task->pid))
		watch->unfollowed++;
}

void library_watch_on_task(struct library_watch *watch, const struct task_view *task)
{
	struct library_watch_process *process;

	if (task->from_snapshot)
		return;
	if (task->kind == PKBPF_EVENT_FORK)
		on_fork(watch, task);
	process = find(watch, task->pid);
	if (!process)
		return;
	if (task->kind == PKBPF_EVENT_COMM && task->exec) {
		end_program(watch, process);
		process->is_program = true;
		process->is_loaded = false;
		process->exec_ns = task->time_ns;
		memcpy(process->comm, task->comm, sizeof(process->comm));
	} else if (task->kind == PKBPF_EVENT_EXIT && task->tid == task->pid) {
		end_program(watch, process);
		*process = watch->processes.items[--watch->processes.count];
	}
}

void library_watch_on_mapping(struct library_watch *watch, const struct mapping_view *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	struct library_watch_process *process;

	if (!slash || strcmp(slash + 1, watch->name) != 0)
		return;
	process = find(watch, mapping->pid);
	if (process)
		process->is_loaded = true;
}

void library_watch_end(struct library_watch *watch, uint64_t now_ns)
{
	array_foreach(&watch->processes, process) {
		if (process->exec_ns + LOADING_NS < now_ns)
			end_program(watch, process);
	}
	watch->processes.count = 0;
}

void library_watch_done(struct library_watch *watch)
{
	array_free(&watch->processes);
}
