// SPDX-License-Identifier: BSD-2-Clause
/* A differential flame graph: both sides in one picture, each frame as wide as base and new
 * together, so that what vanished has its place; coloured by significant change. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "diff/diff_format.h"
#include "diff/diff_tree.h"
#include "diff/diff_words.h"
#include "export/graph/frame_label.h"
#include "profile/kind_table.h"

#include "embedded/diff_graph.css.h"
#include "embedded/diff_graph.js.h"
#include "embedded/flame_graph.css.h"
#include "embedded/flame_graph.js.h"

/* User units, as in the flame graph of one profile. */
#define WIDTH	       1200
#define ROW	       20
#define HEADER	       104
#define FOOTER	       10
#define NARROWEST      0.3
#define COLUMN	       6.63
#define TEXT_SPACE     6
#define NAME_MAX_BYTES 1024
#define TITLE_COLUMNS  140

struct graph {
	const struct diff_document *document;
	const struct comparison *comparison;
	const struct diff_tree *tree;
	uint32_t deepest;
	FILE *out;
};

static double share_of(const struct graph *graph, const struct diff_node *node)
{
	double all = diff_node_weight(graph->tree->nodes);

	return node == graph->tree->nodes ? 1 : all > 0 ? diff_node_weight(node) / all : 0;
}

static bool is_drawn(const struct graph *graph, const struct diff_node *node)
{
	return share_of(graph, node) * WIDTH >= NARROWEST;
}

static const char *class_of(const struct diff_node *node)
{
	static const char *const classes[] = {
		[DIFF_COLOUR_SAME] = "same",	   [DIFF_COLOUR_GREW] = "up1",
		[DIFF_COLOUR_GREW_MUCH] = "up2",   [DIFF_COLOUR_SHRANK] = "dn1",
		[DIFF_COLOUR_SHRANK_MUCH] = "dn2",
	};

	return node->depth ? classes[node->colour] : "root";
}

static void print_change(const struct graph *graph, const struct diff_node *node)
{
	double base = node->total[DIFF_BASE], new = node->total[DIFF_NEW];
	uint32_t kind = graph->document->kind;
	char left[DIFF_WORDS_SIZE], right[DIFF_WORDS_SIZE];

	fprintf(graph->out, "base %s, new %s per ", diff_words_amount(left, kind, base),
		diff_words_amount(right, kind, new));
	escape_markup(graph->out, diff_words_per(&graph->comparison->work));
	if (base > 0 && new > 0)
		fprintf(graph->out, ", %+.1f %%", 100 * (new / base - 1));
	else
		fputs(base > 0 ? ", vanished" : ", new", graph->out);
	if (node->depth && node->colour == DIFF_COLOUR_SAME)
		fputs(", no significant change", graph->out);
}

/* Place and width of a frame: of 1. x of both sides together, then of each. */
struct span {
	double x, side_x[DIFF_SIDES];
};

static double side_share(const struct graph *graph, const struct diff_node *node, int side)
{
	double all = graph->tree->nodes->total[side];

	return all > 0 ? node->total[side] / all : 0;
}

static void print_frame(const struct graph *graph, const struct diff_node *node,
			const struct span *span)
{
	double width = share_of(graph, node), columns = (width * WIDTH - TEXT_SPACE) / COLUMN;
	uint32_t row = graph->document->icicle ? node->depth : graph->deepest - node->depth;
	char name[NAME_MAX_BYTES], label[NAME_MAX_BYTES + 8];

	escape_terminal(name, sizeof(name),
			node->depth ? string_pool_get(graph->comparison->names->texts, node->text)
				    : "all");
	frame_label(label, sizeof(label), name, columns > 0 ? (size_t)columns : 0);
	fprintf(graph->out,
		"<svg class=\"%s%s%s\" x=\"%.4f%%\" y=\"%" PRIu32 "\" width=\"%.4f%%\" "
		"height=\"%d\" data-base=\"%.3f %.3f\" data-new=\"%.3f %.3f\" "
		"tabindex=\"-1\"><title>",
		class_of(node), node->is_new ? " fresh" : "", node->is_gone ? " gone" : "",
		span->x * 100, HEADER + row * ROW, width * 100, ROW - 1,
		span->side_x[DIFF_BASE] * 100, side_share(graph, node, DIFF_BASE) * 100,
		span->side_x[DIFF_NEW] * 100, side_share(graph, node, DIFF_NEW) * 100);
	escape_markup(graph->out, name);
	fputc('\n', graph->out);
	print_change(graph, node);
	fputs("</title><rect width=\"100%\" height=\"100%\"/><text x=\"3\" y=\"13\">", graph->out);
	escape_markup(graph->out, label);
	fputs("</text></svg>\n", graph->out);
}

static void find_deepest(struct graph *graph)
{
	for (size_t i = 0; i < graph->tree->count;) {
		const struct diff_node *node = &graph->tree->nodes[i];

		if (!is_drawn(graph, node)) {
			i = node->end;
			continue;
		}
		if (node->depth > graph->deepest)
			graph->deepest = node->depth;
		i++;
	}
}

/* Siblings stand side by side from where their caller begins. */
static int print_frames(const struct graph *graph)
{
	_cleanup_free_ struct span *next = calloc(graph->deepest + 2, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < graph->tree->count;) {
		const struct diff_node *node = &graph->tree->nodes[i];
		struct span span = next[node->depth];

		next[node->depth].x += share_of(graph, node);
		for (int side = 0; side < DIFF_SIDES; side++)
			next[node->depth].side_x[side] += side_share(graph, node, side);
		if (!is_drawn(graph, node)) {
			i = node->end;
			continue;
		}
		next[node->depth + 1] = span;
		print_frame(graph, node, &span);
		i++;
	}
	return 0;
}

/* "CPU, base 1.02 s, new 1.11 s per run, +8.8 %". Where that is not all that was counted, it is
 * said what it is. */
static void print_heading(const struct graph *graph)
{
	const char *title = kind_ops_of((enum pkbpf_profile_kind)graph->document->kind)->title;

	if (graph->tree->lacks_stacks) {
		fprintf(graph->out, "%s: not both sides have stacks to compare", title);
		return;
	}
	fprintf(graph->out, "%s%s, ", title, graph->tree->is_part ? " in stacks" : "");
	print_change(graph, graph->tree->nodes);
}

static void print_legend(const struct graph *graph)
{
	static const struct {
		const char *name, *text;
		int columns;
	} keys[] = {
		{"up2", "grew over 3×", 115},
		{"up1", "grew", 70},
		{"same", "no significant change", 160},
		{"dn1", "shrank", 75},
		{"dn2", "shrank over 3×", 125},
		{"gone", "vanished", 85},
		{"fresh", "new", 60},
	};
	int x = 10;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		fprintf(graph->out,
			"<rect class=\"key %s\" x=\"%d\" y=\"67\" width=\"10\" height=\"10\"/>"
			"<text class=\"line\" x=\"%d\" y=\"76\">%s</text>\n",
			keys[i].name, x, x + 15, keys[i].text);
		x += keys[i].columns;
	}
	fprintf(graph->out,
		"<text class=\"line\" id=\"width\" x=\"%d\" y=\"76\">width: base + new</text>\n",
		x);
}

static void print_head(const struct graph *graph)
{
	static const char *const labels[] = {"base: ", "new: "};
	char text[2048], clean[2048], label[1024];

	fprintf(graph->out,
		"<g id=\"head\"><rect class=\"page\" width=\"100%%\" height=\"%d\"/>\n"
		"<text class=\"title\" x=\"10\" y=\"22\">",
		HEADER - 2);
	print_heading(graph);
	fputs("</text>\n", graph->out);
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff_words_side(text, sizeof(text), graph->comparison->sides[side],
				graph->document->titles[side]);
		escape_terminal(clean, sizeof(clean), text);
		frame_label(label, sizeof(label), clean, TITLE_COLUMNS);
		fprintf(graph->out, "<text class=\"line\" x=\"10\" y=\"%d\">%s", 40 + 16 * side,
			labels[side]);
		escape_markup(graph->out, label);
		fputs("</text>\n", graph->out);
	}
	print_legend(graph);
	fputs("<text class=\"line\" id=\"status\" role=\"status\" x=\"10\" y=\"96\"/>\n"
	      "<text class=\"line\" id=\"share\" role=\"status\" x=\"100%\" dx=\"-10\" y=\"96\" "
	      "text-anchor=\"end\"/>\n</g>\n",
	      graph->out);
}

static void print_description(const struct graph *graph)
{
	char change[DIFF_WORDS_SIZE], name[NAME_MAX_BYTES];
	size_t count = 0;

	fputs("<desc>Functions that changed: ", graph->out);
	array_foreach(&graph->comparison->rows, row) {
		if (row->key.kind != graph->document->kind || row->key.level != DIFF_SELF ||
		    !diff_is_significant(row) || count == 10)
			continue;
		fputs(count++ ? ", " : "", graph->out);
		escape_markup(graph->out, escape_terminal(name, sizeof(name),
							  diff_row_name(graph->comparison, row)));
		fprintf(graph->out, " %s", diff_words_change(change, row));
	}
	fputs(count ? ".</desc>\n" : "none.</desc>\n", graph->out);
}

static int print_document(const struct graph *graph)
{
	uint32_t height = HEADER + (graph->deepest + 1) * ROW + FOOTER;
	int err;

	fprintf(graph->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
		"\" viewBox=\"0 0 %d %" PRIu32
		"\" role=\"img\"%s>\n<title>Differential flame graph: ",
		WIDTH, height, WIDTH, height, graph->document->icicle ? " data-icicle=\"1\"" : "");
	print_heading(graph);
	fputs("</title>\n", graph->out);
	print_description(graph);
	fprintf(graph->out,
		"<style>\n%s%s</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
		"<g id=\"frames\">\n",
		flame_graph_css, diff_graph_css);
	err = print_frames(graph);
	if (err)
		return err;
	fputs("</g>\n", graph->out);
	print_head(graph);
	fprintf(graph->out, "<script>//<![CDATA[\n%s%s//]]></script>\n</svg>\n", flame_graph_js,
		diff_graph_js);
	return 0;
}

static int svg_write(const struct diff_document *document, FILE *out)
{
	struct diff_tree tree;
	struct graph graph = {
		.document = document,
		.comparison = document->comparison,
		.tree = &tree,
		.out = out,
	};
	int err = diff_tree_init(&tree, document->comparison, document->kind);

	if (err)
		return err;
	find_deepest(&graph);
	err = print_document(&graph);
	diff_tree_done(&tree);
	return err;
}

const struct diff_format_ops diff_format_svg = {
	.file = {"svg", ".svg", "differential flame graph"},
	.one_kind = true,
	.write = svg_write,
};
