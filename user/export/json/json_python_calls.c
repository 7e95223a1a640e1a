// SPDX-License-Identifier: BSD-2-Clause
/* Writes counted Python functions, their callers, and lines. */
#include "export/json/json_sections.h"
#include "rows/python_calls.h"

#define FUNCTIONS_MAX 5000
#define CALLERS_MAX   100 /* of a function */
#define LINES_MAX     10000

static void write_names(struct json_writer *writer, const struct python_function *function)
{
	json_writer_string(writer, "function", function->name);
	json_writer_string(writer, "qualified_name", function->qualified);
	if (!function->file[0])
		return;
	json_writer_string(writer, "file", function->file);
	json_writer_u64(writer, "first_line", function->line);
}

static void write_callers(struct json_writer *writer, const struct python_calls_rows *rows,
			  size_t first, size_t end)
{
	json_writer_array_begin(writer, "callers");
	for (size_t i = first; i < end && i - first < CALLERS_MAX; i++) {
		const struct python_caller *caller = &rows->callers[i];

		if (caller->caller == PYTHON_CALLS_NONE)
			continue;
		json_writer_object_begin(writer, NULL);
		write_names(writer, &rows->functions[caller->caller]);
		json_writer_u64(writer, "calls", caller->calls);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_functions(struct json_writer *writer, const struct python_calls_rows *rows)
{
	size_t first = 0, end = 0;

	json_writer_array_begin(writer, "functions");
	for (size_t i = 0; i < rows->function_count && i < FUNCTIONS_MAX; i++, first = end) {
		const struct python_function *function = &rows->functions[i];

		while (end < rows->caller_count && rows->callers[end].function == i)
			end++;
		json_writer_object_begin(writer, NULL);
		write_names(writer, function);
		json_writer_u64(writer, "calls", function->calls);
		json_writer_u64(writer, "primitive_calls", function->primitive);
		if (function->file[0]) {
			json_writer_u64(writer, "self_ns", function->self_ns);
			json_writer_u64(writer, "total_ns", function->total_ns);
		}
		write_callers(writer, rows, first, end);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_lines(struct json_writer *writer, const struct python_calls_rows *rows)
{
	json_writer_array_begin(writer, "lines");
	for (size_t i = 0; i < rows->line_count && i < LINES_MAX; i++) {
		json_writer_object_begin(writer, NULL);
		write_names(writer, &rows->functions[rows->lines[i].function]);
		json_writer_u64(writer, "line", rows->lines[i].line);
		json_writer_u64(writer, "hits", rows->lines[i].hits);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

/* What is not counted; nothing where it is nothing. */
static void write_missing(struct json_writer *writer, const struct python_calls_rows *rows)
{
	static const struct {
		enum python_call_what what;
		const char *key;
	} missing[] = {
		{PYTHON_CALL_LOST, "lost_calls"},
		{PYTHON_CALL_LOST_LINES, "lost_lines"},
		{PYTHON_CALL_REPLACED, "replaced"},
		{PYTHON_CALL_INTERPRETERS, "subinterpreters"},
		{PYTHON_CALL_UNHOOKED, "uncounted_threads"},
		{PYTHON_CALL_REFUSED, "refused_processes"},
		{PYTHON_CALL_IDLE, "idle_processes"},
		{PYTHON_CALL_UNREADABLE, "unreadable_processes"},
	};

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (rows->sums[missing[i].what])
			json_writer_u64(writer, missing[i].key, rows->sums[missing[i].what]);
}

int json_python_calls(struct json_writer *writer, const struct resource_rows *rows)
{
	struct python_calls_rows calls;
	int err;

	if (!profile_python_calls(rows->profile)->items.count)
		return 0;
	err = python_calls_rows_make(&calls, rows->profile);
	if (err)
		return err;
	json_writer_object_begin(writer, "python_calls");
	json_writer_u64(writer, "processes", calls.sums[PYTHON_CALL_PROCESSES]);
	json_writer_u64(writer, "calls", calls.calls);
	json_writer_u64(writer, "primitive_calls", calls.primitive);
	write_missing(writer, &calls);
	json_writer_u64(writer, "function_count", calls.function_count);
	write_functions(writer, &calls);
	json_writer_u64(writer, "line_count", calls.line_count);
	write_lines(writer, &calls);
	json_writer_object_end(writer);
	python_calls_rows_done(&calls);
	return 0;
}
