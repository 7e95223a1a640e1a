// SPDX-License-Identifier: BSD-2-Clause
/* Gathers the tables of a slice and writes each as a section. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "event/counter_table.h"
#include "recording/slice_codec.h"
#include "recording/slice_encoding.h"

static void slice_write_rows(struct slice_encoding *work, const struct recorded_table *table,
			     const void *rows, size_t count)
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

void *slice_rows_add(struct slice_encoding *work, struct slice_rows *rows)
{
	size_t row_size = rows->table->row_size;

	if (!array_reserve_items(&rows->items, &rows->capacity, rows->count + 1, row_size)) {
		work->failed = true;
		return NULL;
	}
	return memset((uint8_t *)rows->items + rows->count++ * row_size, 0, row_size);
}

void slice_rows_write(struct slice_encoding *work, struct slice_rows *rows)
{
	slice_write_rows(work, rows->table, rows->items, rows->count);
	free(rows->items);
}

uint32_t slice_place(const uint32_t *places, size_t count, uint32_t id)
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

static void mark_frames(const struct slice_encoding *work, bool *used)
{
	for (size_t i = 0; i < work->stack_count; i++) {
		size_t count;
		const uint32_t *frames = profile_stack(work->profile, (uint32_t)i, &count);

		for (size_t j = 0; work->stacks[i] && j < count; j++)
			if (frames[j] < work->frame_count)
				used[frames[j]] = true;
	}
}

static bool number_all(struct slice_encoding *work)
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

static void write_facts(struct slice_encoding *work)
{
	const struct profile *profile = work->profile;
	const struct resource_usage *usage = profile_resources(profile);
	struct recorded_facts facts = {
		.info = *profile_info_read(profile),
		.guessed_frames = profile_guessed_frames(profile),
		.processes_dropped = process_table_dropped(profile_processes(profile)),
		.slow_io_limit = slow_io_list_max(profile_slow_io(profile)),
		.slow_region_limit = slow_region_list_max(profile_slow_regions(profile)),
		.slow_request_limit = request_list_max(profile_contexts(profile)),
		.account_start_ns = resource_usage_start_ns(usage),
		.account_end_ns = resource_usage_end_ns(usage),
		.account_missing = resource_usage_missing(usage),
		.machine = resource_usage_machine(usage),
	};

	slice_write_rows(work, &slice_facts, &facts, 1);
}

static void write_counters(struct slice_encoding *work)
{
	const struct profile_info *info = profile_info_read(work->profile);
	struct recorded_counter counters[PKBPF_COUNTER_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		if (info->counters[i])
			counters[count++] =
				(struct recorded_counter){counter_table[i].name, info->counters[i]};
	slice_write_rows(work, &slice_counters, counters, count);
}

static void write_processes(struct slice_encoding *work)
{
	struct process_table *table = profile_processes(work->profile);
	struct slice_rows rows = {.table = &slice_processes};

	for (size_t i = 0; i < work->process_count; i++) {
		const struct process *process =
			work->processes[i] ? process_table_by_id(table, (uint32_t)i) : NULL;
		struct process *row = work->processes[i] ? slice_rows_add(work, &rows) : NULL;

		if (row && process)
			*row = *process;
	}
	slice_rows_write(work, &rows);
}

static void write_rows(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_rows};
	size_t count;
	const struct profile_row *all = profile_rows(work->profile, &count);

	for (size_t i = 0; i < count; i++) {
		struct recorded_row *row = slice_rows_add(work, &rows);

		if (!row)
			break;
		row->row = all[i];
		row->row.process =
			slice_place(work->processes, work->process_count, all[i].process);
		row->row.stack = slice_place(work->stacks, work->stack_count, all[i].stack);
		row->row.waker = all[i].waker ? slice_place(work->stacks, work->stack_count,
							    all[i].waker - 1)
					      : 0;
		row->comm = profile_string(work->profile, all[i].comm);
	}
	slice_rows_write(work, &rows);
}

static void add_end(struct slice_encoding *work, struct slice_rows *rows, uint32_t process,
		    unsigned int end, uint64_t count)
{
	struct recorded_end *row = count ? slice_rows_add(work, rows) : NULL;

	if (row)
		*row = (struct recorded_end){process, end, count};
}

static void write_ends(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_ends};

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
	slice_rows_write(work, &rows);
}

static void write_distributions(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_distributions};
	struct slice_rows buckets = {.table = &slice_buckets};
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(work->profile, i)); i++) {
		struct recorded_distribution *row = slice_rows_add(work, &rows);

		if (!row)
			break;
		row->distribution = *distribution;
		row->distribution.key.process = slice_place(work->processes, work->process_count,
							    distribution->key.process);
		row->bucket_count = (uint32_t)distribution->bucket_count;
		for (size_t j = 0; j < distribution->bucket_count; j++) {
			struct distribution_bucket *bucket = slice_rows_add(work, &buckets);

			if (bucket)
				*bucket = distribution->buckets[j];
		}
	}
	slice_rows_write(work, &rows);
	slice_rows_write(work, &buckets);
}

/* Last, when all other tables have said which strings they need. */
static void write_strings(struct slice_encoding *work)
{
	struct packed_bytes bytes = {0};

	recorded_strings_encode(&work->strings, &bytes);
	if (!bytes.failed)
		recording_sections_add(&work->sections, SLICE_STRINGS, bytes.items, bytes.count);
	work->failed = work->failed || bytes.failed;
	packed_bytes_done(&bytes);
}

/* ---- all of it ---- */

static void write_named(struct slice_encoding *work)
{
	slice_write_accounts(work, true);
}

static void write_others(struct slice_encoding *work)
{
	slice_write_accounts(work, false);
}

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
	static void (*const parts[])(struct slice_encoding *) = {
		write_facts,	     write_counters,	  write_processes, slice_write_frames,
		slice_write_stacks,  write_rows,	  write_ends,	   write_named,
		write_distributions, slice_write_devices, write_others,	   slice_write_resources,
		write_strings,
	};
	struct slice_encoding work = {.profile = profile, .secret = secret};
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
