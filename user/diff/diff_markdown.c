// SPDX-License-Identifier: BSD-2-Clause
/* A comment for a merge request: conditions, and tables of what changed. */
#include <string.h>

#include "base/escape.h"
#include "diff/diff_format.h"
#include "diff/diff_words.h"
#include "profile/kind_table.h"

#define ROWS_MAX 20

static void write_row(const struct comparison *comparison, const struct diff_row *row, FILE *out)
{
	char text[DIFF_WORDS_SIZE];

	fprintf(out, "| %s | ", diff_words_level(row->key.level));
	escape_markdown_code(out, diff_row_name(comparison, row));
	for (int side = 0; side < DIFF_SIDES; side++)
		fprintf(out, " | %s", diff_words_value(text, &row->key, row->sides[side].value));
	fprintf(out, " | **%s**", diff_words_change(text, row));
	fprintf(out, " | %s", diff_words_interval(text, row));
	fprintf(out, " | %s |\n", diff_words_share(text, row));
}

static void write_kind(const struct diff_document *document, uint32_t kind, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	const struct diff_row *all =
		comparison_find(comparison, &(struct diff_key){kind, DIFF_ALL, 0});
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE], change[DIFF_WORDS_SIZE];
	size_t count = 0;

	fprintf(out, "\n### %s\n\n", diff_words_title(kind));
	if (all)
		fprintf(out, "In all %s → %s, %s%s\n\n",
			diff_words_amount(base, kind, all->sides[DIFF_BASE].value),
			diff_words_amount(new, kind, all->sides[DIFF_NEW].value),
			diff_words_change(change, all),
			diff_is_significant(all) ? "" : " (no significant change)");
	array_foreach(&comparison->rows, row) {
		if (row->key.kind != kind || row->key.level == DIFF_STACK ||
		    row->key.level == DIFF_ALL || !diff_is_significant(row))
			continue;
		if (!count)
			fputs("| what | name | base | new | change | interval | share |\n"
			      "|---|---|--:|--:|--:|--:|--:|\n",
			      out);
		if (count++ < ROWS_MAX || document->full)
			write_row(comparison, row, out);
	}
	if (!count)
		fputs("No significant change.\n", out);
	else if (count > ROWS_MAX && !document->full)
		fprintf(out, "\n… and %zu more.\n", count - ROWS_MAX);
}

static int markdown_write(const struct diff_document *document, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	char text[2048], notes[DIFF_NOTES_MAX][512];
	size_t count = diff_words_notes(comparison, notes);

	fprintf(out, "## Profile: base against new, per %s%s\n\n",
		diff_words_per(&comparison->work), diff_words_per_call(comparison));
	for (size_t i = 0; i < document->condition_count; i++) {
		const struct diff_condition_result *result = &document->conditions[i];

		fputs(result->outcome == DIFF_CONDITION_PASSED ? "- passed: "
		      : result->outcome == DIFF_CONDITION_HELD ? "- **failed**: "
							       : "- **not checked**: ",
		      out);
		escape_markdown_code(out, result->sentence);
		fputc('\n', out);
	}
	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (comparison->kinds_mask & 1U << kind)
			write_kind(document, kind, out);
	fputs("\n<sub>", out);
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_words_side(text, sizeof(text), comparison->sides[side],
				document->titles[side]);
		fputs(side ? "<br>new " : "base ", out);
		escape_markup(out, text);
	}
	for (size_t i = 0; i < count; i++) {
		fputs("<br>", out);
		escape_markup(out, notes[i]);
	}
	fputs("</sub>\n", out);
	return 0;
}

const struct diff_format_ops diff_format_markdown = {
	.file = {"markdown", ".md", "conditions and significant changes, for a comment"},
	.write = markdown_write,
};
