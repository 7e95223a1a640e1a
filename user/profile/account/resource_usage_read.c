// SPDX-License-Identifier: BSD-2-Clause
/* Reads the results of resource accounting. */
#include <string.h>

#include "profile/account/resource_usage_private.h"

bool resource_usage_known(const struct resource_usage *usage)
{
	return usage->start_ns && usage->end_ns;
}

uint64_t resource_usage_start_ns(const struct resource_usage *usage)
{
	return usage->start_ns;
}

uint64_t resource_usage_end_ns(const struct resource_usage *usage)
{
	return usage->end_ns;
}

uint64_t resource_usage_missing(const struct resource_usage *usage)
{
	uint64_t missing = usage->put_missing;

	array_foreach(&usage->threads, thread)
		missing += !thread->final && !thread->bystander && !thread->moved;
	return missing;
}

size_t resource_usage_process_count(const struct resource_usage *usage)
{
	return usage->processes.count;
}

/* A thread without ticks is divided like its process; kernel threads have no user time. */
static void divide(const struct resource_process *process, struct resource_counters *used)
{
	const uint32_t kthreadd = 2;

	if (!used->user_ns && !used->system_ns) {
		used->user_ns = process->used.user_ns;
		used->system_ns = process->used.system_ns;
		if (process->pid == kthreadd || process->parent_pid == kthreadd)
			used->system_ns = 1;
	}
	resource_counters_divide(used);
}

struct resource_process resource_usage_raw_process(const struct resource_usage *usage, size_t index)
{
	struct resource_process process = usage->processes.items[index].public;

	if (process.threads)
		process.end_ns = 0;
	process.growth_known = process.rss_known && index != usage->others;
	return process;
}

struct resource_process resource_usage_process(const struct resource_usage *usage, size_t index)
{
	struct resource_process process = resource_usage_raw_process(usage, index);

	divide(&process, &process.used);
	return process;
}

size_t resource_usage_thread_count(const struct resource_usage *usage)
{
	return usage->threads.count;
}

bool resource_usage_raw_thread(const struct resource_usage *usage, size_t index,
			       struct resource_thread *ret_thread)
{
	const struct usage_thread *thread = &usage->threads.items[index];

	if (!thread->final)
		return false;
	*ret_thread = (struct resource_thread){
		.pid = thread->pid,
		.tid = thread->tid,
		.process = thread->process,
		.start_ns = thread->start_ns,
		.end_ns = thread->end_ns,
		.started_inside = thread->started_inside,
		.used = thread->counters,
		.threads = thread->members ? thread->members : 1,
	};
	memcpy(ret_thread->comm, thread->comm, sizeof(ret_thread->comm));
	return true;
}

bool resource_usage_thread(const struct resource_usage *usage, size_t index,
			   struct resource_thread *ret_thread)
{
	if (!resource_usage_raw_thread(usage, index, ret_thread))
		return false;
	divide(&usage->processes.items[ret_thread->process].public, &ret_thread->used);
	return true;
}

bool resource_usage_find(const struct resource_usage *usage, uint32_t pid, uint64_t time_ns,
			 size_t *ret_index)
{
	const uint64_t *last = hash_map_find(&usage->pids, pid);
	uint32_t i = last ? (uint32_t)*last : USAGE_NONE;

	if (i == USAGE_NONE || pid == 0)
		return false;
	/* Newest first: the first process that had started by then. If none had, clocks or
	 * records are slightly off. */
	while (usage->processes.items[i].public.start_ns > time_ns &&
	       usage->processes.items[i].previous != USAGE_NONE)
		i = usage->processes.items[i].previous;
	*ret_index = i;
	return true;
}

/*
 * The kernel takes the idle time of a CPU from another clock once the CPU is offline: the sum over
 * all CPUs jumps then, by hours. All other times go on from where they were. When in the interval a
 * CPU came or went is not known.
 */
static void count_cpu_time(struct resource_machine *machine, uint64_t before, uint64_t after)
{
	if (!before || !after)
		return;
	machine->cpu_ns = machine->elapsed_ns * (before + after) / 2;
	if (before == after)
		return;
	machine->idle_ns = resource_less(machine->cpu_ns, machine->busy_ns + machine->steal_ns);
	if (machine->iowait_ns > machine->idle_ns)
		machine->iowait_ns = machine->idle_ns;
}

uint64_t resource_machine_cpu_ns(const struct resource_machine *machine, uint32_t cpu_count)
{
	return machine->cpu_ns ? machine->cpu_ns : machine->elapsed_ns * cpu_count;
}

struct resource_machine resource_usage_machine(const struct resource_usage *usage)
{
	const struct machine_view *start = &usage->machine_start, *end = &usage->machine_end;

	struct resource_machine machine;

	if (!start->moment || !end->moment)
		return usage->put_machine;
	machine = (struct resource_machine){
		.known = true,
		.elapsed_ns = resource_less(end->time_ns, start->time_ns),
		.busy_ns = resource_less(end->busy_ns, start->busy_ns),
		.idle_ns = resource_less(end->idle_ns, start->idle_ns),
		.iowait_ns = resource_less(end->iowait_ns, start->iowait_ns),
		.steal_ns = resource_less(end->steal_ns, start->steal_ns),
		.irq_ns = resource_less(end->irq_ns, start->irq_ns),
		.threads_ns = start->threads_ns && end->threads_ns
				      ? resource_less(end->threads_ns, start->threads_ns)
				      : 0,
		.memory_bytes = end->memory_bytes,
		.memory_available_bytes = end->memory_available_bytes,
	};
	count_cpu_time(&machine, start->cpu_count, end->cpu_count);
	return machine;
}

const char *resource_usage_cgroup(const struct resource_usage *usage, uint64_t cgroup_id)
{
	const uint64_t *string = hash_map_find(&usage->cgroups, cgroup_id);

	return string ? string_pool_get(usage->strings, (uint32_t)*string) : NULL;
}

const char *resource_usage_container(const struct resource_usage *usage, uint64_t cgroup_id)
{
	const uint64_t *string = hash_map_find(&usage->containers, cgroup_id);

	return string ? string_pool_get(usage->strings, (uint32_t)*string) : NULL;
}

size_t resource_usage_cgroup_limit_count(const struct resource_usage *usage)
{
	return usage->cgroup_limits.count;
}

uint64_t resource_memory_bound(const struct resource_cgroup_limit *limit)
{
	if (limit->memory_high &&
	    (!limit->memory_limit || limit->memory_high < limit->memory_limit))
		return limit->memory_high;
	return limit->memory_limit;
}

#define AT_END(name)	  .name = end->name,
#define IN_INTERVAL(name) .name = resource_less(end->name, start->name),

bool resource_usage_cgroup_limit(const struct resource_usage *usage, size_t index,
				 struct resource_cgroup_limit *ret_limit)
{
	const struct usage_cgroup_limit *limit = &usage->cgroup_limits.items[index];
	const struct cgroup_limit_view *start = &limit->start, *end = &limit->end;

	/* Missing at the start: the cgroup was created within the interval and has counted from
	 * 0. */
	if (limit->put.cgroup_id) {
		*ret_limit = limit->put;
		ret_limit->path = string_pool_get(usage->strings, limit->path);
		return true;
	}
	if (!end->moment)
		return false;
	*ret_limit =
		(struct resource_cgroup_limit){.cgroup_id = end->cgroup_id,
					       .path = string_pool_get(usage->strings, limit->path),
					       PKBPF_CGROUP_LIMIT_FIGURES(AT_END, IN_INTERVAL)};
	return true;
}

static const char *next_string(const struct resource_usage *usage, const struct hash_map *map,
			       size_t *cursor, uint64_t *ret_cgroup_id)
{
	const struct hash_map_slot *slot = hash_map_next(map, cursor);

	if (!slot)
		return NULL;
	*ret_cgroup_id = slot->key;
	return string_pool_get(usage->strings, (uint32_t)slot->value);
}

const char *resource_usage_cgroup_at(const struct resource_usage *usage, size_t *cursor,
				     uint64_t *ret_cgroup_id)
{
	return next_string(usage, &usage->cgroups, cursor, ret_cgroup_id);
}

const char *resource_usage_container_at(const struct resource_usage *usage, size_t *cursor,
					uint64_t *ret_cgroup_id)
{
	return next_string(usage, &usage->containers, cursor, ret_cgroup_id);
}
