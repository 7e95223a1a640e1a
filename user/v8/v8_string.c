// SPDX-License-Identifier: BSD-2-Clause
/* Walks through the parts of strings. */
#include "v8/v8_string.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

/* The same in all versions with 64-bit references: src/objects/string.h, instance-type.h. */
enum { KIND_CONS = 1, KIND_EXTERNAL = 2, KIND_SLICED = 3 };

#define IS_UNCACHED   16
#define FIRST_AT      PKBPF_V8_STRING_DATA /* or first part; parent; actual string */
#define SECOND_AT     24		   /* second part; offset in the parent (small integer) */
#define CHARACTERS_AT 24		   /* of an external string: their address */

/* Strings that are put together leave parts behind, as a list of pending ones. V8 flattens a source
 * when it compiles it; a path of 40 directories that was joined step by step has 120 parts. */
#define MAX_PENDING 64
#define MAX_PARTS   128
#define PIECE_UNITS 4096U

struct part {
	uint64_t string;
	uint32_t start, count; /* units of it */
};

struct visit {
	const struct v8_memory *memory;
	v8_take_units take;
	void *context;
	struct part pending[MAX_PENDING];
	uint32_t pending_count, parts;
};

static int push(struct visit *visit, uint64_t string, uint32_t start, uint32_t count)
{
	if (!count)
		return 0;
	if (visit->pending_count >= MAX_PENDING)
		return -EFBIG;
	visit->pending[visit->pending_count++] = (struct part){string, start, count};
	return 0;
}

static int read_length(const struct v8_memory *memory, uint64_t string, uint32_t *ret_length)
{
	return v8_read_bytes(memory, string, PKBPF_V8_STRING_LENGTH, ret_length,
			     sizeof(*ret_length));
}

static int take_flat(const struct visit *visit, uint64_t address, bool is_one_byte, uint32_t count)
{
	uint16_t units[PIECE_UNITS];
	uint8_t bytes[PIECE_UNITS];

	while (count) {
		uint32_t piece = count < PIECE_UNITS ? count : PIECE_UNITS;
		size_t size = is_one_byte ? piece : piece * sizeof(*units);
		int err =
			v8_read(visit->memory, address, is_one_byte ? (void *)bytes : units, size);

		if (err)
			return err;
		for (uint32_t i = 0; is_one_byte && i < piece; i++)
			units[i] = bytes[i];
		if (!visit->take(visit->context, units, piece))
			return -ECANCELED;
		address += size;
		count -= piece;
	}
	return 0;
}

/* The right part waits. */
static int split(struct visit *visit, const struct part *part)
{
	uint64_t first, second;
	uint32_t length, left;
	int err = v8_read_word(visit->memory, part->string, FIRST_AT, &first);

	if (!err)
		err = v8_read_word(visit->memory, part->string, SECOND_AT, &second);
	if (!err)
		err = read_length(visit->memory, first, &length);
	if (err)
		return err;
	left = length > part->start ? length - part->start : 0;
	if (left >= part->count)
		return push(visit, first, part->start, part->count);
	err = push(visit, second, left ? 0 : part->start - length, part->count - left);
	return err ? err : push(visit, first, part->start, left);
}

static int slice(struct visit *visit, const struct part *part)
{
	uint64_t parent;
	int32_t offset;
	int err = v8_read_word(visit->memory, part->string, FIRST_AT, &parent);

	if (!err)
		err = v8_read_smi(visit->memory, part->string, SECOND_AT, &offset);
	if (err)
		return err;
	if (offset < 0 || (uint32_t)offset > INT32_MAX - part->start)
		return -EINVAL;
	return push(visit, parent, part->start + (uint32_t)offset, part->count);
}

static int take_external(const struct visit *visit, const struct part *part, uint16_t type)
{
	uint32_t unit = type & PKBPF_V8_STRING_ONE_BYTE ? 1 : 2;
	uint64_t address;
	int err;

	if (type & IS_UNCACHED)
		return -ENOTSUP;
	err = v8_read_word(visit->memory, part->string, CHARACTERS_AT, &address);
	return err ? err
		   : take_flat(visit, address + (uint64_t)part->start * unit,
			       type & PKBPF_V8_STRING_ONE_BYTE, part->count);
}

static int take_part(struct visit *visit, const struct part *part)
{
	uint64_t actual;
	uint16_t type;
	uint32_t length;
	int err = v8_read_type(visit->memory, part->string, &type);

	if (!err && type >= PKBPF_V8_FIRST_NO_STRING)
		err = -EINVAL;
	if (!err)
		err = read_length(visit->memory, part->string, &length);
	if (!err && (part->start > length || part->count > length - part->start))
		err = -EINVAL;
	if (err)
		return err;
	switch (type & PKBPF_V8_STRING_KIND) {
	case PKBPF_V8_FLAT:
		return take_flat(visit,
				 part->string - 1 + FIRST_AT +
					 (uint64_t)part->start *
						 (type & PKBPF_V8_STRING_ONE_BYTE ? 1 : 2),
				 type & PKBPF_V8_STRING_ONE_BYTE, part->count);
	case KIND_CONS:
		return split(visit, part);
	case KIND_EXTERNAL:
		return take_external(visit, part, type);
	case KIND_SLICED:
		return slice(visit, part);
	case PKBPF_V8_THIN:
		err = v8_read_word(visit->memory, part->string, FIRST_AT, &actual);
		return err ? err : push(visit, actual, part->start, part->count);
	default:
		return -EINVAL;
	}
}

int v8_string_visit(const struct v8_memory *memory, uint64_t string, v8_take_units take,
		    void *context)
{
	struct visit visit = {.memory = memory, .take = take, .context = context};
	uint32_t length;
	uint16_t type;
	int err = v8_read_type(memory, string, &type);

	/* An empty one has no part to look at. */
	if (!err && type >= PKBPF_V8_FIRST_NO_STRING)
		err = -EINVAL;
	if (!err)
		err = read_length(memory, string, &length);
	if (err)
		return err;
	if (length > V8_STRING_MAX_UNITS)
		return -EFBIG;
	err = push(&visit, string, 0, length);
	while (!err && visit.pending_count) {
		struct part part = visit.pending[--visit.pending_count];

		err = visit.parts++ < MAX_PARTS ? take_part(&visit, &part) : -EFBIG;
	}
	return err;
}

/* ---- UTF-8 ---- */

struct text {
	char *buffer;
	size_t size, length;
	uint32_t high; /* first half of a pair; 0: none */
};

static bool add_character(struct text *text, uint32_t character)
{
	char bytes[UTF8_MAX_BYTES];
	size_t count = utf8_put(bytes, character);

	if (text->length + count >= text->size)
		return false;
	memcpy(text->buffer + text->length, bytes, count);
	text->length += count;
	return true;
}

static bool take_text(void *context, const uint16_t *units, size_t count)
{
	struct text *text = context;

	for (size_t i = 0; i < count; i++) {
		uint32_t unit = units[i], character = unit;

		if (unit >= 0xd800 && unit < 0xdc00) {
			text->high = unit;
			continue;
		}
		if (unit >= 0xdc00 && unit < 0xe000)
			character = text->high ? 0x10000 + ((text->high - 0xd800) << 10) +
							 (unit - 0xdc00)
					       : UTF8_REPLACEMENT;
		text->high = 0;
		/* A NUL would end the text. */
		if (!add_character(text, character ? character : UTF8_REPLACEMENT))
			return false;
	}
	return true;
}

int v8_string_read(const struct v8_memory *memory, uint64_t string, char *buffer, size_t size)
{
	struct text text = {.buffer = buffer, .size = size};
	int err = v8_string_visit(memory, string, take_text, &text);

	buffer[text.length] = '\0';
	return err == -ECANCELED ? 0 : err;
}

void v8_string_text(const struct pkbpf_v8_string *string, char *buffer, size_t size)
{
	struct text text = {.buffer = buffer, .size = size};
	size_t width = string->width == 2 ? 2 : 1,
	       bytes = string->bytes < sizeof(string->text) ? string->bytes : sizeof(string->text);

	for (size_t i = 0; string->width && i + width <= bytes; i += width) {
		uint16_t unit = (uint8_t)string->text[i];

		if (width == 2)
			unit |= (uint16_t)((uint8_t)string->text[i + 1] << 8);
		if (!take_text(&text, &unit, 1))
			break;
	}
	buffer[text.length] = '\0';
}
