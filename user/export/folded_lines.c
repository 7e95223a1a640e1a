// SPDX-License-Identifier: BSD-2-Clause
#include "export/folded_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/string_pool.h"
#include "profile/kind_table.h"
#include "profile/stack_table.h"

struct folded_line {
	uint32_t stack; /* in folded_lines.stacks */
	uint64_t weight;
	uint64_t value; /* weight in the unit of the kind */
};

struct folded_lines {
	const struct string_pool *texts;
	struct stack_table *stacks;	    /* root first, of text ids */
	ARRAY_OF(struct folded_line) items; /* number = stack id, until sorted */
	ARRAY_OF(uint32_t) ranks; /* of texts, in the order of their bytes and a separator */
};

struct folded_lines *folded_lines_new(const struct string_pool *texts)
{
	struct folded_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->texts = texts;
	lines->stacks = stack_table_new();
	if (!lines->stacks) {
		free(lines);
		return NULL;
	}
	return lines;
}

void folded_lines_free(struct folded_lines *lines)
{
	if (!lines)
		return;
	stack_table_free(lines->stacks);
	array_free(&lines->items);
	array_free(&lines->ranks);
	free(lines);
}

bool folded_lines_add(struct folded_lines *lines, const uint32_t *texts, size_t count,
		      uint64_t weight)
{
	uint32_t stack = stack_table_add(lines->stacks, texts, count);

	if (stack == STACK_TABLE_NONE)
		return false;
	if (stack == lines->items.count) {
		struct folded_line *line = array_add(&lines->items);

		if (!line)
			return false;
		line->stack = stack;
	}
	lines->items.items[stack].weight += weight;
	return true;
}

/* Reads a line byte by byte without building it. */
struct line_reader {
	const struct folded_lines *lines;
	const uint32_t *texts;
	size_t left;
	const char *at;
	uint64_t number;
	char value[24];
	bool in_value;
};

static void reader_begin(struct line_reader *reader, const struct folded_lines *lines,
			 const struct folded_line *line)
{
	reader->lines = lines;
	reader->texts = stack_table_get(lines->stacks, line->stack, &reader->left);
	reader->at = NULL;
	reader->in_value = false;
	reader->number = line->value;
}

/* Skips texts that both lines share; they begin as whole texts. */
static void readers_skip_equal(struct line_reader *a, struct line_reader *b)
{
	while (a->left && b->left && *a->texts == *b->texts) {
		a->texts++;
		a->left--;
		b->texts++;
		b->left--;
	}
}

static int reader_next(struct line_reader *reader)
{
	if (reader->at && *reader->at)
		return (unsigned char)*reader->at++;
	if (reader->in_value)
		return -1;
	if (reader->left) {
		bool first = !reader->at;

		reader->at = string_pool_get(reader->lines->texts, *reader->texts);
		reader->texts++;
		reader->left--;
		return first ? (unsigned char)*reader->at++ : ';';
	}
	reader->in_value = true;
	snprintf(reader->value, sizeof(reader->value), " %" PRIu64, reader->number);
	reader->at = reader->value;
	return (unsigned char)*reader->at++;
}

/* Texts in the order that lines have by them where more follows on both: "a;" stands behind "a
 * b;". */
static int compare_texts(const void *left, const void *right, void *context)
{
	const struct folded_lines *lines = context;
	const char *a = string_pool_get(lines->texts, *(const uint32_t *)left);
	const char *b = string_pool_get(lines->texts, *(const uint32_t *)right);

	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (*a ? (unsigned char)*a : ';') - (*b ? (unsigned char)*b : ';');
}

static bool rank_texts(struct folded_lines *lines)
{
	uint32_t count = (uint32_t)string_pool_count(lines->texts);
	_cleanup_free_ uint32_t *sorted = malloc(count * sizeof(*sorted));

	if (!sorted || !array_reserve(&lines->ranks, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), compare_texts, lines);
	for (uint32_t i = 0; i < count; i++)
		lines->ranks.items[sorted[i]] = i;
	lines->ranks.count = count;
	return true;
}

/* The order of `sort` in the C locale over the finished lines. */
static int compare_lines(const void *left, const void *right, void *context)
{
	struct line_reader a, b;
	int byte_a, byte_b;

	reader_begin(&a, context, left);
	reader_begin(&b, context, right);
	readers_skip_equal(&a, &b);
	/* A line that is done while the other goes on has its number where the other has a
	 * separator. */
	if (!a.left != !b.left)
		return a.left ? 1 : -1;
	/* Most differ in texts that are no line's last: the same byte follows both. */
	if (a.left > 1 && b.left > 1) {
		const uint32_t *ranks = ((const struct folded_lines *)context)->ranks.items;

		return ranks[*a.texts] < ranks[*b.texts] ? -1 : 1;
	}
	do {
		byte_a = reader_next(&a);
		byte_b = reader_next(&b);
	} while (byte_a == byte_b && byte_a >= 0);
	return byte_a < byte_b ? -1 : byte_a > byte_b;
}

/* A line's bytes, kept for the next one: in sorted order neighbours begin alike. */
struct line_text {
	const struct folded_lines *lines;
	ARRAY_OF(char) bytes;
	ARRAY_OF(size_t) ends; /* of each text and what separates it from the next one */
	const uint32_t *texts;
};

static void line_text_done(struct line_text *text)
{
	array_free(&text->bytes);
	array_free(&text->ends);
}

static bool line_text_build(struct line_text *text, const struct folded_line *line)
{
	size_t count, same = 0;
	const uint32_t *texts = stack_table_get(text->lines->stacks, line->stack, &count);

	while (same < text->ends.count && same < count && text->texts[same] == texts[same])
		same++;
	text->texts = texts;
	text->ends.count = same;
	text->bytes.count = same ? text->ends.items[same - 1] : 0;
	if (!array_reserve(&text->ends, count))
		return false;
	for (size_t i = same; i < count; i++) {
		const char *string = string_pool_get(text->lines->texts, texts[i]);
		size_t length = strlen(string), at = text->bytes.count;

		if (!array_reserve(&text->bytes, at + length + 1))
			return false;
		memcpy(&text->bytes.items[at], string, length);
		text->bytes.items[at + length] = ';';
		text->bytes.count = at + length + 1;
		text->ends.items[text->ends.count++] = text->bytes.count;
	}
	return true;
}

static void write_line(const struct line_text *text, uint64_t value, FILE *out)
{
	fwrite_unlocked(text->bytes.items, 1, text->bytes.count - 1, out);
	fprintf(out, " %" PRIu64 "\n", value);
}

bool folded_lines_write(struct folded_lines *lines, enum pkbpf_profile_kind kind, FILE *out)
{
	_cleanup_(line_text_done) struct line_text text = {.lines = lines};

	array_foreach(&lines->items, line)
		line->value = profile_kind_folded(kind, line->weight);
	if (!rank_texts(lines))
		return false;
	if (lines->items.count)
		qsort_r(lines->items.items, lines->items.count, sizeof(*lines->items.items),
			compare_lines, lines);
	array_foreach(&lines->items, line) {
		/* Less than half a unit: readers want positive numbers. */
		if (!line->value)
			continue;
		if (!line_text_build(&text, line))
			return false;
		write_line(&text, line->value, out);
	}
	return true;
}
