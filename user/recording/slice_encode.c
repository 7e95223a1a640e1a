// SPDX-License-Identifier: BSD-2-Clause
/* Gathers the tables of a slice and writes each as a section. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "event/counter_table.h"
#include "profile/process_age.h"
#include "recording/slice_codec.h"
#include "recording/slice_tables.h"

struct encoding {
	const struct profile *profile;
	uint64_t secret;
	struct recorded_strings strings;
	struct recording_sections sections;
	/* by id of the profile: 1 + place in the table; 0: not written */
	uint32_t *processes, *stacks, *frames;
	size_t process_count, stack_count, frame_count; /* ids there are */
	bool failed;					/* out of memory */
};

static void add_section(struct encoding *work, const struct recorded_table *table, const void *rows,
			size_t count)
{
	struct packed_bytes bytes = {0};

	if (!count)
		return;
	recorded_table_encode(table, rows, count, &work->strings, &bytes);
	if (!bytes.failed)
		recording_sections_add(&work->sections, table->section, bytes.items, bytes.count);
	work->failed = work->failed || bytes.failed;
	packed_bytes_done(&bytes);
}

/* Rows of a table while they are gathered. */
struct rows {
	const struct recorded_table *table;
	void *items;
	size_t count, capacity;
};

/* A new row of zeroes; NULL, and noted, when there is no memory for it. Until the next one. */
static void *add_row(struct encoding *work, struct rows *rows)
{
	size_t row_size = rows->table->row_size;

	if (!array_reserve_items(&rows->items, &rows->capacity, rows->count + 1, row_size)) {
		work->failed = true;
		return NULL;
	}
	return memset((uint8_t *)rows->items + rows->count++ * row_size, 0, row_size);
}

/* Ends them. */
static void write_table(struct encoding *work, struct rows *rows)
{
	add_section(work, rows->table, rows->items, rows->count);
	free(rows->items);
}

static uint32_t place(const uint32_t *places, size_t count, uint32_t id)
{
	return id < count ? places[id] : 0;
}

/* ---- which processes, stacks and frames ---- */

static uint32_t *number_used(const bool *used, size_t count)
{
	uint32_t *places = calloc(count + 1, sizeof(*places)), next = 0;

	for (size_t i = 0; places && i < count; i++)
		if (used[i])
			places[i] = ++next;
	return places;
}

static void mark_frames(const struct encoding *work, bool *used)
{
	for (size_t i = 0; i < work->stack_count; i++) {
		size_t count;
		const uint32_t *frames = profile_stack(work->profile, (uint32_t)i, &count);

		for (size_t j = 0; work->stacks[i] && j < count; j++)
			if (frames[j] < work->frame_count)
				used[frames[j]] = true;
	}
}

static bool number_all(struct encoding *work)
{
	_cleanup_free_ bool *processes = NULL, *stacks = NULL, *frames = NULL;

	work->process_count = process_table_count(profile_processes(work->profile));
	work->stack_count = profile_stack_count(work->profile);
	work->frame_count = profile_frame_count(work->profile);
	processes = calloc(work->process_count + 1, sizeof(*processes));
	stacks = calloc(work->stack_count + 1, sizeof(*stacks));
	frames = calloc(work->frame_count + 1, sizeof(*frames));
	if (!processes || !stacks || !frames)
		return false;
	profile_mark_processes(work->profile, processes);
	profile_mark_stacks(work->profile, stacks);
	work->processes = number_used(processes, work->process_count);
	work->stacks = number_used(stacks, work->stack_count);
	if (!work->processes || !work->stacks)
		return false;
	mark_frames(work, frames);
	work->frames = number_used(frames, work->frame_count);
	return work->frames;
}

/* ---- the tables ---- */

static void write_facts(struct encoding *work)
{
	const struct profile *profile = work->profile;
	const struct resource_usage *usage = profile_resources(profile);
	struct recorded_facts facts = {
		.info = *profile_info_read(profile),
		.guessed_frames = profile_guessed_frames(profile),
		.processes_dropped = process_table_dropped(profile_processes(profile)),
		.slow_io_limit = slow_io_list_max(profile_slow_io(profile)),
		.slow_region_limit = slow_region_list_max(profile_slow_regions(profile)),
		.account_start_ns = resource_usage_start_ns(usage),
		.account_end_ns = resource_usage_end_ns(usage),
		.account_missing = resource_usage_missing(usage),
		.machine = resource_usage_machine(usage),
	};

	add_section(work, &slice_facts, &facts, 1);
}

static void write_counters(struct encoding *work)
{
	const struct profile_info *info = profile_info_read(work->profile);
	struct recorded_counter counters[PKBPF_COUNTER_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		if (info->counters[i])
			counters[count++] =
				(struct recorded_counter){counter_table[i].name, info->counters[i]};
	add_section(work, &slice_counters, counters, count);
}

static void write_processes(struct encoding *work)
{
	struct process_table *table = profile_processes(work->profile);
	struct rows rows = {.table = &slice_processes};

	for (size_t i = 0; i < work->process_count; i++) {
		const struct process *process =
			work->processes[i] ? process_table_by_id(table, (uint32_t)i) : NULL;
		struct process *row = work->processes[i] ? add_row(work, &rows) : NULL;

		if (row && process)
			*row = *process;
	}
	write_table(work, &rows);
}

/* Where an instruction is in the memory of the kernel or of a process is nobody's business. */
static struct frame_location location_to_write(const struct frame_location *location)
{
	struct frame_location written = {.space = location->space};

	if (location->space == FRAME_FILE)
		return *location;
	if (location->space == FRAME_TRUNCATED)
		written.address = location->address;
	return written;
}

/* Two addresses stay two. */
static uint64_t address_to_write(const struct encoding *work, const struct frame *frame)
{
	uint64_t address = frame->symbol.module_address;

	if (!address)
		return 0;
	return (uint32_t)hash_bytes(&address, sizeof(address), work->secret) | 1;
}

static void write_frames(struct encoding *work)
{
	struct rows rows = {.table = &slice_frames};
	struct rows lines = {.table = &slice_lines};

	for (size_t i = 0; i < work->frame_count; i++) {
		const struct frame *frame = profile_frame(work->profile, (uint32_t)i);
		const struct symbol *symbol = &frame->symbol;
		struct recorded_frame *row = work->frames[i] ? add_row(work, &rows) : NULL;
		bool is_in_file = frame->location.space == FRAME_FILE;

		if (!row)
			continue;
		*row = (struct recorded_frame){
			.location = location_to_write(&frame->location),
			.result = symbol->result,
			.flags = symbol->flags,
			.module = symbol->module,
			.build_id = symbol->build_id,
			.module_address = is_in_file ? 0 : address_to_write(work, frame),
			/* The same for most, in a byte. */
			.address_offset = is_in_file ? (int64_t)(symbol->module_address -
								 frame->location.address)
						     : 0,
			.function_address = is_in_file ? symbol->function_address : 0,
			.line_count = (uint32_t)symbol->line_count,
		};
		for (size_t j = 0; j < symbol->line_count; j++) {
			struct symbol_line *line = add_row(work, &lines);

			if (line)
				*line = symbol->lines[j];
		}
	}
	write_table(work, &rows);
	write_table(work, &lines);
}

/* From the root to the leaf: what was there already is shared. 1 + the leaf's place. */
static uint32_t add_nodes(struct encoding *work, struct hash_map *places, const uint32_t *frames,
			  size_t count, struct rows *nodes)
{
	uint32_t node = 0; /* 1 + place */

	while (count-- > 0 && !work->failed) {
		uint32_t frame = place(work->frames, work->frame_count, frames[count]);
		uint64_t key = (uint64_t)node << 32 | frame, *known;
		struct recorded_node *row;
		bool added;

		known = hash_map_get(places, key, nodes->count, &added);
		row = known && added ? add_row(work, nodes) : NULL;
		if (row)
			*row = (struct recorded_node){
				.caller = node ? (uint32_t)(*known + 1 - node) : 0,
				.frame = frame - 1,
			};
		work->failed = work->failed || !known;
		node = known ? (uint32_t)*known + 1 : 0;
	}
	return node;
}

static void write_stacks(struct encoding *work)
{
	struct rows rows = {.table = &slice_stacks};
	struct rows nodes = {.table = &slice_nodes};
	_cleanup_(hash_map_done) struct hash_map places = {0};

	for (size_t i = 0; i < work->stack_count; i++) {
		struct recorded_stack *row = work->stacks[i] ? add_row(work, &rows) : NULL;
		size_t count;
		const uint32_t *frames = profile_stack(work->profile, (uint32_t)i, &count);

		if (row)
			row->node = add_nodes(work, &places, frames, count, &nodes);
	}
	write_table(work, &nodes);
	write_table(work, &rows);
}

static void write_rows(struct encoding *work)
{
	struct rows rows = {.table = &slice_rows};
	size_t count;
	const struct profile_row *all = profile_rows(work->profile, &count);

	for (size_t i = 0; i < count; i++) {
		struct recorded_row *row = add_row(work, &rows);

		if (!row)
			break;
		row->row = all[i];
		row->row.process = place(work->processes, work->process_count, all[i].process);
		row->row.stack = place(work->stacks, work->stack_count, all[i].stack);
		row->row.waker =
			all[i].waker ? place(work->stacks, work->stack_count, all[i].waker - 1) : 0;
		row->comm = profile_string(work->profile, all[i].comm);
	}
	write_table(work, &rows);
}

static void add_end(struct encoding *work, struct rows *rows, uint32_t process, unsigned int end,
		    uint64_t count)
{
	struct recorded_end *row = count ? add_row(work, rows) : NULL;

	if (row)
		*row = (struct recorded_end){process, end, count};
}

static void write_ends(struct encoding *work)
{
	struct rows rows = {.table = &slice_ends};

	for (unsigned int end = 0; end < PKBPF_END_COUNT; end++) {
		uint64_t rest = profile_end_count(work->profile, UINT32_MAX, end);

		for (size_t i = 0; i < work->process_count; i++) {
			uint64_t count = work->processes[i] ? profile_end_count(work->profile,
										(uint32_t)i, end)
							    : 0;

			add_end(work, &rows, work->processes[i], end, count);
			rest -= count < rest ? count : rest;
		}
		add_end(work, &rows, 0, end, rest);
	}
	write_table(work, &rows);
}

static void write_distributions(struct encoding *work)
{
	struct rows rows = {.table = &slice_distributions};
	struct rows buckets = {.table = &slice_buckets};
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++) {
		struct recorded_distribution *row = add_row(work, &rows);

		if (!row)
			break;
		row->distribution = *distribution;
		row->distribution.key.process =
			place(work->processes, work->process_count, distribution->key.process);
		row->bucket_count = (uint32_t)distribution->bucket_count;
		for (size_t j = 0; j < distribution->bucket_count; j++) {
			struct distribution_bucket *bucket = add_row(work, &buckets);

			if (bucket)
				*bucket = distribution->buckets[j];
		}
	}
	write_table(work, &rows);
	write_table(work, &buckets);
}

static void add_device(struct encoding *work, struct hash_map *known, uint32_t device,
		       struct rows *rows)
{
	const char *name = profile_device_name(work->profile, device);
	struct recorded_device *row;

	if (!name || hash_map_find(known, device))
		return;
	work->failed = work->failed || !hash_map_put(known, device, 1);
	row = add_row(work, rows);
	if (row)
		*row = (struct recorded_device){device, name};
}

/* All of them: distributions refer to them by 1 + place. */
static void write_peers(struct encoding *work)
{
	const struct peer_table *peers = profile_peers(work->profile);
	struct rows rows = {.table = &slice_peers};

	for (uint32_t i = 1; i <= peer_table_count(peers); i++) {
		struct recorded_peer *row = add_row(work, &rows);

		if (!row)
			break;
		row->peer = *peer_table_at(peers, i);
		memcpy(row->address, row->peer.address.address, sizeof(row->address));
	}
	write_table(work, &rows);
}

static void write_devices(struct encoding *work)
{
	struct rows rows = {.table = &slice_devices};
	_cleanup_(hash_map_done) struct hash_map known = {0};
	const struct distribution *distribution;
	const struct slow_io *slow_io;

	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++)
		add_device(work, &known, distribution->key.device, &rows);
	for (size_t i = 0; (slow_io = slow_io_list_at(profile_slow_io(work->profile), i)); i++)
		add_device(work, &known, slow_io->device, &rows);
	write_table(work, &rows);
}

static void write_slow_io(struct encoding *work)
{
	struct rows rows = {.table = &slice_slow_io};
	const struct slow_io *slow_io;

	for (size_t i = 0; (slow_io = slow_io_list_at(profile_slow_io(work->profile), i)); i++) {
		struct recorded_slow_io *row = add_row(work, &rows);

		if (!row)
			break;
		row->request = *slow_io;
		row->request.process =
			place(work->processes, work->process_count, slow_io->process);
		row->request.stack = place(work->stacks, work->stack_count, slow_io->stack);
		row->comm = profile_string(work->profile, slow_io->comm);
	}
	write_table(work, &rows);
}

static void write_slow_regions(struct encoding *work)
{
	const struct slow_region_list *list = profile_slow_regions(work->profile);
	struct rows rows = {.table = &slice_slow_regions};
	const struct slow_region *region;

	for (size_t i = 0; (region = slow_region_list_at(list, i)); i++) {
		struct recorded_slow_region *row = add_row(work, &rows);

		if (!row)
			break;
		row->region = *region;
		row->region.process = place(work->processes, work->process_count, region->process);
		row->region.stack = place(work->stacks, work->stack_count, region->stack);
		row->comm = profile_string(work->profile, region->comm);
		row->name = profile_string(work->profile, region->name);
	}
	write_table(work, &rows);
}

static void write_moments(struct encoding *work)
{
	struct rows rows = {.table = &slice_moments};

	array_foreach(&profile_moments_read(work->profile)->items, moment) {
		struct recorded_moment *row = add_row(work, &rows);

		if (!row)
			break;
		row->moment = *moment;
		row->moment.process = place(work->processes, work->process_count, moment->process);
		row->moment.stack = place(work->stacks, work->stack_count, moment->stack);
		row->comm = profile_string(work->profile, moment->comm);
	}
	write_table(work, &rows);
}

static void write_relations(struct encoding *work)
{
	const struct relation_list *list = profile_relations(work->profile);
	struct rows rows = {.table = &slice_relations};

	for (size_t i = 0; i < relation_list_count(list); i++) {
		struct relation *row = add_row(work, &rows);

		if (!row)
			break;
		*row = *relation_list_at(list, i);
		row->stack = place(work->stacks, work->stack_count, row->stack);
		row->other_stack = place(work->stacks, work->stack_count, row->other_stack);
	}
	write_table(work, &rows);
}

static void write_regions(struct encoding *work)
{
	const struct region_table *table = profile_regions(work->profile);
	struct rows rows = {.table = &slice_regions};
	struct rows buckets = {.table = &slice_region_buckets};

	for (size_t i = 0; i < region_table_count(table); i++) {
		const struct region *region = region_table_at(table, i);
		struct recorded_region *row = add_row(work, &rows);

		if (!row)
			break;
		row->region = *region;
		row->region.process = place(work->processes, work->process_count, region->process);
		row->region.parent = region->parent == REGION_ROOT ? 0 : region->parent + 1;
		row->name = profile_string(work->profile, region->name);
		row->bucket_count = (uint32_t)region->bucket_count;
		for (size_t j = 0; j < region->bucket_count; j++) {
			struct region_bucket *bucket = add_row(work, &buckets);

			if (bucket)
				*bucket = region->buckets[j];
		}
	}
	write_table(work, &rows);
	write_table(work, &buckets);
}

static void write_heaps(struct encoding *work)
{
	struct rows rows = {.table = &slice_heaps};

	array_foreach(&profile_heaps_read(work->profile)->items, heap) {
		struct heap_place *row = add_row(work, &rows);

		if (!row)
			break;
		*row = *heap;
		row->stack = place(work->stacks, work->stack_count, row->stack);
	}
	write_table(work, &rows);
}

static void write_locks(struct encoding *work)
{
	const struct lock_list *list = profile_locks_read(work->profile);
	struct rows rows = {.table = &slice_locks};
	struct rows buckets = {.table = &slice_lock_buckets};
	struct rows parts = {.table = &slice_lock_parts};

	for (uint32_t i = 0; i < list->locks.count; i++) {
		const struct lock *lock = &list->locks.items[i];
		struct lock *row = add_row(work, &rows);

		if (row)
			*row = *lock;
		for (uint32_t j = 0; j < PKBPF_LOCK_BUCKETS; j++) {
			struct recorded_lock_bucket *bucket =
				lock->buckets[j] ? add_row(work, &buckets) : NULL;

			if (bucket)
				*bucket = (struct recorded_lock_bucket){i, j, lock->buckets[j]};
		}
	}
	array_foreach(&list->parts, part) {
		struct lock_part *row = add_row(work, &parts);

		if (!row)
			break;
		*row = *part;
		row->stack = place(work->stacks, work->stack_count, part->stack);
	}
	write_table(work, &rows);
	write_table(work, &buckets);
	write_table(work, &parts);
}

static void write_memory(struct encoding *work)
{
	struct rows rows = {.table = &slice_memory};

	array_foreach(&profile_memory_read(work->profile)->items, point) {
		struct memory_point *row = add_row(work, &rows);

		if (!row)
			break;
		*row = *point;
	}
	write_table(work, &rows);
}

/* ---- the account ---- */

static void write_account(struct encoding *work)
{
	const struct resource_usage *usage = profile_resources(work->profile);
	struct rows processes = {.table = &slice_account_processes};
	struct rows threads = {.table = &slice_account_threads};

	for (size_t i = 0; i < resource_usage_process_count(usage); i++) {
		struct resource_process *row = add_row(work, &processes);

		if (!row)
			break;
		*row = resource_usage_raw_process(usage, i);
		/* Which program a process runs is known here alone. */
		row->started_inside = process_is_new(work->profile, row);
	}
	for (size_t i = 0; i < resource_usage_thread_count(usage); i++) {
		struct resource_thread thread, *row;

		if (!resource_usage_raw_thread(usage, i, &thread))
			continue;
		row = add_row(work, &threads);
		if (row)
			*row = thread;
	}
	write_table(work, &processes);
	write_table(work, &threads);
}

static void write_cgroups(struct encoding *work)
{
	const struct resource_usage *usage = profile_resources(work->profile);
	struct rows rows = {.table = &slice_cgroups};
	struct rows limits = {.table = &slice_cgroup_limits};
	size_t cursor = 0;
	struct recorded_cgroup cgroup = {0};

	while ((cgroup.text = resource_usage_cgroup_at(usage, &cursor, &cgroup.cgroup_id))) {
		struct recorded_cgroup *row = add_row(work, &rows);

		if (row)
			*row = cgroup;
	}
	cgroup.is_container = true;
	cursor = 0;
	while ((cgroup.text = resource_usage_container_at(usage, &cursor, &cgroup.cgroup_id))) {
		struct recorded_cgroup *row = add_row(work, &rows);

		if (row)
			*row = cgroup;
	}
	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		struct resource_cgroup_limit limit, *row;

		if (!resource_usage_cgroup_limit(usage, i, &limit))
			continue;
		row = add_row(work, &limits);
		if (row)
			*row = limit;
	}
	write_table(work, &rows);
	write_table(work, &limits);
}

/* Last, when all other tables have said which strings they need. */
static void write_strings(struct encoding *work)
{
	struct packed_bytes bytes = {0};

	recorded_strings_encode(&work->strings, &bytes);
	if (!bytes.failed)
		recording_sections_add(&work->sections, SLICE_STRINGS, bytes.items, bytes.count);
	work->failed = work->failed || bytes.failed;
	packed_bytes_done(&bytes);
}

/* ---- all of it ---- */

struct recording_span slice_span(const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);

	return (struct recording_span){
		.sequence = info->sequence,
		.begin_ns = info->start_ns,
		.end_ns = info->end_ns,
		.begin_unix_ns = info->start_unix_ns,
	};
}

int slice_encode(const struct profile *profile, uint64_t secret,
		 struct recording_sections *ret_sections)
{
	static void (*const parts[])(struct encoding *) = {
		write_facts,	     write_counters,  write_processes, write_frames,
		write_stacks,	     write_rows,      write_ends,      write_peers,
		write_distributions, write_devices,   write_slow_io,   write_slow_regions,
		write_moments,	     write_relations, write_regions,   write_heaps,
		write_memory,	     write_locks,     write_account,   write_cgroups,
		write_strings,
	};
	struct encoding work = {.profile = profile, .secret = secret};
	int err;

	work.failed = !number_all(&work);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !work.failed && !work.sections.err; i++)
		parts[i](&work);
	free(work.processes);
	free(work.stacks);
	free(work.frames);
	recorded_strings_done(&work.strings);
	err = work.failed ? -ENOMEM : work.sections.err;
	if (err)
		recording_sections_done(&work.sections);
	else
		*ret_sections = work.sections;
	return err;
}
