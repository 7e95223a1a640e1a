// SPDX-License-Identifier: BSD-2-Clause
/* Parses lines of perf maps, which any program may have written. */
#include "symbol/jit/perf_map.h"

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* NULL: no number, or more than 64 bits. */
static const char *parse_hex(const char *at, const char *end, uint64_t *ret)
{
	const char *start;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (start = at; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned char letter = c | 0x20;

		if (c >= '0' && c <= '9')
			c -= '0';
		else if (letter >= 'a' && letter <= 'f')
			c = (unsigned char)(letter - 'a' + 10);
		else
			break;
		if (value >> 60)
			return NULL;
		value = value << 4 | c;
	}
	if (at == start)
		return NULL;
	*ret = value;
	return at;
}

bool perf_map_parse_line(const char *line, size_t size, struct code_entry *ret_entry)
{
	const char *end = line + size;
	const char *at = skip_spaces(line, end), *after;
	uint64_t start, length;

	at = parse_hex(at, end, &start);
	if (!at)
		return false;
	after = skip_spaces(at, end);
	if (after == at)
		return false;
	at = parse_hex(after, end, &length);
	if (!at)
		return false;
	after = skip_spaces(at, end);
	/* No code object is 4 GiB; an entry that long would only hide others. */
	if (after == at || length == 0 || length > UINT32_MAX || start + length < start)
		return false;
	while (end > after && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	/* A NUL inside would hide the rest; the name ends there. */
	if (end == after || !*after)
		return false;
	*ret_entry = (struct code_entry){
		.start = start,
		.size = (uint32_t)length,
		.name = after,
		.name_size = (size_t)(end - after),
	};
	return true;
}
