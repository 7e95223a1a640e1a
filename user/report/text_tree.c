// SPDX-License-Identifier: BSD-2-Clause
/* Prints the call tree of each kind, callers above what they call. A line is a path of functions as
 * long as one callee has nearly all of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/call_tree.h"
#include "profile/kind_table.h"
#include "report/path_text.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct call_tree *, call_tree_free)

/* A path goes on into a callee with so much of its weight, in percent. */
#define PATH_PERCENT 90
/* Paths with less of all than this, in percent, are summed up; with --full, none is. */
#define LINE_PERCENT  1
#define LABEL_SIZE    128
#define DEPTH_COLUMNS 2
/* Deeper lines are indented no further. */
#define INDENT_PERCENT 60
/* Of a path; the rest of a longer one is left out at its beginning. */
#define PATH_LINES 2

struct tree_printer {
	const struct summary *summary;
	const struct call_tree *tree;
	const struct call_node *nodes;
	enum pkbpf_profile_kind kind;
	uint64_t least;	      /* weight of a line */
	unsigned int *depths; /* of lines below a node, by its depth */
};

/* Events that are shown, and those that belong to no place of a program. */
struct tree_sums {
	uint64_t count, weight, other_weight;
};

/* ---- the tree ---- */

/* Functions of a stack, leaf first, in memory that the caller frees; NULL: out of memory. */
static uint32_t *functions_of(const struct summary *summary, uint32_t stack, size_t *ret_count)
{
	const struct function_table *functions = summary->rows->functions;
	size_t count = function_table_stack(functions, summary->report.profile, stack, NULL, 0);
	uint32_t *items = malloc((count + 1) * sizeof(*items));

	if (!items)
		return NULL;
	function_table_stack(functions, summary->report.profile, stack, items, count);
	*ret_count = summary->report.options->full
			     ? count
			     : plumbing_remove(&summary->plumbing, items, count);
	return items;
}

static bool add_row(struct call_tree *tree, const struct summary *summary,
		    const struct profile_row *row)
{
	size_t count;
	_cleanup_free_ uint32_t *functions = functions_of(summary, row->stack, &count);

	return functions && call_tree_add(tree, profile_string(summary->report.profile, row->comm),
					  functions, count, row->weight) != CALL_TREE_NONE;
}

static bool is_shown(const struct summary *summary, const struct profile_row *row)
{
	return row->kind != PKBPF_PROFILE_OFFCPU || summary->report.options->full ||
	       summary_is_wait(summary, row);
}

/* NULL: out of memory. */
static struct call_tree *make_tree(const struct summary *summary, enum pkbpf_profile_kind kind,
				   struct tree_sums *ret_sums)
{
	struct call_tree *tree = call_tree_new(summary->rows->functions);
	size_t count;
	const struct profile_row *rows = profile_rows(summary->report.profile, &count);
	bool done = tree;

	*ret_sums = (struct tree_sums){0};
	for (size_t i = 0; i < count && done; i++) {
		if (rows[i].kind != kind)
			continue;
		if (!is_shown(summary, &rows[i])) {
			ret_sums->other_weight += rows[i].weight;
			continue;
		}
		ret_sums->count += rows[i].count;
		ret_sums->weight += rows[i].weight;
		done = add_row(tree, summary, &rows[i]);
	}
	if (done && call_tree_finish(tree))
		return tree;
	call_tree_free(tree);
	return NULL;
}

/* ---- its lines ---- */

/* The last node of the path that begins with this one. What is left out on the way is less than a
 * line. */
static uint32_t end_of_path(const struct tree_printer *printer, uint32_t first)
{
	const struct call_node *nodes = printer->nodes;
	uint32_t last = first;

	/* The first child is the heaviest. */
	while (last + 1 < nodes[last].end) {
		uint64_t whole = nodes[first].total, part = nodes[last + 1].total;

		if (whole - part >= printer->least ||
		    (double)part * 100 < (double)whole * PATH_PERCENT)
			break;
		last++;
	}
	return last;
}

static bool is_of_kernel(const struct tree_printer *printer, uint32_t node)
{
	const struct function *function = call_tree_function(printer->tree, &printer->nodes[node]);

	return function && function->mark == FUNCTION_KERNEL;
}

/* Text of a path; NULL: out of memory. */
static char *text_of_path(const struct tree_printer *printer, uint32_t first, uint32_t last,
			  size_t room)
{
	size_t count = last - first + 1;
	_cleanup_free_ struct path_step *steps = calloc(count, sizeof(*steps));

	for (uint32_t i = 0; steps && i < count; i++) {
		const struct call_node *node = &printer->nodes[first + i];

		if (node->type == CALL_NODE_FUNCTION)
			path_step_function(&steps[i], call_tree_function(printer->tree, node),
					   is_of_kernel(printer, first + i) &&
						   !is_of_kernel(printer, node->parent));
		else
			path_step_comm(&steps[i], call_tree_name(printer->tree, node));
	}
	return steps ? path_text(steps, count, room) : NULL;
}

/* self NO_SELF: of no function. */
#define NO_SELF UINT64_MAX

static void make_label(const struct tree_printer *printer, uint64_t weight, uint64_t self,
		       char label[LABEL_SIZE])
{
	uint64_t whole = printer->nodes[0].total;
	char share[HUMAN_SIZE], amount[HUMAN_SIZE], own[HUMAN_SIZE] = ".";

	if (self && self != NO_SELF)
		human_share(own, self, whole);
	snprintf(label, LABEL_SIZE, " %6s %9s %6s  ", human_share(share, weight, whole),
		 human_weight(amount, printer->kind, weight), own);
}

/* Columns before the path of a line. */
static size_t indent_of(const struct tree_printer *printer, const char *label, unsigned int depth)
{
	size_t columns = strlen(label) + (size_t)depth * DEPTH_COLUMNS,
	       most = printer->summary->report.width * INDENT_PERCENT / 100;

	return columns < most ? columns : most;
}

static void write_line(const struct tree_printer *printer, const char *label, size_t indent,
		       const char *path)
{
	text_wrap_lines(printer->summary->report.out, printer->summary->report.width,
			&(struct text_wrapping){.label = label,
						.indent = indent,
						.next_indent = indent + 2 * DEPTH_COLUMNS,
						.lines = PATH_LINES},
			path);
}

static int write_path(const struct tree_printer *printer, uint32_t first, uint32_t last,
		      unsigned int depth)
{
	size_t room = printer->summary->report.width, indent;
	_cleanup_free_ char *path = NULL;
	char label[LABEL_SIZE];
	uint64_t self = 0;

	for (uint32_t i = first; i <= last; i++)
		self += printer->nodes[i].self;
	make_label(printer, printer->nodes[first].total, self, label);
	indent = indent_of(printer, label, depth);
	/* Frames are not broken: a line may miss its end by half of the longest. */
	room = PATH_LINES * (room - indent) - PATH_NAME_COLUMNS / 2 - 2 * DEPTH_COLUMNS;
	path = text_of_path(printer, first, last, room);
	if (!path)
		return -ENOMEM;
	write_line(printer, label, indent, path);
	return 0;
}

/* Siblings from this one on, each of which is less than a line. Returns where they end. */
static uint32_t write_rest(const struct tree_printer *printer, uint32_t node, unsigned int depth)
{
	uint32_t end = printer->nodes[printer->nodes[node].parent].end;
	uint64_t weight = 0, count = 0;
	char text[LABEL_SIZE], label[LABEL_SIZE], number[HUMAN_SIZE];

	for (; node < end; node = printer->nodes[node].end) {
		weight += printer->nodes[node].total;
		count++;
	}
	if (weight < printer->least)
		return end;
	snprintf(text, sizeof(text), "... %s, each below %u%%",
		 human_counted(number, count, "paths"), LINE_PERCENT);
	make_label(printer, weight, NO_SELF, label);
	write_line(printer, label, indent_of(printer, label, depth), text);
	return end;
}

static int write_lines(const struct tree_printer *printer, size_t count)
{
	const struct call_node *nodes = printer->nodes;
	int err = 0;

	for (uint32_t i = 1; i < count && !err;) {
		unsigned int depth = printer->depths[nodes[i].depth - 1];
		uint32_t last;

		if (nodes[i].total < printer->least) {
			i = write_rest(printer, i, depth);
			continue;
		}
		last = end_of_path(printer, i);
		err = write_path(printer, i, last, depth);
		for (uint32_t below = nodes[i].depth; below <= nodes[last].depth; below++)
			printer->depths[below] = depth + 1;
		i = last + 1;
	}
	return err;
}

/* ---- a kind ---- */

static void write_heading(const struct tree_printer *printer, const struct tree_sums *sums)
{
	const struct text_report *report = &printer->summary->report;
	const struct kind_ops *kind = kind_ops_of(printer->kind);
	bool has_measure = kind_has_measure(kind);
	char text[2 * LABEL_SIZE], number[HUMAN_SIZE], weight[HUMAN_SIZE];

	human_counted(number, has_measure ? sums->count : sums->weight, kind->count_unit);
	human_weight(weight, printer->kind, sums->weight);
	text_heading(report, has_measure ? "%s: call tree of %s, %s" : "%s: call tree of %s",
		     kind->title, number, weight);
	if (sums->other_weight) {
		snprintf(text, sizeof(text),
			 " Not in it: %s on the run queue and of threads that only slept; all: "
			 "--full",
			 human_weight(weight, printer->kind, sums->other_weight));
		text_wrap(report->out, report->width, "", 0, text);
	}
	fprintf(report->out, " %6s %9s %6s  path (caller > callee)\n", "total", kind_measure(kind),
		"self");
}

static int write_kind(const struct summary *summary, enum pkbpf_profile_kind kind)
{
	struct tree_sums sums;
	_cleanup_(call_tree_free_cleanup) struct call_tree *tree = make_tree(summary, kind, &sums);
	_cleanup_free_ unsigned int *depths = NULL;
	struct tree_printer printer = {.summary = summary, .tree = tree, .kind = kind, .least = 1};
	uint32_t deepest = 0;
	size_t count;

	if (!tree)
		return -ENOMEM;
	if (!sums.weight)
		return 0;
	printer.nodes = call_tree_nodes(tree, &count);
	if (!summary->report.options->full)
		printer.least += sums.weight / 100 * LINE_PERCENT;
	for (size_t i = 0; i < count; i++)
		deepest = printer.nodes[i].depth > deepest ? printer.nodes[i].depth : deepest;
	depths = calloc((size_t)deepest + 1, sizeof(*depths));
	if (!depths)
		return -ENOMEM;
	printer.depths = depths;
	if (!summary->report.options->full)
		fputc('\n', summary->report.out);
	write_heading(&printer, &sums);
	return write_lines(&printer, count);
}

int text_tree(const struct summary *summary)
{
	int err = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		err = write_kind(summary, (enum pkbpf_profile_kind)kind);
	return err;
}
