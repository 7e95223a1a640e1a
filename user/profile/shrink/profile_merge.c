// SPDX-License-Identifier: BSD-2-Clause
/* Merges stacks with equal text, shortens or joins the rarest ones, and removes frames without a
 * stack. */
#include "profile/shrink/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/account/account.h"
#include "profile/profile_private.h"

/* Stacks with fewer frames are shortened last. */
#define LONG_FRAMES 4
/* Removing fewer frames than this is not worth it. */
#define MIN_LEFT_OUT 1024

/* What becomes of chosen stacks. */
struct cut {
	const bool *chosen; /* by stack; NULL: none */
	uint32_t marker;    /* the frame that marks such a stack */
	bool joins;	    /* nothing else is left of it; else its outer half */
};

struct rewriting {
	const struct stack_table *old;
	struct stack_table *new;
	struct cut cut;
	bool used_only; /* remove all frames without a stack, however little that saves */
	/* by frame: the number of the frame that represents it; an array for speed, since stacks
	 * have many frames */
	uint32_t *numbers;
	uint32_t *frames; /* room for the longest stack */
};

/* The part of a stack that is kept: the frames from here to the root, below the marker when it
 * is shortened. */
static const uint32_t *kept_part(const struct rewriting *work, uint32_t old, size_t *ret_count,
				 bool *ret_marked)
{
	const uint32_t *frames = stack_table_get(work->old, old, ret_count);
	size_t count = *ret_count;

	*ret_marked = work->cut.chosen && work->cut.chosen[old];
	if (!*ret_marked)
		return frames;
	/* An existing marker does not count. */
	*ret_count = work->cut.joins ? 0 : (count - (count && frames[0] == work->cut.marker)) / 2;
	return frames + count - *ret_count;
}

/* Rewrites one old stack. */
static uint32_t rewrite(const struct rewriting *work, uint32_t old)
{
	size_t count, to = 0;
	bool marked;
	const uint32_t *from = kept_part(work, old, &count, &marked);

	if (marked)
		work->frames[to++] = work->numbers[work->cut.marker];
	for (size_t i = 0; i < count; i++)
		work->frames[to++] = work->numbers[from[i]];
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

	for (uint32_t i = 0; i < stack_table_count(profile->names->stacks); i++) {
		stack_table_get(profile->names->stacks, i, &count);
		if (count > longest)
			longest = count;
	}
	return longest;
}

/* Numbers the frames that new stacks use, FRAME_TABLE_NONE for the others. Returns how many are
 * used. */
static size_t number_used_frames(const struct rewriting *work, const struct frame_table *table,
				 uint32_t *ret_numbers)
{
	size_t count, left = 0;
	bool marked;

	for (size_t i = 0; i < frame_table_count(table); i++)
		ret_numbers[i] = FRAME_TABLE_NONE;
	for (uint32_t i = 0; i < stack_table_count(work->old); i++) {
		const uint32_t *frames = kept_part(work, i, &count, &marked);

		if (marked)
			ret_numbers[work->numbers[work->cut.marker]] = 0;
		for (size_t j = 0; j < count; j++)
			ret_numbers[work->numbers[frames[j]]] = 0;
	}
	for (size_t i = 0; i < frame_table_count(table); i++) {
		if (ret_numbers[i] != FRAME_TABLE_NONE)
			ret_numbers[i] = (uint32_t)left++;
	}
	return left;
}

static bool saves_enough(const struct profile *profile, const struct rewriting *work, size_t unused)
{
	return unused >= MIN_LEFT_OUT &&
	       (work->cut.chosen ||
		unused * FRAME_TABLE_ITEM_BYTES >= profile_stack_bytes(profile) / 4);
}

/* Removes frames that no stack uses: merged ones, and those cut off by shortening. A place that
 * appears again must be symbolized again. So these frames stay while they take less than a
 * quarter of the memory and no stack must be shortened for them. *ret_frames has the remaining
 * frames, work->numbers their numbers; an empty table: all frames and numbers stay. false: no
 * memory. */
static bool leave_frames_out(const struct profile *profile, const struct rewriting *work,
			     struct frame_table *ret_frames)
{
	const struct frame_table *table = &profile->names->frames;
	_cleanup_free_ uint32_t *numbers =
		malloc((frame_table_count(table) + 1) * sizeof(*numbers));
	size_t unused;

	*ret_frames = (struct frame_table){0};
	if (!numbers)
		return false;
	unused = frame_table_count(table) - number_used_frames(work, table, numbers);
	if (!unused || (!work->used_only && !saves_enough(profile, work, unused)))
		return true;
	if (!frame_table_copy(table, numbers, ret_frames))
		return false;
	for (size_t i = 0; i < frame_table_count(table); i++)
		work->numbers[i] = numbers[work->numbers[i]];
	return true;
}

/* Rebuilds all stacks with the merged frames. Returns the new numbers; NULL: no memory, nothing
 * has changed. */
static uint32_t *rebuild(struct profile *profile, const struct cut *cut, bool used_only)
{
	size_t count = stack_table_count(profile->names->stacks),
	       frame_count = frame_table_count(&profile->names->frames);
	_cleanup_free_ uint32_t *frames = malloc((longest_stack(profile) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *numbers = malloc((frame_count + 1) * sizeof(*numbers));
	_cleanup_free_ uint32_t *to = malloc((count + 1) * sizeof(*to));
	struct stack_table *stacks = stack_table_new();
	const struct rewriting work = {
		profile->names->stacks, stacks, *cut, used_only, numbers, frames};
	struct frame_table left = {0};
	bool done = frames && numbers && to && stacks;

	for (size_t i = 0; done && i < frame_count; i++)
		numbers[i] = frame_table_at(&profile->names->frames, i)->merged;
	done = done && leave_frames_out(profile, &work, &left);
	for (uint32_t i = 0; done && i < count; i++) {
		to[i] = rewrite(&work, i);
		done = to[i] != STACK_TABLE_NONE;
	}
	if (!done || !profile_rekey_rows(profile, renumber_stacks, to)) {
		stack_table_free(stacks);
		frame_table_done(&left);
		return NULL;
	}
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		account_renumber(i, profile->accounts[i], to, count);
	stack_table_free(profile->names->stacks);
	profile->names->stacks = stacks;
	if (frame_table_count(&left)) {
		frame_table_done(&profile->names->frames);
		profile->names->frames = left;
	}
	return take_pointer(to);
}

/* Importance of a stack: the sum of its shares in the weight of each kind. */
struct ranked_stack {
	double share;
	uint32_t stack;
	bool is_short; /* shortened later: saves little, loses much */
	/* shortened last: its weight is still unknown, as of a wait that lasts since the start */
	bool is_open;
};

static int compare_shares(const void *left, const void *right)
{
	const struct ranked_stack *a = left, *b = right;

	if (a->is_open != b->is_open)
		return a->is_open - b->is_open;
	if (a->is_short != b->is_short)
		return a->is_short - b->is_short;
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

/* Number of uses of each frame in all stacks. */
static uint32_t *count_uses(const struct profile *profile)
{
	uint32_t *uses = calloc(frame_table_count(&profile->names->frames) + 1, sizeof(*uses));
	size_t count;

	for (uint32_t i = 0; uses && i < stack_table_count(profile->names->stacks); i++) {
		const uint32_t *frames = stack_table_get(profile->names->stacks, i, &count);

		for (size_t j = 0; j < count; j++)
			uses[frame_table_at(&profile->names->frames, frames[j])->merged]++;
	}
	return uses;
}

/* Bytes that shortening saves, stack by stack. Saving more than needed would cost stacks that
 * are not rare. */
struct savings {
	const struct profile *profile;
	uint32_t *uses;
	/* hashes of the shortened stacks: most become equal to others */
	struct hash_map kept;
	uint32_t *frames; /* room for the longest stack */
	size_t bytes;
};

/* false: no memory, or the stack already exists. */
static bool keep_new(struct savings *savings, const uint32_t *frames, size_t count)
{
	bool added = false;

	for (size_t i = 0; i < count; i++)
		savings->frames[i] =
			frame_table_at(&savings->profile->names->frames, frames[i])->merged;
	return hash_map_get(&savings->kept, hash_bytes(savings->frames, count * sizeof(*frames), 0),
			    0, &added) &&
	       added;
}

/* Counts frames without a stack as saved, and stacks that are already cut as kept. */
static void begin_savings(struct savings *savings, uint32_t marker)
{
	const struct profile *profile = savings->profile;
	size_t unused = 0, depth;

	for (size_t i = 0; i < frame_table_count(&profile->names->frames); i++)
		unused += !savings->uses[i];
	if (unused >= MIN_LEFT_OUT)
		savings->bytes = unused * FRAME_TABLE_ITEM_BYTES;
	for (uint32_t i = 0; i < stack_table_count(profile->names->stacks); i++) {
		const uint32_t *frames = stack_table_get(profile->names->stacks, i, &depth);

		if (depth && frames[0] == marker)
			keep_new(savings, frames + 1, depth - 1);
	}
}

/* Counts a stack, without its marker, whose first `dropped` frames are dropped. */
static void save(struct savings *savings, const uint32_t *frames, size_t count, size_t dropped)
{
	savings->bytes += stack_table_item_bytes(count);
	for (size_t i = 0; i < dropped; i++) {
		if (!--savings->uses[frame_table_at(&savings->profile->names->frames, frames[i])
					     ->merged])
			savings->bytes += FRAME_TABLE_ITEM_BYTES;
	}
	if (keep_new(savings, frames + dropped, count - dropped))
		savings->bytes -= stack_table_item_bytes(count - dropped + 1);
}

/* Chooses the rarest stacks, short ones last where they are shortened, until they save `bytes`;
 * false: no memory. */
static bool choose_rarest(const struct profile *profile, const struct cut *cut, size_t bytes,
			  const bool *awaited, bool *chosen)
{
	size_t count = stack_table_count(profile->names->stacks), candidates = 0, depth;
	_cleanup_free_ struct ranked_stack *ranked = calloc(count + 1, sizeof(*ranked));
	_cleanup_free_ uint32_t *uses = count_uses(profile);
	_cleanup_free_ uint32_t *room = malloc((longest_stack(profile) + 1) * sizeof(*room));
	struct savings savings = {.profile = profile, .uses = uses, .frames = room};

	if (!ranked || !uses || !room)
		return false;
	rank(profile, ranked, count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t *frames =
			stack_table_get(profile->names->stacks, (uint32_t)i, &depth);

		depth -= depth && frames[0] == cut->marker;
		ranked[i].is_short = !cut->joins && depth < LONG_FRAMES;
		ranked[i].is_open = awaited && awaited[i] && ranked[i].share <= 0;
		if (depth)
			ranked[candidates++] = ranked[i];
	}
	qsort(ranked, candidates, sizeof(*ranked), compare_shares);
	begin_savings(&savings, cut->marker);
	for (size_t i = 0; i < candidates && savings.bytes < bytes; i++) {
		const uint32_t *frames =
			stack_table_get(profile->names->stacks, ranked[i].stack, &depth);
		bool marked = frames[0] == cut->marker;

		depth -= marked;
		chosen[ranked[i].stack] = true;
		save(&savings, frames + marked, depth, cut->joins ? depth : (depth + 1) / 2);
	}
	hash_map_done(&savings.kept);
	return true;
}

bool profile_name_places(struct profile *profile, struct symbolizer *symbolizer, uint64_t until_ns)
{
	return profile_name_frames(profile, symbolizer,
				   1U << FRAME_KERNEL | 1U << FRAME_FILE | 1U << FRAME_TRUNCATED |
					   1U << FRAME_PYTHON,
				   until_ns);
}

bool profile_name_generated(struct profile *profile, struct symbolizer *symbolizer,
			    uint64_t until_ns)
{
	return profile_name_frames(profile, symbolizer, 1U << FRAME_ANONYMOUS, until_ns);
}

int profile_merge_stacks(struct profile *profile, bool used_frames_only, uint32_t **ret_numbers)
{
	*ret_numbers = frame_table_merge(&profile->names->frames)
			       ? rebuild(profile, &(struct cut){0}, used_frames_only)
			       : NULL;
	return *ret_numbers ? 0 : -ENOMEM;
}

static int cut_stacks(struct profile *profile, const struct profile_cut *wanted, bool joins,
		      uint32_t **ret_numbers)
{
	const struct frame_location marker = {
		.space = FRAME_TRUNCATED,
		.address = joins ? PKBPF_END_OTHERS : PKBPF_END_SHORTENED,
	};
	_cleanup_free_ bool *chosen =
		calloc(stack_table_count(profile->names->stacks) + 1, sizeof(*chosen));
	struct cut cut = {chosen, profile_intern_frame(profile, &marker), joins};

	*ret_numbers = NULL;
	if (!chosen || cut.marker == UINT32_MAX)
		return -ENOMEM;
	profile_name_frames(profile, wanted->symbolizer, 1U << FRAME_TRUNCATED, UINT64_MAX);
	if (choose_rarest(profile, &cut, wanted->bytes, wanted->awaited, chosen))
		*ret_numbers = rebuild(profile, &cut, false);
	return *ret_numbers ? 0 : -ENOMEM;
}

int profile_shorten_stacks(struct profile *profile, const struct profile_cut *cut,
			   uint32_t **ret_numbers)
{
	return cut_stacks(profile, cut, false, ret_numbers);
}

int profile_join_stacks(struct profile *profile, const struct profile_cut *cut,
			uint32_t **ret_numbers)
{
	return cut_stacks(profile, cut, true, ret_numbers);
}

uint64_t profile_cut_events(const struct profile *profile, enum pkbpf_stack_end marker)
{
	uint64_t events = 0;
	size_t count;

	array_foreach(&profile->rows, row) {
		const uint32_t *frames =
			stack_table_get(profile->names->stacks, row->stack, &count);
		const struct frame_location *leaf =
			count ? &frame_table_at(&profile->names->frames, frames[0])->location
			      : NULL;

		if (leaf && leaf->space == FRAME_TRUNCATED && leaf->address == marker)
			events += row->count;
	}
	return events;
}
