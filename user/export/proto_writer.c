// SPDX-License-Identifier: BSD-2-Clause
// The wire format of protocol buffers.
#include "export/proto_writer.h"

#include <string.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

#define VARINT_MAX 10

static size_t encode(uint8_t out[VARINT_MAX], uint64_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		out[size++] = (uint8_t)(number | 0x80);
	out[size++] = (uint8_t)number;
	return size;
}

static void put(struct proto_writer *writer, const void *bytes, size_t size)
{
	if (writer->failed || !array_reserve(&writer->bytes, writer->bytes.count + size)) {
		writer->failed = true;
		return;
	}
	if (size)
		memcpy(&writer->bytes.items[writer->bytes.count], bytes, size);
	writer->bytes.count += size;
}

static void put_number(struct proto_writer *writer, uint64_t number)
{
	uint8_t bytes[VARINT_MAX];

	put(writer, bytes, encode(bytes, number));
}

void proto_number(struct proto_writer *writer, uint32_t field, uint64_t number)
{
	if (number)
		proto_number_always(writer, field, number);
}

void proto_number_always(struct proto_writer *writer, uint32_t field, uint64_t number)
{
	put_number(writer, (uint64_t)field << 3 | WIRE_VARINT);
	put_number(writer, number);
}

void proto_fixed64(struct proto_writer *writer, uint32_t field, uint64_t bits)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	put_number(writer, (uint64_t)field << 3 | WIRE_FIXED64);
	put(writer, bytes, sizeof(bytes));
}

void proto_bytes(struct proto_writer *writer, uint32_t field, const void *bytes, size_t size)
{
	put_number(writer, (uint64_t)field << 3 | WIRE_BYTES);
	put_number(writer, size);
	put(writer, bytes, size);
}

void proto_string(struct proto_writer *writer, uint32_t field, const char *string)
{
	proto_bytes(writer, field, string, strlen(string));
}

void proto_packed(struct proto_writer *writer, uint32_t field, const uint64_t *numbers,
		  size_t count)
{
	uint8_t bytes[VARINT_MAX];
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += encode(bytes, numbers[i]);
	put_number(writer, (uint64_t)field << 3 | WIRE_BYTES);
	put_number(writer, size);
	for (size_t i = 0; i < count; i++)
		put_number(writer, numbers[i]);
}

void proto_message(struct proto_writer *writer, uint32_t field, struct proto_writer *message)
{
	if (message->failed)
		writer->failed = true;
	proto_bytes(writer, field, message->bytes.items, message->bytes.count);
	message->bytes.count = 0;
}

void proto_done(struct proto_writer *writer)
{
	array_free(&writer->bytes);
}
