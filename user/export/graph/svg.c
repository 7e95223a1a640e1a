// SPDX-License-Identifier: BSD-2-Clause
// Draws a flame graph: one SVG file that stands alone, complete without its script.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "export/formats.h"
#include "export/graph/frame_label.h"
#include "profile/call_tree.h"
#include "profile/kind_table.h"
#include "rows/human.h"

#include "embedded/flame_graph.css.h"
#include "embedded/flame_graph.js.h"

DEFINE_CLEANUP(struct function_table *, function_table_free)
DEFINE_CLEANUP(struct call_tree *, call_tree_free)

/* User units; a script widens the picture to the window's width, where frames are shares of it. */
#define WIDTH	   1200
#define ROW	   20
#define HEADER	   68
#define FOOTER	   10
#define NARROWEST  0.3	/* a frame that is drawn */
#define COLUMN	   6.63 /* of a character in the font of the frames, which is a monospaced one */
#define TEXT_SPACE 6
/* Names of C++ functions grow without bound. */
#define NAME_MAX_BYTES 1024
#define HOTTEST	       10
#define PLACE_COLUMNS  72

struct graph {
	const struct call_tree *tree;
	const struct call_node *nodes;
	size_t count;
	const struct format_options *options;
	uint32_t deepest; /* of the nodes that are drawn */
	FILE *out;
};

static double share_of(const struct graph *graph, const struct call_node *node)
{
	if (node == graph->nodes)
		return 1;
	return graph->nodes[0].total ? (double)node->total / (double)graph->nodes[0].total : 0;
}

static bool is_drawn(const struct graph *graph, const struct call_node *node)
{
	return share_of(graph, node) * WIDTH >= NARROWEST;
}

static const char *class_of(const struct graph *graph, const struct call_node *node)
{
	const struct function *function = call_tree_function(graph->tree, node);

	if (!function)
		return "root";
	switch (function->mark) {
	case FUNCTION_KERNEL:
		return function->named ? "kernel" : "unresolved";
	case FUNCTION_INLINED:
		return "inlined";
	case FUNCTION_JIT:
		return function->named ? "jit" : "unresolved";
	case FUNCTION_PYTHON:
		return "python";
	case FUNCTION_TRUNCATED:
		return "truncated";
	case FUNCTION_PLAIN:
		break;
	}
	return function->named ? "native" : "unresolved";
}

static char *clean_name(char buffer[NAME_MAX_BYTES], const struct graph *graph,
			const struct call_node *node)
{
	return escape_terminal(buffer, NAME_MAX_BYTES, call_tree_name(graph->tree, node));
}

/* "1,234 samples" or "1.23 s" */
static void print_weight(const struct graph *graph, uint64_t weight)
{
	const struct kind_ops *kind = kind_ops_of(graph->options->kind);
	char text[HUMAN_SIZE];

	if (kind_has_measure(kind))
		fputs(human_weight(text, graph->options->kind, weight), graph->out);
	else
		fputs(human_counted(text, weight, kind->count_unit), graph->out);
}

/* "<0.1%" among them */
static void print_share(const struct graph *graph, uint64_t weight)
{
	char text[HUMAN_SIZE];

	escape_markup(graph->out, human_share(text, weight, graph->nodes[0].total));
}

/* The tool tip: name, place in the source, value, share. */
static void print_title(const struct graph *graph, const struct call_node *node, const char *name)
{
	const struct function *function = call_tree_function(graph->tree, node);

	fputs("<title>", graph->out);
	escape_markup(graph->out, name);
	fputc('\n', graph->out);
	if (function && function->file[0]) {
		escape_markup(graph->out, function->file);
		fprintf(graph->out, ":%" PRIu32 "\n", function->line);
	} else if (function && function->module[0]) {
		escape_markup(graph->out, function->module);
		fputc('\n', graph->out);
	}
	print_weight(graph, node->total);
	fputs(" (", graph->out);
	print_share(graph, node->total);
	fputs(")", graph->out);
	if (node->self && node->self != node->total) {
		fputs(", self ", graph->out);
		print_share(graph, node->self);
	}
	fputs("</title>", graph->out);
}

static void print_frame(const struct graph *graph, const struct call_node *node, double x)
{
	double width = share_of(graph, node);
	uint32_t row = graph->options->icicle ? node->depth : graph->deepest - node->depth;
	double columns = (width * WIDTH - TEXT_SPACE) / COLUMN;
	char name[NAME_MAX_BYTES], label[NAME_MAX_BYTES + 8];

	clean_name(name, graph, node);
	frame_label(label, sizeof(label), name, columns > 0 ? (size_t)columns : 0);
	fprintf(graph->out,
		"<svg class=\"%s\" x=\"%.4f%%\" y=\"%" PRIu32 "\" width=\"%.4f%%\" "
		"height=\"%d\" tabindex=\"-1\">",
		class_of(graph, node), x * 100, HEADER + row * ROW, width * 100, ROW - 1);
	print_title(graph, node, name);
	fputs("<rect width=\"100%\" height=\"100%\"/><text x=\"3\" y=\"13\">", graph->out);
	escape_markup(graph->out, label);
	fputs("</text></svg>\n", graph->out);
}

static void find_deepest(struct graph *graph)
{
	for (size_t i = 0; i < graph->count;) {
		const struct call_node *node = &graph->nodes[i];

		if (!is_drawn(graph, node)) {
			i = node->end;
			continue;
		}
		if (node->depth > graph->deepest)
			graph->deepest = node->depth;
		i++;
	}
}

/* Siblings stand side by side from where their caller begins. 0 or -ENOMEM. */
static int print_frames(const struct graph *graph)
{
	/* by depth: where the next node begins */
	_cleanup_free_ double *next = calloc(graph->deepest + 2, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < graph->count;) {
		const struct call_node *node = &graph->nodes[i];
		double x = next[node->depth];

		next[node->depth] += share_of(graph, node);
		if (!is_drawn(graph, node)) {
			i = node->end;
			continue;
		}
		next[node->depth + 1] = x;
		print_frame(graph, node, x);
		i++;
	}
	return 0;
}

/* What it has of its own. The leaves of a reversed graph stand beside its root. */
static uint64_t self_of(const struct graph *graph, const struct call_node *node)
{
	if (!graph->options->reverse)
		return node->self;
	return node->depth == 1 ? node->total : 0;
}

struct hot_function {
	uint32_t function;
	uint64_t self;
};

static int compare_hot(const void *left, const void *right)
{
	const struct hot_function *a = left, *b = right;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* For readers that cannot see the picture. 0 or -ENOMEM. */
static int print_hottest(const struct graph *graph, const struct function_table *functions)
{
	size_t count = function_table_count(functions);
	_cleanup_free_ struct hot_function *hot = calloc(count + 1, sizeof(*hot));
	char name[NAME_MAX_BYTES];

	if (!hot)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		hot[i].function = (uint32_t)i;
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].type == CALL_NODE_FUNCTION)
			hot[graph->nodes[i].item].self += self_of(graph, &graph->nodes[i]);
	qsort(hot, count, sizeof(*hot), compare_hot);
	fprintf(graph->out, "<desc>%s with the largest share of their own: ",
		graph->options->modules ? "Modules" : "Functions");
	for (size_t i = 0; i < count && i < HOTTEST && hot[i].self; i++) {
		const char *whole = function_table_get(functions, hot[i].function)->name;

		fputs(i ? ", " : "", graph->out);
		escape_markup(graph->out, escape_terminal(name, sizeof(name), whole));
		fputc(' ', graph->out);
		print_share(graph, hot[i].self);
	}
	fputs(".</desc>\n", graph->out);
	return 0;
}

/* "CPU, 2,970 samples at 99 Hz in 30.0 s" */
static void print_heading(const struct graph *graph, const struct profile_info *info)
{
	char text[HUMAN_SIZE];

	fprintf(graph->out, "%s, ", kind_ops_of(graph->options->kind)->title);
	print_weight(graph, graph->nodes[0].total);
	if (graph->options->kind == PKBPF_PROFILE_CPU && info->frequency_hz)
		fprintf(graph->out, " at %" PRIu32 " Hz", info->frequency_hz);
	if (info->end_ns > info->start_ns)
		fprintf(graph->out, " in %s", human_time(text, info->end_ns - info->start_ns));
	if (graph->options->modules)
		fputs(", by module", graph->out);
	if (graph->options->reverse)
		fputs(", reversed: leaves with their callers", graph->out);
}

/* ", from 2026-03-01 12:00:05 UTC", in a line of its own only where the place is not known. */
static void print_time(const struct graph *graph, const struct profile_info *info, bool is_first)
{
	time_t seconds = (time_t)(info->start_unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char start[64];

	if (info->start_unix_ns > 0 && gmtime_r(&seconds, &calendar) &&
	    strftime(start, sizeof(start), "%Y-%m-%d %H:%M:%S", &calendar))
		fprintf(graph->out, "%sfrom %s UTC", is_first ? "" : ", ", start);
}

/* "pid 812 on db-3"; a command can be as long as it likes. */
static void print_place(const struct graph *graph, const struct profile_info *info)
{
	char clean[sizeof(info->targets)], label[sizeof(info->targets) + 8];

	escape_terminal(clean, sizeof(clean), info->targets);
	frame_label(label, sizeof(label), clean, PLACE_COLUMNS);
	escape_markup(graph->out, label);
	if (info->host[0]) {
		fputs(label[0] ? " on " : "", graph->out);
		escape_markup(graph->out, info->host);
	}
	print_time(graph, info, !label[0] && !info->host[0]);
}

static void print_losses(const struct graph *graph, const struct profile *profile)
{
	enum pkbpf_profile_kind kind = graph->options->kind;
	struct profile_account account = profile_account(profile);
	uint64_t lost = kind_ops_of(kind)->is_expected
				? account.lost
				: profile_kind_lost(kind, profile_info_read(profile)->counters);
	char text[HUMAN_SIZE];

	if (lost)
		fprintf(graph->out, "<tspan class=\"warn\">, %s lost</tspan>",
			human_counted(text, lost, kind_ops_of(kind)->count_unit));
}

/* Behind the frames, over which a script holds it in sight. */
static void print_head(const struct graph *graph, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);

	fprintf(graph->out,
		"<g id=\"head\"><rect class=\"page\" width=\"100%%\" height=\"%d\"/>\n"
		"<text class=\"title\" x=\"10\" y=\"22\">",
		HEADER - 2);
	print_heading(graph, info);
	fputs("</text>\n<text class=\"line\" x=\"10\" y=\"40\">", graph->out);
	print_place(graph, info);
	print_losses(graph, profile);
	fputs("</text>\n<text class=\"line\" id=\"status\" role=\"status\" x=\"10\" "
	      "y=\"58\"/>\n<text class=\"line\" id=\"share\" role=\"status\" x=\"100%\" dx=\"-10\" "
	      "y=\"58\" text-anchor=\"end\"/>\n</g>\n",
	      graph->out);
}

static int print_document(const struct graph *graph, const struct profile *profile,
			  const struct function_table *functions)
{
	const struct profile_info *info = profile_info_read(profile);
	uint32_t height = HEADER + (graph->deepest + 1) * ROW + FOOTER;
	int err;

	fprintf(graph->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
		"\" viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\"%s>\n<title>Flame graph: ",
		WIDTH, height, WIDTH, height, graph->options->icicle ? " data-icicle=\"1\"" : "");
	print_heading(graph, info);
	print_time(graph, info, false);
	fputs("</title>\n", graph->out);
	err = print_hottest(graph, functions);
	if (err)
		return err;
	fprintf(graph->out,
		"<style>\n%s</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
		"<g id=\"frames\">\n",
		flame_graph_css);
	err = print_frames(graph);
	if (err)
		return err;
	fputs("</g>\n", graph->out);
	print_head(graph, profile);
	fprintf(graph->out, "<script>//<![CDATA[\n%s//]]></script>\n</svg>\n", flame_graph_js);
	return 0;
}

static int svg_write(struct results *results, const struct format_options *options, FILE *out)
{
	const struct profile *profile = results->profile;
	const struct function_table_options wanted = {.lines = options->lines,
						      .modules = options->modules};
	const struct call_tree_options shape = {.reversed = options->reverse,
						.joined = options->modules};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(profile, &wanted);
	_cleanup_(call_tree_free_cleanup) struct call_tree *tree =
		functions ? call_tree_of_profile(profile, functions, options->kind, &shape) : NULL;
	struct graph graph = {.tree = tree, .options = options, .out = out};

	if (!tree)
		return -ENOMEM;
	graph.nodes = call_tree_nodes(tree, &graph.count);
	find_deepest(&graph);
	return print_document(&graph, profile, functions);
}

const struct format_ops format_svg = {
	.file = {"svg", ".svg", "flame graph for a browser: zoom, search"},
	.one_kind = true,
	.only_stacks = true,
	.write = svg_write,
};
