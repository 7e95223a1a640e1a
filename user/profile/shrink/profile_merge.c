// SPDX-License-Identifier: BSD-2-Clause
// Makes stacks one that read the same, and the rarest ones shorter, and leaves frames out that none
// has any more.
#include "profile/shrink/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/profile_private.h"

/* Shorter ones are left as they are as long as there are others. */
#define LONG_FRAMES 4
/* Fewer frames than this are not worth leaving out. */
#define MIN_LEFT_OUT 1024

struct rewriting {
	const struct stack_table *old;
	struct stack_table *new;
	const bool *chosen; /* by stack: those to shorten; NULL: none */
	uint32_t marker;    /* the frame that says so */
	bool used_only;	    /* no frame without a stack is left, little as that may save */
	/* by frame, side by side since stacks have many: of the one that stands for it */
	uint32_t *numbers;
	uint32_t *frames; /* room for the longest stack */
};

/* What a stack keeps: frames from here to the root, below the marker when it is shortened. */
static const uint32_t *kept_part(const struct rewriting *work, uint32_t old, size_t *ret_count,
				 bool *ret_marked)
{
	const uint32_t *frames = stack_table_get(work->old, old, ret_count);
	size_t count = *ret_count;

	*ret_marked = work->chosen && work->chosen[old];
	if (!*ret_marked)
		return frames;
	/* A marker that is there already does not count. */
	*ret_count = (count - (count && frames[0] == work->marker)) / 2;
	return frames + count - *ret_count;
}

/* The new stack for an old one. */
static uint32_t rewrite(const struct rewriting *work, uint32_t old)
{
	size_t count, to = 0;
	bool marked;
	const uint32_t *from = kept_part(work, old, &count, &marked);

	if (marked)
		work->frames[to++] = work->numbers[work->marker];
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

/* New numbers for the frames that new stacks have, FRAME_TABLE_NONE for the others. How many have
 * one. */
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
			ret_numbers[work->numbers[work->marker]] = 0;
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
	return unused >= MIN_LEFT_OUT && (work->chosen || unused * FRAME_TABLE_ITEM_BYTES >=
								  profile_stack_bytes(profile) / 4);
}

/*
 * Leaves frames out that no stack has any more: those that others stand for, and what was cut off.
 * A place that comes again has to be named again then, so they stay as long as they take less than
 * a quarter of the memory and no stack has to become shorter for them. *ret_frames is what is left,
 * work->numbers its numbers; an empty table: all stay, and so do numbers. false: no memory.
 */
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

/* All stacks again, by what now stands for their frames. The new numbers; NULL: no memory, and all
 * is as it was. */
static uint32_t *rebuild(struct profile *profile, const bool *chosen, uint32_t marker,
			 bool used_only)
{
	size_t count = stack_table_count(profile->names->stacks),
	       frame_count = frame_table_count(&profile->names->frames);
	_cleanup_free_ uint32_t *frames = malloc((longest_stack(profile) + 1) * sizeof(*frames));
	_cleanup_free_ uint32_t *numbers = malloc((frame_count + 1) * sizeof(*numbers));
	_cleanup_free_ uint32_t *to = malloc((count + 1) * sizeof(*to));
	struct stack_table *stacks = stack_table_new();
	const struct rewriting work = {
		profile->names->stacks, stacks, chosen, marker, used_only, numbers, frames};
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
	slow_io_list_renumber(profile->slow_io, to);
	relation_list_renumber(profile->relations, to, count);
	stack_table_free(profile->names->stacks);
	profile->names->stacks = stacks;
	if (frame_table_count(&left)) {
		frame_table_done(&profile->names->frames);
		profile->names->frames = left;
	}
	return take_pointer(to);
}

/* What a stack means to the profile: the sum of its shares in the weight of each kind. */
struct ranked_stack {
	double share;
	uint32_t stack;
	bool is_short; /* little is saved, much is lost: later */
	/* it may mean anything yet, as that of a wait that has lasted from the start: last */
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

/* The frame that says so. */
static const struct frame_location shortened = {.space = FRAME_TRUNCATED,
						.address = PKBPF_END_SHORTENED};

/* How many stacks have each frame, as often as they have it. */
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

/* What shortening saves, stack by stack: to save more than is needed costs more and more of what is
 * not rare at all. */
struct savings {
	const struct profile *profile;
	uint32_t *uses;
	/* hashes of what shortened stacks are then: most become like others */
	struct hash_map kept;
	uint32_t *frames; /* room for the longest stack */
	size_t bytes;
};

/* false: no memory, or there is such a stack already. */
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

/* Frames that no stack has are left out on the way, and of stacks that are short already more need
 * not be kept. */
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

/* A stack without its marker, of which the first frames are dropped. */
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

/* The rarest, the short ones last, until they save so many bytes; false: no memory. */
static bool choose_rarest(const struct profile *profile, uint32_t marker, size_t bytes,
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

		depth -= depth && frames[0] == marker;
		ranked[i].is_short = depth < LONG_FRAMES;
		ranked[i].is_open = awaited && awaited[i] && ranked[i].share <= 0;
		if (depth)
			ranked[candidates++] = ranked[i];
	}
	qsort(ranked, candidates, sizeof(*ranked), compare_shares);
	begin_savings(&savings, marker);
	for (size_t i = 0; i < candidates && savings.bytes < bytes; i++) {
		const uint32_t *frames =
			stack_table_get(profile->names->stacks, ranked[i].stack, &depth);
		bool marked = frames[0] == marker;

		chosen[ranked[i].stack] = true;
		save(&savings, frames + marked, depth - marked, (depth - marked + 1) / 2);
	}
	hash_map_done(&savings.kept);
	return true;
}

bool profile_name_places(struct profile *profile, struct symbolizer *symbolizer, uint64_t until_ns)
{
	return profile_name_frames(profile, symbolizer,
				   1U << FRAME_KERNEL | 1U << FRAME_FILE | 1U << FRAME_TRUNCATED,
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
			       ? rebuild(profile, NULL, 0, used_frames_only)
			       : NULL;
	return *ret_numbers ? 0 : -ENOMEM;
}

int profile_shorten_stacks(struct profile *profile, struct symbolizer *symbolizer, size_t bytes,
			   const bool *awaited, uint32_t **ret_numbers)
{
	_cleanup_free_ bool *chosen =
		calloc(stack_table_count(profile->names->stacks) + 1, sizeof(*chosen));
	uint32_t marker = profile_intern_frame(profile, &shortened);

	*ret_numbers = NULL;
	if (!chosen || marker == UINT32_MAX)
		return -ENOMEM;
	profile_name_frames(profile, symbolizer, 1U << FRAME_TRUNCATED, UINT64_MAX);
	if (choose_rarest(profile, marker, bytes, awaited, chosen))
		*ret_numbers = rebuild(profile, chosen, marker, false);
	return *ret_numbers ? 0 : -ENOMEM;
}

uint64_t profile_shortened_events(const struct profile *profile)
{
	uint64_t events = 0;
	size_t count;

	array_foreach(&profile->rows, row) {
		const uint32_t *frames =
			stack_table_get(profile->names->stacks, row->stack, &count);
		const struct frame_location *leaf =
			count ? &frame_table_at(&profile->names->frames, frames[0])->location
			      : NULL;

		if (leaf && leaf->space == shortened.space && leaf->address == shortened.address)
			events += row->count;
	}
	return events;
}
