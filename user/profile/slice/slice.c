// SPDX-License-Identifier: BSD-2-Clause
/* Merges the profiles of consecutive intervals. */
#include "profile/slice/slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "base/clock.h"
#include "profile/profile_private.h"
#include "profile/slice/time_line.h"

/* An item of `from` is missing in `into`, or not needed there. */
#define NOT_THERE UINT32_MAX

struct merging {
	struct profile *into;
	const struct profile *from;
	/* number in `from` -> number in `into` */
	uint32_t *processes, *frames, *stacks;
	uint32_t *stack;   /* room for the longest one */
	uint64_t clock_ns; /* from the clock of `from` to that of `into` */
	double rate;	   /* weight of a CPU sample of `from` in those of `into` */
};

/* Clocks of slices that follow each other overlap by no more. */
#define CLOCK_SLACK_NS NS_PER_SECOND

/* After a reboot the clock of times has begun anew: the other clock says how much later it is. A
 * clock that is only set has windows that follow each other. */
static uint64_t clock_of(const struct profile_info *into, const struct profile_info *from)
{
	uint64_t later_ns = (uint64_t)(from->start_unix_ns - into->start_unix_ns);
	bool follows = from->start_ns + CLOCK_SLACK_NS >= into->end_ns;
	uint64_t at_ns;

	if (!into->end_ns || from->start_unix_ns <= into->start_unix_ns ||
	    (follows && from->start_ns <= into->end_ns + CLOCK_SLACK_NS))
		return 0;
	at_ns = into->start_ns + later_ns;
	/* The same boot, after a gap. */
	if (follows && from->start_ns <= at_ns + later_ns / 1000 + CLOCK_SLACK_NS &&
	    at_ns <= from->start_ns + later_ns / 1000 + CLOCK_SLACK_NS)
		return 0;
	return at_ns - from->start_ns;
}

static bool has_samples(const struct profile_info *info)
{
	return info->frequency_hz && info->kinds_mask & 1U << PKBPF_PROFILE_CPU;
}

static uint64_t scaled(uint64_t weight, double rate)
{
	return rate == 1 ? weight : (uint64_t)((double)weight * rate + 0.5);
}

/* A sample stands for less time the more of them were taken: rows count as if all had been taken at
 * the highest rate. */
static void raise_rate(struct profile *into, double rate)
{
	array_foreach(&into->rows, row) {
		if (row->kind != PKBPF_PROFILE_CPU)
			continue;
		row->count = scaled(row->count, rate);
		row->weight = scaled(row->weight, rate);
	}
	array_foreach(&into->moments.items, moment) {
		if (moment->kind == PKBPF_PROFILE_CPU)
			moment->weight = (uint32_t)scaled(moment->weight, rate);
	}
	for (size_t i = 0; into->times && i < into->times->parts.count; i++) {
		struct time_part *part = &into->times->parts.items[i];

		if (into->rows.items[part->row].kind == PKBPF_PROFILE_CPU)
			part->weight = (int64_t)scaled((uint64_t)part->weight, rate);
	}
}

/* Brings both to one rate of samples; returns the weight of one of `from`. */
static double join_rates(struct profile *into, const struct profile_info *from)
{
	struct profile_info *info = &into->info;
	double rate;

	if (!has_samples(info) || !has_samples(from) || info->frequency_hz == from->frequency_hz)
		return 1;
	rate = (double)from->frequency_hz / info->frequency_hz;
	if (rate < 1)
		return 1 / rate;
	raise_rate(into, rate);
	info->frequency_hz = from->frequency_hz;
	return 1;
}

/* 0 stays: not known, or not yet. */
static uint64_t time_there(const struct merging *work, uint64_t time_ns)
{
	return time_ns ? time_ns + work->clock_ns : 0;
}

struct profile *slice_new(void)
{
	struct mapped_file_table *files = mapped_file_table_new("");
	struct process_table *processes = files ? process_table_new(files) : NULL;
	struct profile *profile = processes ? profile_new(processes) : NULL;

	if (!profile) {
		process_table_free(processes);
		mapped_file_table_free(files);
		return NULL;
	}
	profile->files = files;
	return profile;
}

/* ---- processes ---- */

static int merge_processes(struct merging *work)
{
	struct process_table *from = work->from->processes, *into = work->into->processes;
	size_t count = process_table_count(from);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));

	if (!is_used)
		return -ENOMEM;
	profile_mark_processes(work->from, is_used);
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = is_used[id] ? process_table_by_id(from, id) : NULL;
		const struct process *there;
		struct process copy;

		work->processes[id] = NOT_THERE;
		if (!process)
			continue;
		copy = *process;
		copy.start_ns = time_there(work, copy.start_ns);
		copy.born_ns = time_there(work, copy.born_ns);
		copy.end_ns = time_there(work, copy.end_ns);
		copy.heard_ns = time_there(work, copy.heard_ns);
		there = process_table_put(into, &copy);
		if (!there)
			return -ENOMEM;
		work->processes[id] = there->id;
	}
	return 0;
}

static uint32_t process_there(const struct merging *work, uint32_t process)
{
	return process < process_table_count(work->from->processes) ? work->processes[process]
								    : NOT_THERE;
}

/* ---- names ---- */

static uint32_t frame_there(struct merging *work, uint32_t number)
{
	const struct frame *frame = profile_frame(work->from, number);

	if (work->frames[number] == NOT_THERE)
		work->frames[number] = profile_put_frame(work->into, frame);
	return work->frames[number];
}

static int merge_stack(struct merging *work, uint32_t number)
{
	size_t count;
	const uint32_t *frames = profile_stack(work->from, number, &count);

	for (size_t i = 0; i < count; i++) {
		work->stack[i] = frame_there(work, frames[i]);
		if (work->stack[i] == UINT32_MAX)
			return -ENOMEM;
	}
	work->stacks[number] = profile_intern_stack(work->into, work->stack, count);
	return work->stacks[number] == UINT32_MAX ? -ENOMEM : 0;
}

static size_t longest_stack(const struct profile *profile)
{
	size_t longest = 0, count;

	for (uint32_t i = 0; i < profile_stack_count(profile); i++) {
		profile_stack(profile, i, &count);
		longest = count > longest ? count : longest;
	}
	return longest;
}

static int merge_stacks(struct merging *work)
{
	size_t count = profile_stack_count(work->from);
	_cleanup_free_ bool *is_used = calloc(count + 1, sizeof(*is_used));
	_cleanup_free_ uint32_t *stack = malloc((longest_stack(work->from) + 1) * sizeof(*stack));
	int err = is_used && stack ? 0 : -ENOMEM;

	if (err)
		return err;
	work->stack = stack;
	for (size_t i = 0; i < profile_frame_count(work->from); i++)
		work->frames[i] = NOT_THERE;
	profile_mark_stacks(work->from, is_used);
	for (uint32_t i = 0; i < count && !err; i++)
		err = is_used[i] ? merge_stack(work, i) : 0;
	work->stack = NULL;
	return err;
}

/* ---- counts ---- */

/* Rows without weight stay: their numbers are in use. */
static void drop_levels(struct merging *work, const uint32_t *kinds_of_process)
{
	struct profile *into = work->into;

	for (size_t i = 0; i < into->rows.count; i++) {
		struct profile_row *row = &into->rows.items[i];

		if (!(kinds_of_process[row->process] & 1U << row->kind))
			continue;
		if (into->times)
			time_line_add(into->times, (uint32_t)i, -(int64_t)row->weight);
		row->count = row->weight = row->max = 0;
	}
}

/* Of what a process has, the last is kept; groups have what their members had at their ends. */
static int replace_levels(struct merging *work)
{
	size_t count, processes = process_table_count(work->into->processes);
	const struct profile_row *rows = profile_rows(work->from, &count);
	_cleanup_free_ uint32_t *kinds_of_process = calloc(processes + 1, sizeof(uint32_t));
	bool any = false;

	if (!kinds_of_process)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t process = process_there(work, rows[i].process);

		if (!kind_ops_of(rows[i].kind)->is_level || process >= processes ||
		    process_table_is_group(work->into->processes, process))
			continue;
		kinds_of_process[process] |= 1U << rows[i].kind;
		any = true;
	}
	if (any)
		drop_levels(work, kinds_of_process);
	return 0;
}

static int merge_rows(struct merging *work)
{
	size_t count;
	const struct profile_row *rows = profile_rows(work->from, &count);
	int err = replace_levels(work);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		struct profile_row row = rows[i];
		int64_t id;

		row.process = process_there(work, row.process);
		if (row.kind == PKBPF_PROFILE_CPU) {
			row.count = scaled(row.count, work->rate);
			row.weight = scaled(row.weight, work->rate);
		}
		row.comm = profile_intern_string(work->into, profile_string(work->from, row.comm));
		row.stack = work->stacks[row.stack];
		if (row.waker)
			row.waker = 1 + work->stacks[row.waker - 1];
		id = row.comm == UINT32_MAX ? -ENOMEM : profile_add_row(work->into, &row);
		if (id < 0)
			return -ENOMEM;
		if (work->into->times)
			time_line_add(work->into->times, (uint32_t)id, (int64_t)row.weight);
	}
	return 0;
}

static int merge_ends(struct merging *work)
{
	const struct profile *from = work->from;
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&from->ends_of_process, &cursor))) {
		const struct stack_ends *ends = &from->process_ends.items[slot->value];
		uint32_t process = process_there(work, (uint32_t)slot->key);

		for (int end = 0; process != NOT_THERE && end < PKBPF_END_COUNT; end++) {
			if (ends->counts[end])
				profile_count_end(work->into, process, (enum pkbpf_stack_end)end,
						  ends->counts[end], 0);
		}
	}
	work->into->guessed_frames += from->guessed_frames;
	return 0;
}

/* Peers have numbers of their own in each profile. false: no memory. */
static bool peer_there(struct merging *work, struct distribution_key *key)
{
	const struct peer *peer = key->kind == PKBPF_PROFILE_NETWORK
					  ? peer_table_at(work->from->peers, key->device)
					  : NULL;

	if (peer)
		key->device = peer_table_get(work->into->peers, peer);
	return !peer || key->device != PEER_NONE;
}

static int merge_distributions(struct merging *work)
{
	const struct distribution *from;

	for (size_t i = 0; (from = profile_distribution_at(work->from, i)); i++) {
		struct distribution copy = *from;

		copy.key.process = process_there(work, from->key.process);
		if (!peer_there(work, &copy.key))
			return -ENOMEM;
		if (profile_put_distribution(work->into, &copy))
			return -ENOMEM;
	}
	return 0;
}

static int merge_devices(struct merging *work)
{
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&work->from->device_names, &cursor))) {
		if (profile_set_device_name(work->into, (uint32_t)slot->key,
					    profile_string(work->from, (uint32_t)slot->value)))
			return -ENOMEM;
	}
	return 0;
}

static int merge_slow_io(struct merging *work)
{
	struct slow_io_list *into = work->into->slow_io;
	const struct slow_io *from;

	if (slow_io_list_max(work->from->slow_io) > slow_io_list_max(into))
		slow_io_list_limit(into, slow_io_list_max(work->from->slow_io));
	for (size_t i = 0; (from = slow_io_list_at(work->from->slow_io, i)); i++) {
		struct slow_io copy = *from;

		copy.process = process_there(work, from->process);
		copy.insert_ns = time_there(work, from->insert_ns);
		copy.stack = work->stacks[from->stack];
		copy.comm =
			profile_intern_string(work->into, profile_string(work->from, from->comm));
		if (copy.comm == UINT32_MAX || slow_io_list_add(into, &copy))
			return -ENOMEM;
	}
	return 0;
}

static int merge_slow_regions(struct merging *work)
{
	struct slow_region_list *into = work->into->slow_regions;
	const struct slow_region *from;

	if (slow_region_list_max(work->from->slow_regions) > slow_region_list_max(into))
		slow_region_list_limit(into, slow_region_list_max(work->from->slow_regions));
	for (size_t i = 0; (from = slow_region_list_at(work->from->slow_regions, i)); i++) {
		struct slow_region copy = *from;

		copy.process = process_there(work, from->process);
		copy.start_ns = time_there(work, from->start_ns);
		copy.stack = work->stacks[from->stack];
		copy.comm =
			profile_intern_string(work->into, profile_string(work->from, from->comm));
		copy.name =
			profile_intern_string(work->into, profile_string(work->from, from->name));
		if (copy.comm == UINT32_MAX || copy.name == UINT32_MAX ||
		    slow_region_list_add(into, &copy))
			return -ENOMEM;
	}
	return 0;
}

/* What shows times of merged slices shows single samples; others take slice by slice. */
static int merge_moments(struct merging *work)
{
	uint64_t *missing = &work->into->info.counters[PKBPF_COUNTER_TRACE_TOO_MANY];

	array_foreach(&work->from->moments.items, from) {
		struct moment copy = *from;
		int err;

		if (!work->into->times || from->kind != PKBPF_PROFILE_CPU)
			continue;
		copy.process = process_there(work, from->process);
		copy.weight = (uint32_t)scaled(copy.weight, work->rate);
		copy.stack = work->stacks[from->stack];
		copy.comm =
			profile_intern_string(work->into, profile_string(work->from, from->comm));
		err = copy.comm == UINT32_MAX ? -ENOMEM
					      : moment_list_add(&work->into->moments, &copy);
		if (err == -ENOMEM)
			return err;
		*missing += err ? 1 : 0;
	}
	return 0;
}

static uint32_t stack_there(const struct merging *work, uint32_t stack)
{
	return stack == RELATION_NO_STACK ? stack : work->stacks[stack];
}

static int merge_locks(struct merging *work)
{
	const struct lock_list *from = &work->from->locks;
	_cleanup_free_ uint32_t *numbers = malloc((from->locks.count + 1) * sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < from->locks.count && !err; i++) {
		int64_t number = lock_list_add(&work->into->locks, &from->locks.items[i]);

		numbers[i] = (uint32_t)number;
		err = number < 0 ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < from->parts.count && !err; i++) {
		struct lock_part copy = from->parts.items[i];

		copy.lock = numbers[copy.lock];
		copy.stack = stack_there(work, copy.stack);
		err = lock_list_add_part(&work->into->locks, &copy);
	}
	return err;
}

static int merge_heaps(struct merging *work)
{
	array_foreach(&work->from->heaps.items, from) {
		struct heap_place copy = *from;

		copy.stack = work->stacks[copy.stack];
		if (copy.peak_ns)
			copy.peak_ns = time_there(work, copy.peak_ns);
		/* The list is limited. */
		if (heap_list_add(&work->into->heaps, &copy))
			return -ENOMEM;
	}
	return 0;
}

/* A list that is full keeps what it has; what it does not take is counted. */
static int left_out(struct merging *work, int err)
{
	if (err != -ENOSPC)
		return err;
	work->into->info.counters[PKBPF_COUNTER_MERGE_TOO_MANY]++;
	return 0;
}

static int merge_memory(struct merging *work)
{
	array_foreach(&work->from->memory.items, from) {
		struct memory_point copy = *from;
		int err;

		copy.time_ns = time_there(work, copy.time_ns);
		err = left_out(work, memory_list_add(&work->into->memory, &copy));
		if (err)
			return err;
	}
	return 0;
}

static int merge_relations(struct merging *work)
{
	const struct relation_list *list = work->from->relations;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		struct relation copy = *relation_list_at(list, i);

		copy.stack = stack_there(work, copy.stack);
		copy.other_stack = stack_there(work, copy.other_stack);
		/* The list is a sample; it may be full. */
		if (relation_list_add(work->into->relations, &copy) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int merge_region(struct merging *work, const struct region *region, const uint32_t *places,
			uint32_t *ret_place)
{
	struct region_table *into = work->into->regions;
	uint32_t parent = region->parent == REGION_ROOT ? REGION_ROOT : places[region->parent];
	uint32_t name = profile_intern_string(work->into, profile_string(work->from, region->name));
	int64_t place = name == UINT32_MAX
				? -ENOMEM
				: region_table_get(into, process_there(work, region->process),
						   parent, name, region->flags);

	if (place < 0) {
		*ret_place = NOT_THERE;
		return left_out(work, (int)place);
	}
	*ret_place = (uint32_t)place;
	return region_table_add(into, *ret_place, &region->sums, region->buckets,
				region->bucket_count);
}

static int merge_regions(struct merging *work)
{
	const struct region_table *from = work->from->regions;
	size_t count = region_table_count(from);
	_cleanup_free_ uint32_t *places = malloc((count + 1) * sizeof(*places));
	int err = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		const struct region *region = region_table_at(from, i);

		if (region->parent != REGION_ROOT && places[region->parent] == NOT_THERE) {
			places[i] = NOT_THERE;
			err = left_out(work, -ENOSPC);
		} else {
			err = merge_region(work, region, places, &places[i]);
		}
	}
	return err;
}

/* ---- resources ---- */

/* Does it list all processes that live at its end, later than what is there? */
static bool lists_who_lives(const struct merging *work)
{
	const struct profile_info *into = &work->into->info, *from = &work->from->info;

	return !into->has_targets && !from->has_targets &&
	       from->start_ns + work->clock_ns + CLOCK_SLACK_NS >= into->end_ns;
}

static int merge_threads(struct merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	size_t count = resource_usage_process_count(from);
	_cleanup_free_ uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		struct resource_process process = resource_usage_raw_process(from, i);

		process.start_ns = time_there(work, process.start_ns);
		process.end_ns = time_there(work, process.end_ns);
		numbers[i] = resource_usage_put_process(into, &process);
		err = numbers[i] == UINT32_MAX ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < resource_usage_thread_count(from) && !err; i++) {
		struct resource_thread thread;

		if (!resource_usage_raw_thread(from, i, &thread))
			continue;
		thread.process = numbers[thread.process];
		thread.start_ns = time_there(work, thread.start_ns);
		thread.end_ns = time_there(work, thread.end_ns);
		err = left_out(work, resource_usage_put_thread(into, &thread));
	}
	if (!err && lists_who_lives(work))
		err = resource_usage_forget_rss(into, numbers, count);
	return err;
}

static int merge_cgroups(struct merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	struct resource_cgroup_limit limit;
	const char *text;
	uint64_t id;
	int err = 0;

	for (size_t cursor = 0; !err && (text = resource_usage_cgroup_at(from, &cursor, &id));)
		err = resource_usage_put_cgroup(into, id, text);
	for (size_t cursor = 0; !err && (text = resource_usage_container_at(from, &cursor, &id));)
		err = resource_usage_put_container(into, id, text);
	for (size_t i = 0; !err && i < resource_usage_cgroup_limit_count(from); i++) {
		if (resource_usage_cgroup_limit(from, i, &limit))
			err = left_out(work, resource_usage_put_cgroup_limit(into, &limit));
	}
	return err;
}

/* Exited threads are known even where an edge was not read. */
static int merge_resources(struct merging *work)
{
	const struct resource_usage *from = work->from->resources;
	struct resource_usage *into = work->into->resources;
	struct resource_machine machine = resource_usage_machine(from);
	int err = merge_cgroups(work);

	resource_usage_put_known(into, time_there(work, resource_usage_start_ns(from)),
				 time_there(work, resource_usage_end_ns(from)),
				 resource_usage_missing(from));
	resource_usage_put_machine(into, &machine);
	return err ? err : merge_threads(work);
}

/* ---- the record ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Texts and settings come from the last slice; interval and overhead cover all. */
static void merge_info(struct profile_info *into, const struct profile_info *from)
{
	struct profile_info before = *into;
	uint64_t clock_ns = clock_of(into, from);

	*into = *from;
	if (!before.end_ns)
		return;
	into->sequence = before.sequence;
	into->start_ns = before.start_ns;
	into->start_unix_ns = before.start_unix_ns;
	into->end_ns = larger(before.end_ns, from->end_ns + clock_ns);
	into->kinds_mask |= before.kinds_mask;
	into->regions_ns += before.regions_ns;
	/* See join_rates(). */
	if (has_samples(&before) &&
	    (!has_samples(from) || before.frequency_hz > from->frequency_hz))
		into->frequency_hz = before.frequency_hz;
	into->cpu_count = (uint32_t)larger(before.cpu_count, from->cpu_count);
	/* Each slice has the time of its process up to its begin and its end; start-ups are what
	 * was used before the first slice of a capture. */
	into->own_start_cpu_ns =
		before.own_start_cpu_ns + (from->sequence ? 0 : from->own_start_cpu_ns);
	into->own_cpu_ns = into->own_start_cpu_ns + profile_own_cpu_since_start(&before) +
			   profile_own_cpu_since_start(from);
	into->bpf_cpu_ns += before.bpf_cpu_ns;
	into->bpf_cpu_known = before.bpf_cpu_known && from->bpf_cpu_known;
	into->max_resident_bytes = larger(before.max_resident_bytes, from->max_resident_bytes);
	into->bpf_map_bytes = larger(before.bpf_map_bytes, from->bpf_map_bytes);
	into->memory_peak_bytes = larger(before.memory_peak_bytes, from->memory_peak_bytes);
	if (before.shed_steps > from->shed_steps) {
		into->shed_steps = before.shed_steps;
		memcpy(into->shed, before.shed, sizeof(into->shed));
	}
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		into->counters[i] += before.counters[i];
	into->machine = before.machine;
	machine_figures_add(&into->machine, &from->machine);
}

int slice_merge(struct profile *into, const struct profile *from)
{
	static int (*const parts[])(struct merging * work) = {
		merge_processes,     merge_stacks,    merge_rows,    merge_ends,
		merge_distributions, merge_devices,   merge_slow_io, merge_slow_regions,
		merge_moments,	     merge_relations, merge_regions, merge_resources,
		merge_heaps,	     merge_memory,    merge_locks,
	};
	size_t processes = process_table_count(from->processes);
	_cleanup_free_ uint32_t *process_numbers = malloc((processes + 1) * sizeof(uint32_t));
	_cleanup_free_ uint32_t *frames = malloc((profile_frame_count(from) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *stacks = malloc((profile_stack_count(from) + 1) * sizeof(*stacks));
	struct merging work = {.into = into,
			       .from = from,
			       .processes = process_numbers,
			       .frames = frames,
			       .stacks = stacks,
			       .clock_ns = clock_of(&into->info, &from->info)};
	int err = process_numbers && frames && stacks ? 0 : -ENOMEM;

	work.rate = join_rates(into, &from->info);
	if (into->times)
		time_line_begin(into->times, from->info.start_ns + work.clock_ns,
				from->info.end_ns + work.clock_ns);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		err = parts[i](&work);
	merge_info(&into->info, &from->info);
	for (size_t i = 0; i < from->notes.count; i++)
		symbol_notes_add(&into->notes, "%s", from->notes.items[i]);
	into->notes.left_out += from->notes.left_out;
	return err;
}

int slice_keep_times(struct profile *into)
{
	if (!into->times)
		into->times = calloc(1, sizeof(*into->times));
	return into->times ? 0 : -ENOMEM;
}

int slice_add_sums(struct profile *into, const struct profile *from)
{
	uint32_t stack = profile_intern_stack(into, NULL, 0);
	uint32_t comm = profile_intern_string(into, "");
	size_t count;
	const struct profile_row *rows = profile_rows(from, &count);
	int err = stack == UINT32_MAX || comm == UINT32_MAX ? -ENOMEM : 0;
	double rate = join_rates(into, &from->info);

	array_foreach(&into->rows, row) {
		if (kind_ops_of(row->kind)->is_level)
			row->count = row->weight = 0;
	}
	for (size_t i = 0; i < count && !err; i++) {
		double row_rate = rows[i].kind == PKBPF_PROFILE_CPU ? rate : 1;
		struct profile_row row = {
			.kind = rows[i].kind,
			.process = NOT_THERE,
			.tid = PROFILE_NO_THREAD,
			.comm = comm,
			.stack = stack,
			.count = scaled(rows[i].count, row_rate),
			.weight = scaled(rows[i].weight, row_rate),
		};

		err = profile_add(into, &row);
	}
	merge_info(&into->info, &from->info);
	return err;
}

void slice_copy_cost(struct profile *into, const struct profile *from)
{
	into->info.own_pid = from->info.own_pid;
	into->info.keeper_pid = from->info.keeper_pid;
	into->info.own_cpu_ns = from->info.own_cpu_ns;
	into->info.max_resident_bytes =
		larger(into->info.max_resident_bytes, from->info.max_resident_bytes);
}
