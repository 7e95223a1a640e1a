// SPDX-License-Identifier: BSD-2-Clause
/* Writes frames with their names, and stacks as a tree of callers. */
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "recording/slice_encoding.h"

/* Where an instruction is in the memory of the kernel or of a process is nobody's business. */
static struct frame_location location_to_write(const struct frame_location *location)
{
	struct frame_location written = {.space = location->space};

	if (location->space == FRAME_FILE)
		return *location;
	if (location->space == FRAME_TRUNCATED)
		written.address = location->address;
	return written;
}

/* Two addresses stay two. */
static uint64_t address_to_write(const struct slice_encoding *work, const struct frame *frame)
{
	uint64_t address = frame->symbol.module_address;

	if (!address)
		return 0;
	return (uint32_t)hash_bytes(&address, sizeof(address), work->secret) | 1;
}

void slice_write_frames(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_frames};
	struct slice_rows lines = {.table = &slice_lines};

	for (size_t i = 0; i < work->frame_count; i++) {
		const struct frame *frame = profile_frame(work->profile, (uint32_t)i);
		const struct symbol *symbol = &frame->symbol;
		struct recorded_frame *row = work->frames[i] ? slice_rows_add(work, &rows) : NULL;
		bool is_in_file = frame->location.space == FRAME_FILE;

		if (!row)
			continue;
		*row = (struct recorded_frame){
			.location = location_to_write(&frame->location),
			.result = symbol->result,
			.flags = symbol->flags,
			.module = symbol->module,
			.build_id = symbol->build_id,
			.module_address = is_in_file ? 0 : address_to_write(work, frame),
			/* The same for most, in a byte. */
			.address_offset = is_in_file ? (int64_t)(symbol->module_address -
								 frame->location.address)
						     : 0,
			.function_address = is_in_file ? symbol->function_address : 0,
			.line_count = (uint32_t)symbol->line_count,
		};
		for (size_t j = 0; j < symbol->line_count; j++) {
			struct symbol_line *line = slice_rows_add(work, &lines);

			if (line)
				*line = symbol->lines[j];
		}
	}
	slice_rows_write(work, &rows);
	slice_rows_write(work, &lines);
}

/* From the root to the leaf: what was there already is shared. 1 + the leaf's place. */
static uint32_t add_nodes(struct slice_encoding *work, struct hash_map *places,
			  const uint32_t *frames, size_t count, struct slice_rows *nodes)
{
	uint32_t node = 0; /* 1 + place */

	while (count-- > 0 && !work->failed) {
		uint32_t frame = slice_place(work->frames, work->frame_count, frames[count]);
		uint64_t key = (uint64_t)node << 32 | frame, *known;
		struct recorded_node *row;
		bool added;

		known = hash_map_get(places, key, nodes->count, &added);
		row = known && added ? slice_rows_add(work, nodes) : NULL;
		if (row)
			*row = (struct recorded_node){
				.caller = node ? (uint32_t)(*known + 1 - node) : 0,
				.frame = frame - 1,
			};
		work->failed = work->failed || !known;
		node = known ? (uint32_t)*known + 1 : 0;
	}
	return node;
}

void slice_write_stacks(struct slice_encoding *work)
{
	struct slice_rows rows = {.table = &slice_stacks};
	struct slice_rows nodes = {.table = &slice_nodes};
	_cleanup_(hash_map_done) struct hash_map places = {0};

	for (size_t i = 0; i < work->stack_count; i++) {
		struct recorded_stack *row = work->stacks[i] ? slice_rows_add(work, &rows) : NULL;
		size_t count;
		const uint32_t *frames = profile_stack(work->profile, (uint32_t)i, &count);

		if (row)
			row->node = add_nodes(work, &places, frames, count, &nodes);
	}
	slice_rows_write(work, &nodes);
	slice_rows_write(work, &rows);
}
