// SPDX-License-Identifier: BSD-2-Clause
/* Makes names, files and lines out of what was read from the target. */
#include "ruby/ruby_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_lines.h"
#include "ruby/ruby_text.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum cut_side { CUT_END, CUT_START };

/* NULL: out of memory. */
static char *decode_string(const struct pkbpf_ruby_string *string, enum cut_side side)
{
	size_t bytes = string->bytes < sizeof(string->text) ? string->bytes : sizeof(string->text);
	bool is_cut = bytes < string->length;

	if (!string->is_read)
		return strdup("?");
	return ruby_text_utf8(string->text, bytes, is_cut && side == CUT_START ? ELLIPSIS : "",
			      is_cut && side == CUT_END ? ELLIPSIS : "");
}

/* Puts the class before the method's name. The label of code ends with it, as "rescue in block in
 * add" does; that of a method by define_method or in C is the name, which may have any text. */
static char *join_name(const char *label, const char *owner, bool is_singleton, bool is_name)
{
	size_t owner_size = strlen(owner), label_size = strlen(label), prefix = 0;
	char *name = malloc(owner_size + label_size + 2), *to = name;

	if (!name)
		return NULL;
	for (size_t i = 4; i <= label_size && !is_name; i++)
		if (!memcmp(label + i - 4, " in ", 4))
			prefix = i;
	to = mempcpy(to, label, prefix);
	to = mempcpy(to, owner, owner_size);
	if (owner_size)
		*to++ = is_singleton ? '.' : '#';
	memcpy(to, label + prefix, label_size - prefix + 1);
	return name;
}

static char *decode_name(const struct pkbpf_event_ruby_code *record)
{
	char *label = decode_string(&record->label, CUT_END), *owner, *name;

	if (!label || record->kind == PKBPF_RUBY_PLAIN || !record->owner.is_read ||
	    !record->owner.bytes)
		return label;
	owner = decode_string(&record->owner, CUT_START);
	name = owner ? join_name(label, owner, record->is_singleton,
				 record->kind != PKBPF_RUBY_IN_METHOD)
		     : NULL;
	free(label);
	free(owner);
	return name;
}

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

/* How many entries begin up to a position, whose part of the index is there. */
static uint32_t count_entries(const uint8_t *index, uint32_t position)
{
	size_t block, at;
	uint32_t bit, part, count;

	if (position < PKBPF_RUBY_NEAR_POSITIONS)
		return word_at(index, (size_t)position / 9 * 8) >> position % 9 * 7 & 0x7f;
	position -= PKBPF_RUBY_NEAR_POSITIONS;
	block = PKBPF_RUBY_INDEX_BYTES((size_t)position / PKBPF_RUBY_BLOCK_POSITIONS);
	bit = position % PKBPF_RUBY_BLOCK_POSITIONS;
	part = bit / 64;
	count = (uint32_t)word_at(index, block);
	if (part)
		count += word_at(index, block + 8) >> (part - 1) * 9 & 0x1ff;
	at = block + 16 + 8UL * part;
	return count + (uint32_t)__builtin_popcountll(word_at(index, at) << (63 - bit % 64));
}

/* Whether the record has the index of this position. */
static bool has_index(const struct pkbpf_event_ruby_code *record, uint32_t position)
{
	return pkbpf_ruby_index_bytes(position + 1) <= record->index_bytes;
}

/* Makes runs of instructions of one line. */
static int decode_lines(const struct pkbpf_event_ruby_code *record, struct python_code *code)
{
	const uint8_t *index = record->lines, *entries = index + record->index_bytes;
	uint32_t count = record->line_bytes / PKBPF_RUBY_ENTRY_BYTES, last = 0, line,
		 positions = record->positions;
	struct python_line_run *runs = malloc((count + 1UL) * sizeof(*runs));
	size_t found = 0;

	if (!runs)
		return -ENOMEM;
	if (positions > PKBPF_PYTHON_NO_INSTRUCTION)
		positions = PKBPF_PYTHON_NO_INSTRUCTION;
	for (uint32_t i = 0; i < positions && has_index(record, i); i++) {
		uint32_t entry = count_entries(index, i);

		if (entry <= last)
			continue;
		if (entry > count)
			break;
		memcpy(&line, entries + (entry - 1UL) * PKBPF_RUBY_ENTRY_BYTES, sizeof(line));
		last = entry;
		if (line <= INT32_MAX)
			runs[found++] = (struct python_line_run){i, line};
	}
	code->lines = (uint8_t *)runs;
	code->line_bytes = found * sizeof(*runs);
	if (!found) {
		free(runs);
		code->lines = NULL;
	}
	return 0;
}

/* Files of rubygems come as "<internal:/usr/lib/ruby/…/kernel_require.rb>". */
static char *decode_file(const struct pkbpf_event_ruby_code *record)
{
	static const char prefix[] = "<internal:";
	char *file = decode_string(&record->path, CUT_START);
	size_t skip = sizeof(prefix) - 1, size = file ? strlen(file) : 0;

	if (size > skip + 2 && !strncmp(file, prefix, skip) && file[skip] == '/' &&
	    file[size - 1] == '>') {
		file[size - 1] = '\0';
		memmove(file, file + skip, size - skip);
	}
	return file;
}

static bool is_valid(const struct pkbpf_event_ruby_code *record, size_t size)
{
	size_t behind;

	if (size < sizeof(*record) || record->kind > PKBPF_RUBY_BY_C ||
	    record->index_bytes > PKBPF_RUBY_LONG_INDEX ||
	    record->line_bytes > PKBPF_RUBY_LONG_LINES)
		return false;
	behind = size - sizeof(*record);
	return (size_t)record->index_bytes + record->line_bytes <= behind;
}

int ruby_code_decode(const struct pkbpf_event_ruby_code *record, size_t size,
		     struct python_code *ret_code)
{
	struct python_code code;

	if (!is_valid(record, size))
		return -EBADMSG;
	code = (struct python_code){
		.name = decode_name(record),
		.file = record->kind == PKBPF_RUBY_BY_C ? strdup("<cfunc>") : decode_file(record),
		.first_line = record->first_line <= INT32_MAX ? record->first_line : 0,
		.minor = PYTHON_LINES_RUNS,
		.lines_cut = !record->index_bytes,
	};
	if (!code.name || !code.file || (record->index_bytes && decode_lines(record, &code))) {
		python_code_done(&code);
		return -ENOMEM;
	}
	*ret_code = code;
	return 0;
}
