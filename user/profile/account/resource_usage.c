// SPDX-License-Identifier: BSD-2-Clause
/* Computes differences of running totals per thread, and their sums per process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/account/resource_usage_private.h"

struct resource_usage *resource_usage_new(void)
{
	struct resource_usage *usage = calloc(1, sizeof(*usage));

	if (!usage)
		return NULL;
	usage->others = USAGE_NONE;
	usage->seed = hash_random_seed();
	usage->strings = string_pool_new();
	if (!usage->strings) {
		free(usage);
		return NULL;
	}
	return usage;
}

void resource_usage_free(struct resource_usage *usage)
{
	if (!usage)
		return;
	array_free(&usage->threads);
	array_free(&usage->processes);
	hash_index_done(&usage->thread_index);
	hash_index_done(&usage->group_index);
	hash_map_done(&usage->pids);
	hash_map_done(&usage->cgroups);
	hash_map_done(&usage->containers);
	array_free(&usage->cgroup_limits);
	hash_map_done(&usage->cgroup_limit_of);
	string_pool_free(usage->strings);
	free(usage);
}

/* ---- finding ---- */

uint64_t usage_thread_hash(const struct resource_usage *usage, uint32_t tid, uint64_t start_ns)
{
	uint64_t key[2] = {tid, start_ns};

	return hash_bytes(key, sizeof(key), usage->seed);
}

struct thread_key {
	uint32_t tid;
	uint64_t start_ns;
};

static bool thread_equal(const void *context, uint32_t item, const void *key)
{
	const struct resource_usage *usage = context;
	const struct thread_key *wanted = key;
	const struct usage_thread *thread = &usage->threads.items[item];

	return thread->tid == wanted->tid && thread->start_ns == wanted->start_ns &&
	       !thread->superseded;
}

struct usage_thread *usage_find_thread(struct resource_usage *usage, uint32_t tid,
				       uint64_t start_ns)
{
	const struct thread_key key = {tid, start_ns};
	uint32_t item =
		hash_index_find(&usage->thread_index, usage_thread_hash(usage, tid, start_ns),
				thread_equal, usage, &key);

	return item == HASH_INDEX_NONE ? NULL : &usage->threads.items[item];
}

static struct usage_thread *find_thread(struct resource_usage *usage,
					const struct resource_view *view)
{
	return usage_find_thread(usage, view->tid, view->thread_start_ns);
}

uint32_t usage_find_process(const struct resource_usage *usage, uint32_t pid, uint64_t start_ns)
{
	const uint64_t *last = hash_map_find(&usage->pids, pid);

	for (uint32_t i = last ? (uint32_t)*last : USAGE_NONE; i != USAGE_NONE;
	     i = usage->processes.items[i].previous)
		if (usage->processes.items[i].public.start_ns == start_ns)
			return i;
	return USAGE_NONE;
}

uint32_t usage_add_process(struct resource_usage *usage, uint32_t pid, uint64_t start_ns)
{
	struct usage_process *process;
	uint64_t *last;
	bool added;

	if (!array_reserve(&usage->processes, usage->processes.count + 1))
		return USAGE_NONE;
	last = hash_map_get(&usage->pids, pid, USAGE_NONE, &added);
	if (!last)
		return USAGE_NONE;
	process = array_add(&usage->processes);
	process->public.pid = pid;
	process->public.start_ns = start_ns;
	process->public.processes = pid != 0;
	process->previous = (uint32_t)*last;
	*last = usage->processes.count - 1;
	return (uint32_t)*last;
}

uint32_t usage_others(struct resource_usage *usage)
{
	if (usage->others != USAGE_NONE)
		return usage->others;
	usage->others = usage_add_process(usage, 0, 0);
	if (usage->others != USAGE_NONE)
		strcpy(usage->processes.items[usage->others].public.comm, RESOURCE_OTHERS_COMM);
	return usage->others;
}

static uint32_t get_process(struct resource_usage *usage, const struct resource_view *view)
{
	uint32_t process = usage_find_process(usage, view->pid, view->process_start_ns);

	if (process != USAGE_NONE)
		return process;
	if (usage->processes.count < RESOURCE_PROCESSES_MAX)
		return usage_add_process(usage, view->pid, view->process_start_ns);
	process = usage_others(usage);
	/* The leader represents its process. */
	if (process != USAGE_NONE && view->tid == view->pid)
		usage->processes.items[process].public.processes++;
	return process;
}

/* NULL: no room; *ret_err is set when out of memory. */
static struct usage_thread *add_thread(struct resource_usage *usage,
				       const struct resource_view *view, int *ret_err)
{
	struct usage_thread *thread;

	if (usage->threads.count >= RESOURCE_THREADS_MAX)
		return NULL;
	if (!array_reserve(&usage->threads, usage->threads.count + 1) ||
	    !hash_index_add(&usage->thread_index,
			    usage_thread_hash(usage, view->tid, view->thread_start_ns),
			    (uint32_t)usage->threads.count)) {
		*ret_err = -ENOMEM;
		return NULL;
	}
	thread = array_add(&usage->threads);
	thread->pid = view->pid;
	thread->tid = view->tid;
	thread->start_ns = view->thread_start_ns;
	return thread;
}

/* ---- taking records ---- */

static void describe_process(struct resource_usage *usage, uint32_t index,
			     const struct resource_view *view)
{
	struct resource_process *process = &usage->processes.items[index].public;

	if (index == usage->others)
		return;
	if (view->cgroup_id)
		process->cgroup_id = view->cgroup_id;
	if (view->parent_pid)
		process->parent_pid = view->parent_pid;
	if (view->tid == view->pid || !process->comm[0])
		memcpy(process->comm, view->comm, sizeof(process->comm));
	process->comm_is_known = process->comm_is_known || view->tid == view->pid;
	if (view->peak_rss_bytes > process->peak_rss_bytes)
		process->peak_rss_bytes = view->peak_rss_bytes;
	/* A leader that exited before its threads has no memory left; one of the threads reports
	 * it. */
	if (view->moment == PKBPF_RESOURCE_START && view->rss_bytes > process->start_rss_bytes)
		process->start_rss_bytes = view->rss_bytes;
	if (view->moment == PKBPF_RESOURCE_START &&
	    view->anonymous_rss_bytes > process->start_anonymous_rss_bytes)
		process->start_anonymous_rss_bytes = view->anonymous_rss_bytes;
	if (view->moment == PKBPF_RESOURCE_END && view->rss_bytes) {
		process->rss_known = true;
		if (view->rss_bytes > process->rss_bytes)
			process->rss_bytes = view->rss_bytes;
		if (view->anonymous_rss_bytes > process->anonymous_rss_bytes)
			process->anonymous_rss_bytes = view->anonymous_rss_bytes;
	}
}

/* A process with only bystander threads was not seen as a target and is not reported. */
static int take_start(struct resource_usage *usage, const struct resource_view *view,
		      bool bystander)
{
	uint32_t process = get_process(usage, view);
	struct usage_thread *thread = find_thread(usage, view);
	int err = 0;

	if (process == USAGE_NONE)
		return -ENOMEM;
	if (thread) {
		thread->carries = 0;
		return 0;
	}
	thread = add_thread(usage, view, &err);
	if (!thread)
		return err;
	thread->process = process;
	thread->counters = view->counters;
	memcpy(thread->comm, view->comm, sizeof(thread->comm));
	thread->bystander = bystander;
	usage->start_threads = usage->threads.count;
	describe_process(usage, process, view);
	usage->processes.items[process].public.threads_seen += !bystander;
	return 0;
}

static struct usage_thread *find_number(struct resource_usage *usage, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; i < usage->start_threads && i < usage->threads.count; i++) {
		struct usage_thread *thread = &usage->threads.items[i];

		if (thread->tid == tid && thread->pid == pid && !thread->final &&
		    !thread->superseded)
			return thread;
	}
	return NULL;
}

/* When a thread other than the leader calls exec, the kernel gives it the tid and start time of
 * the exited leader. Later records do not have its true start time, so the change must be
 * handled here. */
static int take_exec(struct resource_usage *usage, const struct resource_view *view)
{
	struct resource_view renumbered = *view;
	struct usage_thread *thread;
	int err = 0;

	if (usage->end_ns && view->time_ns > usage->end_ns)
		return 0;
	renumbered.tid = view->pid;
	thread = find_thread(usage, &renumbered);
	if (thread)
		thread->superseded = true;
	thread = find_number(usage, view->pid, view->tid);
	if (thread) {
		uint64_t hash = usage_thread_hash(usage, view->pid, view->thread_start_ns);

		if (!hash_index_add(&usage->thread_index, hash,
				    (uint32_t)(thread - usage->threads.items)))
			return -ENOMEM;
		thread->tid = view->pid;
		thread->start_ns = view->thread_start_ns;
		return 0;
	}
	/* The thread was started within the interval, so it has used nothing before. */
	thread = add_thread(usage, &renumbered, &err);
	if (!thread)
		return err;
	thread->bystander = true;
	thread->process = get_process(usage, &renumbered);
	return thread->process == USAGE_NONE ? -ENOMEM : 0;
}

/* Counts a thread whose last record has arrived. */
static void count_thread(struct resource_usage *usage, uint32_t index,
			 const struct resource_view *view, const struct resource_counters *used)
{
	bool is_exit = view->moment == PKBPF_RESOURCE_EXIT || view->moment == PKBPF_RESOURCE_LEFT;
	struct resource_process *process = &usage->processes.items[index].public;

	process->threads_counted++;
	/* All its threads have this flag; the leader represents the process for threads without
	 * an entry. */
	if (view->oom_killed)
		process->oom_killed =
			index == usage->others ? process->oom_killed + (view->tid == view->pid) : 1;
	resource_counters_add(&process->used, used);
	process->started_inside = process->start_ns >= usage->start_ns;
	if (is_exit && !process->end_ns)
		usage->ended_count++;
	/* Exited threads are not reported in the order of their exits. */
	if (!is_exit)
		process->threads++;
	else if (process->threads)
		process->end_ns = 0;
	else if (view->time_ns > process->end_ns)
		process->end_ns = view->time_ns;
}

/* Takes the last record of a thread. */
static int take_final(struct resource_usage *usage, const struct resource_view *view)
{
	bool is_exit = view->moment == PKBPF_RESOURCE_EXIT || view->moment == PKBPF_RESOURCE_LEFT,
	     inside = view->thread_start_ns >= usage->start_ns,
	     /* No slice has the thread, although it started after the capture began. */
		is_late = is_exit && usage->follows && view->thread_start_ns >= usage->capture_ns;
	struct usage_thread *thread = find_thread(usage, view);
	struct resource_counters used = view->counters;
	uint32_t index;
	int err = 0;

	/* A thread that exits after the end counts up to the end. One that exited before the
	 * start, or started after the end, does not count. */
	if ((thread && thread->final) || (!thread && !inside && !is_late) ||
	    (usage->end_ns && view->thread_start_ns > usage->end_ns))
		return 0;
	index = thread ? thread->process : get_process(usage, view);
	if (index == USAGE_NONE)
		return -ENOMEM;
	if (!thread) {
		thread = add_thread(usage, view, &err);
		if (err)
			return err;
		usage->processes.items[index].public.threads_seen++;
	} else {
		usage->processes.items[index].public.threads_seen += thread->bystander;
		thread->bystander = false;
	}
	if (thread && !inside)
		used = resource_counters_less(&view->counters, &thread->counters);
	if (thread) {
		thread->process = index;
		thread->started_inside = inside;
		thread->final = true;
		thread->end_ns = is_exit ? view->time_ns : 0;
		thread->counters = used;
		memcpy(thread->comm, view->comm, sizeof(thread->comm));
	}
	describe_process(usage, index, view);
	count_thread(usage, index, view, &used);
	return 0;
}

int usage_take_thread(struct resource_usage *usage, const struct resource_view *record)
{
	struct resource_view view = *record;
	bool bystander = view.moment == PKBPF_RESOURCE_BYSTANDER;

	if (bystander)
		view.moment = PKBPF_RESOURCE_START;
	if (view.moment == PKBPF_RESOURCE_START) {
		if (!usage->start_ns)
			usage->start_ns = view.time_ns;
		return take_start(usage, &view, bystander);
	}
	if (!usage->start_ns)
		return 0;
	if (view.moment == PKBPF_RESOURCE_EXEC)
		return take_exec(usage, &view);
	if (view.moment == PKBPF_RESOURCE_END && !usage->end_ns)
		usage->end_ns = view.time_ns;
	return take_final(usage, &view);
}

void usage_take_machine(struct resource_usage *usage, const struct machine_view *view)
{
	if (view->moment == PKBPF_RESOURCE_START) {
		usage->machine_start = *view;
		/* The machine's reading comes first: threads started while the others are read
		 * have used nothing before. */
		usage->start_ns = view->time_ns;
	} else {
		usage->machine_end = *view;
		usage->end_ns = view->time_ns;
	}
}

int usage_take_cgroup(struct resource_usage *usage, const struct pkbpf_event_header *record)
{
	struct cgroup_view view;
	uint32_t string;
	int err = cgroup_event_decode(record, &view);

	if (err)
		return err;
	string = string_pool_add(usage->strings, view.text);
	if (string == STRING_POOL_NONE ||
	    !hash_map_put(view.is_container ? &usage->containers : &usage->cgroups, view.cgroup_id,
			  string))
		return -ENOMEM;
	return 0;
}

/* CPU time and memory of one cgroup come in records of their own. */
#define TAKE_KNOWN(name) edge->name = view->name ? view->name : edge->name;

static void take_figures(struct cgroup_limit_view *edge, const struct cgroup_limit_view *view)
{
	edge->moment = view->moment;
	edge->cgroup_id = view->cgroup_id;
	PKBPF_CGROUP_LIMIT_FIGURES(TAKE_KNOWN, TAKE_KNOWN)
}

int usage_take_cgroup_limit(struct resource_usage *usage, const struct cgroup_limit_view *view)
{
	struct usage_cgroup_limit *limit;
	uint32_t string;
	uint64_t *index;
	bool added;

	if (usage->cgroup_limits.count >= RESOURCE_CGROUP_LIMITS_MAX &&
	    !hash_map_find(&usage->cgroup_limit_of, view->cgroup_id))
		return 0;
	string = string_pool_add(usage->strings, view->path);
	index = hash_map_get(&usage->cgroup_limit_of, view->cgroup_id, usage->cgroup_limits.count,
			     &added);
	if (string == STRING_POOL_NONE || !index || (added && !array_add(&usage->cgroup_limits)))
		return -ENOMEM;
	limit = &usage->cgroup_limits.items[*index];
	limit->path = string;
	take_figures(view->moment == PKBPF_RESOURCE_START ? &limit->start : &limit->end, view);
	return 0;
}

int resource_usage_feed(struct resource_usage *usage, const struct pkbpf_event_header *record)
{
	return resource_usage_feed_slices(&(struct resource_slices){.running = usage}, record);
}
