// SPDX-License-Identifier: BSD-2-Clause
/* Makes names, files and line tables of code objects out of what was read from the target. */
#include "python/python_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "python/python_lines.h"
#include "python/python_text.h"

#define ELLIPSIS "\xe2\x80\xa6"
/* The longest line tables of generated modules have some 100 KiB. */
#define MAX_LINE_BYTES (1U << 20)
/* Characters beyond this many are cut off, as in the record. */
#define MAX_CHARACTERS PKBPF_PYTHON_STRING_BYTES

enum cut_side { CUT_END, CUT_START };

static char *decode_string(const struct pkbpf_python_string *string, enum cut_side side)
{
	size_t bytes = string->bytes < sizeof(string->text) ? string->bytes : sizeof(string->text);
	unsigned int width = string->width;
	bool is_cut;

	if (width != 1 && width != 2 && width != 4)
		return strdup("?");
	is_cut = bytes / width < string->length;
	return python_text_utf8(string->text, bytes, width,
				is_cut && side == CUT_START ? ELLIPSIS : "",
				is_cut && side == CUT_END ? ELLIPSIS : "");
}

int python_code_decode(const struct pkbpf_event_python_code *record, size_t size,
		       struct python_code *ret_code)
{
	struct python_code code;

	if (size < sizeof(*record) || record->line_bytes > PKBPF_PYTHON_LINE_BYTES ||
	    record->line_bytes > size - sizeof(*record))
		return -EBADMSG;
	code = (struct python_code){
		.name = decode_string(&record->name, CUT_END),
		.file = decode_string(&record->file, CUT_START),
		.first_line = record->first_line <= INT32_MAX ? record->first_line : 0,
		.minor = record->minor,
		.line_bytes = record->line_bytes,
	};
	if (code.line_bytes) {
		code.lines = malloc(code.line_bytes);
		if (code.lines)
			memcpy(code.lines, record->lines, code.line_bytes);
	}
	if (!code.name || !code.file || (code.line_bytes && !code.lines)) {
		python_code_done(&code);
		return -ENOMEM;
	}
	*ret_code = code;
	return 0;
}

void python_code_done(struct python_code *code)
{
	free(code->name);
	free(code->file);
	free(code->lines);
	*code = (struct python_code){0};
}

uint32_t python_code_line(const struct python_code *code, uint32_t instruction)
{
	struct python_lines lines = {code->lines, code->line_bytes, code->first_line, code->minor};

	return instruction >= PKBPF_PYTHON_NO_INSTRUCTION ? code->first_line
							  : python_lines_find(&lines, instruction);
}

static int read_memory(uint32_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec to = {buffer, size}, from = {(void *)(uintptr_t)address, size};
	ssize_t got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);

	return got < 0 ? -errno : (size_t)got == size ? 0 : -EFAULT;
}

/* What tells a code object from the next one at its address. */
struct identity {
	uint64_t name, file, lines;
	uint32_t first_line, version;
};

static int read_identity(const struct pkbpf_event_python_code *record,
			 const struct pkbpf_python_layout *layout, struct identity *ret_identity)
{
	uint16_t name =
		layout->code_qualified_name ? layout->code_qualified_name : layout->code_name;
	struct identity *identity = ret_identity;
	const struct {
		uint16_t offset;
		void *to;
		size_t size;
	} reads[] = {
		{name, &identity->name, sizeof(identity->name)},
		{layout->code_file, &identity->file, sizeof(identity->file)},
		{layout->code_lines, &identity->lines, sizeof(identity->lines)},
		{layout->code_first_line, &identity->first_line, sizeof(identity->first_line)},
		{layout->code_version, &identity->version, sizeof(identity->version)},
	};

	*identity = (struct identity){0};
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		int err = reads[i].offset ? read_memory(record->pid, record->code + reads[i].offset,
							reads[i].to, reads[i].size)
					  : 0;
		if (err)
			return err;
	}
	return 0;
}

/* Does the record speak of the same code object, as far as it says? */
static bool is_of_record(const struct identity *identity,
			 const struct pkbpf_event_python_code *record)
{
	return (!record->name.address || identity->name == record->name.address) &&
	       (!record->file.address || identity->file == record->file.address) &&
	       (!record->line_address || identity->lines == record->line_address) &&
	       identity->first_line == record->first_line;
}

/* Fills a string of the record's form from the process. */
static int read_string(uint32_t pid, uint64_t address, const struct pkbpf_python_layout *layout,
		       enum cut_side side, struct pkbpf_python_string *ret_string)
{
	struct pkbpf_python_string string = {.address = address};
	uint64_t length, at;
	uint32_t state;
	unsigned int kind, flags;
	int err = read_memory(pid, address + layout->string_length, &length, sizeof(length));

	err = err ? err : read_memory(pid, address + layout->string_state, &state, sizeof(state));
	if (err)
		return err;
	kind = state >> layout->string_kind_bit & 7;
	flags = state >> (layout->string_kind_bit + 3) & 3; /* compact, ASCII */
	if ((kind != 1 && kind != 2 && kind != 4) || !(flags & 1) || length > UINT32_MAX)
		return -EBADMSG;
	string.length = (uint32_t)length;
	string.width = (uint8_t)kind;
	length = length < MAX_CHARACTERS / kind ? length : MAX_CHARACTERS / kind;
	string.bytes = (uint16_t)(length * kind);
	at = address + (flags & 2 ? layout->string_ascii_data : layout->string_data);
	if (side == CUT_START)
		at += (uint64_t)(string.length - (uint32_t)length) * kind;
	err = string.bytes ? read_memory(pid, at, string.text, string.bytes) : 0;
	if (!err)
		*ret_string = string;
	return err;
}

/* The strings and the line table that were read from the process. */
struct parts {
	struct pkbpf_python_string name, file; /* width 0: not read */
	uint8_t *lines;
	size_t line_bytes;
};

static void parts_done(struct parts *parts)
{
	free(parts->lines);
}

static int read_lines(uint32_t pid, uint64_t address, const struct pkbpf_python_layout *layout,
		      struct parts *parts)
{
	uint64_t size;
	int err = read_memory(pid, address + layout->bytes_size, &size, sizeof(size));

	if (err || !size || size > MAX_LINE_BYTES)
		return err;
	parts->lines = malloc(size);
	if (!parts->lines)
		return -ENOMEM;
	parts->line_bytes = size;
	return read_memory(pid, address + layout->bytes_data, parts->lines, size);
}

static int read_parts(const struct pkbpf_event_python_code *record,
		      const struct pkbpf_python_layout *layout, const struct identity *identity,
		      struct parts *parts)
{
	int err = 0;

	if (!record->name.width)
		err = read_string(record->pid, identity->name, layout, CUT_END, &parts->name);
	if (!err && !record->file.width)
		err = read_string(record->pid, identity->file, layout, CUT_START, &parts->file);
	if (!err && record->line_bytes < record->line_size)
		err = read_lines(record->pid, identity->lines, layout, parts);
	return err;
}

static void take_text(const struct pkbpf_python_string *string, enum cut_side side, char **text)
{
	char *decoded = string->width ? decode_string(string, side) : NULL;

	if (decoded) {
		free(*text);
		*text = decoded;
	}
}

int python_code_complete(const struct pkbpf_event_python_code *record,
			 const struct pkbpf_python_layout *layout, struct python_code *code)
{
	_cleanup_(parts_done) struct parts parts = {0};
	struct identity before, after;
	int err = read_identity(record, layout, &before);

	if (err)
		return err;
	if (!is_of_record(&before, record))
		return -ESTALE;
	err = read_parts(record, layout, &before, &parts);
	/* The object may have died meanwhile, and another one taken its place. */
	if (read_identity(record, layout, &after) || memcmp(&before, &after, sizeof(before)) != 0)
		return -ESTALE;
	if (err)
		return err;
	take_text(&parts.name, CUT_END, &code->name);
	take_text(&parts.file, CUT_START, &code->file);
	if (parts.lines) {
		free(code->lines);
		code->lines = parts.lines;
		code->line_bytes = parts.line_bytes;
		parts.lines = NULL;
	}
	return 0;
}
