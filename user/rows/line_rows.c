// SPDX-License-Identifier: BSD-2-Clause
/* Adds up weights by line of source. */
#include "rows/line_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define NO_ROW SIZE_MAX

/* What is needed only while adding up. */
struct line_work {
	const struct profile *profile;
	struct line_rows *lines;
	size_t *last_row; /* by function: the row of the profile that counted it last */
};

static bool has_line(const struct function *function)
{
	return function->line && function->file[0];
}

/* Python's interpreter and the libraries that it waits in: below a Python function their lines,
 * which are known where their debug files are installed, tell nothing of the program. */
static bool runs_python(const struct function *function)
{
	static const char *const modules[] = {"python3",    "libpython3", "libc.",
					      "libc-",	    "libm.",	  "libm-",
					      "libpthread", "ld-linux",	  "ld-musl"};

	if (function->mark == FUNCTION_KERNEL)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (!strncmp(function->module, modules[i], strlen(modules[i])))
			return true;
	return false;
}

/* A stack counts for the line of this function, searched from the leaf; UINT32_MAX: none has one.
 */
static uint32_t line_of_stack(const struct line_work *work, const uint32_t *frames, size_t count)
{
	const struct function_table *table = work->lines->functions;
	uint32_t innermost = UINT32_MAX, of_program = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t function_count;
		const uint32_t *functions = function_table_frame(table, frames[i], &function_count);

		for (size_t j = 0; j < function_count; j++) {
			const struct function *function = function_table_get(table, functions[j]);

			if (!has_line(function))
				continue;
			if (innermost == UINT32_MAX)
				innermost = functions[j];
			if (of_program == UINT32_MAX && !runs_python(function))
				of_program = functions[j];
			if (function->mark == FUNCTION_PYTHON)
				return of_program;
		}
	}
	return innermost;
}

static void add_stack(struct line_work *work, const struct profile_row *row, size_t number)
{
	struct line_rows *lines = work->lines;
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(work->profile, row->stack, &frame_count);
	uint32_t self = line_of_stack(work, frames, frame_count);

	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *functions =
			function_table_frame(lines->functions, frames[i], &function_count);

		for (size_t j = 0; j < function_count; j++) {
			struct line_row *line = &lines->rows[functions[j]];

			if (!has_line(function_table_get(lines->functions, functions[j])) ||
			    work->last_row[functions[j]] == number)
				continue;
			work->last_row[functions[j]] = number;
			if (!line->total)
				line->process = row->process;
			line->total += row->weight;
			line->self += functions[j] == self ? row->weight : 0;
		}
	}
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct function_table *functions = context;
	const struct line_row *a = left, *b = right;
	const struct function *x = function_table_get(functions, a->function);
	const struct function *y = function_table_get(functions, b->function);
	int order;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	/* Numbers depend on the order of arrival, reports shall not. */
	order = strcmp(x->file, y->file);
	if (!order && x->line != y->line)
		order = x->line < y->line ? -1 : 1;
	return order ? order : strcmp(x->name, y->name);
}

static void sort_rows(struct line_rows *lines, size_t function_count)
{
	for (size_t i = 0; i < function_count; i++) {
		if (!lines->rows[i].total)
			continue;
		lines->rows[lines->count] = lines->rows[i];
		lines->rows[lines->count++].function = (uint32_t)i;
	}
	if (lines->count)
		qsort_r(lines->rows, lines->count, sizeof(*lines->rows), compare_rows,
			lines->functions);
}

int line_rows_init(struct line_rows *lines, const struct profile *profile,
		   enum pkbpf_profile_kind kind)
{
	static const struct function_table_options options = {.lines = true, .merge = true};
	_cleanup_free_ size_t *last_row = NULL;
	struct line_work work = {.profile = profile, .lines = lines};
	const struct profile_row *rows;
	size_t row_count, function_count;

	*lines = (struct line_rows){.kind = kind};
	lines->functions = function_table_new(profile, &options);
	if (!lines->functions)
		return -ENOMEM;
	function_count = function_table_count(lines->functions);
	lines->rows = calloc(function_count + 1, sizeof(*lines->rows));
	work.last_row = last_row = malloc((function_count + 1) * sizeof(*last_row));
	if (!lines->rows || !last_row) {
		line_rows_done(lines);
		return -ENOMEM;
	}
	for (size_t i = 0; i < function_count; i++)
		last_row[i] = NO_ROW;
	rows = profile_rows(profile, &row_count);
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].kind != kind)
			continue;
		lines->weight += rows[i].weight;
		add_stack(&work, &rows[i], i);
	}
	sort_rows(lines, function_count);
	return 0;
}

void line_rows_done(struct line_rows *lines)
{
	function_table_free(lines->functions);
	free(lines->rows);
	*lines = (struct line_rows){0};
}

bool line_rows_known(const struct profile *profile)
{
	static const struct function_table_options options = {.lines = true, .merge = true};
	struct function_table *functions = function_table_new(profile, &options);
	size_t row_count;
	bool known;

	profile_rows(profile, &row_count);
	known = !row_count || !functions;
	for (uint32_t i = 0; !known && i < function_table_count(functions); i++)
		known = has_line(function_table_get(functions, i));
	function_table_free(functions);
	return known;
}

const char *line_rows_text(const struct line_rows *lines, const struct line_row *row,
			   const struct profile *profile, struct source_text *sources)
{
	const struct function *function = function_table_get(lines->functions, row->function);
	const struct profile_info *info = profile_info_read(profile);
	const struct process *process =
		process_table_by_id(profile_processes(profile), row->process);
	struct source_place place = {
		.path = function->file,
		.line = function->line,
		.not_after_unix_ns = info->start_unix_ns,
	};

	if (!sources || !process || process->members)
		return NULL;
	/* What a process runs, it read when it began. */
	if (process->start_ns > info->start_ns)
		place.not_after_unix_ns += (int64_t)(process->start_ns - info->start_ns);
	place.pid = process->end_ns ? 0 : process->pid;
	place.home = process->home;
	return source_text_find(sources, &place);
}
