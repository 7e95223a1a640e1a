// SPDX-License-Identifier: BSD-2-Clause
/* Adds sampled allocations to the profile, and what is left of them at the end. */
#include <errno.h>
#include <string.h>

#include "base/unused.h"
#include "event/alloc_event.h"
#include "profile/aggregator_private.h"

#define SAMPLER_LIBRARY "/libpkbpf-alloc.so"

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Frames of the sampler itself: the allocation was made by their caller. */
static bool is_in_sampler(const struct aggregator *aggregator, const struct profile *profile,
			  uint32_t frame)
{
	const struct frame_location *location = &profile_frame(profile, frame)->location;
	const struct mapped_file *file;

	if (location->space != FRAME_FILE)
		return false;
	file = mapped_file_table_get(process_table_files(aggregator->processes), location->object);
	return file && ends_with(file->path, SAMPLER_LIBRARY);
}

/* The stack from the caller of the allocator on. UINT32_MAX: out of memory. */
static uint32_t stack_of_caller(const struct aggregator *aggregator, struct profile *profile,
				uint32_t stack, bool is_call)
{
	size_t count, first = 0;
	const uint32_t *frames;
	uint32_t copy[PKBPF_MAX_USER_FRAMES];

	if (stack == UINT32_MAX)
		return stack;
	frames = profile_stack(profile, stack, &count);
	/* Of a call the allocator's own function. */
	if (is_call && count)
		first = 1;
	while (first < count && is_in_sampler(aggregator, profile, frames[first]))
		first++;
	if (!first)
		return stack;
	count = count - first < ARRAY_SIZE(copy) ? count - first : ARRAY_SIZE(copy);
	/* Adding a stack may move those that are there. */
	memcpy(copy, frames + first, count * sizeof(copy[0]));
	return profile_intern_stack(profile, copy, count);
}

/* The number of objects is a fraction: it is rounded up or down by chance, so that sums are right.
 * The address is as random as it has to be. */
static uint64_t objects_of(uint64_t address, uint64_t size, uint64_t weight)
{
	uint64_t rest = weight % size;

	return weight / size + (hash_u64(address) % size < rest ? 1 : 0);
}

static bool add_row(struct aggregator *aggregator, struct profile *profile,
		    const struct profile_row *like, uint64_t stack_id, uint64_t time_ns,
		    bool is_call)
{
	const struct numbered_stack *stack =
		stack_id ? aggregator_find_stack(aggregator, stack_id, time_ns) : NULL;
	struct profile_row row = *like;

	row.stack = stack ? stack_of_caller(aggregator, profile,
					    aggregator_stack_in(aggregator, profile, stack->stack),
					    is_call)
			  : profile_intern_stack(profile, NULL, 0);
	if (!stack && row.kind == PKBPF_PROFILE_ALLOC)
		profile_info(profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN]++;
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	if (aggregator->options.want_user)
		profile_count_end(profile, row.process, stack ? stack->user_end : PKBPF_END_NONE, 1,
				  stack ? stack->guessed : 0);
	return true;
}

int aggregator_take_alloc(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct profile *profile = aggregator_slice(aggregator, record->time_ns);
	struct process *process;
	struct alloc_view view;
	int err = alloc_event_decode(record, &view);

	if (err)
		return err;
	process = process_table_get(aggregator->processes, view.pid, view.comm);
	if (!process)
		return -ENOMEM;
	if (view.cgroup_id)
		process->cgroup_id = view.cgroup_id;
	if (!aggregator->heap)
		aggregator->heap = heap_new();
	if (!aggregator->heap)
		return -ENOMEM;
	if (!add_row(aggregator, profile,
		     &(struct profile_row){
			     .kind = PKBPF_PROFILE_ALLOC,
			     .process = process->id,
			     .tid = aggregator->options.per_thread ? view.tid : PROFILE_NO_THREAD,
			     .comm = profile_intern_comm(profile, view.comm),
			     .count = objects_of(view.address ? view.address : view.time_ns,
						 view.size, view.weight),
			     .weight = view.weight,
		     },
		     view.stack_id, view.time_ns, !view.address))
		return -ENOMEM;
	/* A call in a window. */
	if (!view.address)
		return 0;
	return heap_add(aggregator->heap, &(struct heap_alloc){
						  .process = process->id,
						  .stack_id = view.stack_id,
						  .comm = view.comm,
						  .time_ns = view.time_ns,
						  .address = view.address,
						  .size = view.size,
						  .weight = view.weight,
					  });
}

int aggregator_take_free(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct process *process;
	struct free_view view;
	int err = free_event_decode(record, &view);

	if (err || !aggregator->heap)
		return err;
	process = process_table_find(aggregator->processes, view.pid);
	if (process)
		heap_end(aggregator->heap, process->id, view.address, view.time_ns);
	return 0;
}

void aggregator_heap_task(struct aggregator *aggregator, const struct task_view *task)
{
	const struct process *process;

	if (!aggregator->heap || !task->exec || task->from_snapshot)
		return;
	process = process_table_find(aggregator->processes, task->pid);
	if (process)
		heap_forget(aggregator->heap, process->id,
			    process_table_now_ns(aggregator->processes));
}

static void keep_stack_of(void *context, const struct heap_site *site,
			  _unused_ const struct heap_block *block)
{
	aggregator_keep_stack(context, site->stack_id);
}

void aggregator_heap_keep_stacks(struct aggregator *aggregator)
{
	if (aggregator->heap)
		heap_each_live(aggregator->heap, UINT32_MAX, keep_stack_of, aggregator);
}

struct live_rows {
	struct aggregator *aggregator;
	struct profile *profile;
};

static void add_live(void *context, const struct heap_site *site, const struct heap_block *block)
{
	struct live_rows *rows = context;
	struct profile_row row = {
		.kind = PKBPF_PROFILE_LIVE,
		.process = site->process,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(rows->profile, site->comm),
		.count = objects_of(block->born_ns, block->size, block->weight),
		.weight = block->weight,
	};

	if (!add_row(rows->aggregator, rows->profile, &row, site->stack_id, block->born_ns, false))
		profile_info(rows->profile)->counters[PKBPF_COUNTER_ALLOC_NO_MEMORY]++;
}

/* The place of a site in the profile. UINT32_MAX: out of memory. */
static uint32_t place_of(struct aggregator *aggregator, const struct heap_site *site,
			 uint64_t time_ns)
{
	struct profile *profile = aggregator->running;
	const struct numbered_stack *stack =
		site->stack_id ? aggregator_find_stack(aggregator, site->stack_id, time_ns) : NULL;

	return stack ? stack_of_caller(aggregator, profile, stack->stack, false)
		     : profile_intern_stack(profile, NULL, 0);
}

/* Places with less than this part of what their process has allocated and has alive are left to the
 * stacks of the profile. */
#define LEAST_PART 1000

static void add_place(struct aggregator *aggregator, const struct heap_site *site,
		      const struct process *process, double process_bytes)
{
	uint64_t end_ns =
		process->end_ns ? process->end_ns : process_table_now_ns(aggregator->processes);
	struct heap_level level = heap_level(aggregator->heap, site->process, end_ns);
	struct heap_growth growth =
		heap_growth_of(aggregator->heap, site,
			       &(struct heap_span){.end_ns = end_ns,
						   .live_bytes = level.bytes,
						   .has_ended = process->end_ns != 0});
	struct heap_place place = {
		.pid = process->pid,
		.trend = (uint8_t)growth.trend,
		.allocated = heap_estimate_of(&site->born),
		.live = heap_estimate_of(&site->live),
		.brief_bytes = (uint64_t)site->brief.bytes,
		.at_peak_bytes = (uint64_t)heap_bytes_at_peak(aggregator->heap, site),
		.peak_bytes = (uint64_t)level.peak_bytes,
		.peak_ns = level.peak_ns,
		.mean_bytes = (uint64_t)level.mean_bytes,
	};

	/* Another one has its sums. */
	if (!site->born.samples)
		return;
	if (site->born.bytes * LEAST_PART < process_bytes &&
	    site->live.bytes * LEAST_PART < level.bytes)
		return;
	if (growth.bytes > 0) {
		place.growth_bytes = (uint64_t)growth.bytes;
		place.growth_error_bytes = (uint64_t)growth.error;
		place.growth_per_second = (uint64_t)growth.bytes_per_second;
		place.stays_permille = (uint64_t)(1000 * growth.stays);
	}
	memcpy(place.comm, process->comm, sizeof(place.comm));
	place.stack = place_of(aggregator, site, end_ns);
	/* What a full list leaves out is no loss: the stacks of the profile have all. */
	if (place.stack == UINT32_MAX || heap_list_add(profile_heaps(aggregator->running), &place))
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_ALLOC_NO_MEMORY]++;
}

struct placing {
	struct aggregator *aggregator;
	uint64_t end_ns;
};

static uint32_t place_at_end(void *context, const struct heap_site *site)
{
	const struct placing *placing = context;

	return place_of(placing->aggregator, site, placing->end_ns);
}

static void add_places(struct aggregator *aggregator, uint32_t process_id)
{
	const struct process *process = process_table_by_id(aggregator->processes, process_id);
	struct placing placing = {aggregator,
				  process && process->end_ns
					  ? process->end_ns
					  : process_table_now_ns(aggregator->processes)};
	double bytes = 0;
	size_t count;
	const struct heap_site *sites;

	heap_merge_sites(aggregator->heap, process_id, place_at_end, &placing);
	sites = heap_sites(aggregator->heap, &count);
	for (size_t i = 0; i < count; i++)
		bytes += sites[i].process == process_id ? sites[i].born.bytes : 0;
	for (size_t i = 0; process && i < count; i++)
		if (sites[i].process == process_id)
			add_place(aggregator, &sites[i], process, bytes);
}

/* Nothing left is a level, too: slices before have what there was. */
static void add_empty_level(struct aggregator *aggregator, const struct process *process)
{
	struct profile *profile = aggregator->running;
	struct profile_row row = {
		.kind = PKBPF_PROFILE_LIVE,
		.process = process->id,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, process->comm),
		.stack = profile_intern_stack(profile, NULL, 0),
	};

	if (!profile_info(profile)->sequence)
		return;
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		profile_info(profile)->counters[PKBPF_COUNTER_ALLOC_NO_MEMORY]++;
}

static void settle(struct aggregator *aggregator, bool all)
{
	struct live_rows rows = {aggregator, aggregator->running};
	size_t cursor = 0;
	uint32_t id;

	while (aggregator->heap &&
	       (id = heap_next_process(aggregator->heap, &cursor)) != HEAP_NO_PROCESS) {
		const struct process *process = process_table_by_id(aggregator->processes, id);

		if (!all && process && !process->end_ns)
			continue;
		add_places(aggregator, id);
		if (process)
			add_empty_level(aggregator, process);
		heap_each_live(aggregator->heap, id, add_live, &rows);
		heap_remove(aggregator->heap, id);
		cursor--; /* another one has its place */
	}
}

void aggregator_heap_settle(struct aggregator *aggregator)
{
	settle(aggregator, false);
}

void aggregator_heap_finish(struct aggregator *aggregator)
{
	settle(aggregator, true);
}

/* One row for each site: blocks would be too many for every slice. */
static int add_live_site(struct aggregator *aggregator, const struct process *process,
			 const struct heap_site *site)
{
	struct profile *profile = aggregator->running;
	struct profile_row row = {
		.kind = PKBPF_PROFILE_LIVE,
		.process = process->id,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, site->comm),
		.count = (uint64_t)(site->live.objects + 0.5),
		.weight = (uint64_t)(site->live.bytes + 0.5),
	};

	/* Also what has nothing left: earlier slices may say otherwise. */
	if (!site->born.samples)
		return 0;
	row.stack = place_of(aggregator, site, process_table_now_ns(aggregator->processes));
	return row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0
		       ? -ENOMEM
		       : 0;
}

void aggregator_heap_cut(struct aggregator *aggregator)
{
	const struct heap_site *sites;
	size_t count;
	int err = 0;

	if (!aggregator->heap)
		return;
	aggregator_heap_settle(aggregator);
	sites = heap_sites(aggregator->heap, &count);
	for (size_t i = 0; i < count && !err; i++) {
		const struct process *process =
			process_table_by_id(aggregator->processes, sites[i].process);

		if (process && !process->end_ns)
			err = add_live_site(aggregator, process, &sites[i]);
	}
	if (err)
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_ALLOC_NO_MEMORY]++;
}
