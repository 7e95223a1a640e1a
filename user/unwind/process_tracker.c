// SPDX-License-Identifier: BSD-2-Clause
/* Applies process and mapping records to the code maps of processes. */
#include "unwind/process_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash_map.h"

/*
 * The taker of a process copies all its mappings, at a microsecond each. Without delays, a start
 * with 200 libraries would copy 20,000 mappings, and use as much room until the kernel side no
 * longer reads the old copies.
 */
#define REST_NS		    (10 * NS_PER_MS)
#define REST_PER_MAPPING_NS 1000
#define GROWTH_PART	    8

struct process_tracker {
	struct process_tracker_ops ops;
	bool only_relatives;
	struct hash_map by_pid; /* pid -> struct tracked_process * */
	ARRAY_OF(uint32_t) changed;
};

struct process_tracker *process_tracker_new(const struct process_tracker_ops *ops,
					    bool only_relatives)
{
	struct process_tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->ops = *ops;
	tracker->only_relatives = only_relatives;
	return tracker;
}

static void give_up_map(struct process_tracker *tracker, struct code_map *map)
{
	if (!map || !code_map_drop(map))
		return;
	if (tracker->ops.map_done)
		tracker->ops.map_done(tracker->ops.context, map);
	code_map_free(map);
}

void process_tracker_free(struct process_tracker *tracker)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	if (!tracker)
		return;
	while ((slot = hash_map_next(&tracker->by_pid, &cursor))) {
		struct tracked_process *process = (void *)(uintptr_t)slot->value;

		give_up_map(tracker, process->map);
		free(process);
	}
	hash_map_done(&tracker->by_pid);
	array_free(&tracker->changed);
	free(tracker);
}

struct tracked_process *process_tracker_find(struct process_tracker *tracker, uint32_t pid)
{
	uint64_t *value = hash_map_find(&tracker->by_pid, pid);

	return value ? (void *)(uintptr_t)*value : NULL;
}

struct tracked_process *process_tracker_follow(struct process_tracker *tracker, uint32_t pid)
{
	struct tracked_process *process = process_tracker_find(tracker, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	if (!hash_map_put(&tracker->by_pid, pid, (uintptr_t)process)) {
		free(process);
		return NULL;
	}
	return process;
}

void process_tracker_forget(struct process_tracker *tracker, uint32_t pid)
{
	struct tracked_process *process = process_tracker_find(tracker, pid);

	if (!process)
		return;
	give_up_map(tracker, process->map);
	hash_map_remove(&tracker->by_pid, pid);
	free(process);
}

void process_tracker_mark_changed(struct process_tracker *tracker, struct tracked_process *process)
{
	uint32_t *pid;

	if (process->changed)
		return;
	pid = array_add(&tracker->changed);
	if (!pid)
		return;
	*pid = process->pid;
	process->changed = true;
}

static bool is_due(const struct tracked_process *process, uint64_t now_ns)
{
	uint32_t count = process->map ? (uint32_t)process->map->list.count : 0;

	if (process->urgent || !process->taken_ns || process->exec_ns > process->taken_ns)
		return true;
	return count > process->taken_count + process->taken_count / GROWTH_PART ||
	       now_ns - process->taken_ns >=
		       REST_NS + process->taken_count * (uint64_t)REST_PER_MAPPING_NS;
}

struct tracked_process *process_tracker_take_changed(struct process_tracker *tracker,
						     uint64_t now_ns)
{
	for (size_t i = tracker->changed.count; i-- > 0;) {
		struct tracked_process *process =
			process_tracker_find(tracker, tracker->changed.items[i]);

		if (process && process->changed && !is_due(process, now_ns))
			continue;
		tracker->changed.items[i] = tracker->changed.items[--tracker->changed.count];
		if (!process || !process->changed)
			continue;
		process->changed = process->urgent = false;
		process->taken_ns = now_ns;
		process->taken_count = process->map ? (uint32_t)process->map->list.count : 0;
		return process;
	}
	return NULL;
}

bool process_tracker_has_changed(const struct process_tracker *tracker)
{
	return tracker->changed.count > 0;
}

static void set_map(struct process_tracker *tracker, struct tracked_process *process,
		    struct code_map *map)
{
	give_up_map(tracker, process->map);
	process->map = map;
	process_tracker_mark_changed(tracker, process);
}

struct code_map *process_tracker_share_with_parent(struct process_tracker *tracker,
						   struct tracked_process *process)
{
	struct tracked_process *parent = process_tracker_find(tracker, process->parent_pid);

	if (parent && parent != process && parent->map && process->map &&
	    parent->map != process->map &&
	    mapping_list_equal(&parent->map->list, &process->map->list)) {
		give_up_map(tracker, process->map);
		process->map = code_map_share(parent->map);
	}
	return process->map;
}

/* Returns a map that only this process uses and that is unpublished, so that it can be changed. */
static struct code_map *own_map(struct process_tracker *tracker, struct tracked_process *process)
{
	struct code_map *copy;

	if (process->map && process->map->references == 1 && !process->map->published_count)
		return process->map;
	copy = process->map ? code_map_copy(process->map) : code_map_new();
	if (copy)
		set_map(tracker, process, copy);
	return copy;
}

/* A new process with this PID: the state of an older one is dropped. */
static void begin_life(struct process_tracker *tracker, struct tracked_process *process,
		       const struct task_view *task)
{
	if (process->born_ns || process->exit_ns) {
		give_up_map(tracker, process->map);
		process->map = NULL;
		process->exec_ns = process->scanned_ns = process->exit_ns = 0;
		process->miss_ns = process->miss_wait_ns = 0;
		process->published_ns = process->taken_ns = 0;
		process->missed = false;
		process->python_looked = false;
	}
	process->born_ns = task->time_ns;
}

static void on_fork(struct process_tracker *tracker, const struct task_view *task)
{
	struct tracked_process *parent = process_tracker_find(tracker, task->parent_pid);
	struct tracked_process *child;
	struct code_map *inherited;

	if (task->pid == task->parent_pid)
		return; /* a thread */
	if (tracker->only_relatives && !task->from_snapshot && !parent)
		return;
	child = process_tracker_follow(tracker, task->pid);
	if (!child || child->born_ns >= task->time_ns)
		return;
	child->parent_pid = task->parent_pid;
	if (task->from_snapshot) {
		/* procfs has less information than earlier live records. Mapping records follow
		 * separately. */
		if (!child->born_ns || child->exit_ns)
			begin_life(tracker, child, task);
		return;
	}
	/* Records of the child from another CPU may have come first. They are newer than its
	 * fork. */
	if (child->exec_ns > task->time_ns || child->scanned_ns > task->time_ns) {
		child->born_ns = task->time_ns;
		return;
	}
	begin_life(tracker, child, task);
	if (!parent || !parent->map || parent->exec_ns > task->time_ns)
		return;
	if (!child->map) {
		set_map(tracker, child, code_map_share(parent->map));
		child->exec_ns = parent->exec_ns;
		return;
	}
	/* The child has new mappings already: they replace inherited ones at the same addresses. */
	inherited = code_map_copy(parent->map);
	if (!inherited)
		return;
	for (size_t i = 0; i < child->map->list.count; i++)
		mapping_list_add(&inherited->list, &child->map->list.items[i]);
	child->exec_ns = parent->exec_ns;
	set_map(tracker, child, inherited);
}

static void on_exec(struct process_tracker *tracker, const struct task_view *task)
{
	struct tracked_process *process = tracker->only_relatives
						  ? process_tracker_find(tracker, task->pid)
						  : process_tracker_follow(tracker, task->pid);
	struct code_map *map;

	if (!process || process->exec_ns >= task->time_ns || process->scanned_ns > task->time_ns)
		return;
	process->exec_ns = task->time_ns;
	process->python_looked = false;
	process->exit_ns = 0; /* exec by another thread takes over the leader's TID */
	map = code_map_new();
	if (map)
		set_map(tracker, process, map);
}

void process_tracker_on_task(struct process_tracker *tracker, const struct task_view *task)
{
	struct tracked_process *process;

	if (task->pid == 0)
		return;
	switch (task->kind) {
	case PKBPF_EVENT_FORK:
		on_fork(tracker, task);
		break;
	case PKBPF_EVENT_COMM:
		if (task->exec && !task->from_snapshot)
			on_exec(tracker, task);
		break;
	case PKBPF_EVENT_EXIT:
		process = process_tracker_find(tracker, task->pid);
		if (process && task->pid == task->tid && process->born_ns < task->time_ns)
			process->exit_ns = task->time_ns;
		break;
	default:
		break;
	}
}

bool process_tracker_code_of(struct process_tracker *tracker, const struct mapping_view *mapping,
			     struct mapping *ret_code)
{
	struct mapping code = {
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.file = mapping_view_is_of_probes(mapping) ? MAPPING_PROBES : MAPPING_NO_FILE,
		.protection = PKBPF_PROT_EXEC,
	};

	if (!(mapping->protection & PKBPF_PROT_EXEC) || mapping->start >= mapping->end ||
	    !mapping_is_unwound(&code))
		return false;
	code.file = tracker->ops.file_of(tracker->ops.context, mapping);
	*ret_code = code;
	return true;
}

bool process_tracker_has(const struct tracked_process *process, const struct mapping *code)
{
	const struct mapping *known =
		process->map ? mapping_list_find(&process->map->list, code->start) : NULL;

	return known && known->start == code->start && known->end == code->end &&
	       known->file == code->file && known->file_offset == code->file_offset;
}

void process_tracker_on_mapping(struct process_tracker *tracker, const struct mapping_view *mapping)
{
	bool follow = !tracker->only_relatives || mapping->from_snapshot;
	struct tracked_process *process;
	struct code_map *map;
	struct mapping code;
	size_t count;

	if (mapping->pid == 0)
		return;
	process = follow ? process_tracker_follow(tracker, mapping->pid)
			 : process_tracker_find(tracker, mapping->pid);
	/* Record of an older image, or already covered by the read of procfs. */
	if (!process || mapping->time_ns < process->exec_ns ||
	    mapping->time_ns < process->scanned_ns)
		return;
	/* exec of a set-user-ID program reports an exit, but the process continues. */
	if (mapping->time_ns > process->exit_ns)
		process->exit_ns = 0;
	if (!process_tracker_code_of(tracker, mapping, &code)) {
		/* No longer executable. */
		if (process->map && mapping->start < mapping->end &&
		    !(mapping->protection & PKBPF_PROT_EXEC)) {
			map = own_map(tracker, process);
			if (map &&
			    mapping_list_remove(&map->list, mapping->start, mapping->end) == 0)
				process_tracker_mark_changed(tracker, process);
		}
		return;
	}
	if (process_tracker_has(process, &code))
		return;
	map = own_map(tracker, process);
	count = map ? map->list.count : 0;
	if (!map || mapping_list_add(&map->list, &code))
		return;
	process_tracker_mark_changed(tracker, process);
	/* The new mapping replaced another one. */
	if (map->list.count != count + 1)
		process->urgent = true;
}

void process_tracker_replace(struct process_tracker *tracker, struct tracked_process *process,
			     struct code_map *map, uint64_t time_ns)
{
	process->scanned_ns = time_ns;
	if (process->map && mapping_list_equal(&process->map->list, &map->list)) {
		give_up_map(tracker, map);
		return;
	}
	set_map(tracker, process, map);
}

void process_tracker_mark_files(const struct process_tracker *tracker, bool *is_used, size_t count)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&tracker->by_pid, &cursor))) {
		const struct code_map *map =
			((const struct tracked_process *)(uintptr_t)slot->value)->map;

		for (size_t i = 0; map && i < map->list.count; i++) {
			if (map->list.items[i].file < count)
				is_used[map->list.items[i].file] = true;
		}
	}
}

void process_tracker_visit(struct process_tracker *tracker,
			   void (*visit)(void *context, struct tracked_process *process),
			   void *context)
{
	ARRAY_OF(uint32_t) pids = {0};
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	/* PIDs first: the callback may change the table. */
	while ((slot = hash_map_next(&tracker->by_pid, &cursor))) {
		uint32_t *pid = array_add(&pids);

		if (pid)
			*pid = (uint32_t)slot->key;
	}
	array_foreach(&pids, pid) {
		struct tracked_process *process = process_tracker_find(tracker, *pid);

		if (process)
			visit(context, process);
	}
	array_free(&pids);
}

size_t process_tracker_count(const struct process_tracker *tracker)
{
	return tracker->by_pid.count;
}
