// SPDX-License-Identifier: BSD-2-Clause
#include "diff/proto_reader.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static bool read_varint(struct proto_reader *reader, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	reader->is_damaged = true;
	return false;
}

static bool skip(struct proto_reader *reader, uint64_t size)
{
	if (size > (uint64_t)(reader->end - reader->at)) {
		reader->is_damaged = true;
		return false;
	}
	reader->at += size;
	return true;
}

bool proto_next(struct proto_reader *reader, struct proto_field *ret_field)
{
	struct proto_field field = {0};
	uint64_t tag, size;

	if (reader->is_damaged || reader->at >= reader->end || !read_varint(reader, &tag))
		return false;
	field.number = tag >> 3 > UINT32_MAX ? 0 : (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case WIRE_VARINT:
		if (!read_varint(reader, &field.value))
			return false;
		break;
	case WIRE_BYTES:
		if (!read_varint(reader, &size))
			return false;
		field.is_bytes = true;
		field.bytes.at = reader->at;
		if (!skip(reader, size))
			return false;
		field.bytes.end = reader->at;
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		/* None of profile.proto: a number that nobody asks for. */
		field.number = 0;
		if (!skip(reader, (tag & 7) == WIRE_FIXED64 ? 8 : 4))
			return false;
		break;
	default:
		reader->is_damaged = true;
		return false;
	}
	*ret_field = field;
	return true;
}

bool proto_numbers(const struct proto_field *field, bool (*take)(void *context, uint64_t value),
		   void *context)
{
	struct proto_reader packed = field->bytes;
	uint64_t value;

	if (!field->is_bytes)
		return take(context, field->value);
	while (packed.at < packed.end)
		if (!read_varint(&packed, &value) || !take(context, value))
			return false;
	return true;
}
