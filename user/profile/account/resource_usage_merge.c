// SPDX-License-Identifier: BSD-2-Clause
/* Adds up exited processes by name and cgroup. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/resource_usage_private.h"

struct group_key {
	const char *comm;
	uint64_t cgroup_id;
};

static uint64_t group_hash(const struct resource_usage *usage, const struct group_key *key)
{
	return hash_bytes(key->comm, strlen(key->comm), usage->seed ^ hash_u64(key->cgroup_id));
}

static bool group_equal(const void *context, uint32_t item, const void *wanted)
{
	const struct resource_usage *usage = context;
	const struct resource_process *group = &usage->processes.items[item].public;
	const struct group_key *key = wanted;

	return group->cgroup_id == key->cgroup_id && strcmp(group->comm, key->comm) == 0;
}

static uint32_t find_group(const struct resource_usage *usage, const struct group_key *key)
{
	return hash_index_find(&usage->group_index, group_hash(usage, key), group_equal, usage,
			       key);
}

static uint32_t get_group(struct resource_usage *usage, const struct group_key *key)
{
	uint32_t number = find_group(usage, key);
	struct resource_process *group;

	if (number != HASH_INDEX_NONE)
		return number;
	if (usage->group_index.count >= RESOURCE_GROUPS_MAX)
		return usage_others(usage);
	number = usage_add_process(usage, 0, 0);
	if (number == USAGE_NONE ||
	    !hash_index_add(&usage->group_index, group_hash(usage, key), number))
		return USAGE_NONE;
	group = &usage->processes.items[number].public;
	strncpy(group->comm, key->comm, sizeof(group->comm) - 1);
	group->cgroup_id = key->cgroup_id;
	return number;
}

uint32_t usage_get_group(struct resource_usage *usage, const char *comm, uint64_t cgroup_id)
{
	return get_group(usage, &(struct group_key){comm, cgroup_id});
}

bool resource_usage_find_group(const struct resource_usage *usage, const char *comm,
			       uint64_t cgroup_id, size_t *ret_index)
{
	const struct group_key key = {comm, cgroup_id};
	uint32_t number = find_group(usage, &key);

	if (number == HASH_INDEX_NONE && strcmp(comm, RESOURCE_OTHERS_COMM) == 0)
		number = usage->others;
	*ret_index = number;
	return number != HASH_INDEX_NONE && number != USAGE_NONE;
}

size_t resource_usage_ended_count(const struct resource_usage *usage)
{
	return usage->ended_count;
}

/* State of a merge: the old account and the new one. */
struct merging {
	const struct resource_usage *old;
	struct resource_usage fresh;
	bool *merged; /* by old number */
	uint32_t *to; /* old number -> new number */
	uint64_t before_ns;
};

static void choose(struct merging *work, const bool *chosen)
{
	for (size_t i = 0; i < work->old->processes.count; i++)
		work->merged[i] = chosen[i] && work->old->processes.items[i].public.pid;
	array_foreach(&work->old->threads, thread) {
		if (!thread->final)
			work->merged[thread->process] = false;
	}
}

static bool keep_process(struct merging *work, uint32_t number)
{
	const struct usage_process *old = &work->old->processes.items[number];
	const struct group_key key = {old->public.comm, old->public.cgroup_id};
	struct resource_usage *fresh = &work->fresh;
	uint32_t to = usage_add_process(fresh, old->public.pid, old->public.start_ns);

	if (to == USAGE_NONE)
		return false;
	fresh->processes.items[to].public = old->public;
	work->to[number] = to;
	if (number == work->old->others)
		fresh->others = to;
	else if (!old->public.pid &&
		 !hash_index_add(&fresh->group_index, group_hash(fresh, &key), to))
		return false;
	fresh->ended_count += old->public.pid && old->public.end_ns;
	return true;
}

static uint64_t life_ns(const struct resource_process *process)
{
	return resource_less(process->end_ns, process->start_ns);
}

static bool merge_process(struct merging *work, uint32_t number)
{
	const struct resource_process *process = &work->old->processes.items[number].public;
	const struct group_key key = {process->comm, process->cgroup_id};
	uint32_t to = get_group(&work->fresh, &key);
	struct resource_process *group;

	if (to == USAGE_NONE)
		return false;
	work->to[number] = to;
	group = &work->fresh.processes.items[to].public;
	group->started_inside =
		process->started_inside && (group->started_inside || !group->processes);
	/* A group shows the life of its longest-lived process. */
	if (!group->processes || life_ns(process) > life_ns(group)) {
		group->start_ns = process->start_ns;
		group->end_ns = process->end_ns;
	}
	group->processes += process->processes;
	group->oom_killed += process->oom_killed;
	group->threads_seen += process->threads_seen;
	group->threads_counted += process->threads_counted;
	if (process->peak_rss_bytes > group->peak_rss_bytes)
		group->peak_rss_bytes = process->peak_rss_bytes;
	resource_counters_add(&group->used, &process->used);
	return true;
}

static bool keep_thread(struct merging *work, const struct usage_thread *old)
{
	struct resource_usage *fresh = &work->fresh;
	struct usage_thread *thread = array_add(&fresh->threads);
	uint32_t number = (uint32_t)(fresh->threads.count - 1);

	if (!thread)
		return false;
	*thread = *old;
	thread->process = work->to[old->process];
	if (!old->tid) {
		fresh->processes.items[thread->process].ended_threads = 1 + number;
		return true;
	}
	return hash_index_add(&fresh->thread_index,
			      usage_thread_hash(fresh, old->tid, old->start_ns), number);
}

struct usage_thread *usage_get_ended_threads(struct resource_usage *usage, uint32_t number)
{
	struct usage_process *process = &usage->processes.items[number];
	struct usage_thread *thread;

	if (process->ended_threads)
		return &usage->threads.items[process->ended_threads - 1];
	thread = array_add(&usage->threads);
	if (!thread)
		return NULL;
	process->ended_threads = (uint32_t)usage->threads.count;
	thread->pid = process->public.pid;
	thread->process = number;
	thread->final = true;
	memcpy(thread->comm, process->public.comm, sizeof(thread->comm));
	return thread;
}

static bool is_merged(const struct merging *work, const struct usage_thread *thread)
{
	return work->merged[thread->process] ||
	       (thread->tid && thread->final && thread->end_ns && thread->end_ns < work->before_ns);
}

static bool merge_thread(struct merging *work, const struct usage_thread *old)
{
	struct usage_thread *thread = usage_get_ended_threads(&work->fresh, work->to[old->process]);

	if (!thread)
		return false;
	thread->started_inside =
		old->started_inside && (thread->started_inside || !thread->members);
	if (!thread->members || resource_less(old->end_ns, old->start_ns) >
					resource_less(thread->end_ns, thread->start_ns)) {
		thread->start_ns = old->start_ns;
		thread->end_ns = old->end_ns;
	}
	thread->members += old->tid ? 1 : old->members;
	resource_counters_add(&thread->counters, &old->counters);
	return true;
}

static bool rebuild(struct merging *work)
{
	const struct resource_usage *old = work->old;

	/* Existing groups are found by their new members. */
	for (uint32_t i = 0; i < old->processes.count; i++) {
		if (!work->merged[i] && !keep_process(work, i))
			return false;
	}
	for (uint32_t i = 0; i < old->processes.count; i++) {
		if (work->merged[i] && !merge_process(work, i))
			return false;
	}
	array_foreach(&old->threads, thread) {
		if (!is_merged(work, thread) && !keep_thread(work, thread))
			return false;
	}
	array_foreach(&old->threads, thread) {
		if (is_merged(work, thread) && !merge_thread(work, thread))
			return false;
	}
	return true;
}

/* Frees the tables that a merge rebuilds. */
static void tables_done(struct resource_usage *usage)
{
	array_free(&usage->threads);
	array_free(&usage->processes);
	hash_index_done(&usage->thread_index);
	hash_index_done(&usage->group_index);
	hash_map_done(&usage->pids);
}

static void tables_init(struct resource_usage *usage)
{
	memset(&usage->threads, 0, sizeof(usage->threads));
	memset(&usage->processes, 0, sizeof(usage->processes));
	memset(&usage->thread_index, 0, sizeof(usage->thread_index));
	memset(&usage->group_index, 0, sizeof(usage->group_index));
	memset(&usage->pids, 0, sizeof(usage->pids));
	usage->others = USAGE_NONE;
	usage->ended_count = 0;
}

int resource_usage_merge(struct resource_usage *usage, const bool *chosen, uint64_t before_ns,
			 uint32_t **ret_numbers)
{
	_cleanup_free_ bool *merged = calloc(usage->processes.count + 1, sizeof(*merged));
	_cleanup_free_ uint32_t *to = malloc((usage->processes.count + 1) * sizeof(*to));
	struct merging work = {
		.old = usage, .fresh = *usage, .merged = merged, .to = to, .before_ns = before_ns};

	if (!merged || !to)
		return -ENOMEM;
	tables_init(&work.fresh);
	choose(&work, chosen);
	if (!rebuild(&work)) {
		tables_done(&work.fresh);
		return -ENOMEM;
	}
	tables_done(usage);
	*usage = work.fresh;
	*ret_numbers = take_pointer(to);
	return 0;
}
