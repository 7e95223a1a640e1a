// SPDX-License-Identifier: BSD-2-Clause
/* Reads frames with their names, and stacks as a tree of callers, which may hold anything. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "recording/slice_decoding.h"
#include "symbol/elf/symbol_folder.h"

/* Frames of one stack, inlined ones aside: more than any unwinder gives. */
#define STACK_MAX_FRAMES 4096
/* Of all stacks of a block together: shared callers take no bytes, but here they take memory. */
#define ALL_STACKS_MAX_FRAMES (16U << 20)

/* Recordings of before there was the offset have it in full. */
static uint64_t module_address(const struct recorded_frame *row)
{
	if (row->location.space != FRAME_FILE || row->module_address)
		return row->module_address;
	return row->location.address + (uint64_t)row->address_offset;
}

int slice_read_frames(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_frame *rows = NULL;
	_cleanup_free_ struct symbol_line *lines = NULL;
	size_t line_count, line = 0;
	int err = slice_read_table(work, &slice_frames, &rows, &work->frames.count);

	err = err ? err : slice_read_table(work, &slice_lines, &lines, &line_count);
	if (err)
		return err;
	work->frames.items = malloc((work->frames.count + 1) * sizeof(*work->frames.items));
	if (!work->frames.items)
		return -ENOMEM;
	for (size_t i = 0; i < work->frames.count; i++) {
		const struct recorded_frame *row = &rows[i];
		struct frame frame = {.location = row->location, .named = true};

		if (row->line_count > line_count - line)
			return -EBADMSG;
		frame.symbol = (struct symbol){
			.result = row->result,
			.flags = row->flags,
			.module = row->module,
			.build_id = row->build_id,
			.module_address = module_address(row),
			.function_address = row->function_address,
			.lines = row->line_count ? &lines[line] : NULL,
			.line_count = row->line_count,
		};
		line += row->line_count;
		if (work->choice && work->choice->symbols && row->location.space == FRAME_FILE)
			symbol_folder_name(work->choice->symbols, row->location.is_return_address,
					   &frame.symbol);
		work->frames.items[i] = profile_put_frame(work->profile, &frame);
		if (work->frames.items[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

/* Leaf first. false: what it says cannot be. */
static bool follow_callers(const struct slice_decoding *work, const struct recorded_node *nodes,
			   uint32_t node, uint32_t frames[STACK_MAX_FRAMES], size_t *ret_count)
{
	size_t count = 0;

	for (;;) {
		if (count == STACK_MAX_FRAMES || nodes[node].frame >= work->frames.count ||
		    nodes[node].caller > node)
			return false;
		frames[count++] = work->frames.items[nodes[node].frame];
		if (!nodes[node].caller)
			break;
		node -= nodes[node].caller;
	}
	*ret_count = count;
	return true;
}

int slice_read_stacks(struct slice_decoding *work)
{
	_cleanup_free_ struct recorded_node *nodes = NULL;
	_cleanup_free_ struct recorded_stack *rows = NULL;
	_cleanup_free_ uint32_t *frames = malloc(STACK_MAX_FRAMES * sizeof(*frames));
	size_t node_count, total = 0;
	int err = slice_read_table(work, &slice_nodes, &nodes, &node_count);

	err = err ? err : slice_read_table(work, &slice_stacks, &rows, &work->stacks.count);
	if (err)
		return err;
	work->stacks.items = malloc((work->stacks.count + 1) * sizeof(*work->stacks.items));
	if (!work->stacks.items || !frames)
		return -ENOMEM;
	for (size_t i = 0; i < work->stacks.count; i++) {
		size_t count = 0;

		if (rows[i].node > node_count ||
		    (rows[i].node &&
		     !follow_callers(work, nodes, rows[i].node - 1, frames, &count)))
			return -EBADMSG;
		total += count;
		if (total > ALL_STACKS_MAX_FRAMES)
			return -EBADMSG;
		work->stacks.items[i] = profile_intern_stack(work->profile, frames, count);
		if (work->stacks.items[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}
