// SPDX-License-Identifier: BSD-2-Clause
/* Follows Method to its ConstMethod, the constant pool and the class. */
#include "hotspot/hotspot_method.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "hotspot/hotspot_unsigned5.h"

#define MAX_STRUCT_BYTES 256U
#define PAGE_BYTES	 4096U

struct reading {
	const struct hotspot_memory *memory;
	const struct hotspot_layout *layout;
};

static int read_word(const struct reading *reading, uint64_t address, uint64_t *ret_value)
{
	return hotspot_read(reading->memory, address, ret_value, sizeof(*ret_value));
}

/* Cut to size - 1 bytes. */
static int read_symbol(const struct reading *reading, uint64_t symbol, char *buffer, size_t size)
{
	const struct hotspot_fields *at = &reading->layout->at;
	struct hotspot_field length = at->symbol_length;
	uint16_t bytes;
	int err;

	if (!symbol)
		return -EBADMSG;
	/* 12 to 14: the upper half of a word. */
	if (!length.width)
		length = (struct hotspot_field){
			.offset = (uint16_t)(at->symbol_length_refcount.offset + 2)};
	err = hotspot_read(reading->memory, symbol + length.offset, &bytes, sizeof(bytes));
	if (err)
		return err;
	if (bytes > size - 1)
		bytes = (uint16_t)(size - 1);
	buffer[bytes] = '\0';
	return hotspot_read(reading->memory, symbol + at->symbol_body.offset, buffer, bytes);
}

/* The symbol at an index of a constant pool. */
static int read_pooled(const struct reading *reading, uint64_t pool, uint64_t index, char *buffer,
		       size_t size)
{
	uint64_t symbol;
	int err;

	if (!index || index > UINT16_MAX)
		return -EBADMSG;
	err = read_word(reading, pool + reading->layout->pool_struct_size + 8 * index, &symbol);
	return err ? err : read_symbol(reading, symbol, buffer, size);
}

/* "java/util/Map$Entry" is java.util.Map$Entry. Hidden classes have an address behind their name,
 * another one in each run: "Shop$$Lambda+0x00007f0c01002000". */
static void write_class(char *name)
{
	char *address = strstr(name, "+0x");

	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '.';
	if (address)
		*address = '\0';
}

/* src/java.base/share/classes/java/lang/invoke: classes whose methods have the hidden mark. */
static bool is_glue(const char *class)
{
	static const char *const beginnings[] = {
		"java.lang.invoke.LambdaForm$",
		"java.lang.invoke.DirectMethodHandle$Holder",
		"java.lang.invoke.DelegatingMethodHandle$Holder",
		"java.lang.invoke.Invokers$Holder",
		"java.lang.invoke.VarHandleGuards",
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(class, beginnings[i], strlen(beginnings[i])))
			return true;
	return strstr(class, "$$Lambda") != NULL;
}

static void read_file(const struct reading *reading, uint64_t pool, uint64_t class,
		      struct hotspot_method *method)
{
	const struct hotspot_fields *at = &reading->layout->at;
	bool in_pool = at->pool_source_file.width != 0;
	uint64_t address =
		in_pool ? pool + at->pool_source_file.offset : class + at->class_source_file.offset;
	uint16_t index = 0;

	if (hotspot_read(reading->memory, address, &index, sizeof(index)) || !index ||
	    read_pooled(reading, pool, index, method->file, sizeof(method->file)))
		method->file[0] = '\0';
}

/* Its class, a dot, its name. */
static int read_names(const struct reading *reading, uint64_t pool, uint64_t name_index,
		      struct hotspot_method *method)
{
	uint64_t class, symbol;
	char text[256];
	size_t length;
	int err = read_word(reading, pool + reading->layout->at.pool_holder.offset, &class);

	if (!err)
		err = read_word(reading, class + reading->layout->at.klass_name.offset, &symbol);
	if (!err)
		err = read_symbol(reading, symbol, method->name, HOTSPOT_MAX_NAME_BYTES);
	if (!err)
		err = read_pooled(reading, pool, name_index, text, sizeof(text));
	if (err)
		return err;
	write_class(method->name);
	method->is_glue = is_glue(method->name);
	length = strlen(method->name);
	snprintf(method->name + length, sizeof(method->name) - length, ".%s", text);
	read_file(reading, pool, class, method);
	return 0;
}

int hotspot_method_read(const struct hotspot_memory *memory, const struct hotspot_layout *layout,
			uint64_t address, struct hotspot_method *ret_method)
{
	const struct reading reading = {memory, layout};
	const struct hotspot_fields *at = &layout->at;
	size_t size = layout->const_struct_size;
	uint8_t bytes[MAX_STRUCT_BYTES];
	uint64_t method, pool;
	int err;

	*ret_method = (struct hotspot_method){0};
	if (address % 8 || size > sizeof(bytes))
		return -EBADMSG;
	err = read_word(&reading, address + at->method_const.offset, &method);
	if (!err)
		err = hotspot_read(memory, method, bytes, size);
	if (err)
		return err;
	ret_method->bytecodes = method + size;
	ret_method->bytecode_bytes = (uint32_t)hotspot_field_get(bytes, size, at->const_code_size);
	if (hotspot_field_get(bytes, size, at->const_flags) & layout->const_has_lines)
		ret_method->lines = ret_method->bytecodes + ret_method->bytecode_bytes;
	pool = hotspot_field_get(bytes, size, at->const_pool);
	return read_names(&reading, pool, hotspot_field_get(bytes, size, at->const_name),
			  ret_method);
}

/* ---- lines ---- */

/* Bytes of a table whose length nobody knows. */
struct stream {
	const struct hotspot_memory *memory;
	uint64_t address;
	uint8_t bytes[256], minimum;
	size_t at, size;
	size_t left; /* that may still be read */
};

static bool next_byte(struct stream *stream, uint8_t *ret_byte)
{
	if (stream->at == stream->size) {
		size_t page = PAGE_BYTES - (size_t)(stream->address % PAGE_BYTES);

		stream->at = 0;
		stream->size = page < sizeof(stream->bytes) ? page : sizeof(stream->bytes);
		if (stream->size > stream->left ||
		    hotspot_read(stream->memory, stream->address, stream->bytes, stream->size))
			return false;
		stream->address += stream->size;
		stream->left -= stream->size;
	}
	*ret_byte = stream->bytes[stream->at++];
	return true;
}

static bool next_number(struct stream *stream, int32_t *ret_number)
{
	struct hotspot_unsigned5 number = {0};
	uint8_t byte;

	while (next_byte(stream, &byte)) {
		if (!hotspot_unsigned5_add(&number, byte, stream->minimum))
			continue;
		*ret_number = hotspot_unsigned5_signed(number.value);
		return true;
	}
	return false;
}

/* The distance to the next pair (src/hotspot/share/oops/method.cpp). */
static bool next_pair(struct stream *stream, int32_t *ret_bci, int32_t *ret_line)
{
	uint8_t byte;

	if (!next_byte(stream, &byte) || !byte)
		return false;
	if (byte == 0xff)
		return next_number(stream, ret_bci) && next_number(stream, ret_line);
	*ret_bci = byte >> 3;
	*ret_line = byte & 7;
	return true;
}

uint32_t hotspot_method_line(const struct hotspot_memory *memory,
			     const struct hotspot_layout *layout,
			     const struct hotspot_method *method, int32_t bci)
{
	struct stream stream = {
		.memory = memory,
		.address = method->lines,
		.minimum = layout->unsigned5_minimum,
		.left = HOTSPOT_MAX_LINE_BYTES,
	};
	uint32_t at = 0, line = 0, best_at = 0, best = 0;
	int32_t step, lines;

	if (bci < 0)
		bci = 0;
	/* In no order. */
	while (method->lines && next_pair(&stream, &step, &lines)) {
		at += (uint32_t)step;
		line += (uint32_t)lines;
		if (at > (uint32_t)bci || (best && at < best_at))
			continue;
		best_at = at;
		best = line;
	}
	return best <= UINT16_MAX ? best : 0;
}
