// SPDX-License-Identifier: BSD-2-Clause
/* src/codegen/source-position-table.cc, source-position.h, src/baseline/bytecode-offset-iterator.h
 */
#include "v8/v8_positions.h"

/* Prefixes of bytecodes with wide operands: Wide, ExtraWide and the two of the debugger. */
#define MOST_PREFIXES 3

struct cursor {
	const uint8_t *bytes;
	size_t size, at;
};

/* Groups of seven bits, lowest first. */
static bool read_number(struct cursor *cursor, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; cursor->at < cursor->size && shift < 64; shift += 7) {
		uint8_t byte = cursor->bytes[cursor->at++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static int64_t signed_of(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

struct v8_position v8_position_decode(uint64_t raw)
{
	/* External positions are in C++. */
	return (struct v8_position){
		.position = raw & 1 ? -1 : (int32_t)(raw >> 1 & 0x3fffffff) - 1,
		.inlining = (uint32_t)(raw >> 31) & 0xffff,
	};
}

bool v8_positions_find(const uint8_t *table, size_t size, uint32_t flag_bits, uint32_t offset,
		       struct v8_position *ret_position)
{
	struct cursor cursor = {table, size, 0};
	int64_t at = -1; /* entry of the function */
	uint64_t raw = 0, code, source, step;
	bool found = false;

	while (cursor.at < cursor.size) {
		if (!read_number(&cursor, &code) || !read_number(&cursor, &source))
			return false;
		/* A damaged table has any step. */
		step = code >> flag_bits;
		if (step > (uint64_t)((int64_t)offset - at))
			break;
		at += (int64_t)step;
		raw += (uint64_t)signed_of(source);
		found = true;
	}
	if (found)
		*ret_position = v8_position_decode(raw);
	return found;
}

/* Bytes of the bytecode, with its prefix. 0: not known. */
static uint32_t bytecode_size(const uint8_t *bytecodes, size_t left,
			      const struct v8_bytecode_sizes *sizes)
{
	uint32_t prefix = left && bytecodes[0] <= MOST_PREFIXES;
	uint8_t code, scale;

	if (left < 1U + prefix)
		return 0;
	code = bytecodes[prefix];
	/* Wide and DebugBreakWide are even. */
	scale = prefix ? (uint8_t)(1 + (bytecodes[0] & 1)) : 0;
	if (code >= sizes->count || !sizes->bytes[scale][code])
		return 0;
	return sizes->bytes[scale][code] + prefix;
}

int32_t v8_positions_bytecode(const uint8_t *table, size_t size, const uint8_t *bytecodes,
			      size_t bytecode_bytes, const struct v8_bytecode_sizes *sizes,
			      uint32_t offset)
{
	struct cursor cursor = {table, size, 0};
	uint64_t end, bytes;
	uint32_t at = 0, step;

	if (!read_number(&cursor, &end) || offset < end)
		return -1;
	while (read_number(&cursor, &bytes)) {
		end += bytes;
		if (offset < end)
			return (int32_t)at;
		step = at < bytecode_bytes
			       ? bytecode_size(bytecodes + at, bytecode_bytes - at, sizes)
			       : 0;
		if (!step)
			return -1;
		at += step;
	}
	return -1;
}
