// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes counted Python functions as cProfile does, for pstats, snakeviz and gprof2dot: a
 * marshalled dictionary, (file, line, name): (primitive calls, calls, tottime, cumtime, callers),
 * and callers again a dictionary of functions: (calls, calls that were none of a recursion,
 * tottime, cumtime).
 */
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/unused.h"
#include "export/formats.h"
#include "rows/python_calls.h"

/* Types of marshal's that each Python 3 reads. */
enum {
	MARSHAL_NULL = '0',
	MARSHAL_INT = 'i',
	MARSHAL_LONG = 'l',
	MARSHAL_DOUBLE = 'g',
	MARSHAL_STRING = 'u',
	MARSHAL_TUPLE = '(',
	MARSHAL_DICTIONARY = '{',
};

#define DIGIT_BITS 15 /* of a long */

/* Little-endian, whatever this machine is. */
static void put_bytes(FILE *out, uint64_t value, int count)
{
	for (int i = 0; i < count; i++)
		putc((int)(value >> 8 * i & 0xff), out);
}

static void put_number(FILE *out, uint64_t value)
{
	uint32_t digits = 0;

	if (value <= INT32_MAX) {
		putc(MARSHAL_INT, out);
		put_bytes(out, value, 4);
		return;
	}
	for (uint64_t rest = value; rest; rest >>= DIGIT_BITS)
		digits++;
	putc(MARSHAL_LONG, out);
	put_bytes(out, digits, 4);
	for (; value; value >>= DIGIT_BITS)
		put_bytes(out, value & ((1U << DIGIT_BITS) - 1), 2);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	double seconds = (double)ns / NS_PER_SECOND;
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof(bits));
	putc(MARSHAL_DOUBLE, out);
	put_bytes(out, bits, 8);
}

static void put_tuple(FILE *out, uint32_t count)
{
	putc(MARSHAL_TUPLE, out);
	put_bytes(out, count, 4);
}

/* As its first byte says; 0: none begins with it. */
static size_t bytes_after_first(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Too long, a surrogate, or beyond Unicode. */
static bool is_refused(const unsigned char *text)
{
	return (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	       (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f);
}

/* Bytes of a UTF-8 character that Python takes; 0: it is none. */
static size_t character_bytes(const unsigned char *text)
{
	size_t length = bytes_after_first(text[0]);

	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return is_refused(text) ? 0 : length;
}

/* Names are a target's: what is no UTF-8 is a question mark, or the file could not be read. */
static void put_string(FILE *out, const char *text)
{
	putc(MARSHAL_STRING, out);
	put_bytes(out, strlen(text), 4);
	while (*text) {
		size_t length = character_bytes((const unsigned char *)text);

		if (length)
			fwrite(text, 1, length, out);
		else
			putc('?', out);
		text += length ? length : 1;
	}
}

static void put_key(FILE *out, const struct python_function *function)
{
	put_tuple(out, 3);
	put_string(out, function->file[0] ? function->file : "~");
	put_number(out, function->file[0] ? function->line : 0);
	put_string(out, function->name);
}

static void put_callers(FILE *out, const struct python_calls_rows *rows, size_t first, size_t end)
{
	putc(MARSHAL_DICTIONARY, out);
	for (size_t i = first; i < end; i++) {
		const struct python_caller *caller = &rows->callers[i];

		if (caller->caller == PYTHON_CALLS_NONE)
			continue;
		put_key(out, &rows->functions[caller->caller]);
		put_tuple(out, 4);
		put_number(out, caller->calls);
		put_number(out, caller->first);
		put_seconds(out, caller->self_ns);
		put_seconds(out, caller->total_ns);
	}
	putc(MARSHAL_NULL, out);
}

static int pstats_write(struct results *results, _unused_ const struct format_options *options,
			FILE *out)
{
	struct python_calls_rows rows;
	size_t first = 0, end = 0;
	int err = python_calls_rows_make(&rows, results->profile);

	if (err)
		return err;
	putc(MARSHAL_DICTIONARY, out);
	for (size_t i = 0; i < rows.function_count; i++, first = end) {
		const struct python_function *function = &rows.functions[i];

		while (end < rows.caller_count && rows.callers[end].function == i)
			end++;
		put_key(out, function);
		put_tuple(out, 5);
		put_number(out, function->primitive);
		put_number(out, function->calls);
		put_seconds(out, function->self_ns);
		put_seconds(out, function->total_ns);
		put_callers(out, &rows, first, end);
	}
	putc(MARSHAL_NULL, out);
	python_calls_rows_done(&rows);
	return 0;
}

const struct format_ops format_pstats = {
	.file = {"pstats", ".pstats",
		 "Python functions of --python-calls for pstats, snakeviz and gprof2dot"},
	.only_stacks = true,
	.write = pstats_write,
};
