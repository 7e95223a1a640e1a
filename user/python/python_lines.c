// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the three line tables that CPython has had.
 *
 * Source: Objects/lnotab_notes.txt of 3.8 to 3.10; Objects/locations.md of 3.11
 * (InternalDocs/code_objects.md of 3.14).
 */
#include "python/python_lines.h"

#include <string.h>

/* Lines are C ints in the interpreter: a damaged table may lead anywhere. */
static uint32_t to_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs of (bytes of code, change of line): a pair's line is that of the code behind it. */
static uint32_t find_lnotab(const struct python_lines *lines, uint32_t instruction)
{
	uint64_t address = 0, wanted = 2ULL * instruction;
	int64_t line = lines->first_line;

	for (size_t i = 0; i + 1 < lines->size; i += 2) {
		address += lines->bytes[i];
		if (address > wanted)
			break;
		line += (int8_t)lines->bytes[i + 1];
	}
	return to_line(line);
}

/* Pairs of (bytes of code, change of line): a pair's line is that of its own code. */
static uint32_t find_pairs(const struct python_lines *lines, uint32_t instruction)
{
	uint64_t end = 0, wanted = 2ULL * instruction;
	int64_t line = lines->first_line;

	for (size_t i = 0; i + 1 < lines->size; i += 2) {
		int8_t change = (int8_t)lines->bytes[i + 1];

		end += lines->bytes[i];
		if (change != INT8_MIN)
			line += change;
		if (end > wanted)
			return change == INT8_MIN ? 0 : to_line(line);
	}
	return lines->first_line;
}

struct reader {
	const uint8_t *at, *end;
};

/* Six bits a byte, least first; bit 6: more follow. */
static uint32_t read_varint(struct reader *reader)
{
	uint32_t value = 0;
	unsigned int shift = 0;

	while (reader->at < reader->end) {
		uint8_t byte = *reader->at++;

		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int64_t read_signed(struct reader *reader)
{
	uint32_t value = read_varint(reader);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static void skip(struct reader *reader, size_t count)
{
	size_t left = (size_t)(reader->end - reader->at);

	reader->at += count < left ? count : left;
}

/* Kinds of entry: bits 3 to 6 of its first byte. */
enum {
	ENTRY_ONE_LINE = 10, /* to 12: that many lines more than the one before, and two columns */
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NONE = 15,
};

/* Entries of a first byte "1kkkklll": kind, units of code - 1. */
static uint32_t find_location(const struct python_lines *lines, uint32_t instruction)
{
	struct reader reader = {lines->bytes, lines->bytes + lines->size};
	int64_t line = lines->first_line;
	uint64_t end = 0;

	while (reader.at < reader.end) {
		uint8_t first = *reader.at++;
		unsigned int kind = first >> 3 & 15;

		end += (first & 7U) + 1;
		if (kind >= ENTRY_ONE_LINE && kind < ENTRY_NO_COLUMNS) {
			line += kind - ENTRY_ONE_LINE;
			skip(&reader, 2);
		} else if (kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG) {
			line += read_signed(&reader);
			for (int i = 0; kind == ENTRY_LONG && i < 3; i++)
				read_varint(&reader);
		} else if (kind < ENTRY_ONE_LINE) {
			skip(&reader, 1);
		}
		if (end > instruction)
			return kind == ENTRY_NONE ? 0 : to_line(line);
	}
	return lines->first_line;
}

static uint32_t find_run(const struct python_lines *lines, uint32_t instruction)
{
	size_t low = 0, high = lines->size / sizeof(struct python_line_run);
	struct python_line_run run = {0, lines->first_line};

	if (instruction)
		instruction--;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t start;

		memcpy(&start, lines->bytes + middle * sizeof(run), sizeof(start));
		if (start <= instruction)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		memcpy(&run, lines->bytes + (low - 1) * sizeof(run), sizeof(run));
	return to_line(run.line);
}

uint32_t python_lines_find(const struct python_lines *lines, uint32_t instruction)
{
	/* Without a table, bytes may be NULL. */
	if (!lines->size)
		return lines->first_line;
	if (lines->minor == PYTHON_LINES_RUNS)
		return find_run(lines, instruction);
	if (lines->minor < 10)
		return find_lnotab(lines, instruction);
	return lines->minor == 10 ? find_pairs(lines, instruction)
				  : find_location(lines, instruction);
}
