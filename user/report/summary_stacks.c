// SPDX-License-Identifier: BSD-2-Clause
/* Writes the heaviest stacks as paths from caller to callee. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/path_text.h"
#include "report/summary.h"
#include "report/text_table.h"

/* Frames of a stack that are looked at; the rest is nearer to its root. */
#define SEARCHED_FUNCTIONS 512
#define LABEL_SIZE	   64
#define DEPTH_COLUMNS	   2
/* A path has two lines where one would have room for a frame or two only, and none is below it. */
#define ROOM_OF_ONE 56
/* Of a key: a name of threads, not a function. */
#define IS_COMM (1U << 31)

/* All threads that are looked at have one name: it need not be said. */
static bool has_one_comm(const struct summary *summary, const struct summary_stacks *stacks)
{
	size_t count;
	const struct profile_row *rows = profile_rows(summary->report.profile, &count);
	uint32_t comm = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind != stacks->kind)
			continue;
		if (comm != UINT32_MAX && comm_groups_first(&summary->comms, rows[i].comm) != comm)
			return false;
		comm = comm_groups_first(&summary->comms, rows[i].comm);
	}
	return !summary->is_host;
}

static size_t path_of(const struct summary *summary, const struct profile_row *row, bool with_comm,
		      uint32_t path[SEARCHED_FUNCTIONS + 1])
{
	uint32_t functions[SEARCHED_FUNCTIONS];
	size_t total = function_table_stack(summary->rows->functions, summary->report.profile,
					    row->stack, functions, SEARCHED_FUNCTIONS);
	size_t count = plumbing_remove(&summary->plumbing, functions,
				       total < SEARCHED_FUNCTIONS ? total : SEARCHED_FUNCTIONS);
	size_t length = 0;

	if (with_comm)
		path[length++] = IS_COMM | comm_groups_first(&summary->comms, row->comm);
	while (count > 0)
		path[length++] = functions[--count];
	return length;
}

int summary_join_stacks(const struct summary *summary, const struct summary_stacks *stacks,
			struct path_tree *ret_tree)
{
	size_t count;
	const struct profile_row *rows = profile_rows(summary->report.profile, &count);
	bool with_comm = !has_one_comm(summary, stacks);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct path_weight weight = {rows[i].weight, rows[i].count, rows[i].max};
		uint32_t path[SEARCHED_FUNCTIONS + 1];

		if (rows[i].kind != stacks->kind ||
		    (stacks->is_chosen && !stacks->is_chosen(summary, &rows[i])))
			continue;
		err = path_tree_add(ret_tree, path, path_of(summary, &rows[i], with_comm, path),
				    &weight);
	}
	return err;
}

static void make_step(const struct summary *summary, uint32_t key, bool enters_kernel,
		      struct path_step *step)
{
	if (key & IS_COMM)
		path_step_comm(step, comm_groups_text(&summary->comms, summary->report.profile,
						      key & ~IS_COMM));
	else
		path_step_function(step, function_table_get(summary->rows->functions, key),
				   enters_kernel);
}

static bool is_of_kernel(const struct summary *summary, uint32_t key)
{
	return !(key & IS_COMM) &&
	       function_table_get(summary->rows->functions, key)->mark == FUNCTION_KERNEL;
}

/* The frames of a line, caller first; -ENOMEM. */
static int steps_of(const struct summary *summary, const struct path_tree *tree,
		    const struct path_line *line, struct path_step **ret_steps, size_t *ret_count)
{
	size_t count = 1;
	struct path_step *steps;

	for (uint32_t node = line->last; node != line->first; node = tree->nodes.items[node].parent)
		count++;
	steps = calloc(count, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	*ret_count = count;
	for (uint32_t node = line->last; count-- > 0; node = tree->nodes.items[node].parent) {
		const struct path_node *at = &tree->nodes.items[node];
		bool enters = is_of_kernel(summary, at->key) &&
			      (at->parent == PATH_TREE_NONE ||
			       !is_of_kernel(summary, tree->nodes.items[at->parent].key));

		make_step(summary, at->key, enters, &steps[count]);
	}
	*ret_steps = steps;
	return 0;
}

static int write_line(const struct summary *summary, const struct summary_stacks *stacks,
		      const struct path_tree *tree, const struct path_line *line)
{
	const struct path_node *node = &tree->nodes.items[line->weighed];
	size_t width = summary->report.width, indent, room, lines, count = 0;
	_cleanup_free_ struct path_step *steps = NULL;
	_cleanup_free_ char *path = NULL;
	char label[LABEL_SIZE];
	int err = steps_of(summary, tree, line, &steps, &count);

	if (err)
		return err;
	stacks->label(label, sizeof(label), &node->sum, tree->sum.weight);
	indent = strlen(label) + (size_t)line->depth * DEPTH_COLUMNS;
	if (indent > width / 2)
		indent = width / 2;
	room = width - indent;
	/* Frames are not broken: each line may miss its end by one of them. */
	lines = !line->has_lines_below && room < ROOM_OF_ONE ? 2 : 1;
	if (lines == 2)
		room += room - room / 4;
	path = path_text(steps, count, room);
	if (!path)
		return -ENOMEM;
	text_wrap_lines(summary->report.out, width,
			&(struct text_wrapping){.label = label,
						.indent = indent,
						.next_indent = indent + DEPTH_COLUMNS,
						.lines = lines},
			path);
	return 0;
}

static size_t lines_in(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* As many paths as fit: their text, or NULL without memory. */
static char *fitting_text(const struct summary *summary, const struct summary_stacks *stacks,
			  struct path_tree *tree, size_t lines)
{
	struct path_line chosen[PATH_TREE_LINES_MAX];

	for (size_t max = lines; max > 0; max--) {
		size_t count = path_tree_lines(tree, max, chosen), size = 0;
		struct summary writing = *summary;
		char *text = NULL;
		int err = 0;

		writing.report.out = open_memstream(&text, &size);
		if (!writing.report.out)
			return NULL;
		for (size_t i = 0; i < count && !err; i++)
			err = write_line(&writing, stacks, tree, &chosen[i]);
		if (fclose(writing.report.out) == 0 && !err && lines_in(text) <= lines)
			return text;
		free(text);
		if (err)
			return NULL;
	}
	return NULL;
}

size_t summary_write_stacks(const struct summary *summary, const struct summary_stacks *stacks,
			    struct path_tree *tree, const char *title, size_t lines)
{
	size_t above = title ? 1 : 0;
	_cleanup_free_ char *text =
		lines > above ? fitting_text(summary, stacks, tree, lines - above) : NULL;

	if (!text || !*text)
		return 0;
	if (title)
		fprintf(summary->report.out, "%s\n", title);
	fputs(text, summary->report.out);
	return above + lines_in(text);
}
