// SPDX-License-Identifier: BSD-2-Clause
/* Differential folded stacks, as difffolded.pl writes them: "stack before after". */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_format.h"
#include "export/folded_frame.h"
#include "profile/kind_table.h"

#define FRAME_SIZE 1100

struct line {
	char *stack;
	uint64_t sides[DIFF_SIDES];
};

static char *stack_text(const struct comparison *comparison, uint32_t stack)
{
	size_t count, size;
	const uint32_t *texts = stack_table_get(comparison->names->stacks, stack, &count);
	char *text = NULL, frame[FRAME_SIZE];
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		folded_frame(frame, sizeof(frame),
			     string_pool_get(comparison->names->texts, texts[i]));
		for (char *c = frame; !i && *c; c++)
			if (*c == ' ')
				*c = '_';
		/* inferno drops a line that begins with '#' as a comment. */
		if (!i && frame[0] == '#')
			frame[0] = '_';
		fprintf(out, "%s%s", i ? ";" : "", frame);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Sums over the intervals, of levels their mean, in the unit of folded stacks. */
static uint64_t amount_of(const struct comparison *comparison, const struct diff_row *row, int side)
{
	const struct diff_series *series = measurement_find(comparison->sides[side], &row->key);
	double sum = 0, count = 0;

	for (size_t i = 0; series && i < series->values.count; i++) {
		sum += series->values.items[i].value;
		count += series->values.items[i].count;
	}
	if (kind_ops_of((enum pkbpf_profile_kind)row->key.kind)->is_level)
		return (uint64_t)row->sides[side].value;
	if (row->key.kind == PKBPF_PROFILE_CPU)
		return (uint64_t)count;
	return profile_kind_folded((enum pkbpf_profile_kind)row->key.kind, (uint64_t)sum);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->stack, ((const struct line *)right)->stack);
}

/* Stacks may read alike once they are cleaned. */
static size_t join_equal(struct line *lines, size_t count)
{
	size_t joined = 0;

	for (size_t i = 0; i < count; i++) {
		if (joined && strcmp(lines[joined - 1].stack, lines[i].stack) == 0) {
			for (int side = 0; side < DIFF_SIDES; side++)
				lines[joined - 1].sides[side] += lines[i].sides[side];
			free(lines[i].stack);
		} else {
			lines[joined++] = lines[i];
		}
	}
	return joined;
}

static int folded_write(const struct diff_document *document, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	struct line *lines = calloc(comparison->rows.count + 1, sizeof(*lines));
	size_t count = 0;
	int err = lines ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < comparison->rows.count; i++) {
		const struct diff_row *row = &comparison->rows.items[i];

		if (row->key.kind != document->kind || row->key.level != DIFF_STACK)
			continue;
		lines[count].stack = stack_text(comparison, row->key.name);
		for (int side = 0; side < DIFF_SIDES; side++)
			lines[count].sides[side] = amount_of(comparison, row, side);
		if (!lines[count++].stack)
			err = -ENOMEM;
	}
	if (!err && count) {
		qsort(lines, count, sizeof(*lines), compare_lines);
		count = join_equal(lines, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (!err && (lines[i].sides[DIFF_BASE] || lines[i].sides[DIFF_NEW]))
			fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", lines[i].stack,
				lines[i].sides[DIFF_BASE], lines[i].sides[DIFF_NEW]);
		free(lines[i].stack);
	}
	free(lines);
	return err;
}

const struct diff_format_ops diff_format_folded = {
	.file = {"folded", ".folded", "stacks with both values, for flamegraph.pl"},
	.one_kind = true,
	.write = folded_write,
};
