// SPDX-License-Identifier: BSD-2-Clause
/* Finds the lines of the regions that allocations were made in. */
#include "rows/region_heap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "process/process_table.h"

/* A region among those with the same parent. */
struct place {
	const char *owner; /* comm of its process; "": any */
	uint32_t pid;	   /* 0: any */
	uint32_t parent;   /* line; REGION_ROOT */
	const char *name;
	size_t length;
};

struct index {
	const struct region_list *list;
	struct hash_index lines;
	uint64_t seed;
};

static uint64_t hash_of(const struct index *index, const struct place *place)
{
	uint64_t hash = hash_bytes(place->name, place->length, index->seed + place->parent);

	/* Below a parent the owner is known. */
	return place->parent != REGION_ROOT
		       ? hash
		       : hash_bytes(place->owner, strlen(place->owner), hash + place->pid);
}

static bool is_line(const void *context, uint32_t item, const void *key)
{
	const struct region_line *line = &((const struct region_list *)context)->lines[item];
	const struct place *place = key;

	return line->parent == place->parent && !strncmp(line->name, place->name, place->length) &&
	       !line->name[place->length] &&
	       (place->parent != REGION_ROOT ||
		(line->pid == place->pid && !strcmp(line->comm, place->owner)));
}

static bool add_lines(struct index *index)
{
	for (size_t i = 0; i < index->list->count; i++) {
		const struct region_line *line = &index->list->lines[i];
		struct place place = {line->comm, line->pid, line->parent, line->name,
				      strlen(line->name)};

		/* Of those by number nobody knows what allocates in them. */
		if (!line->by_id && !line->is_function &&
		    !hash_index_add(&index->lines, hash_of(index, &place), (uint32_t)i))
			return false;
	}
	return true;
}

static void add_to(struct region_line *line, const struct profile_row *row)
{
	if (row->kind == PKBPF_PROFILE_LIVE) {
		line->heap.live_objects += row->count;
		line->heap.live_bytes += row->weight;
	} else {
		line->heap.allocated_objects += row->count;
		line->heap.allocated_bytes += row->weight;
	}
}

/* The name of a region's frame: "[name]". NULL: it is none. */
static const char *name_of(const struct profile *profile, uint32_t number, size_t *ret_length)
{
	const struct frame *frame = profile_frame(profile, number);
	const char *text;

	if (frame->location.space != FRAME_REGION || !frame->symbol.line_count)
		return NULL;
	text = frame->symbol.lines[0].function;
	*ret_length = strlen(text);
	if (*ret_length < 2)
		return NULL;
	*ret_length -= 2;
	return text + 1;
}

/* By name, a region in one of its own name is part of that. */
static bool is_repeated(const struct profile *profile, const uint32_t *frames, size_t count,
			size_t at)
{
	size_t length, other_length;
	const char *name = name_of(profile, frames[at], &length), *other;

	for (size_t i = at + 1; name && i < count; i++) {
		other = name_of(profile, frames[i], &other_length);
		if (other && other_length == length && !memcmp(other, name, length))
			return true;
	}
	return false;
}

/* From the outermost region, whose frame is last, inwards. */
static void add_row(struct region_list *list, const struct index *index,
		    const struct profile *profile, const struct profile_row *row,
		    enum region_grouping grouping)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), row->process);
	bool by_name = grouping == REGION_BY_NAME;
	struct place place = {.owner = process && !by_name ? process->comm : "",
			      .parent = REGION_ROOT};
	size_t count;
	const uint32_t *frames = profile_stack(profile, row->stack, &count);

	if (grouping == REGION_BY_PROCESS && process && process_has_pid(process))
		place.pid = process->pid;
	for (size_t i = count; i--;) {
		uint32_t line;

		place.name = name_of(profile, frames[i], &place.length);
		if (!place.name)
			return;
		if (by_name && is_repeated(profile, frames, count, i))
			continue;
		line = hash_index_find(&index->lines, hash_of(index, &place), is_line, list,
				       &place);
		/* Left after the interval, or of a process that is listed as another one. */
		if (line == HASH_INDEX_NONE && !by_name)
			return;
		if (line != HASH_INDEX_NONE)
			add_to(&list->lines[line], row);
		if (!by_name)
			place.parent = line;
	}
}

int region_heap_add(struct region_list *list, const struct profile *profile,
		    enum region_grouping grouping)
{
	struct index index = {.list = list, .seed = hash_random_seed()};
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		if (rows[i].kind != PKBPF_PROFILE_ALLOC && rows[i].kind != PKBPF_PROFILE_LIVE)
			continue;
		if (!index.lines.count && !add_lines(&index))
			err = -ENOMEM;
		else
			add_row(list, &index, profile, &rows[i], grouping);
	}
	hash_index_done(&index.lines);
	return err;
}
