// SPDX-License-Identifier: BSD-2-Clause
// Makes stacks one that read the same, and the rarest ones shorter.
#include "profile/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/profile_private.h"

/* Shorter ones are left as they are. */
#define MIN_FRAMES 4

/* Symbolizers keep equal lines and names once, so equal pointers read the same. Where equal texts come from elsewhere their
 * frames stay apart, which costs memory and nothing else. */
static bool reads_the_same(const void *context, uint32_t item, const void *key)
{
	const struct profile *profile = context;
	const struct frame *a = &profile->frames.items[item], *b = key;

	return a->location.space == b->location.space && a->symbol.lines == b->symbol.lines &&
	       a->symbol.line_count == b->symbol.line_count && a->symbol.module == b->symbol.module &&
	       a->symbol.flags == b->symbol.flags;
}

static uint64_t reading_hash(const struct profile *profile, const struct frame *frame)
{
	uint64_t words[3] = {
		(uintptr_t)frame->symbol.lines,
		(uintptr_t)frame->symbol.module,
		(uint64_t)frame->location.space << 32 | frame->symbol.flags,
	};

	return hash_bytes(words, sizeof(words), profile->seed);
}

/* Without a name an address stands for itself. */
static bool merge_frame(struct profile *profile, struct frame *frame, uint32_t number)
{
	uint64_t hash = reading_hash(profile, frame);
	uint32_t same = hash_index_find(&profile->readings, hash, reads_the_same, profile, frame);

	if (same == HASH_INDEX_NONE && !hash_index_add(&profile->readings, hash, number))
		return false;
	frame->merged = same == HASH_INDEX_NONE ? number : same;
	frame->compared = true;
	return true;
}

static bool merge_frames(struct profile *profile)
{
	for (size_t i = 0; i < profile->frames.count; i++) {
		struct frame *frame = &profile->frames.items[i];

		if (frame->named && !frame->compared && frame->symbol.result == SYMBOL_FOUND &&
		    !merge_frame(profile, frame, (uint32_t)i))
			return false;
	}
	return true;
}

struct shortening {
	uint32_t marker; /* the frame that says so */
	const bool *chosen; /* by stack */
};

struct rewriting {
	const struct stack_table *old;
	struct stack_table *new;
	const struct shortening *shortening; /* NULL: none */
	uint32_t *merged; /* by frame, side by side: stacks have many */
	uint32_t *frames; /* room for the longest stack */
};

/* The new stack for an old one. */
static uint32_t rewrite(const struct rewriting *work, uint32_t old)
{
	size_t count, first = 0, to = 0;
	const uint32_t *from = stack_table_get(work->old, old, &count);

	if (work->shortening && work->shortening->chosen[old]) {
		first = count / 2;
		work->frames[to++] = work->shortening->marker;
	}
	for (size_t i = first; i < count; i++)
		work->frames[to++] = work->merged[from[i]];
	return stack_table_add(work->new, work->frames, to);
}

static void renumber_stacks(const void *context, struct profile_row *row)
{
	const uint32_t *to = context;

	row->stack = to[row->stack];
	if (row->waker)
		row->waker = 1 + to[row->waker - 1];
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

/* All stacks again, by what now stands for their frames. The new numbers; NULL: no memory, and all is as it was. */
static uint32_t *rebuild(struct profile *profile, const struct shortening *shortening)
{
	size_t count = stack_table_count(profile->stacks);
	_cleanup_free_ uint32_t *frames = malloc((longest_stack(profile) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *merged = malloc((profile->frames.count + 1) * sizeof(*merged));
	_cleanup_free_ uint32_t *to = malloc((count + 1) * sizeof(*to));
	struct stack_table *stacks = stack_table_new();
	const struct rewriting work = {profile->stacks, stacks, shortening, merged, frames};
	bool done = frames && merged && to && stacks;

	for (size_t i = 0; done && i < profile->frames.count; i++)
		merged[i] = profile->frames.items[i].merged;
	for (uint32_t i = 0; done && i < count; i++) {
		to[i] = rewrite(&work, i);
		done = to[i] != STACK_TABLE_NONE;
	}
	if (!done || !profile_rekey_rows(profile, renumber_stacks, to)) {
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

static size_t depth_of(const struct profile *profile, uint32_t stack)
{
	size_t count;

	stack_table_get(profile->stacks, stack, &count);
	return count;
}

/* The frame that says so. */
static const struct frame_location shortened = {.space = FRAME_TRUNCATED, .address = PKBPF_END_SHORTENED};

/* The rarest of those that are long enough, until they save so many bytes; false: no memory. */
static bool choose_rarest(const struct profile *profile, size_t bytes, bool *chosen)
{
	size_t count = stack_table_count(profile->stacks), candidates = 0;
	_cleanup_free_ struct ranked_stack *ranked = calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return false;
	rank(profile, ranked, count);
	for (size_t i = 0; i < count; i++) {
		if (depth_of(profile, (uint32_t)i) >= MIN_FRAMES)
			ranked[candidates++] = ranked[i];
	}
	qsort(ranked, candidates, sizeof(*ranked), compare_shares);
	for (size_t i = 0, saved = 0; i < candidates && saved < bytes; i++) {
		chosen[ranked[i].stack] = true;
		/* Most become like others; what these take is made up for by what does not. */
		saved += depth_of(profile, ranked[i].stack) * sizeof(uint32_t);
	}
	return true;
}

int profile_merge_stacks(struct profile *profile, struct symbolizer *symbolizer, uint32_t **ret_numbers)
{
	profile_name_frames(profile, symbolizer, 1U << FRAME_KERNEL | 1U << FRAME_FILE | 1U << FRAME_TRUNCATED);
	*ret_numbers = merge_frames(profile) ? rebuild(profile, NULL) : NULL;
	return *ret_numbers ? 0 : -ENOMEM;
}

int profile_shorten_stacks(struct profile *profile, struct symbolizer *symbolizer, size_t bytes, uint32_t **ret_numbers)
{
	_cleanup_free_ bool *chosen = calloc(stack_table_count(profile->stacks) + 1, sizeof(*chosen));
	struct shortening shortening = {.marker = profile_intern_frame(profile, &shortened), .chosen = chosen};

	*ret_numbers = NULL;
	if (!chosen || shortening.marker == UINT32_MAX)
		return -ENOMEM;
	profile_name_frames(profile, symbolizer, 1U << FRAME_TRUNCATED);
	if (choose_rarest(profile, bytes, chosen))
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
