// SPDX-License-Identifier: BSD-2-Clause
/* Adds one account to another. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/resource_usage_private.h"

void resource_usage_put_known(struct resource_usage *usage, uint64_t start_ns, uint64_t end_ns,
			      uint64_t missing)
{
	if (start_ns && (!usage->start_ns || start_ns < usage->start_ns))
		usage->start_ns = start_ns;
	if (end_ns > usage->end_ns)
		usage->end_ns = end_ns;
	usage->put_missing += missing;
}

static uint32_t get_process(struct resource_usage *usage, const struct resource_process *process)
{
	uint32_t index;

	if (!process->pid)
		return strcmp(process->comm, RESOURCE_OTHERS_COMM) == 0
			       ? usage_others(usage)
			       : usage_get_group(usage, process->comm, process->cgroup_id);
	index = usage_find_process(usage, process->pid, process->start_ns);
	if (index != USAGE_NONE)
		return index;
	if (usage->processes.count >= RESOURCE_PROCESSES_MAX)
		return usage_others(usage);
	index = usage_add_process(usage, process->pid, process->start_ns);
	if (index != USAGE_NONE)
		usage->processes.items[index].public.processes = 0;
	return index;
}

static uint64_t life_ns(const struct resource_process *process)
{
	return resource_less(process->end_ns, process->start_ns);
}

/* A late process of a slice started before that slice, but after the start of the first one. */
static bool is_inside(const struct resource_usage *usage, uint64_t start_ns, bool started_inside)
{
	return started_inside || (usage->start_ns && start_ns >= usage->start_ns);
}

static void add_life(const struct resource_usage *usage, struct resource_process *to,
		     const struct resource_process *more)
{
	bool is_new = !to->threads_seen && !to->processes;

	if (to->pid) {
		if (more->threads_counted && is_inside(usage, more->start_ns, more->started_inside))
			to->started_inside = true;
		if (more->end_ns > to->end_ns)
			to->end_ns = more->end_ns;
		to->processes = 1;
		to->oom_killed = to->oom_killed || more->oom_killed;
		return;
	}
	/* A group shows the life of its longest-lived process. */
	to->started_inside = more->started_inside && (is_new || to->started_inside);
	if (is_new || life_ns(more) > life_ns(to)) {
		to->start_ns = more->start_ns;
		to->end_ns = more->end_ns;
	}
	to->processes += more->processes;
	to->oom_killed += more->oom_killed;
}

static void add_memory(struct resource_process *to, const struct resource_process *more)
{
	if (!to->threads_seen) {
		to->start_rss_bytes = more->start_rss_bytes;
		to->start_anonymous_rss_bytes = more->start_anonymous_rss_bytes;
	}
	to->rss_known = more->rss_known;
	to->rss_bytes = more->rss_bytes;
	to->anonymous_rss_bytes = more->anonymous_rss_bytes;
	if (more->peak_rss_bytes > to->peak_rss_bytes)
		to->peak_rss_bytes = more->peak_rss_bytes;
}

uint32_t resource_usage_put_process(struct resource_usage *usage,
				    const struct resource_process *more)
{
	uint32_t index = get_process(usage, more);
	struct resource_process *to;

	if (index == USAGE_NONE)
		return USAGE_NONE;
	to = &usage->processes.items[index].public;
	usage->ended_count += more->end_ns && !to->end_ns;
	add_life(usage, to, more);
	if (to->pid && more->comm[0] && (more->comm_is_known || !to->comm_is_known)) {
		memcpy(to->comm, more->comm, sizeof(to->comm));
		to->comm_is_known = more->comm_is_known;
	}
	if (more->cgroup_id && index != usage->others)
		to->cgroup_id = more->cgroup_id;
	if (more->parent_pid)
		to->parent_pid = more->parent_pid;
	if (index != usage->others)
		add_memory(to, more);
	to->threads = more->threads;
	to->threads_seen += more->threads_seen;
	to->threads_counted += more->threads_counted;
	resource_counters_add(&to->used, &more->used);
	return index;
}

int resource_usage_forget_rss(struct resource_usage *usage, const uint32_t *indices, size_t count)
{
	_cleanup_free_ bool *lives = calloc(usage->processes.count + 1, sizeof(*lives));
	bool any = false;

	if (!lives)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		lives[indices[i]] = true;
		any = any || usage->processes.items[indices[i]].public.rss_known;
	}
	for (size_t i = 0; any && i < usage->processes.count; i++) {
		struct resource_process *process = &usage->processes.items[i].public;

		if (lives[i])
			continue;
		process->rss_known = false;
		process->rss_bytes = process->anonymous_rss_bytes = 0;
	}
	return 0;
}

/* Exited threads of a process are merged. */
static int put_ended_threads(struct resource_usage *usage, const struct resource_thread *more)
{
	struct usage_thread *thread = usage_get_ended_threads(usage, more->process);

	if (!thread)
		return -ENOMEM;
	thread->started_inside =
		more->started_inside && (thread->started_inside || !thread->members);
	if (!thread->members || resource_less(more->end_ns, more->start_ns) >
					resource_less(thread->end_ns, thread->start_ns)) {
		thread->start_ns = more->start_ns;
		thread->end_ns = more->end_ns;
	}
	thread->members += more->threads;
	resource_counters_add(&thread->counters, &more->used);
	return 0;
}

static struct usage_thread *add_thread(struct resource_usage *usage,
				       const struct resource_thread *more)
{
	struct usage_thread *thread;

	if (!array_reserve(&usage->threads, usage->threads.count + 1) ||
	    !hash_index_add(&usage->thread_index,
			    usage_thread_hash(usage, more->tid, more->start_ns),
			    (uint32_t)usage->threads.count))
		return NULL;
	thread = array_add(&usage->threads);
	*thread = (struct usage_thread){
		.pid = more->pid,
		.tid = more->tid,
		.process = more->process,
		.start_ns = more->start_ns,
		.final = true,
	};
	return thread;
}

int resource_usage_put_thread(struct resource_usage *usage, const struct resource_thread *more)
{
	struct usage_thread *thread;

	if (more->process >= usage->processes.count)
		return -EINVAL;
	if (!more->tid)
		return put_ended_threads(usage, more);
	thread = usage_find_thread(usage, more->tid, more->start_ns);
	if (thread) {
		struct resource_process *process = &usage->processes.items[thread->process].public;

		/* Both accounts have counted this thread. */
		process->threads_seen -= process->threads_seen != 0;
		process->threads_counted -= process->threads_counted != 0;
	} else {
		if (usage->threads.count >= RESOURCE_THREADS_MAX)
			return -ENOSPC;
		thread = add_thread(usage, more);
		if (!thread)
			return -ENOMEM;
	}
	thread->started_inside =
		thread->started_inside || is_inside(usage, more->start_ns, more->started_inside);
	if (more->end_ns > thread->end_ns)
		thread->end_ns = more->end_ns;
	memcpy(thread->comm, more->comm, sizeof(thread->comm));
	resource_counters_add(&thread->counters, &more->used);
	return 0;
}

/* The machine runs at least pkbpf, so 0 means unknown. */
static bool knows_threads(const struct resource_machine *machine)
{
	return machine->threads_ns || !machine->elapsed_ns;
}

static bool knows_cpus(const struct resource_machine *machine)
{
	return machine->cpu_ns || !machine->elapsed_ns;
}

void resource_usage_put_machine(struct resource_usage *usage, const struct resource_machine *more)
{
	struct resource_machine *to = &usage->put_machine;

	if (!more->known)
		return;
	/* If one is unknown, the sum is unknown. */
	to->threads_ns =
		knows_threads(to) && knows_threads(more) ? to->threads_ns + more->threads_ns : 0;
	to->cpu_ns = knows_cpus(to) && knows_cpus(more) ? to->cpu_ns + more->cpu_ns : 0;
	to->known = true;
	to->elapsed_ns += more->elapsed_ns;
	to->busy_ns += more->busy_ns;
	to->idle_ns += more->idle_ns;
	to->iowait_ns += more->iowait_ns;
	to->steal_ns += more->steal_ns;
	to->irq_ns += more->irq_ns;
	to->memory_bytes = more->memory_bytes;
	to->memory_available_bytes = more->memory_available_bytes;
}

static int put_string(struct resource_usage *usage, struct hash_map *map, uint64_t cgroup_id,
		      const char *text)
{
	uint32_t string = string_pool_add(usage->strings, text);

	return string != STRING_POOL_NONE && hash_map_put(map, cgroup_id, string) ? 0 : -ENOMEM;
}

int resource_usage_put_cgroup(struct resource_usage *usage, uint64_t cgroup_id, const char *path)
{
	return put_string(usage, &usage->cgroups, cgroup_id, path);
}

int resource_usage_put_container(struct resource_usage *usage, uint64_t cgroup_id, const char *name)
{
	return put_string(usage, &usage->containers, cgroup_id, name);
}

#define TAKE_STATE(name) to->name = more->name;
#define ADD_TOTAL(name)	 to->name += more->name;

int resource_usage_put_cgroup_limit(struct resource_usage *usage,
				    const struct resource_cgroup_limit *more)
{
	struct resource_cgroup_limit *to;
	uint32_t string;
	uint64_t *index;
	bool added;

	if (usage->cgroup_limits.count >= RESOURCE_CGROUP_LIMITS_MAX &&
	    !hash_map_find(&usage->cgroup_limit_of, more->cgroup_id))
		return -ENOSPC;
	string = string_pool_add(usage->strings, more->path ? more->path : "");
	index = hash_map_get(&usage->cgroup_limit_of, more->cgroup_id, usage->cgroup_limits.count,
			     &added);
	if (string == STRING_POOL_NONE || !index || (added && !array_add(&usage->cgroup_limits)))
		return -ENOMEM;
	usage->cgroup_limits.items[*index].path = string;
	to = &usage->cgroup_limits.items[*index].put;
	to->cgroup_id = more->cgroup_id;
	PKBPF_CGROUP_LIMIT_FIGURES(TAKE_STATE, ADD_TOTAL)
	return 0;
}
