// SPDX-License-Identifier: BSD-2-Clause
// Makes stacks one that read the same, and the rarest ones shorter.
#include "profile/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/function_table.h"
#include "profile/profile_private.h"

/* Shorter ones are left as they are. */
#define MIN_FRAMES 4

DEFINE_CLEANUP(struct function_table *, function_table_free)
DEFINE_CLEANUP(struct stack_table *, stack_table_free)

/* The frame that reads as this one does. Without a name an address stands for itself. */
static bool merge_frame(struct profile *profile, const struct function_table *functions, struct stack_table *texts,
			uint32_t *first_of_text, uint32_t number)
{
	struct frame *frame = &profile->frames.items[number];
	uint32_t text, key[1 + 64];
	size_t count;
	const uint32_t *of_frame = function_table_frame(functions, number, &count);

	if (!frame->named || frame->symbol.result != SYMBOL_FOUND || count >= ARRAY_SIZE(key))
		return true;
	key[0] = frame->location.space;
	memcpy(&key[1], of_frame, count * sizeof(*key));
	text = stack_table_add(texts, key, 1 + count);
	if (text == STACK_TABLE_NONE)
		return false;
	if (first_of_text[text] == UINT32_MAX)
		first_of_text[text] = number;
	frame->merged = first_of_text[text];
	return true;
}

static bool merge_frames(struct profile *profile, bool lines)
{
	struct function_table_options options = {.lines = lines};
	_cleanup_(function_table_free_cleanup) struct function_table *functions = function_table_new(profile, &options);
	_cleanup_(stack_table_free_cleanup) struct stack_table *texts = stack_table_new();
	size_t count = profile->frames.count;
	_cleanup_free_ uint32_t *first_of_text = malloc((count + 1) * sizeof(*first_of_text));

	if (!functions || !texts || !first_of_text)
		return false;
	memset(first_of_text, 0xff, count * sizeof(*first_of_text));
	for (size_t i = 0; i < count; i++)
		if (!merge_frame(profile, functions, texts, first_of_text, (uint32_t)i))
			return false;
	return true;
}

struct shortening {
	uint32_t marker; /* the frame that says so */
	const bool *chosen; /* by stack */
};

/* The new stack for an old one; *frames is memory for it. */
static uint32_t rewrite(struct profile *profile, const struct shortening *shortening, uint32_t old,
			struct stack_table *stacks, uint32_t *frames)
{
	size_t count, first = 0, to = 0;
	const uint32_t *from = stack_table_get(profile->stacks, old, &count);

	if (shortening && shortening->chosen[old]) {
		first = count / 2;
		frames[to++] = shortening->marker;
	}
	for (size_t i = first; i < count; i++)
		frames[to++] = profile->frames.items[from[i]].merged;
	return stack_table_add(stacks, frames, to);
}

static size_t longest_stack(const struct profile *profile)
{
	size_t count, longest = 0;

	for (uint32_t i = 0; i < stack_table_count(profile->stacks); i++) {
		stack_table_get(profile->stacks, i, &count);
		if (count > longest)
			longest = count;
	}
	return longest;
}

/* The rows again, with the new numbers of their stacks; false: as they were. */
static bool renumber_rows(struct profile *profile, const uint32_t *to)
{
	typeof(profile->rows) old_rows = profile->rows;
	struct hash_index old_index = profile->row_index;
	uint64_t cpu_samples = profile->cpu_samples;
	int err = 0;

	memset(&profile->rows, 0, sizeof(profile->rows));
	memset(&profile->row_index, 0, sizeof(profile->row_index));
	for (size_t i = 0; i < old_rows.count && !err; i++) {
		struct profile_row row = old_rows.items[i];

		row.stack = to[row.stack];
		if (row.waker)
			row.waker = 1 + to[row.waker - 1];
		err = profile_add(profile, &row);
	}
	profile->cpu_samples = cpu_samples;
	if (err) {
		array_free(&profile->rows);
		hash_index_done(&profile->row_index);
		profile->rows = old_rows;
		profile->row_index = old_index;
		return false;
	}
	array_free(&old_rows);
	hash_index_done(&old_index);
	return true;
}

/* All stacks again, by what now stands for their frames. The new numbers; NULL: no memory, and all is as it was. */
static uint32_t *rebuild(struct profile *profile, const struct shortening *shortening)
{
	size_t count = stack_table_count(profile->stacks);
	_cleanup_free_ uint32_t *frames = malloc((longest_stack(profile) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *to = malloc((count + 1) * sizeof(*to));
	struct stack_table *stacks = stack_table_new();
	bool done = frames && to && stacks;

	for (uint32_t i = 0; done && i < count; i++) {
		to[i] = rewrite(profile, shortening, i, stacks, frames);
		done = to[i] != STACK_TABLE_NONE;
	}
	if (!done || !renumber_rows(profile, to)) {
		stack_table_free(stacks);
		return NULL;
	}
	slow_io_list_renumber(profile->slow_io, to);
	stack_table_free(profile->stacks);
	profile->stacks = stacks;
	return take_pointer(to);
}

/* What a stack means to the profile: the sum of its shares in the weight of each kind. */
struct ranked_stack {
	double share;
	uint32_t stack;
};

static int compare_shares(const void *left, const void *right)
{
	const struct ranked_stack *a = left, *b = right;

	if (a->share != b->share)
		return a->share < b->share ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void rank(const struct profile *profile, struct ranked_stack *ranked, size_t count)
{
	double totals[PKBPF_PROFILE_KINDS] = {0};

	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked_stack){.stack = (uint32_t)i};
	array_foreach(&profile->rows, row)
		totals[row->kind] += (double)row->weight;
	array_foreach(&profile->rows, row) {
		double share = totals[row->kind] > 0 ? (double)row->weight / totals[row->kind] : 0;

		ranked[row->stack].share += share;
		if (row->waker)
			ranked[row->waker - 1].share += share;
	}
}

static bool is_short(const struct profile *profile, uint32_t stack)
{
	size_t count;

	stack_table_get(profile->stacks, stack, &count);
	return count < MIN_FRAMES;
}

/* The frame that says so. */
static const struct frame_location shortened = {.space = FRAME_TRUNCATED, .address = PKBPF_END_SHORTENED};

/* The rarer half of those that are long enough; false: no memory. */
static bool choose_rarest(const struct profile *profile, bool *chosen)
{
	size_t count = stack_table_count(profile->stacks), candidates = 0;
	_cleanup_free_ struct ranked_stack *ranked = calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return false;
	rank(profile, ranked, count);
	for (size_t i = 0; i < count; i++) {
		if (!is_short(profile, (uint32_t)i))
			ranked[candidates++] = ranked[i];
	}
	qsort(ranked, candidates, sizeof(*ranked), compare_shares);
	for (size_t i = 0; i < (candidates + 1) / 2; i++)
		chosen[ranked[i].stack] = true;
	return true;
}

int profile_merge_stacks(struct profile *profile, struct symbolizer *symbolizer, bool lines, uint32_t **ret_numbers)
{
	profile_name_frames(profile, symbolizer, 1U << FRAME_KERNEL | 1U << FRAME_FILE | 1U << FRAME_TRUNCATED);
	*ret_numbers = merge_frames(profile, lines) ? rebuild(profile, NULL) : NULL;
	return *ret_numbers ? 0 : -ENOMEM;
}

int profile_shorten_stacks(struct profile *profile, struct symbolizer *symbolizer, uint32_t **ret_numbers)
{
	_cleanup_free_ bool *chosen = calloc(stack_table_count(profile->stacks) + 1, sizeof(*chosen));
	struct shortening shortening = {.marker = profile_intern_frame(profile, &shortened), .chosen = chosen};

	*ret_numbers = NULL;
	if (!chosen || shortening.marker == UINT32_MAX)
		return -ENOMEM;
	profile_name_frames(profile, symbolizer, 1U << FRAME_TRUNCATED);
	if (choose_rarest(profile, chosen))
		*ret_numbers = rebuild(profile, &shortening);
	return *ret_numbers ? 0 : -ENOMEM;
}

uint64_t profile_shortened_events(const struct profile *profile)
{
	uint64_t events = 0;
	size_t count;

	array_foreach(&profile->rows, row) {
		const uint32_t *frames = stack_table_get(profile->stacks, row->stack, &count);
		const struct frame_location *leaf = count ? &profile->frames.items[frames[0]].location : NULL;

		if (leaf && leaf->space == shortened.space && leaf->address == shortened.address)
			events += row->count;
	}
	return events;
}
