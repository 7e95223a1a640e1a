// SPDX-License-Identifier: BSD-2-Clause
#include "mcp/mcp_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows/plumbing.h"

/* Longer names were cut where the stacks were written. */
#define FRAME_MAX (4096 + 512)

/* ---- reading ---- */

static const struct {
	const char *suffix, *word;
	enum function_mark mark;
} marks[] = {
	{"_[k]", " [kernel]", FUNCTION_KERNEL}, {"_[i]", " [inlined]", FUNCTION_INLINED},
	{"_[j]", " [jit]", FUNCTION_JIT},	{"_[p]", " [python]", FUNCTION_PYTHON},
	{"_[w]", " [waker]", FUNCTION_KERNEL},
};

/* Remembers of a new name whether it is a place. */
static bool note_sort(struct mcp_stacks *stacks, uint32_t id, const char *name,
		      enum function_mark mark)
{
	struct function function = {.name = name, .mark = mark, .named = name[0] != '['};
	bool *is_inside;

	if (id < stacks->is_inside.count)
		return true;
	while (stacks->is_inside.count <= id) {
		is_inside = array_add(&stacks->is_inside);
		if (!is_inside)
			return false;
	}
	stacks->is_inside.items[id] = plumbing_sort(&function) == FRAME_INSIDE;
	return true;
}

/* STRING_POOL_NONE: out of memory. */
static uint32_t add_name(struct mcp_stacks *stacks, char *frame)
{
	size_t length = strlen(frame);
	enum function_mark mark = FUNCTION_PLAIN;
	const char *word = "";
	char name[FRAME_MAX];
	uint32_t id;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (length <= 4 || strcmp(frame + length - 4, marks[i].suffix) != 0)
			continue;
		frame[length - 4] = '\0';
		word = marks[i].word;
		mark = marks[i].mark;
		break;
	}
	snprintf(name, sizeof(name), "%s%s", frame, word);
	id = string_pool_add(stacks->names, name);
	if (id == STRING_POOL_NONE || !note_sort(stacks, id, frame, mark))
		return STRING_POOL_NONE;
	return id;
}

static int read_frames(struct mcp_stacks *stacks, char *line, bool places_alone)
{
	uint32_t first = (uint32_t)stacks->frames.count, id, *slot;
	char *frame;

	strsep(&line, ";"); /* the program */
	while ((frame = strsep(&line, ";"))) {
		id = add_name(stacks, frame);
		if (id == STRING_POOL_NONE)
			return -ENOMEM;
		/* The outermost one stays: each stack has a frame. */
		if (places_alone && stacks->frames.count > first && stacks->is_inside.items[id])
			continue;
		slot = array_add(&stacks->frames);
		if (!slot)
			return -ENOMEM;
		*slot = id;
	}
	return 0;
}

static int read_line(struct mcp_stacks *stacks, char *line, bool places_alone)
{
	char *number = strrchr(line, ' '), *end;
	struct mcp_stack *stack;
	int err;

	if (!number)
		return -EBADMSG;
	*number++ = '\0';
	stack = array_add(&stacks->stacks);
	if (!stack)
		return -ENOMEM;
	errno = 0;
	stack->weight = strtoull(number, &end, 10);
	if (*end || end == number || errno || *number == '-')
		return -EBADMSG;
	stack->first = (uint32_t)stacks->frames.count;
	err = read_frames(stacks, line, places_alone);
	stack->count = (uint32_t)stacks->frames.count - stack->first;
	stacks->weight += stack->weight;
	return err;
}

int mcp_stacks_read(char *text, bool places_alone, struct mcp_stacks *ret_stacks)
{
	char *line;
	int err = 0;

	*ret_stacks = (struct mcp_stacks){.names = string_pool_new()};
	if (!ret_stacks->names)
		return -ENOMEM;
	while (err == 0 && text && (line = strsep(&text, "\n")))
		err = *line ? read_line(ret_stacks, line, places_alone) : 0;
	if (err < 0)
		mcp_stacks_done(ret_stacks);
	return err;
}

void mcp_stacks_done(struct mcp_stacks *stacks)
{
	string_pool_free(stacks->names);
	array_free(&stacks->frames);
	array_free(&stacks->is_inside);
	array_free(&stacks->stacks);
	stacks->names = NULL;
}

/* ---- weights ---- */

static struct mcp_weight *get(struct mcp_weights *weights, uint32_t name)
{
	struct mcp_weight *item;
	bool added = false;
	uint64_t *index = hash_map_get(&weights->by_name, name, weights->items.count, &added);

	if (!index)
		return NULL;
	if (!added)
		return &weights->items.items[*index];
	item = array_add(&weights->items);
	if (item)
		item->name = name;
	else
		hash_map_remove(&weights->by_name, name);
	return item;
}

static int add_total(struct mcp_weights *weights, uint32_t name, uint64_t weight)
{
	struct mcp_weight *item = get(weights, name);

	if (!item)
		return -ENOMEM;
	item->total += weight;
	return 0;
}

static int compare_self(const void *a, const void *b)
{
	const struct mcp_weight *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

static int compare_total(const void *a, const void *b)
{
	const struct mcp_weight *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return compare_self(a, b);
}

static void sort(struct mcp_weights *weights, bool by_total)
{
	if (weights->items.count)
		qsort(weights->items.items, weights->items.count, sizeof(*weights->items.items),
		      by_total ? compare_total : compare_self);
	/* Items have moved. */
	hash_map_done(&weights->by_name);
	weights->by_name = (struct hash_map){0};
}

static int weigh(const struct mcp_stacks *stacks, struct mcp_weights *weights)
{
	for (uint32_t i = 0; i < stacks->stacks.count; i++) {
		const struct mcp_stack *stack = &stacks->stacks.items[i];

		for (uint32_t j = 0; j < stack->count; j++) {
			struct mcp_weight *item =
				get(weights, stacks->frames.items[stack->first + j]);

			if (!item)
				return -ENOMEM;
			if (item->seen != i + 1)
				item->total += stack->weight;
			item->seen = i + 1;
			if (j + 1 == stack->count)
				item->self += stack->weight;
		}
	}
	return 0;
}

int mcp_stacks_weigh(const struct mcp_stacks *stacks, bool by_total,
		     struct mcp_weights *ret_weights)
{
	int err;

	*ret_weights = (struct mcp_weights){0};
	err = weigh(stacks, ret_weights);
	if (err < 0)
		mcp_weights_done(ret_weights);
	else
		sort(ret_weights, by_total);
	return err;
}

/* Is the name this one, without the word behind it and the file of a Python function? */
static bool is_named(const char *full, const char *name)
{
	size_t length = strlen(name);

	return strncmp(full, name, length) == 0 &&
	       (!full[length] || strncmp(full + length, " [", 2) == 0 ||
		strncmp(full + length, " (", 2) == 0);
}

static void keep_named(const struct mcp_stacks *stacks, const char *name,
		       struct mcp_weights *weights)
{
	size_t exact = 0, kept = 0;

	array_foreach(&weights->items, each)
		exact += is_named(string_pool_get(stacks->names, each->name), name);
	array_foreach(&weights->items, item) {
		const char *full = string_pool_get(stacks->names, item->name);

		if (exact ? is_named(full, name) : strcasestr(full, name) != NULL)
			weights->items.items[kept++] = *item;
	}
	weights->items.count = kept;
}

int mcp_stacks_find(const struct mcp_stacks *stacks, const char *name,
		    struct mcp_weights *ret_weights)
{
	int err = mcp_stacks_weigh(stacks, true, ret_weights);

	if (err == 0)
		keep_named(stacks, name, ret_weights);
	return err;
}

static int add_around(const struct mcp_stacks *stacks, const struct mcp_stack *stack, uint32_t name,
		      struct mcp_around *around)
{
	const uint32_t *frames = stacks->frames.items + stack->first;
	uint32_t first = stack->count, last = 0;
	int err;

	for (uint32_t i = 0; i < stack->count; i++) {
		if (frames[i] != name)
			continue;
		if (first == stack->count)
			first = i;
		last = i;
	}
	if (first == stack->count)
		return 0;
	around->total += stack->weight;
	err = first ? add_total(&around->callers, frames[first - 1], stack->weight) : 0;
	if (err == 0 && last + 1 < stack->count)
		err = add_total(&around->callees, frames[last + 1], stack->weight);
	else
		around->self += stack->weight;
	return err < 0 ? err : add_total(&around->leaves, frames[stack->count - 1], stack->weight);
}

int mcp_stacks_around(const struct mcp_stacks *stacks, uint32_t name, struct mcp_around *ret_around)
{
	int err = 0;

	*ret_around = (struct mcp_around){0};
	for (size_t i = 0; err == 0 && i < stacks->stacks.count; i++)
		err = add_around(stacks, &stacks->stacks.items[i], name, ret_around);
	if (err < 0) {
		mcp_around_done(ret_around);
		return err;
	}
	sort(&ret_around->callers, true);
	sort(&ret_around->callees, true);
	sort(&ret_around->leaves, true);
	return 0;
}

void mcp_around_done(struct mcp_around *around)
{
	mcp_weights_done(&around->callers);
	mcp_weights_done(&around->callees);
	mcp_weights_done(&around->leaves);
}

void mcp_weights_done(struct mcp_weights *weights)
{
	array_free(&weights->items);
	hash_map_done(&weights->by_name);
	weights->by_name = (struct hash_map){0};
}
