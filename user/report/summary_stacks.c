// SPDX-License-Identifier: BSD-2-Clause
/* Writes the heaviest stacks as paths from caller to callee. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "report/summary.h"
#include "report/text_table.h"

/* Frames of a stack that are looked at; the rest is nearer to its root. */
#define SEARCHED_FUNCTIONS 512
/* Longer names are shortened: templates would fill the page with one frame. */
#define NAME_COLUMNS  48
#define NAME_TEXT     (4 * NAME_COLUMNS + 8)
#define LABEL_SIZE    64
#define DEPTH_COLUMNS 2
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
		if (comm != UINT32_MAX && rows[i].comm != comm)
			return false;
		comm = rows[i].comm;
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
		path[length++] = IS_COMM | row->comm;
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

/* A frame of a path. */
struct step {
	char text[NAME_TEXT];
	size_t columns;
	bool is_comm;
};

/* Without arguments and template parameters, when it is long; then its end, which is the function.
 */
static void shorten_name(char *name)
{
	char *kept = name;
	int depth = 0;
	size_t columns;

	if (text_columns(name) <= NAME_COLUMNS)
		return;
	for (const char *c = name; *c; c++) {
		/* "operator<", "->": no brackets */
		bool is_arrow = c > name && (c[-1] == '-' || c[-1] == '=');

		if ((*c == '<' || *c == '(') && c > name)
			depth++;
		if (!depth)
			*kept++ = *c;
		if ((*c == '>' || *c == ')') && depth && !is_arrow)
			depth--;
	}
	*kept = '\0';
	/* Of an anonymous namespace. */
	while ((kept = strstr(name, "::::")))
		memmove(kept, kept + 2, strlen(kept + 2) + 1);
	columns = text_columns(name);
	if (columns > NAME_COLUMNS && strlen(name) == columns) {
		memmove(name + 3, name + columns - (NAME_COLUMNS - 3), NAME_COLUMNS - 3 + 1);
		memset(name, '.', 3);
	}
	text_cut(name, NAME_COLUMNS);
}

static void make_step(const struct summary *summary, uint32_t key, bool enters_kernel,
		      struct step *step)
{
	const struct function *function;
	const char *name;
	char clean[1024];

	*step = (struct step){.is_comm = key & IS_COMM};
	if (key & IS_COMM) {
		name = profile_string(summary->report.profile, key & ~IS_COMM);
		escape_terminal(clean, sizeof(clean), name[0] ? name : "[unknown]");
		snprintf(step->text, sizeof(step->text), "%.*s:", 4 * NAME_COLUMNS, clean);
	} else {
		function = function_table_get(summary->rows->functions, key);
		escape_terminal(clean, sizeof(clean), function->name);
		/* Copies made by the compiler are the same function. */
		if (function->mark == FUNCTION_KERNEL)
			clean[strcspn(clean, ".")] = '\0';
		shorten_name(clean);
		snprintf(step->text, sizeof(step->text), "%s%.*s", enters_kernel ? "[k] " : "",
			 4 * NAME_COLUMNS, clean);
	}
	step->columns = text_columns(step->text);
}

static bool is_of_kernel(const struct summary *summary, uint32_t key)
{
	return !(key & IS_COMM) &&
	       function_table_get(summary->rows->functions, key)->mark == FUNCTION_KERNEL;
}

/* The frames of a line, caller first; -ENOMEM. */
static int steps_of(const struct summary *summary, const struct path_tree *tree,
		    const struct path_line *line, struct step **ret_steps, size_t *ret_count)
{
	size_t count = 1;
	struct step *steps;

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

/* Columns of step i behind another one. */
static size_t joined_columns(const struct step *step)
{
	return strlen(" > ") + step->columns;
}

/* Of a path that is too long, the frames that fit from the last one backwards. */
static size_t first_fitting(const struct step *steps, size_t count, size_t room)
{
	/* Whose it is stays. */
	size_t used = (steps[0].is_comm ? steps[0].columns + 1 : 0) + strlen("..."), first = count;

	while (first > steps[0].is_comm && used + joined_columns(&steps[first - 1]) <= room)
		used += joined_columns(&steps[--first]);
	return first == count ? count - 1 : first;
}

/* The path with " > " between frames, in at most `room` columns unless its last frame is wider. */
static char *path_text(const struct step *steps, size_t count, size_t room)
{
	size_t all = 0, first = 0, size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++)
		all += joined_columns(&steps[i]);
	if (all > room + strlen(" > "))
		first = first_fitting(steps, count, room);
	if (steps[0].is_comm)
		fprintf(out, "%s%s", steps[0].text, count > 1 ? " " : "");
	if (first > steps[0].is_comm)
		fputs("... > ", out);
	if (first < steps[0].is_comm)
		first = steps[0].is_comm;
	for (size_t i = first; i < count; i++)
		fprintf(out, "%s%s", i > first ? " > " : "", steps[i].text);
	return fclose(out) == 0 ? text : NULL;
}

static int write_line(const struct summary *summary, const struct summary_stacks *stacks,
		      const struct path_tree *tree, const struct path_line *line)
{
	const struct path_node *node = &tree->nodes.items[line->weighed];
	size_t width = summary->report.width, indent, room, lines, count = 0;
	_cleanup_free_ struct step *steps = NULL;
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
