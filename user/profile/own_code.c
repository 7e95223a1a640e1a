// SPDX-License-Identifier: BSD-2-Clause
/* Keeps spans of code in order. */
#include "profile/own_code.h"

#include <errno.h>
#include <string.h>

/* The first span that begins behind an address. */
static size_t behind(const struct own_code *code, uint64_t address)
{
	size_t first = 0, end = code->spans.count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (code->spans.items[middle].start <= address)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

int own_code_add(struct own_code *code, uint64_t start, uint64_t length)
{
	size_t at = behind(code, start);
	struct code_span *spans;

	if (!array_reserve(&code->spans, code->spans.count + 1))
		return -ENOMEM;
	spans = code->spans.items;
	memmove(spans + at + 1, spans + at, (code->spans.count - at) * sizeof(*spans));
	spans[at] = (struct code_span){start, start + length};
	code->spans.count++;
	return 0;
}

bool own_code_has(const struct own_code *code, uint64_t address)
{
	size_t at = behind(code, address);

	return at && address < code->spans.items[at - 1].end;
}

void own_code_done(struct own_code *code)
{
	array_free(&code->spans);
}
