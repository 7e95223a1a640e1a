// SPDX-License-Identifier: BSD-2-Clause
/* Collects parts, and joins slices. */
#include "profile/slice/time_line.h"

#include <stdlib.h>

void time_line_done(struct time_line *line)
{
	array_free(&line->slices);
	array_free(&line->parts);
	*line = (struct time_line){0};
}

static void give_up(struct time_line *line)
{
	time_line_done(line);
	line->failed = true;
}

static int compare_parts(const void *left, const void *right)
{
	const struct time_part *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Adds up parts of one row and slice; levels that did not change have none. */
static void add_up(struct time_line *line)
{
	size_t kept = 0;

	if (line->parts.count)
		qsort(line->parts.items, line->parts.count, sizeof(*line->parts.items),
		      compare_parts);
	array_foreach(&line->parts, part) {
		struct time_part *last = kept ? &line->parts.items[kept - 1] : NULL;

		if (last && last->row == part->row && last->slice == part->slice)
			last->weight += part->weight;
		else if (last && !last->weight)
			*last = *part;
		else
			line->parts.items[kept++] = *part;
	}
	if (kept && !line->parts.items[kept - 1].weight)
		kept--;
	line->parts.count = kept;
}

void time_line_renumber(struct time_line *line, const uint32_t *numbers)
{
	array_foreach(&line->parts, part)
		part->row = numbers[part->row];
	add_up(line);
}

static void join_by_twos(struct time_line *line)
{
	size_t count = line->slices.count;

	for (size_t i = 0; i < count; i++) {
		struct time_slice *into = &line->slices.items[i / 2];

		if (i % 2)
			into->end_ns = line->slices.items[i].end_ns;
		else
			*into = line->slices.items[i];
	}
	/* A last one without a second takes in what comes. */
	line->joined += count % 2 ? 0 : line->per_slice;
	line->per_slice *= 2;
	line->slices.count = (count + 1) / 2;
	array_foreach(&line->parts, part)
		part->slice /= 2;
	add_up(line);
}

void time_line_begin(struct time_line *line, uint64_t start_ns, uint64_t end_ns)
{
	struct time_slice *slice;

	if (line->failed)
		return;
	if (!line->per_slice)
		line->joined = line->per_slice = 1;
	if (line->slices.count == TIME_LINE_SLICES_MAX && line->joined == line->per_slice)
		join_by_twos(line);
	if (line->slices.count && line->joined < line->per_slice) {
		line->joined++;
		line->slices.items[line->slices.count - 1].end_ns = end_ns;
		return;
	}
	slice = array_add(&line->slices);
	if (!slice) {
		give_up(line);
		return;
	}
	*slice = (struct time_slice){start_ns, end_ns};
	line->joined = 1;
}

/* Joined slices have fewer parts as long as rows go on from one to the next. */
static bool make_room(struct time_line *line)
{
	if (line->parts.count < TIME_LINE_PARTS_MAX)
		return true;
	add_up(line);
	while (line->parts.count > TIME_LINE_PARTS_MAX / 4 * 3 && line->slices.count > 2)
		join_by_twos(line);
	return line->parts.count <= TIME_LINE_PARTS_MAX / 4 * 3;
}

void time_line_add(struct time_line *line, uint32_t row, int64_t weight)
{
	struct time_part *part;

	if (line->failed || !line->slices.count || !weight)
		return;
	part = make_room(line) ? array_add(&line->parts) : NULL;
	if (part)
		*part = (struct time_part){row, (uint32_t)line->slices.count - 1, weight};
	else
		give_up(line);
}
