// SPDX-License-Identifier: BSD-2-Clause
/* Assigns resource records of threads to the slice of their usage. */
#include <errno.h>
#include <string.h>

#include "profile/account/resource_usage_private.h"

/* A name is reported once. The name of a cgroup without a process in this many slices is
 * forgotten: hosts create thousands of cgroups an hour. The map's value is the string and, above
 * it, the number of slices since. */
#define UNUSED_SLICES_MAX 60
#define AGE_SHIFT	  32
/* The reading at each cut has all bystanders that live: one without a record has ended. A target's
 * last record comes when its parent has waited for it, or was lost. */
#define CARRIES_MAX	      60
#define BYSTANDER_CARRIES_MAX 1

static bool note_used(const struct resource_usage *usage, struct hash_map *used)
{
	array_foreach(&usage->processes, process) {
		if (!hash_map_put(used, process->public.cgroup_id, 0))
			return false;
	}
	return true;
}

static int copy_strings(struct resource_usage *next, struct hash_map *to,
			const struct resource_usage *before, const struct hash_map *from,
			const struct hash_map *used)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(from, &cursor))) {
		uint64_t age = hash_map_find(used, slot->key) ? 0 : (slot->value >> AGE_SHIFT) + 1;
		uint32_t string;

		if (age > UNUSED_SLICES_MAX)
			continue;
		string = string_pool_add(next->strings,
					 string_pool_get(before->strings, (uint32_t)slot->value));
		if (string == STRING_POOL_NONE ||
		    !hash_map_put(to, slot->key, age << AGE_SHIFT | string))
			return -ENOMEM;
	}
	return 0;
}

int resource_usage_follow(struct resource_usage *next, const struct resource_usage *before)
{
	struct hash_map used = {0};
	int err = note_used(before, &used) ? 0 : -ENOMEM;

	next->follows = true;
	next->capture_ns = before->follows ? before->capture_ns : before->start_ns;
	/* Until the cut has been read. */
	next->start_ns = before->start_ns;
	err = err ? err : copy_strings(next, &next->cgroups, before, &before->cgroups, &used);
	err = err ? err : copy_strings(next, &next->containers, before, &before->containers, &used);
	hash_map_done(&used);
	return err;
}

/* ---- closing ---- */

static uint32_t move_process(const struct resource_slices *slices, uint32_t number)
{
	const struct resource_process *from = &slices->closing->processes.items[number].public;
	uint32_t index = usage_find_process(slices->running, from->pid, from->start_ns);
	struct resource_process *to;

	if (index != USAGE_NONE)
		return index;
	if (!from->pid || slices->running->processes.count >= RESOURCE_PROCESSES_MAX)
		return usage_others(slices->running);
	index = usage_add_process(slices->running, from->pid, from->start_ns);
	if (index == USAGE_NONE)
		return USAGE_NONE;
	to = &slices->running->processes.items[index].public;
	to->parent_pid = from->parent_pid;
	to->cgroup_id = from->cgroup_id;
	to->start_rss_bytes = from->start_rss_bytes;
	to->start_anonymous_rss_bytes = from->start_anonymous_rss_bytes;
	to->peak_rss_bytes = from->peak_rss_bytes;
	memcpy(to->comm, from->comm, sizeof(to->comm));
	to->comm_is_known = from->comm_is_known;
	return index;
}

static int move_thread(const struct resource_slices *slices, struct usage_thread *from)
{
	struct resource_usage *to = slices->running;
	uint32_t process;
	struct usage_thread *thread;

	if (usage_find_thread(to, from->tid, from->start_ns))
		return 0;
	process = move_process(slices, from->process);
	if (process == USAGE_NONE || !array_reserve(&to->threads, to->threads.count + 1) ||
	    !hash_index_add(&to->thread_index, usage_thread_hash(to, from->tid, from->start_ns),
			    (uint32_t)to->threads.count))
		return -ENOMEM;
	thread = array_add(&to->threads);
	*thread = *from;
	thread->process = process;
	/* Without a reading at the cut nobody had one. */
	thread->carries += slices->closing->machine_end.moment != 0;
	to->start_threads = to->threads.count;
	to->processes.items[process].public.threads_seen += !from->bystander;
	slices->closing->processes.items[from->process].public.threads_seen -= !from->bystander;
	from->moved = true;
	return 0;
}

static int move_limits(const struct resource_slices *slices)
{
	array_foreach(&slices->closing->cgroup_limits, limit) {
		struct cgroup_limit_view start = limit->start;
		int err;

		if (limit->end.moment || !start.moment ||
		    hash_map_find(&slices->running->cgroup_limit_of, start.cgroup_id))
			continue;
		start.path = string_pool_get(slices->closing->strings, limit->path);
		err = usage_take_cgroup_limit(slices->running, &start);
		if (err)
			return err;
	}
	return 0;
}

static bool is_awaited_still(const struct usage_thread *thread)
{
	return !thread->final && !thread->superseded && !thread->moved &&
	       thread->carries < (thread->bystander ? BYSTANDER_CARRIES_MAX : CARRIES_MAX);
}

int resource_usage_close(const struct resource_slices *slices)
{
	struct resource_usage *closing = slices->closing;
	int err = 0;

	if (!closing->machine_end.moment && !slices->running->machine_start.moment)
		slices->running->machine_start = closing->machine_start;
	array_foreach(&closing->threads, thread) {
		if (!err && is_awaited_still(thread))
			err = move_thread(slices, thread);
	}
	return err ? err : move_limits(slices);
}

/* ---- records ---- */

static bool is_awaited(struct resource_usage *usage, uint32_t tid, uint64_t start_ns)
{
	const struct usage_thread *thread = usage_find_thread(usage, tid, start_ns);

	return thread && !thread->final && !thread->moved;
}

/* The slice with the first record of a thread also gets its last one: then the reading at the
 * cut missed the thread. Otherwise the record belongs to the slice of the thread's exit or, when
 * that is closed, to the current one. */
static bool is_of_closing(const struct resource_slices *slices, const struct resource_view *view)
{
	if (!slices->closing)
		return false;
	/* The reading at the cut knows a thread that has called exec by its new tid. */
	if (view->moment == PKBPF_RESOURCE_EXEC)
		return view->time_ns < slices->cut_ns || !slices->running->machine_start.moment;
	if (is_awaited(slices->closing, view->tid, view->thread_start_ns))
		return true;
	if (usage_find_thread(slices->running, view->tid, view->thread_start_ns))
		return false;
	return view->time_ns < slices->cut_ns || view->thread_start_ns < slices->cut_ns;
}

static int feed_thread(const struct resource_slices *slices,
		       const struct pkbpf_event_header *record)
{
	struct resource_view view;
	int err = resource_event_decode(record, &view);

	if (err)
		return err;
	switch (view.moment) {
	case PKBPF_RESOURCE_CUT:
		/* Without the previous slice, the usage goes to the next one. */
		if (!slices->closing)
			return 0;
		view.moment = PKBPF_RESOURCE_END;
		err = usage_take_thread(slices->closing, &view);
		view.moment = PKBPF_RESOURCE_START;
		return err ? err : usage_take_thread(slices->running, &view);
	case PKBPF_RESOURCE_EXIT:
	case PKBPF_RESOURCE_LEFT:
	case PKBPF_RESOURCE_EXEC:
		return usage_take_thread(
			is_of_closing(slices, &view) ? slices->closing : slices->running, &view);
	default:
		return usage_take_thread(slices->running, &view);
	}
}

static int feed_machine(const struct resource_slices *slices,
			const struct pkbpf_event_header *record)
{
	struct machine_view view;
	int err = machine_event_decode(record, &view);

	if (err)
		return err;
	if (view.moment == PKBPF_RESOURCE_CUT) {
		if (!slices->closing)
			return 0;
		view.moment = PKBPF_RESOURCE_END;
		usage_take_machine(slices->closing, &view);
		view.moment = PKBPF_RESOURCE_START;
	} else if (view.moment == PKBPF_RESOURCE_END && slices->closing) {
		/* Close before the last reading, which may meet threads of the previous slice. */
		err = resource_usage_close(slices);
	}
	usage_take_machine(slices->running, &view);
	return err;
}

static int feed_cgroup_limit(const struct resource_slices *slices,
			     const struct pkbpf_event_header *record)
{
	struct cgroup_limit_view view;
	int err = cgroup_limit_event_decode(record, &view);

	if (err)
		return err;
	if (view.moment == PKBPF_RESOURCE_CUT) {
		if (!slices->closing)
			return 0;
		view.moment = PKBPF_RESOURCE_END;
		err = usage_take_cgroup_limit(slices->closing, &view);
		view.moment = PKBPF_RESOURCE_START;
	}
	return err ? err : usage_take_cgroup_limit(slices->running, &view);
}

int resource_usage_feed_slices(const struct resource_slices *slices,
			       const struct pkbpf_event_header *record)
{
	int err = 0;

	switch (record->kind) {
	case PKBPF_EVENT_RESOURCE:
		return feed_thread(slices, record);
	case PKBPF_EVENT_MACHINE:
		return feed_machine(slices, record);
	case PKBPF_EVENT_CGROUP:
	case PKBPF_EVENT_CONTAINER:
		if (slices->closing)
			err = usage_take_cgroup(slices->closing, record);
		return err ? err : usage_take_cgroup(slices->running, record);
	case PKBPF_EVENT_CGROUP_LIMIT:
		return feed_cgroup_limit(slices, record);
	default:
		return 0;
	}
}
