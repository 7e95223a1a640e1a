// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of stub routines, which have no frame size: they are read like a file's code without call
 * frame information.
 *
 * Code that is not reached (behind jumps through tables) gets no guessed frame pointer: the
 * register often holds the frame of an interpreted caller far up. It counts only behind the
 * instructions that set it up in the same routine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/hotspot/hotspot_rows_private.h"

#define LEAVE  0xc9
#define RETURN 0xc3

static int compare_offsets(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* The entry points within the blob, ascending without duplicates. Returns false when out of
 * memory. */
static bool find_starts(struct hotspot_rows *rows)
{
	const struct hotspot_blob *blob = rows->blob;
	size_t kept = 0;

	rows->starts.count = 0;
	for (size_t i = 0; i < rows->hints->stub_count; i++) {
		uint64_t at = rows->hints->stubs[i] - blob->code_begin;
		uint32_t *start = at < rows->size ? array_add(&rows->starts) : NULL;

		if (at >= rows->size)
			continue;
		if (!start)
			return false;
		*start = (uint32_t)at;
	}
	if (!rows->starts.count)
		return true;
	qsort(rows->starts.items, rows->starts.count, sizeof(uint32_t), compare_offsets);
	for (size_t i = 0; i < rows->starts.count; i++)
		if (!kept || rows->starts.items[kept - 1] != rows->starts.items[i])
			rows->starts.items[kept++] = rows->starts.items[i];
	rows->starts.count = kept;
	return true;
}

/* Is a frame pointer set up before `at`, and not taken down? Asked for ascending offsets, so each
 * byte is looked at once. */
static bool has_frame_pointer(struct hotspot_rows *rows, size_t at)
{
	static const uint8_t enter[2][4] = {{0x55, 0x48, 0x8b, 0xec}, {0x55, 0x48, 0x89, 0xe5}};

	while (rows->frame_known_to < at) {
		size_t end = ++rows->frame_known_to;
		const uint8_t *code;

		if (end < sizeof(enter[0]))
			continue;
		code = rows->code + end - sizeof(enter[0]);
		if (code[3] == RETURN && code[2] == LEAVE)
			rows->has_frame = false;
		else if (memcmp(code, enter[0], 4) == 0 || memcmp(code, enter[1], 4) == 0)
			rows->has_frame = true;
	}
	return rows->has_frame;
}

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct hotspot_rows *rows = context;
	struct pkbpf_unwind_rule known = *rule;

	if (rule->cfa == PKBPF_CFA_NONE)
		known = has_frame_pointer(rows, offset) ? hotspot_rule_frame_pointer()
							: hotspot_rule_unknown();
	else if (rule->cfa == PKBPF_CFA_END)
		known = hotspot_rule_unknown();
	hotspot_rows_give(rows, offset, &known);
}

int hotspot_rows_of_stubs(struct hotspot_rows *rows)
{
	const struct code_piece piece = {
		.bytes = rows->code,
		.size = rows->size,
		.entry = UINT64_MAX,
		.is_last = true,
	};

	if (!find_starts(rows))
		return -ENOMEM;
	rows->frame_known_to = 0;
	rows->has_frame = false;
	undescribed_code_set_starts(rows->undescribed, rows->starts.items, rows->starts.count);
	return undescribed_code_run(rows->undescribed, &piece, take_row, rows) ? 0 : -ENOMEM;
}
