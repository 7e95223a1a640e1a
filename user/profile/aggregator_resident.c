// SPDX-License-Identifier: BSD-2-Clause
/* Adds whose resident pages are, and the memory of processes over time, to the profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/memory_event.h"
#include "profile/account/memory_list.h"
#include "profile/aggregator_private.h"
#include "profile/resident/resident.h"

/* Series of processes; 20 KiB each. Further processes have none. */
#define MAX_SERIES 2048
/* The unit in which pages are counted. */
#define PAGE_OF_MEMORY 4096

struct process_memory {
	uint32_t process;
	uint64_t anonymous; /* now */
	struct memory_series *series;
};

struct aggregator_memory {
	struct resident *resident;
	ARRAY_OF(struct process_memory) processes;
	struct hash_map process_of; /* id -> number in processes */
	size_t series_count;
};

void aggregator_memory_free(struct aggregator_memory *memory)
{
	if (!memory)
		return;
	array_foreach(&memory->processes, process)
		free(process->series);
	array_free(&memory->processes);
	hash_map_done(&memory->process_of);
	resident_free(memory->resident);
	free(memory);
}

static struct aggregator_memory *get_memory(struct aggregator *aggregator)
{
	struct aggregator_memory *memory = aggregator->memory;

	if (memory)
		return memory;
	memory = calloc(1, sizeof(*memory));
	if (memory)
		memory->resident = resident_new();
	if (!memory || !memory->resident) {
		free(memory);
		return NULL;
	}
	aggregator->memory = memory;
	return memory;
}

static struct process_memory *find_process(const struct aggregator_memory *memory, uint32_t id)
{
	const uint64_t *number = hash_map_find(&memory->process_of, id);

	return number ? &memory->processes.items[*number] : NULL;
}

static struct process_memory *get_process(struct aggregator_memory *memory, uint32_t id)
{
	struct process_memory *process = find_process(memory, id);

	if (process)
		return process;
	if (!hash_map_put(&memory->process_of, id, memory->processes.count))
		return NULL;
	process = array_add(&memory->processes);
	if (!process) {
		hash_map_remove(&memory->process_of, id);
		return NULL;
	}
	process->process = id;
	if (memory->series_count < MAX_SERIES)
		process->series = calloc(1, sizeof(*process->series));
	memory->series_count += process->series ? 1 : 0;
	return process;
}

static void copy_comm(char *to, const char *from)
{
	memcpy(to, from, PKBPF_COMM_SIZE);
	to[PKBPF_COMM_SIZE] = '\0';
}

static int take_counters(struct aggregator *aggregator, struct process *process,
			 const struct pkbpf_event_resident *event)
{
	struct process_memory *of_process = get_process(aggregator->memory, process->id);
	struct memory_point point = {
		.pid = event->pid,
		.time_ns = event->header.time_ns,
		.anonymous = event->anonymous,
		.file = event->file,
		.shared = event->shared,
		.swap = event->swap,
		.peak = event->peak,
	};

	if (!of_process)
		return -ENOMEM;
	copy_comm(point.comm, event->comm);
	of_process->anonymous = event->anonymous;
	if (of_process->series)
		memory_series_add(of_process->series, &point);
	return 0;
}

struct place {
	uint32_t pid;
	uint64_t cgroup_id;
	const char *comm; /* NULL: not known */
};

static struct process *process_at(struct aggregator *aggregator, const struct place *place)
{
	char comm[PKBPF_COMM_SIZE + 1] = "";
	struct process *process;

	if (place->comm)
		copy_comm(comm, place->comm);
	process = place->comm ? process_table_get(aggregator->processes, place->pid, comm)
			      : process_table_find(aggregator->processes, place->pid);
	if (process && place->cgroup_id)
		process->cgroup_id = place->cgroup_id;
	return process;
}

static int take_present(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	size_t runs;
	const struct pkbpf_event_present *present = present_event_read(record, &runs);
	const struct process_memory *of_process;
	struct process *process;

	if (!present)
		return -EBADMSG;
	process = process_at(aggregator, &(struct place){present->pid, 0, NULL});
	if (!process)
		return 0;
	of_process = find_process(aggregator->memory, process->id);
	/* Without counters or pages of it nothing keeps its id. */
	if (!of_process)
		return 0;
	return resident_look(aggregator->memory->resident, process->id, of_process->anonymous,
			     present, runs);
}

static int take_page(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_page *page = page_event_read(record);
	struct process *process;

	if (!page)
		return -EBADMSG;
	process = process_at(aggregator, &(struct place){page->pid, page->cgroup_id, page->comm});
	return process ? resident_write(aggregator->memory->resident, process->id, page) : -ENOMEM;
}

static int take_mapped(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_mapped *mapped = mapped_event_read(record);
	struct process *process;

	if (!mapped)
		return -EBADMSG;
	process = process_at(aggregator,
			     &(struct place){mapped->pid, mapped->cgroup_id, mapped->comm});
	return process ? resident_map(aggregator->memory->resident, process->id, mapped) : -ENOMEM;
}

static int take_resident(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_resident *event = resident_event_read(record);
	struct process *process;

	if (!event)
		return -EBADMSG;
	process =
		process_at(aggregator, &(struct place){event->pid, event->cgroup_id, event->comm});
	return process ? take_counters(aggregator, process, event) : -ENOMEM;
}

int aggregator_take_memory(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	int err;

	if (!get_memory(aggregator))
		return -ENOMEM;
	switch (record->kind) {
	case PKBPF_EVENT_PAGE:
		err = take_page(aggregator, record);
		break;
	case PKBPF_EVENT_MAPPED:
		err = take_mapped(aggregator, record);
		break;
	case PKBPF_EVENT_PRESENT:
		err = take_present(aggregator, record);
		break;
	default:
		err = take_resident(aggregator, record);
	}
	if (err != -ENOMEM)
		return err;
	profile_info(aggregator->running)->counters[PKBPF_COUNTER_MEMORY_NO_MEMORY]++;
	return 0;
}

void aggregator_memory_task(struct aggregator *aggregator, const struct task_view *task)
{
	const struct process *parent;

	if (!aggregator->memory || task->kind != PKBPF_EVENT_FORK || task->from_snapshot ||
	    task->pid != task->tid || task->pid == task->parent_pid)
		return;
	parent = process_table_find(aggregator->processes, task->parent_pid);
	if (parent && find_process(aggregator->memory, parent->id)) {
		uint32_t parent_id = parent->id;
		const struct process *child =
			process_table_get(aggregator->processes, task->pid, task->comm);

		if (child)
			resident_fork(aggregator->memory->resident, parent_id, child->id);
	}
}

void aggregator_memory_keep_stacks(struct aggregator *aggregator)
{
	size_t cursor = 0, count;
	uint32_t id;

	if (!aggregator->memory)
		return;
	while ((id = resident_next_process(aggregator->memory->resident, &cursor)) !=
	       RESIDENT_NONE) {
		const struct resident_site *sites =
			resident_sites(aggregator->memory->resident, id, &count);

		for (size_t i = RESIDENT_PLACES; i < count; i++)
			if (sites[i].stack_id)
				aggregator_keep_stack(aggregator, sites[i].stack_id);
	}
}

void aggregator_memory_mark(const struct aggregator *aggregator, bool *is_used)
{
	size_t cursor = 0;
	uint32_t id;

	if (!aggregator->memory)
		return;
	while ((id = resident_next_process(aggregator->memory->resident, &cursor)) != RESIDENT_NONE)
		is_used[id] = true;
	array_foreach(&aggregator->memory->processes, process)
		is_used[process->process] = true;
}

/* Numbers of frames that are no regions of programs. */
#define PLACE_FRAME (UINT32_MAX - RESIDENT_PLACES)

static uint32_t stack_of_place(struct profile *profile, size_t place)
{
	static const char *const names[RESIDENT_PLACES] = {
		[RESIDENT_UNKNOWN] = "came without a fault",
		[RESIDENT_BEFORE] = "resident before start",
		[RESIDENT_INHERITED] = "inherited from the parent",
	};
	uint32_t frame =
		profile_intern_region(profile, PLACE_FRAME + (uint32_t)place, names[place]);

	return frame == UINT32_MAX ? UINT32_MAX : profile_intern_stack(profile, &frame, 1);
}

static int add_site(struct aggregator *aggregator, const struct process *process,
		    const struct resident_site *site, size_t number)
{
	struct profile *profile = aggregator->running;
	/* Of a process that has ended, what it had when it had most. */
	uint64_t bytes = process->end_ns ? site->bytes_at_peak : site->bytes;
	const struct numbered_stack *stack =
		site->stack_id ? aggregator_find_stack(aggregator, site->stack_id,
						       process_table_now_ns(aggregator->processes))
			       : NULL;
	struct profile_row row = {
		.kind = PKBPF_PROFILE_MEMORY,
		.process = process->id,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, process->comm),
		.count = bytes / PAGE_OF_MEMORY,
		.weight = bytes,
	};

	/* One row stays in each later slice: nothing left is a level, too. */
	if (!bytes && (number != RESIDENT_UNKNOWN || !profile_info(profile)->sequence))
		return 0;
	if (number < RESIDENT_PLACES)
		row.stack = stack_of_place(profile, number);
	else
		row.stack = stack ? stack->stack : profile_intern_stack(profile, NULL, 0);
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return -ENOMEM;
	if (aggregator->options.want_user && number >= RESIDENT_PLACES)
		profile_count_end(profile, process->id, stack ? stack->user_end : PKBPF_END_NONE, 1,
				  stack ? stack->guessed : 0);
	return 0;
}

static void add_series(struct aggregator *aggregator, const struct process_memory *of_process)
{
	struct memory_list *list = profile_memory(aggregator->running);
	const struct memory_series *series = of_process->series;
	bool seen = resident_was_seen(aggregator->memory->resident, of_process->process);
	uint32_t regions = resident_regions(aggregator->memory->resident, of_process->process);
	int err = 0;

	for (size_t i = 0; series && i < series->count && !err; i++) {
		struct memory_point point = series->points[i];

		point.regions = seen ? regions : 0;
		err = memory_list_add(list, &point);
	}
	if (err)
		profile_info(aggregator->running)
			->counters[err == -ENOSPC ? PKBPF_COUNTER_MERGE_TOO_MANY
						  : PKBPF_COUNTER_MEMORY_NO_MEMORY]++;
}

static void add_sites(struct aggregator *aggregator, const struct process *process)
{
	const struct resident *resident = aggregator->memory->resident;
	uint64_t *counters = profile_info(aggregator->running)->counters;
	size_t count;
	const struct resident_site *sites = resident_sites(resident, process->id, &count);
	int err = 0;

	if (count > RESIDENT_PLACES && !resident_was_seen(resident, process->id))
		counters[PKBPF_COUNTER_MEMORY_UNSEEN]++;
	for (size_t i = 0; i < count && !err; i++)
		err = add_site(aggregator, process, &sites[i], i);
	if (err)
		counters[PKBPF_COUNTER_MEMORY_NO_MEMORY]++;
}

/* The last point begins the next slice. */
static void restart_series(struct memory_series *series)
{
	if (series && series->count) {
		series->points[0] = series->points[series->count - 1];
		series->count = 1;
		series->repeats = false;
	}
}

void aggregator_memory_cut(struct aggregator *aggregator)
{
	struct aggregator_memory *memory = aggregator->memory;
	size_t cursor = 0;
	uint32_t id;

	if (!memory)
		return;
	aggregator_memory_settle(aggregator);
	array_foreach(&memory->processes, of_process) {
		add_series(aggregator, of_process);
		restart_series(of_process->series);
	}
	while ((id = resident_next_process(memory->resident, &cursor)) != RESIDENT_NONE) {
		const struct process *process = process_table_by_id(aggregator->processes, id);

		if (process && resident_was_seen(memory->resident, id))
			add_sites(aggregator, process);
	}
}

static void forget_process(struct aggregator_memory *memory, size_t number)
{
	struct process_memory *process = &memory->processes.items[number], *last;

	memory->series_count -= process->series ? 1 : 0;
	free(process->series);
	hash_map_remove(&memory->process_of, process->process);
	last = &memory->processes.items[--memory->processes.count];
	if (process == last)
		return;
	*process = *last;
	hash_map_put(&memory->process_of, process->process, number);
}

static void settle(struct aggregator *aggregator, bool all)
{
	struct aggregator_memory *memory = aggregator->memory;
	size_t cursor = 0;
	uint32_t id;

	if (!memory)
		return;
	for (size_t i = 0; i < memory->processes.count;) {
		struct process_memory *of_process = &memory->processes.items[i];
		const struct process *process =
			process_table_by_id(aggregator->processes, of_process->process);

		if (!all && process && !process->end_ns) {
			i++;
			continue;
		}
		add_series(aggregator, of_process);
		forget_process(memory, i);
	}
	while ((id = resident_next_process(memory->resident, &cursor)) != RESIDENT_NONE) {
		const struct process *process = process_table_by_id(aggregator->processes, id);

		if (!all && process && !process->end_ns)
			continue;
		if (process)
			add_sites(aggregator, process);
		resident_remove(memory->resident, id);
		cursor--; /* another one has its place */
	}
}

void aggregator_memory_settle(struct aggregator *aggregator)
{
	settle(aggregator, false);
}

void aggregator_memory_finish(struct aggregator *aggregator)
{
	settle(aggregator, true);
}
