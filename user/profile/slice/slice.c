// SPDX-License-Identifier: BSD-2-Clause
/* Merges the profiles of consecutive intervals. */
#include "profile/slice/slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "profile/slice/slice_private.h"
#include "profile/slice/time_line.h"

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

/* ---- counts ---- */

/* Rows without weight stay: their numbers are in use. */
static void drop_levels(struct slice_merging *work, const uint32_t *kinds_of_process)
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
static int replace_levels(struct slice_merging *work)
{
	size_t count, processes = process_table_count(work->into->processes);
	const struct profile_row *rows = profile_rows(work->from, &count);
	_cleanup_free_ uint32_t *kinds_of_process = calloc(processes + 1, sizeof(uint32_t));
	bool any = false;

	if (!kinds_of_process)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t process = slice_process_there(work, rows[i].process);

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

static int merge_rows(struct slice_merging *work)
{
	size_t count;
	const struct profile_row *rows = profile_rows(work->from, &count);
	int err = replace_levels(work);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		struct profile_row row = rows[i];
		int64_t id;

		row.process = slice_process_there(work, row.process);
		if (row.kind == PKBPF_PROFILE_CPU) {
			row.count = slice_scaled(row.count, work->rate);
			row.weight = slice_scaled(row.weight, work->rate);
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

static int merge_ends(struct slice_merging *work)
{
	const struct profile *from = work->from;
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	while ((slot = hash_map_next(&from->ends_of_process, &cursor))) {
		const struct stack_ends *ends = &from->process_ends.items[slot->value];
		uint32_t process = slice_process_there(work, (uint32_t)slot->key);

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
static bool peer_there(struct slice_merging *work, struct distribution_key *key)
{
	const struct peer *peer = key->kind == PKBPF_PROFILE_NETWORK
					  ? peer_table_at(profile_peers(work->from), key->device)
					  : NULL;

	if (peer)
		key->device = peer_table_get(profile_peers(work->into), peer);
	return !peer || key->device != PEER_NONE;
}

static int merge_distributions(struct slice_merging *work)
{
	const struct distribution *from;

	for (size_t i = 0; (from = profile_distribution_at(work->from, i)); i++) {
		struct distribution copy = *from;

		copy.key.process = slice_process_there(work, from->key.process);
		if (!peer_there(work, &copy.key))
			return -ENOMEM;
		if (profile_put_distribution(work->into, &copy))
			return -ENOMEM;
	}
	return 0;
}

static int merge_devices(struct slice_merging *work)
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

/* ---- the record ---- */

int slice_merge(struct profile *into, const struct profile *from)
{
	static int (*const parts[])(struct slice_merging * work) = {
		slice_merge_processes,
		slice_merge_stacks,
		merge_rows,
		merge_ends,
		merge_distributions,
		merge_devices,
		slice_merge_accounts,
		slice_merge_resources,
	};
	size_t processes = process_table_count(from->processes);
	_cleanup_free_ uint32_t *process_numbers = malloc((processes + 1) * sizeof(uint32_t));
	_cleanup_free_ uint32_t *frames = malloc((profile_frame_count(from) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *stacks = malloc((profile_stack_count(from) + 1) * sizeof(*stacks));
	struct slice_merging work = {.into = into,
				     .from = from,
				     .processes = process_numbers,
				     .frames = frames,
				     .stacks = stacks,
				     .clock_ns = slice_clock_ns(&into->info, &from->info)};
	int err = process_numbers && frames && stacks ? 0 : -ENOMEM;

	work.rate = slice_join_rates(into, &from->info);
	if (into->times)
		time_line_begin(into->times, from->info.start_ns + work.clock_ns,
				from->info.end_ns + work.clock_ns);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		err = parts[i](&work);
	slice_merge_info(&into->info, &from->info);
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
	double rate = slice_join_rates(into, &from->info);

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
			.count = slice_scaled(rows[i].count, row_rate),
			.weight = slice_scaled(rows[i].weight, row_rate),
		};

		err = profile_add(into, &row);
	}
	slice_merge_info(&into->info, &from->info);
	return err;
}

void slice_copy_cost(struct profile *into, const struct profile *from)
{
	into->info.own_pid = from->info.own_pid;
	into->info.keeper_pid = from->info.keeper_pid;
	into->info.own_cpu_ns = from->info.own_cpu_ns;
	if (from->info.max_resident_bytes > into->info.max_resident_bytes)
		into->info.max_resident_bytes = from->info.max_resident_bytes;
}
