// SPDX-License-Identifier: BSD-2-Clause
/* Holds the weighted stacks of a record while they are counted, symbolized and read. */
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/string_pool.h"
#include "event/counter_table.h"
#include "profile/account/account.h"
#include "profile/kind_table.h"
#include "profile/profile_private.h"
#include "profile/slice/time_line.h"
#include "profile/stack_end.h"
#include "symbol/python_glue.h"
#include "symbol/v8_glue.h"

static bool make_accounts(struct profile *profile)
{
	for (enum account i = 0; i < ACCOUNT_COUNT; i++) {
		profile->accounts[i] = account_new(i);
		if (!profile->accounts[i])
			return false;
	}
	return true;
}

/* Takes ownership of names; NULL: they could not be allocated. */
static struct profile *new_with_names(struct process_table *processes, struct profile_names *names)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile || !names) {
		profile_names_unref(names);
		free(profile);
		return NULL;
	}
	profile->processes = processes;
	profile->names = names;
	profile->seed = hash_random_seed();
	profile->distributions = distribution_table_new();
	profile->resources = resource_usage_new();
	if (!profile->distributions || !profile->resources || !make_accounts(profile)) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

/* Frames whose names are asked for together: time for names may be short. */
#define NAMED_AT_ONCE 128

struct profile *profile_new(struct process_table *processes)
{
	return new_with_names(processes, profile_names_new());
}

struct profile *profile_new_beside(const struct profile *other)
{
	other->names->references++;
	return new_with_names(other->processes, other->names);
}

struct profile *profile_new_apart(const struct profile *other)
{
	return new_with_names(other->processes, profile_names_new());
}

bool profile_has_same_names(const struct profile *profile, const struct profile *other)
{
	return profile->names == other->names;
}

bool profile_shares_names(const struct profile *profile)
{
	return profile->names->references > 1;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile_names_unref(profile->names);
	distribution_table_free(profile->distributions);
	resource_usage_free(profile->resources);
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		account_free(i, profile->accounts[i]);
	array_free(&profile->rows);
	hash_index_done(&profile->row_index);
	array_free(&profile->process_ends);
	hash_map_done(&profile->ends_of_process);
	hash_map_done(&profile->device_names);
	if (profile->files) {
		process_table_free(profile->processes);
		mapped_file_table_free(profile->files);
	}
	symbol_notes_done(&profile->notes);
	if (profile->times)
		time_line_done(profile->times);
	free(profile->times);
	free(profile);
}

struct profile_info *profile_info(struct profile *profile)
{
	return &profile->info;
}

const struct profile_info *profile_info_read(const struct profile *profile)
{
	return &profile->info;
}

struct process_table *profile_processes(const struct profile *profile)
{
	return profile->processes;
}

struct resource_usage *profile_resources(const struct profile *profile)
{
	return profile->resources;
}

#define X(name, type)                                                                              \
	type *profile_##name(const struct profile *profile)                                        \
	{                                                                                          \
		return profile->accounts[ACCOUNT_##name];                                          \
	}
ACCOUNT_LIST(X)
#undef X

void *profile_account_at(const struct profile *profile, enum account account)
{
	return profile->accounts[account];
}

uint32_t profile_intern_frame(struct profile *profile, const struct frame_location *location)
{
	return frame_table_add(&profile->names->frames, location);
}

uint32_t profile_intern_stack(struct profile *profile, const uint32_t *frames, size_t count)
{
	return stack_table_add(profile->names->stacks, frames, count);
}

uint32_t profile_intern_string(struct profile *profile, const char *string)
{
	return string_pool_add(profile->names->strings, string);
}

uint32_t profile_intern_comm(struct profile *profile, const char *comm)
{
	uint32_t known = string_pool_find(profile->names->strings, comm);

	if (known != STRING_POOL_NONE)
		return known;
	return string_pool_add(profile->names->strings,
			       string_pool_count(profile->names->strings) < PROFILE_MAX_NAMES
				       ? comm
				       : PROFILE_OTHER_NAMES);
}

static uint64_t row_hash(const struct profile *profile, const struct profile_row *row)
{
	uint32_t words[7] = {row->kind,	 row->process, row->tid,  row->comm,
			     row->stack, row->waker,   row->state};

	return hash_bytes(words, sizeof(words), profile->seed);
}

static bool row_equal(const void *context, uint32_t item, const void *key)
{
	const struct profile *profile = context;
	const struct profile_row *wanted = key;
	const struct profile_row *row = &profile->rows.items[item];

	return row->stack == wanted->stack && row->process == wanted->process &&
	       row->comm == wanted->comm && row->tid == wanted->tid && row->kind == wanted->kind &&
	       row->waker == wanted->waker && row->state == wanted->state;
}

int64_t profile_add_row(struct profile *profile, const struct profile_row *row)
{
	uint64_t hash = row_hash(profile, row);
	struct profile_row *known;
	uint32_t id;

	id = hash_index_find(&profile->row_index, hash, row_equal, profile, row);
	if (id != HASH_INDEX_NONE) {
		known = &profile->rows.items[id];
		known->count += row->count;
		known->weight += row->weight;
		if (row->max > known->max)
			known->max = row->max;
	} else {
		if (profile->rows.count >= UINT32_MAX - 1 ||
		    !array_reserve(&profile->rows, profile->rows.count + 1))
			return -ENOMEM;
		id = (uint32_t)profile->rows.count;
		if (!hash_index_add(&profile->row_index, hash, id))
			return -ENOMEM;
		*array_add(&profile->rows) = *row;
	}
	if (kind_ops_of(row->kind)->is_expected)
		profile->cpu_samples += row->count;
	return id;
}

int profile_add(struct profile *profile, const struct profile_row *row)
{
	int64_t id = profile_add_row(profile, row);

	return id < 0 ? (int)id : 0;
}

const struct time_line *profile_time_line(const struct profile *profile)
{
	return profile->times && profile->times->slices.count > 1 ? profile->times : NULL;
}

bool profile_rekey_rows(struct profile *profile,
			void (*rekey)(const void *context, struct profile_row *row),
			const void *context)
{
	typeof(profile->rows) old_rows = profile->rows;
	struct hash_index old_index = profile->row_index;
	uint64_t cpu_samples = profile->cpu_samples;
	_cleanup_free_ uint32_t *numbers = malloc((old_rows.count + 1) * sizeof(*numbers));
	int64_t err = numbers ? 0 : -ENOMEM;

	memset(&profile->rows, 0, sizeof(profile->rows));
	memset(&profile->row_index, 0, sizeof(profile->row_index));
	for (size_t i = 0; i < old_rows.count && err >= 0; i++) {
		struct profile_row row = old_rows.items[i];

		rekey(context, &row);
		err = profile_add_row(profile, &row);
		numbers[i] = (uint32_t)err;
	}
	profile->cpu_samples = cpu_samples;
	if (err < 0) {
		array_free(&profile->rows);
		hash_index_done(&profile->row_index);
		profile->rows = old_rows;
		profile->row_index = old_index;
		return false;
	}
	if (profile->times)
		time_line_renumber(profile->times, numbers);
	array_free(&old_rows);
	hash_index_done(&old_index);
	return true;
}

void profile_count_end(struct profile *profile, uint32_t process, enum pkbpf_stack_end end,
		       uint64_t count, uint64_t guessed_frames)
{
	uint64_t *number;
	bool added;

	if ((unsigned int)end >= PKBPF_END_COUNT)
		return;
	if (stack_end_is_complete(end) && !stack_end_is_proven(end, guessed_frames))
		end = PKBPF_END_GUESSED;
	profile->ends.counts[end] += count;
	profile->guessed_frames += guessed_frames * count;
	/* Without memory the process has no complete-stack rate of its own; the overall
	 * rate stays right. */
	if (!array_reserve(&profile->process_ends, profile->process_ends.count + 1))
		return;
	number = hash_map_get(&profile->ends_of_process, process, profile->process_ends.count,
			      &added);
	if (!number)
		return;
	if (added)
		array_add(&profile->process_ends);
	profile->process_ends.items[*number].counts[end] += count;
}

int profile_add_distribution(struct profile *profile, const struct distribution_key *key,
			     const struct distribution_change *change)
{
	return distribution_table_add(profile->distributions, key, change);
}

const struct distribution *profile_distribution(const struct profile *profile,
						const struct distribution_key *key)
{
	return distribution_table_find(profile->distributions, key);
}

const struct distribution *profile_distribution_at(const struct profile *profile, size_t index)
{
	return distribution_table_at(profile->distributions, index);
}

bool profile_scale(struct profile *profile, const uint32_t *rows, size_t row_count, uint64_t count)
{
	/* Sums in hostile recordings may have any value: 128 bits hold their products with
	 * 64-bit counts. */
	unsigned __int128 whole = 0, before = 0;
	uint64_t given = 0;

	for (size_t i = 0; i < row_count; i++)
		whole += profile->rows.items[rows[i]].count;
	if (!whole || whole > UINT64_MAX)
		return false;
	for (size_t i = 0; i < row_count; i++) {
		struct profile_row *row = &profile->rows.items[rows[i]];
		uint64_t until;

		/* Each count is the difference of rounded running sums, so rounding errors
		 * do not add up. */
		before += row->count;
		until = (uint64_t)(before * count / whole);
		row->weight = row->count ? (uint64_t)((unsigned __int128)row->weight *
						      (until - given) / row->count)
					 : 0;
		row->count = until - given;
		given = until;
	}
	return true;
}

int profile_set_device_name(struct profile *profile, uint32_t device, const char *name)
{
	uint32_t string = profile_intern_string(profile, name);

	return string != UINT32_MAX && hash_map_put(&profile->device_names, device, string)
		       ? 0
		       : -ENOMEM;
}

const char *profile_device_name(const struct profile *profile, uint32_t device)
{
	const uint64_t *string = hash_map_find(&profile->device_names, device);

	return string ? profile_string(profile, (uint32_t)*string) : NULL;
}

static void name_frame(const struct profile *profile, struct frame *frame,
		       struct symbolizer *symbolizer)
{
	if (frame->location.space == FRAME_TRUNCATED)
		frame->symbol = (struct symbol){
			.result = SYMBOL_FOUND,
			.lines = stack_end_line((enum pkbpf_stack_end)frame->location.address),
			.line_count = 1,
		};
	else
		symbolizer_resolve(symbolizer, &frame->location, &frame->symbol);
	/* Its texts die with its next answers. */
	if (!profile_names_keep(profile->names, &frame->symbol))
		frame->symbol = (struct symbol){.result = SYMBOL_NO_MEMORY};
	python_glue_mark(&frame->symbol, frame->location.neighbours);
	v8_glue_mark(&frame->symbol, frame->location.neighbours);
	frame->named = frame->symbol.result != SYMBOL_PENDING;
}

static int compare_locations(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct frame_location *a =
		&frame_table_at(&profile->names->frames, *(const uint32_t *)left)->location;
	const struct frame_location *b =
		&frame_table_at(&profile->names->frames, *(const uint32_t *)right)->location;

	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* The places of some frames, which are about to be named. */
static void prepare_frames(struct profile *profile, struct symbolizer *symbolizer,
			   const uint32_t *order, size_t count)
{
	struct frame_location locations[NAMED_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		locations[i] = frame_table_at(&profile->names->frames, order[i])->location;
	symbolizer_prepare(symbolizer, locations, count);
}

/* Frames are in address order: a function usually has several, and is then looked up once.
 */
bool profile_name_frames(struct profile *profile, struct symbolizer *symbolizer, uint32_t spaces,
			 uint64_t until_ns)
{
	_cleanup_free_ uint32_t *order =
		malloc(frame_table_count(&profile->names->frames) * sizeof(*order));
	size_t count = 0, named = 0;

	for (size_t i = 0; i < frame_table_count(&profile->names->frames); i++) {
		struct frame *frame = frame_table_at(&profile->names->frames, i);

		if (frame->named || !(spaces & 1U << frame->location.space))
			continue;
		if (order)
			order[count++] = (uint32_t)i;
		else
			name_frame(profile, frame, symbolizer);
	}
	if (count)
		qsort_r(order, count, sizeof(*order), compare_locations, profile);
	while (named < count) {
		if (named % NAMED_AT_ONCE == 0)
			prepare_frames(profile, symbolizer, order + named,
				       count - named < NAMED_AT_ONCE ? count - named
								     : NAMED_AT_ONCE);
		name_frame(profile, frame_table_at(&profile->names->frames, order[named++]),
			   symbolizer);
		if (until_ns < UINT64_MAX && clock_now_ns() >= until_ns)
			break;
	}
	return named == count;
}

void profile_symbolize_kernel(struct profile *profile, struct symbolizer *symbolizer)
{
	profile_name_frames(profile, symbolizer, 1U << FRAME_KERNEL, UINT64_MAX);
}

void profile_symbolize(struct profile *profile, struct symbolizer *symbolizer)
{
	profile_name_frames(profile, symbolizer, UINT32_MAX, UINT64_MAX);
	symbolizer_tell(symbolizer, &profile->notes);
}

const struct symbol_notes *profile_symbol_notes(const struct profile *profile)
{
	return &profile->notes;
}

size_t profile_stack_bytes(const struct profile *profile)
{
	return stack_table_bytes(profile->names->stacks) +
	       frame_table_bytes(&profile->names->frames);
}

const struct profile_row *profile_rows(const struct profile *profile, size_t *ret_count)
{
	*ret_count = profile->rows.count;
	return profile->rows.items;
}

const struct frame *profile_frame(const struct profile *profile, uint32_t frame)
{
	return frame < frame_table_count(&profile->names->frames)
		       ? frame_table_at(&profile->names->frames, frame)
		       : NULL;
}

size_t profile_frame_count(const struct profile *profile)
{
	return frame_table_count(&profile->names->frames);
}

size_t profile_stack_count(const struct profile *profile)
{
	return stack_table_count(profile->names->stacks);
}

const uint32_t *profile_stack(const struct profile *profile, uint32_t stack, size_t *ret_count)
{
	return stack_table_get(profile->names->stacks, stack, ret_count);
}

const char *profile_string(const struct profile *profile, uint32_t string)
{
	return string_pool_get(profile->names->strings, string);
}

uint64_t profile_end_count(const struct profile *profile, uint32_t process,
			   enum pkbpf_stack_end end)
{
	const uint64_t *number;

	if ((unsigned int)end >= PKBPF_END_COUNT)
		return 0;
	if (process == UINT32_MAX)
		return profile->ends.counts[end];
	number = hash_map_find(&profile->ends_of_process, process);
	return number ? profile->process_ends.items[*number].counts[end] : 0;
}

void profile_add_guessed_frames(struct profile *profile, uint64_t count)
{
	profile->guessed_frames += count;
}

uint64_t profile_guessed_frames(const struct profile *profile)
{
	return profile->guessed_frames;
}

struct profile_account profile_account(const struct profile *profile)
{
	struct profile_account account = {
		.expected = profile->info.counters[PKBPF_COUNTER_CPU_EXPECTED],
		.recorded = profile->cpu_samples,
	};

	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (counter_table[i].loss == PKBPF_LOSS_SAMPLE)
			account.lost += profile->info.counters[i];
		else if (counter_table[i].loss == PKBPF_LOSS_OTHER)
			account.lost_other += profile->info.counters[i];
	}
	return account;
}

int profile_put_distribution(struct profile *profile, const struct distribution *distribution)
{
	return distribution_table_put(profile->distributions, &distribution->key, distribution);
}
