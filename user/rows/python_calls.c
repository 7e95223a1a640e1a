// SPDX-License-Identifier: BSD-2-Clause
/* Makes rows of counted functions, callers and lines; python_times.c adds times. */
#include "rows/python_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/text_append.h"
#include "rows/human.h"
#include "rows/python_times.h"

struct making {
	struct python_calls_rows *rows;
	const struct profile *profile;
	struct hash_map places; /* hash of name, file and line -> place of the function */
};

static uint64_t hash_of(uint32_t name, uint32_t file, uint32_t line)
{
	uint64_t hash = ((uint64_t)name << 32 | file) * 0x9E3779B97F4A7C15ULL;

	return (hash ^ hash >> 31 ^ line) * 0x9E3779B97F4A7C15ULL;
}

static bool is_function(const struct making *making, const struct python_function *function,
			uint32_t name, uint32_t file, uint32_t line)
{
	/* Strings of a profile are equal where they are the same. */
	return function->name == profile_string(making->profile, name) &&
	       function->file == profile_string(making->profile, file) && function->line == line;
}

/* PYTHON_CALLS_NONE: out of memory. */
static size_t place_of(struct making *making, uint32_t name, uint32_t file, uint32_t line)
{
	struct python_calls_rows *rows = making->rows;
	struct python_function *function;
	uint64_t *place;
	bool added;

	for (uint64_t hash = hash_of(name, file, line);; hash++) {
		place = hash_map_get(&making->places, hash, rows->function_count, &added);
		if (!place)
			return PYTHON_CALLS_NONE;
		if (added)
			break;
		if (is_function(making, &rows->functions[*place], name, file, line))
			return *place;
	}
	function = &rows->functions[rows->function_count];
	function->name = function->qualified = profile_string(making->profile, name);
	function->file = profile_string(making->profile, file);
	function->line = line;
	return rows->function_count++;
}

static int add_edge(struct making *making, const struct python_call *call)
{
	struct python_calls_rows *rows = making->rows;
	struct python_caller *caller = &rows->callers[rows->caller_count++];
	struct python_function *function;

	caller->function = place_of(making, call->name, call->file, call->line);
	caller->caller = PYTHON_CALLS_NONE;
	if (caller->function == PYTHON_CALLS_NONE)
		return -ENOMEM;
	if (call->caller_name) {
		caller->caller =
			place_of(making, call->caller_name, call->caller_file, call->caller_line);
		if (caller->caller == PYTHON_CALLS_NONE)
			return -ENOMEM;
	}
	caller->calls = call->count;
	caller->first = call->first;
	function = &rows->functions[caller->function];
	if (call->qualified)
		function->qualified = profile_string(making->profile, call->qualified);
	function->calls += call->count;
	function->primitive += call->primitive;
	rows->calls += call->count;
	rows->primitive += call->primitive;
	return 0;
}

static int add_line(struct making *making, const struct python_call *call)
{
	struct python_calls_rows *rows = making->rows;
	struct python_line *line = &rows->lines[rows->line_count++];

	line->function = place_of(making, call->name, call->file, call->line);
	line->line = call->at;
	line->hits = call->count;
	return line->function == PYTHON_CALLS_NONE ? -ENOMEM : 0;
}

static int add_call(struct making *making, const struct python_call *call)
{
	making->rows->sums[call->what % PYTHON_CALL_WHATS] += call->count;
	switch (call->what) {
	case PYTHON_CALL_EDGE:
		return add_edge(making, call);
	case PYTHON_CALL_LINE:
		return add_line(making, call);
	default:
		return 0;
	}
}

/* ---- order ---- */

struct placed {
	struct python_function function; /* first: what is compared */
	size_t place;
};

static int compare_functions(const void *left, const void *right)
{
	const struct python_function *a = left, *b = right;
	int order;

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	order = strcmp(a->file, b->file);
	if (order || a->line != b->line)
		return order ? order : a->line < b->line ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_callers(const void *left, const void *right)
{
	const struct python_caller *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static int compare_lines(const void *left, const void *right)
{
	const struct python_line *a = left, *b = right;

	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Functions get new places: those that name them follow. */
static void follow(struct python_calls_rows *rows, const size_t *places)
{
	for (size_t i = 0; i < rows->caller_count; i++) {
		struct python_caller *caller = &rows->callers[i];

		caller->function = places[caller->function];
		if (caller->caller != PYTHON_CALLS_NONE)
			caller->caller = places[caller->caller];
	}
	for (size_t i = 0; i < rows->line_count; i++)
		rows->lines[i].function = places[rows->lines[i].function];
}

static int sort_rows(struct python_calls_rows *rows)
{
	size_t count = rows->function_count;
	_cleanup_free_ struct placed *sorted = calloc(count + 1, sizeof(*sorted));
	_cleanup_free_ size_t *places = calloc(count + 1, sizeof(*places));

	if (!sorted || !places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct placed){rows->functions[i], i};
	qsort(sorted, count, sizeof(*sorted), compare_functions);
	for (size_t i = 0; i < count; i++) {
		rows->functions[i] = sorted[i].function;
		places[sorted[i].place] = i;
	}
	follow(rows, places);
	qsort(rows->callers, rows->caller_count, sizeof(*rows->callers), compare_callers);
	qsort(rows->lines, rows->line_count, sizeof(*rows->lines), compare_lines);
	return 0;
}

/* ---- all ---- */

int python_calls_rows_make(struct python_calls_rows *rows, const struct profile *profile)
{
	const struct python_call_list *list = profile_python_calls(profile);
	struct making making = {.rows = rows, .profile = profile};
	size_t count = list->items.count;
	int err;

	*rows = (struct python_calls_rows){
		.functions = calloc(2 * count + 1, sizeof(*rows->functions)),
		.callers = calloc(count + 1, sizeof(*rows->callers)),
		.lines = calloc(count + 1, sizeof(*rows->lines)),
	};
	err = rows->functions && rows->callers && rows->lines ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = add_call(&making, &list->items.items[i]);
	hash_map_done(&making.places);
	err = err ? err : python_times_add(rows, profile);
	err = err ? err : sort_rows(rows);
	if (err)
		python_calls_rows_done(rows);
	return err;
}

void python_calls_rows_done(struct python_calls_rows *rows)
{
	free(rows->functions);
	free(rows->callers);
	free(rows->lines);
	*rows = (struct python_calls_rows){.functions = NULL};
}

/* ---- words ---- */

void python_calls_notes(const struct python_calls_rows *rows, char *text, size_t size)
{
	static const struct {
		enum python_call_what what;
		const char *noun, *text;
	} notes[] = {
		{PYTHON_CALL_LOST, "calls", "found no room in the tables of their process"},
		{PYTHON_CALL_LOST_LINES, "lines", "found no room in the tables of their process"},
		{PYTHON_CALL_REPLACED, "times",
		 "the program set a profile or trace function of its own: calls after that are "
		 "missing"},
		{PYTHON_CALL_INTERPRETERS, "subinterpreters", "are not counted"},
		{PYTHON_CALL_UNHOOKED, "threads",
		 "began after the program added an audit hook: not counted"},
		{PYTHON_CALL_REFUSED, "processes",
		 "with a Python other than CPython 3.8 to 3.13 with a GIL are not counted"},
		{PYTHON_CALL_IDLE, "processes", "with Python inside ran no script: not counted"},
		{PYTHON_CALL_UNREADABLE, "processes",
		 "left counts that could not be read, or found no memory for them"},
	};
	char number[HUMAN_SIZE];

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (rows->sums[notes[i].what])
			text_append(text, size, "%s%s %s", text[0] ? "; " : "",
				    human_counted(number, rows->sums[notes[i].what], notes[i].noun),
				    notes[i].text);
}

const char *python_function_text(char text[PYTHON_FUNCTION_TEXT_SIZE],
				 const struct python_function *function)
{
	const char *slash = strrchr(function->file, '/');
	size_t length = strlen(function->name);

	if (function->file[0])
		snprintf(text, PYTHON_FUNCTION_TEXT_SIZE, "%.400s:%" PRIu32 "(%.200s)",
			 slash ? slash + 1 : function->file, function->line, function->qualified);
	else if (length > 1 && function->name[0] == '<' && function->name[length - 1] == '>')
		snprintf(text, PYTHON_FUNCTION_TEXT_SIZE, "{%.*s}",
			 (int)(length - 2 < 600 ? length - 2 : 600), function->name + 1);
	else
		snprintf(text, PYTHON_FUNCTION_TEXT_SIZE, "{%.600s}", function->name);
	return text;
}
