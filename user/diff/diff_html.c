// SPDX-License-Identifier: BSD-2-Clause
/* One page that opens from disk: what changed as tables, and a differential flame graph of each
 * kind, which is the document of diff_svg.c in a frame. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "diff/diff_format.h"
#include "diff/diff_tree.h"
#include "diff/diff_words.h"
#include "profile/kind_table.h"

#include "embedded/diff_page.css.h"
#include "embedded/diff_page.js.h"

/* Rows of a table before the reader asks for more with --full. */
#define ROWS_MAX       50
#define NAME_MAX_BYTES 1024

static void put_name(FILE *out, const char *name)
{
	char clean[NAME_MAX_BYTES];

	escape_markup(out, escape_terminal(clean, sizeof(clean), name));
}

static unsigned long height_of(const char *svg)
{
	const char *height = strstr(svg, " height=\"");

	return height ? strtoul(height + strlen(" height=\""), NULL, 10) : 0;
}

/* Browsers open no data: address of more than 2 MiB. */
static const char graph_script[] =
	"<script>for (const frame of document.querySelectorAll('iframe')) {\n"
	"const bytes = Uint8Array.from(atob(frame.dataset.graph), (c) => c.charCodeAt(0));\n"
	"frame.src = URL.createObjectURL(new Blob([bytes], {type: 'image/svg+xml'}));\n"
	"}</script>\n";

static int draw_graph(const struct diff_document *document, uint32_t kind, FILE *out)
{
	struct diff_document graph = *document;
	char *svg = NULL;
	size_t size;
	FILE *memory = open_memstream(&svg, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	graph.kind = kind;
	graph.icicle = true;
	err = diff_format_svg.write(&graph, memory);
	if (fclose(memory) != 0 && !err)
		err = -ENOMEM;
	if (!err) {
		/* As high as the graph, which says it first. */
		fprintf(out,
			"<div class=\"graph\"><div class=\"sides\">"
			"<iframe style=\"height:min(70vh,%lupx)\" "
			"title=\"Differential flame graph, %s\" "
			"data-graph=\"",
			height_of(svg), diff_words_title(kind));
		escape_base64(out, svg, size);
		fputs("\"></iframe></div></div>\n", out);
	}
	free(svg);
	return err;
}

/* Files without stacks have no graph. Accounts know more than samples saw: the head of a kind has
 * theirs, its graph those of the samples, and the reader is told. */
static int write_graph(const struct diff_document *document, uint32_t kind, FILE *out)
{
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE];
	struct diff_tree tree;
	int err = diff_tree_init(&tree, document->comparison, kind);
	bool has_graph;

	if (err)
		return err;
	has_graph = !tree.lacks_stacks;
	if (!has_graph)
		fputs("<p class=\"note\">No flame graph: not both sides have stacks. Recordings "
		      "(.pkbpf) and pprof have them, reports in JSON do not.</p>\n",
		      out);
	else if (tree.is_part)
		fprintf(out, "<p class=\"note\">The graph below is of stacks: %s → %s.</p>\n",
			diff_words_amount(base, kind, tree.nodes[0].total[DIFF_BASE]),
			diff_words_amount(new, kind, tree.nodes[0].total[DIFF_NEW]));
	fputs("</section>\n", out);
	diff_tree_done(&tree);
	return has_graph ? draw_graph(document, kind, out) : 0;
}

static void write_row(const struct comparison *comparison, const struct diff_row *row, FILE *out)
{
	char text[DIFF_WORDS_SIZE];

	fprintf(out, "<tr class=\"%s\"><td>%s</td><th scope=\"row\">",
		row->change > 0 ? "up" : "down", diff_words_level(row->key.level));
	put_name(out, diff_row_name(comparison, row));
	fputs("</th>", out);
	for (int side = 0; side < DIFF_SIDES; side++)
		fprintf(out, "<td>%s</td>",
			diff_words_value(text, &row->key, row->sides[side].value));
	fprintf(out, "<td class=\"change\">%s</td>", diff_words_change(text, row));
	fprintf(out, "<td>%s</td>", diff_words_interval(text, row));
	/* Regions lie within each other. */
	if (diff_level_is_calls(row->key.level))
		fputs("<td>-</td><td>-</td></tr>\n", out);
	else
		fprintf(out, "<td>%.1f</td><td>%.1f</td></tr>\n", 100 * row->sides[DIFF_BASE].share,
			100 * row->sides[DIFF_NEW].share);
}

static void write_table(const struct diff_document *document, uint32_t kind, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	size_t count = 0;

	array_foreach(&comparison->rows, row) {
		if (row->key.kind != kind || row->key.level == DIFF_STACK ||
		    row->key.level == DIFF_ALL || !diff_is_significant(row))
			continue;
		if (!count)
			fputs("<table><caption>Significant changes</caption><thead><tr>"
			      "<th scope=\"col\">What</th><th scope=\"col\">Name</th>"
			      "<th scope=\"col\">Base</th><th scope=\"col\">New</th>"
			      "<th scope=\"col\">Change</th><th scope=\"col\">Interval</th>"
			      "<th scope=\"col\">Base, %</th><th scope=\"col\">New, %</th>"
			      "</tr></thead><tbody>\n",
			      out);
		if (count++ < ROWS_MAX || document->full)
			write_row(comparison, row, out);
	}
	if (count)
		fputs("</tbody></table>\n", out);
	if (count > ROWS_MAX && !document->full)
		fprintf(out, "<p>… and %zu more (--full).</p>\n", count - ROWS_MAX);
	if (!count)
		fputs("<p>No significant change.</p>\n", out);
}

static int write_kind(const struct diff_document *document, uint32_t kind, FILE *out)
{
	const struct comparison *comparison = document->comparison;
	const char *title = diff_words_title(kind);
	const struct diff_row *all =
		comparison_find(comparison, &(struct diff_key){kind, DIFF_ALL, 0});
	char base[DIFF_WORDS_SIZE], new[DIFF_WORDS_SIZE], change[DIFF_WORDS_SIZE];

	fprintf(out, "<section aria-labelledby=\"kind%u\"><h2 id=\"kind%u\">%s</h2>\n", kind, kind,
		title);
	if (all)
		fprintf(out, "<p>In all %s → %s, <b>%s</b>%s.</p>\n",
			diff_words_amount(base, kind, all->sides[DIFF_BASE].value),
			diff_words_amount(new, kind, all->sides[DIFF_NEW].value),
			diff_words_change(change, all),
			diff_is_significant(all)	? ""
			: all->verdict == DIFF_UNJUDGED ? ", not judged"
							: ", no significant change");
	write_table(document, kind, out);
	return write_graph(document, kind, out);
}

static void write_head(const struct diff_document *document, FILE *out)
{
	static const char *const labels[] = {"Base", "New"};
	const struct comparison *comparison = document->comparison;
	char text[2048], notes[DIFF_NOTES_MAX][512];
	size_t count = diff_words_notes(comparison, notes);

	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<title>Comparison of profiles</title>\n<style>\n%s</style></head>\n<body><main>"
		"<h1>Comparison of profiles</h1>\n<dl>",
		diff_page_css);
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_words_side(text, sizeof(text), comparison->sides[side],
				document->titles[side]);
		fprintf(out, "<dt>%s</dt><dd>", labels[side]);
		put_name(out, text);
		fputs("</dd>\n", out);
	}
	fputs("<dt>Values</dt><dd>per ", out);
	put_name(out, diff_words_per(&comparison->work));
	fprintf(out, "%s</dd></dl>\n", diff_words_per_call(comparison));
	for (size_t i = 0; i < count; i++) {
		fputs("<p class=\"note\">", out);
		put_name(out, notes[i]);
		fputs("</p>\n", out);
	}
	for (size_t i = 0; i < document->condition_count; i++) {
		fprintf(out, "<p class=\"%s\">",
			document->conditions[i].outcome == DIFF_CONDITION_PASSED ? "passed"
										 : "failed");
		put_name(out, document->conditions[i].sentence);
		fputs("</p>\n", out);
	}
}

static int html_write(const struct diff_document *document, FILE *out)
{
	int err = 0;

	write_head(document, out);
	for (uint32_t kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (document->comparison->kinds_mask & 1U << kind)
			err = write_kind(document, kind, out);
	fputs(graph_script, out);
	fprintf(out, "</main>\n<script>\n%s</script></body></html>\n", diff_page_js);
	return err;
}

const struct diff_format_ops diff_format_html = {
	.file = {"html", ".html",
		 "page with tables and differential flame graphs, also side by side"},
	.write = html_write,
};
