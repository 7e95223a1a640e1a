// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/names_packet.h"

#include <errno.h>
#include <string.h>

#include "symbol/dwarf/dwarf_lines.h"

#define NO_TEXT UINT32_MAX
/* Demangled names may be longer than mangled ones; nobody reads such. */
#define MAX_TEXT_BYTES (1U << 20)

struct packed_head {
	uint32_t build_id_size, missing_size;
};

struct packed_symbol {
	uint64_t module_address, function_address;
	uint32_t result, line_count;
};

struct packed_line {
	uint32_t function_size, file_size; /* file: NO_TEXT: not known */
	uint32_t line, inlined;
};

static bool put(names_bytes *bytes, const void *data, size_t size)
{
	if (!array_reserve(bytes, bytes->count + size))
		return false;
	if (size)
		memcpy(bytes->items + bytes->count, data, size);
	bytes->count += size;
	return true;
}

static size_t length_of(const char *text, size_t most)
{
	return text ? strnlen(text, most) : 0;
}

bool names_answer_begin(names_bytes *bytes, const char *build_id, const char *missing)
{
	struct packed_head head = {
		.build_id_size = (uint32_t)length_of(build_id, BUILD_ID_HEX_SIZE - 1),
		.missing_size = (uint32_t)length_of(missing, NAMES_MAX_NOTE - 1),
	};

	return put(bytes, &head, sizeof(head)) && put(bytes, build_id, head.build_id_size) &&
	       put(bytes, missing, head.missing_size);
}

static bool add_line(names_bytes *bytes, const struct symbol_line *line)
{
	struct packed_line packed = {
		.function_size = (uint32_t)length_of(line->function, MAX_TEXT_BYTES),
		.file_size = line->file ? (uint32_t)length_of(line->file, MAX_TEXT_BYTES) : NO_TEXT,
		.line = line->line,
		.inlined = line->inlined,
	};

	return put(bytes, &packed, sizeof(packed)) &&
	       put(bytes, line->function, packed.function_size) &&
	       (!line->file || put(bytes, line->file, packed.file_size));
}

bool names_answer_add(names_bytes *bytes, const struct symbol *symbol)
{
	struct packed_symbol packed = {
		.module_address = symbol->module_address,
		.function_address = symbol->function_address,
		.result = symbol->result,
		.line_count = (uint32_t)symbol->line_count,
	};
	bool fits = put(bytes, &packed, sizeof(packed));

	for (size_t i = 0; i < symbol->line_count && fits; i++)
		fits = add_line(bytes, &symbol->lines[i]);
	return fits;
}

/* ---- reading ---- */

struct reading {
	const unsigned char *at;
	size_t left;
	struct string_pool *strings;
	struct names_answer *answer;
};

static bool take(struct reading *reading, void *into, size_t size)
{
	if (size > reading->left)
		return false;
	memcpy(into, reading->at, size);
	reading->at += size;
	reading->left -= size;
	return true;
}

/* NULL: there are not so many bytes, or no memory. */
static const char *take_text(struct reading *reading, size_t size)
{
	const char *text = (const char *)reading->at;
	uint32_t id;

	if (size > reading->left || size > MAX_TEXT_BYTES)
		return NULL;
	reading->at += size;
	reading->left -= size;
	id = string_pool_add_n(reading->strings, text, size);
	return id == STRING_POOL_NONE ? NULL : string_pool_get(reading->strings, id);
}

static int read_line(struct reading *reading)
{
	struct symbol_line *line;
	struct packed_line packed;

	if (!take(reading, &packed, sizeof(packed)) || packed.inlined > 1)
		return -EBADMSG;
	line = array_add(&reading->answer->lines);
	if (!line)
		return -ENOMEM;
	line->function = take_text(reading, packed.function_size);
	if (packed.file_size != NO_TEXT)
		line->file = take_text(reading, packed.file_size);
	line->line = packed.line;
	line->inlined = packed.inlined;
	return !line->function || (packed.file_size != NO_TEXT && !line->file) ? -EBADMSG : 0;
}

/* A name has lines, and nothing else has. The last one is a function of its own. */
static bool is_symbol(const struct packed_symbol *packed)
{
	if (packed->result >= SYMBOL_RESULT_COUNT || packed->result == SYMBOL_PENDING ||
	    packed->line_count > DWARF_LINES_MAX_DEPTH)
		return false;
	return (packed->result == SYMBOL_FOUND) == (packed->line_count > 0);
}

static int read_symbol(struct reading *reading)
{
	size_t *first = array_add(&reading->answer->first_lines);
	struct symbol *symbol = array_add(&reading->answer->symbols);
	struct packed_symbol packed;
	int err = 0;

	if (!first || !symbol)
		return -ENOMEM;
	if (!take(reading, &packed, sizeof(packed)) || !is_symbol(&packed))
		return -EBADMSG;
	*first = reading->answer->lines.count;
	symbol->result = (enum symbol_result)packed.result;
	symbol->module_address = packed.module_address;
	symbol->function_address = packed.function_address;
	symbol->line_count = packed.line_count;
	for (uint32_t i = 0; i < packed.line_count && !err; i++)
		err = read_line(reading);
	return err;
}

static int read_head(struct reading *reading)
{
	struct names_answer *answer = reading->answer;
	struct packed_head head;

	if (!take(reading, &head, sizeof(head)) || head.build_id_size >= BUILD_ID_HEX_SIZE ||
	    head.missing_size >= NAMES_MAX_NOTE ||
	    !take(reading, answer->build_id, head.build_id_size) ||
	    !take(reading, answer->missing, head.missing_size) ||
	    strspn(answer->build_id, "0123456789abcdef") != head.build_id_size)
		return -EBADMSG;
	return 0;
}

int names_answer_read(const void *bytes, size_t size, size_t count, struct string_pool *strings,
		      struct names_answer *ret_answer)
{
	struct reading reading = {bytes, size, strings, ret_answer};
	int err;

	*ret_answer = (struct names_answer){0};
	err = read_head(&reading);
	for (size_t i = 0; i < count && !err; i++)
		err = read_symbol(&reading);
	if (!err && reading.left)
		err = -EBADMSG;
	/* They do not move any more. */
	for (size_t i = 0; i < ret_answer->symbols.count && !err; i++)
		if (ret_answer->symbols.items[i].line_count)
			ret_answer->symbols.items[i].lines =
				&ret_answer->lines.items[ret_answer->first_lines.items[i]];
	return err;
}

void names_answer_done(struct names_answer *answer)
{
	array_free(&answer->symbols);
	array_free(&answer->first_lines);
	array_free(&answer->lines);
}
