// SPDX-License-Identifier: BSD-2-Clause
/* Reads Code objects: src/objects/code.h, deoptimization-data.h. */
#include "v8/v8_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "v8/v8_function.h"

#define SEARCH_BYTES	(512U << 10)
#define BLOCK_BYTES	4096U
#define MAX_CODE_BYTES	(64U << 20)
#define MAX_TABLE_BYTES (4U << 20)
/* In the header before instructions, the reference to the Code. */
#define HEADER_CODE 8
/* Start, size and flags are in them, in all layouts. */
#define HEAD_BYTES 64
/* Kinds of code: the lower four bits of its flags. */
#define KIND(flags) ((flags)&15)
/* A function's data: its bytecode, or its baseline code. */
#define SHARED_DATA	8
#define BYTECODE_LENGTH 8
#define MAX_BYTECODES	(1U << 20)
#define INLINING_BYTES	16
#define WRAPPED_SHARED	8

static int read_u32(const struct v8_memory *memory, uint64_t object, size_t offset,
		    uint32_t *ret_value)
{
	return v8_read_bytes(memory, object, offset, ret_value, sizeof(*ret_value));
}

static void take_kind(const struct v8_layout *layout, uint32_t flags, struct v8_code *code)
{
	code->is_baseline = KIND(flags) == layout->baseline_kind;
	code->is_optimized = KIND(flags) > layout->baseline_kind;
}

static int read_code(const struct v8_memory *memory, const struct v8_layout *layout,
		     uint64_t object, struct v8_code *ret_code)
{
	uint16_t type;
	uint32_t flags;
	int err = v8_read_type(memory, object, &type);

	*ret_code = (struct v8_code){.object = object, .start = object - 1 + layout->inline_start};
	if (err || type != layout->code_type)
		return -ENOENT;
	if (layout->code_start)
		err = v8_read_word(memory, object, layout->code_start, &ret_code->start);
	if (!err)
		err = read_u32(memory, object, layout->code_size, &ret_code->size);
	if (!err)
		err = read_u32(memory, object, layout->code_flags, &flags);
	if (err || ret_code->size > MAX_CODE_BYTES)
		return -ENOENT;
	take_kind(layout, flags, ret_code);
	return 0;
}

/* Looks whether a word at an address is part of the header of the code that pc is in. */
static bool is_header(const struct v8_memory *memory, const struct v8_layout *layout,
		      uint64_t address, uint64_t word, uint64_t pc, struct v8_code *ret_code)
{
	uint64_t start = layout->code_start ? address - HEADER_CODE + layout->header
					    : address + layout->inline_start;

	if (!v8_is_object(word) || word < BLOCK_BYTES)
		return false;
	return !read_code(memory, layout, layout->code_start ? word : address + 1, ret_code) &&
	       ret_code->start == start && pc >= start && pc - start < ret_code->size;
}

int v8_code_find(const struct v8_memory *memory, const struct v8_layout *layout, uint64_t pc,
		 struct v8_code *ret_code)
{
	uint64_t words[BLOCK_BYTES / 8];
	uint64_t block = pc & ~(uint64_t)(BLOCK_BYTES - 1);

	for (uint32_t done = 0; done < SEARCH_BYTES; done += BLOCK_BYTES, block -= BLOCK_BYTES) {
		if (v8_read(memory, block, words, sizeof(words)))
			return -ENOENT;
		for (size_t i = BLOCK_BYTES / 8; i > 0; i--)
			if (block + (i - 1) * 8 < pc &&
			    is_header(memory, layout, block + (i - 1) * 8, words[i - 1], pc,
				      ret_code))
				return 0;
	}
	return -ENOENT;
}

bool v8_code_is_there(const struct v8_memory *memory, const struct v8_layout *layout,
		      const struct v8_code *code)
{
	struct v8_code now = {.start = code->start};
	uint8_t head[HEAD_BYTES];
	uint64_t owner;
	uint32_t flags;

	if (layout->code_start &&
	    (v8_read(memory, code->start - layout->header + HEADER_CODE, &owner, sizeof(owner)) ||
	     owner != code->object))
		return false;
	if (v8_read_bytes(memory, code->object, 0, head, sizeof(head)))
		return false;
	if (layout->code_start)
		memcpy(&now.start, head + layout->code_start, sizeof(now.start));
	memcpy(&now.size, head + layout->code_size, sizeof(now.size));
	memcpy(&flags, head + layout->code_flags, sizeof(flags));
	take_kind(layout, flags, &now);
	return now.start == code->start && now.size == code->size &&
	       now.is_baseline == code->is_baseline && now.is_optimized == code->is_optimized;
}

/* A function in the deoptimisation data, or in its literals. */
static int take_shared(const struct v8_memory *memory, const struct v8_layout *layout,
		       uint64_t value, uint64_t *ret_shared)
{
	uint16_t type;
	int err = 0;

	value = v8_strong(value);
	if (layout->wraps_shared && !v8_read_type(memory, value, &type) &&
	    type != layout->kernel.shared_type)
		err = v8_read_word(memory, value, WRAPPED_SHARED, &value);
	*ret_shared = value;
	return err;
}

static int read_deopt(const struct v8_memory *memory, const struct v8_layout *layout,
		      const struct v8_code *code, uint32_t index, uint64_t *ret_value)
{
	uint64_t data;
	int err = v8_read_word(memory, code->object, layout->code_deopt, &data);

	return err ? err : v8_read_element(memory, data, index, ret_value);
}

int v8_code_function(const struct v8_memory *memory, const struct v8_layout *layout,
		     const struct v8_code *code, uint64_t *ret_shared)
{
	uint64_t value;
	int err = read_deopt(memory, layout, code, layout->deopt_shared, &value);

	return err ? err : take_shared(memory, layout, value, ret_shared);
}

bool v8_code_is_baseline_of(const struct v8_memory *memory, const struct v8_code *code,
			    uint64_t shared)
{
	uint64_t data;

	return code->is_baseline && !v8_read_word(memory, shared, SHARED_DATA, &data) &&
	       data == code->object;
}

/* ---- tables ---- */

struct bytes {
	uint8_t *items;
	size_t count;
};

static struct bytes read_table(const struct v8_memory *memory, uint64_t object, size_t offset)
{
	struct bytes bytes = {0};
	uint64_t table;

	if (!v8_read_word(memory, object, offset, &table))
		v8_read_byte_array(memory, table, MAX_TABLE_BYTES, &bytes.items, &bytes.count);
	return bytes;
}

/* The call that was inlined: what was called, and where it was called in its caller. */
static int read_inlined(const struct v8_memory *memory, const struct v8_layout *layout,
			const struct v8_code *code, uint32_t entry, uint64_t *ret_shared,
			struct v8_position *ret_call)
{
	uint64_t positions, literals, literal, words[2] = {0};
	int32_t bytes;
	int err = read_deopt(memory, layout, code, layout->deopt_positions, &positions);

	if (!err)
		err = v8_read_smi(memory, positions, 8, &bytes);
	if (err)
		return err;
	if (bytes < 0 || (uint64_t)entry * INLINING_BYTES + INLINING_BYTES > (uint32_t)bytes)
		return -ENOENT;
	err = v8_read_bytes(memory, positions, 16 + (size_t)entry * INLINING_BYTES, words,
			    sizeof(words));
	*ret_call = v8_position_decode(words[0]);
	if (!err)
		err = read_deopt(memory, layout, code, layout->deopt_literals, &literals);
	if (!err)
		err = v8_read_element(memory, literals, (uint32_t)words[1], &literal);
	return err ? err : take_shared(memory, layout, literal, ret_shared);
}

size_t v8_code_frames(const struct v8_memory *memory, const struct v8_layout *layout,
		      const struct v8_code *code, uint64_t pc,
		      struct v8_frame ret_frames[V8_MAX_INLINED])
{
	struct bytes table = read_table(memory, code->object, layout->code_positions);
	struct v8_position at = {.position = -1}, call;
	size_t count = 0;

	if (!v8_positions_find(table.items, table.count, layout->position_flags,
			       (uint32_t)(pc - code->start), &at))
		at = (struct v8_position){.position = -1};
	free(table.items);
	while (at.inlining && count + 1 < V8_MAX_INLINED) {
		uint64_t shared;

		if (read_inlined(memory, layout, code, at.inlining - 1, &shared, &call)) {
			/* A missing frame would give the rest a wrong caller. */
			count = 0;
			call = (struct v8_position){.position = -1};
		} else {
			ret_frames[count++] = (struct v8_frame){shared, at.position};
		}
		at = call;
	}
	ret_frames[count++] = (struct v8_frame){0, at.inlining ? -1 : at.position};
	return count;
}

/* ---- bytecode ---- */

/* The BytecodeArray that a function has, also behind its baseline code. */
static int find_bytecode(const struct v8_memory *memory, const struct v8_layout *layout,
			 uint64_t shared, uint64_t *ret_bytecode)
{
	uint64_t data = 0;
	uint16_t type;
	int err = v8_read_word(memory, shared, SHARED_DATA, &data);

	if (!err)
		err = v8_read_type(memory, data, &type);
	if (!err && type == layout->code_type) {
		err = v8_read_word(memory, data, layout->code_deopt, &data);
		if (!err)
			err = v8_read_type(memory, data, &type);
	}
	*ret_bytecode = data;
	return err ? err : type == layout->bytecode_type ? 0 : -ENOENT;
}

int32_t v8_code_bytecode_position(const struct v8_memory *memory, const struct v8_layout *layout,
				  uint64_t shared, uint32_t offset)
{
	struct v8_position at = {.position = -1};
	uint64_t bytecode;
	struct bytes table;

	if (find_bytecode(memory, layout, shared, &bytecode))
		return -1;
	table = read_table(memory, bytecode, layout->bytecode_positions);
	if (!v8_positions_find(table.items, table.count, layout->position_flags, offset, &at))
		at.position = -1;
	free(table.items);
	return at.position;
}

int32_t v8_code_baseline_position(const struct v8_memory *memory, const struct v8_layout *layout,
				  const struct v8_bytecode_sizes *sizes, const struct v8_code *code,
				  uint64_t shared, uint64_t pc)
{
	uint8_t *bytecodes = NULL;
	struct bytes table;
	uint64_t bytecode;
	int32_t length, offset = -1;

	if (!sizes->count || find_bytecode(memory, layout, shared, &bytecode) ||
	    v8_read_smi(memory, bytecode, BYTECODE_LENGTH, &length) || length <= 0 ||
	    length > (int32_t)MAX_BYTECODES)
		return -1;
	table = read_table(memory, code->object, layout->code_positions);
	bytecodes = malloc((size_t)length);
	if (bytecodes && !v8_read_bytes(memory, bytecode, layout->kernel.first_bytecode, bytecodes,
					(size_t)length))
		offset = v8_positions_bytecode(table.items, table.count, bytecodes, (size_t)length,
					       sizes, (uint32_t)(pc - code->start));
	free(bytecodes);
	free(table.items);
	return offset < 0 ? -1
			  : v8_code_bytecode_position(memory, layout, shared, (uint32_t)offset);
}
