// SPDX-License-Identifier: BSD-2-Clause
/* Fills the tables of a track. */
#include "export/timeline/firefox_track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kind_table.h"

struct firefox_track *firefox_track_new(uint32_t pid, enum pkbpf_profile_kind kind)
{
	struct firefox_track *track = calloc(1, sizeof(*track));

	if (!track)
		return NULL;
	track->pid = pid;
	track->kind = kind;
	track->strings = string_pool_new();
	if (track->strings)
		return track;
	firefox_track_free(track);
	return NULL;
}

void firefox_track_free(struct firefox_track *track)
{
	if (!track)
		return;
	string_pool_free(track->strings);
	hash_map_done(&track->function_of);
	array_free(&track->functions);
	firefox_nodes_done(&track->nodes);
	array_free(&track->samples);
	array_free(&track->requests);
	array_free(&track->waits);
	free(track);
}

static enum firefox_category category_of(enum function_mark mark)
{
	switch (mark) {
	case FUNCTION_KERNEL:
		return FIREFOX_KERNEL;
	case FUNCTION_JIT:
		return FIREFOX_JIT;
	case FUNCTION_PYTHON:
		return FIREFOX_PYTHON;
	case FUNCTION_TRUNCATED:
		return FIREFOX_OTHER;
	default:
		return FIREFOX_USER;
	}
}

/* Its place, or UINT32_MAX. Functions are told apart by all that is shown of them. */
static uint32_t function_there(struct firefox_track *track, const struct function *from)
{
	struct firefox_function function = {
		.name = string_pool_add(track->strings, from->name),
		.file = string_pool_add(track->strings, from->file[0] ? from->file : from->path),
		.module = string_pool_add(track->strings, from->module),
		.line = from->line,
		.category = category_of(from->mark),
		.inlined = from->mark == FUNCTION_INLINED,
	};
	const uint32_t parts[] = {function.name, function.file,	    function.module,
				  function.line, function.category, function.inlined};
	uint64_t key = hash_bytes(parts, sizeof(parts), 0);
	struct firefox_function *slot;
	uint64_t *known;
	bool added;

	if (function.name == STRING_POOL_NONE || function.file == STRING_POOL_NONE ||
	    function.module == STRING_POOL_NONE)
		return UINT32_MAX;
	known = hash_map_get(&track->function_of, key, track->functions.count, &added);
	if (!known)
		return UINT32_MAX;
	if (!added)
		return (uint32_t)*known;
	slot = array_add(&track->functions);
	if (!slot)
		return UINT32_MAX;
	*slot = function;
	return (uint32_t)*known;
}

/* ---- stacks ---- */

int firefox_memo_begin(struct firefox_memo *memo, const struct timeline_slice *slice)
{
	size_t count = function_table_count(slice->functions);

	if (count > memo->answer_count) {
		struct firefox_answer *answers = calloc(count, sizeof(*answers));

		if (!answers)
			return -ENOMEM;
		free(memo->answers);
		memo->answers = answers;
		memo->answer_count = count;
		memo->number = 0;
	}
	memo->track = NULL;
	return 0;
}

void firefox_memo_done(struct firefox_memo *memo)
{
	free(memo->answers);
	memo->answers = NULL;
	memo->answer_count = 0;
	array_free(&memo->path);
}

static void memo_follow(struct firefox_memo *memo, const struct firefox_track *track)
{
	if (memo->track == track)
		return;
	memo->track = track;
	memo->path.count = 0;
	if (++memo->number)
		return;
	/* Numbers begin again. */
	memset(memo->answers, 0, memo->answer_count * sizeof(*memo->answers));
	memo->number = 1;
}

/* The place of a function of the slice, or UINT32_MAX. */
static uint32_t function_of_slice(struct firefox_track *track, const struct timeline_slice *slice,
				  struct firefox_memo *memo, uint32_t number)
{
	struct firefox_answer *answer = number < memo->answer_count ? &memo->answers[number] : NULL;
	uint32_t function;

	if (answer && answer->number == memo->number)
		return answer->function;
	function = function_there(track, function_table_get(slice->functions, number));
	if (answer && function != UINT32_MAX)
		*answer = (struct firefox_answer){memo->number, function};
	return function;
}

uint32_t firefox_track_stack(struct firefox_track *track, const struct timeline_slice *slice,
			     const struct timeline_stack *stack, struct firefox_memo *memo)
{
	const uint32_t *path = timeline_path(slice, stack);
	size_t same = 0;
	uint32_t node;

	memo_follow(memo, track);
	while (same < memo->path.count && same < stack->depth &&
	       memo->path.items[same].function == path[same])
		same++;
	memo->path.count = same;
	node = same ? memo->path.items[same - 1].node : 0;
	for (size_t i = same; i < stack->depth; i++) {
		uint32_t function = function_of_slice(track, slice, memo, path[i]);
		struct firefox_step *step = array_add(&memo->path);

		node = function == UINT32_MAX ? 0
					      : firefox_nodes_get(&track->nodes, function, node);
		if (!node || !step) {
			memo->path.count = i;
			return UINT32_MAX;
		}
		*step = (struct firefox_step){path[i], node};
	}
	return node;
}

/* Firefox leaves samples without a stack out of its sums. */
static uint32_t no_stack(struct firefox_track *track)
{
	const struct function none = {.name = "[no stack]",
				      .file = "",
				      .path = "",
				      .module = "",
				      .mark = FUNCTION_TRUNCATED};
	uint32_t function = function_there(track, &none);
	uint32_t node = function == UINT32_MAX ? 0 : firefox_nodes_get(&track->nodes, function, 0);

	return node ? node : UINT32_MAX;
}

int firefox_track_add(struct firefox_track *track, const struct timeline_slice *slice,
		      const struct timeline_stack *stack, struct firefox_memo *memo, double time_ms)
{
	struct firefox_sample *sample;
	double weight_ns = 0;
	uint32_t node = firefox_track_stack(track, slice, stack, memo);

	if (!node)
		node = no_stack(track);
	if (node == UINT32_MAX)
		return -ENOMEM;
	if (kind_ops_of(track->kind)->is_expected)
		weight_ns = timeline_weight_ns(slice, track->kind, 1);
	if (!track->weight_ns)
		track->weight_ns = weight_ns;
	sample = array_add(&track->samples);
	if (!sample)
		return -ENOMEM;
	*sample = (struct firefox_sample){time_ms, stack->weight, node};
	/* Slices that were sampled at another rate. */
	if (weight_ns > 0 && weight_ns != track->weight_ns)
		sample->weight =
			(uint64_t)((double)stack->weight * weight_ns / track->weight_ns + 0.5);
	return 0;
}

int firefox_track_add_request(struct firefox_track *track, const struct firefox_request *request)
{
	uint32_t device = string_pool_add(track->strings, request->device);
	struct firefox_request *slot = array_add(&track->requests);

	if (!slot || device == STRING_POOL_NONE)
		return -ENOMEM;
	*slot = *request;
	slot->device = string_pool_get(track->strings, device);
	return 0;
}

int firefox_track_add_wait(struct firefox_track *track, const struct firefox_wait *wait)
{
	struct firefox_wait *slot = array_add(&track->waits);

	if (!slot)
		return -ENOMEM;
	*slot = *wait;
	return 0;
}

static int compare_samples(const void *left, const void *right)
{
	const struct firefox_sample *a = left, *b = right;

	if (a->time_ms != b->time_ms)
		return a->time_ms < b->time_ms ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

void firefox_track_sort(struct firefox_track *track)
{
	if (track->samples.count)
		qsort(track->samples.items, track->samples.count, sizeof(*track->samples.items),
		      compare_samples);
}

int firefox_track_compare(const struct firefox_track *a, const struct firefox_track *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->born_ns != b->born_ns)
		return a->born_ns < b->born_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}
