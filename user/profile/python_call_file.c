// SPDX-License-Identifier: BSD-2-Clause
#include "profile/python_call_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Strings of the profile. */
struct named {
	uint32_t name, file, qualified;
	bool is_known;
};

struct adding {
	const struct python_call_parts *parts;
	struct profile *profile;
	struct named *named; /* of functions, when they are needed */
	uint64_t lost_calls, lost_lines;
};

static size_t within(uint32_t count, uint32_t most)
{
	return count < most ? count : most;
}

int python_call_parts_begin(struct python_call_parts *parts)
{
	const struct pkbpf_python_head *head = &parts->head;

	if (head->magic != PKBPF_PYTHON_CALLS_MAGIC || head->state < PKBPF_PYTHON_LOADED ||
	    head->state > PKBPF_PYTHON_REFUSED)
		return -EBADMSG;
	parts->function_count = within(head->functions, PKBPF_PYTHON_FUNCTIONS);
	parts->edge_count = within(head->edges, PKBPF_PYTHON_EDGES);
	parts->line_count = within(head->lines, PKBPF_PYTHON_LINES);
	parts->string_bytes = within(head->strings, PKBPF_PYTHON_STRINGS);
	return 0;
}

/* UINT32_MAX: out of memory. */
static uint32_t intern(struct adding *adding, uint32_t at, size_t most)
{
	const struct python_call_parts *parts = adding->parts;
	char text[PKBPF_PYTHON_PATH_MAX + 1];
	size_t length;

	if (!at || at >= parts->string_bytes)
		return 0;
	length = strnlen(parts->strings + at, parts->string_bytes - at);
	length = length < most ? length : most;
	memcpy(text, parts->strings + at, length);
	text[length] = '\0';
	return profile_intern_string(adding->profile, text);
}

/* NULL: out of memory. A function without a row or name is "?". */
static const struct named *name_of(struct adding *adding, uint32_t function)
{
	const struct pkbpf_python_function *row = &adding->parts->functions[function];
	struct named *named = &adding->named[function];

	if (named->is_known)
		return named;
	named->name = intern(adding, row->name, PKBPF_PYTHON_NAME_MAX);
	if (!named->name)
		named->name = profile_intern_string(adding->profile, "?");
	named->file = intern(adding, row->file, PKBPF_PYTHON_PATH_MAX);
	named->qualified = intern(adding, row->qualified, PKBPF_PYTHON_NAME_MAX);
	named->is_known = true;
	return named->name == UINT32_MAX || named->file == UINT32_MAX ||
			       named->qualified == UINT32_MAX
		       ? NULL
		       : named;
}

/* Without its counts. -ENOMEM. */
static int set_function(struct adding *adding, uint32_t function, struct python_call *call)
{
	const struct named *named = name_of(adding, function);

	if (!named)
		return -ENOMEM;
	call->name = named->name;
	call->file = named->file;
	call->qualified = named->qualified;
	call->line = adding->parts->functions[function].first_line;
	return 0;
}

static int set_caller(struct adding *adding, uint32_t function, struct python_call *call)
{
	const struct named *named;

	if (!function)
		return 0;
	named = name_of(adding, function);
	if (!named)
		return -ENOMEM;
	call->caller_name = named->name;
	call->caller_file = named->file;
	call->caller_line = adding->parts->functions[function].first_line;
	return 0;
}

static int add(struct adding *adding, const struct python_call *call, uint64_t *lost)
{
	int err = python_call_list_add(profile_python_calls(adding->profile), call);

	if (err != -ENOSPC)
		return err;
	*lost += call->count;
	return 0;
}

/* Of which names may be added. */
static bool is_function(const struct adding *adding, uint32_t function)
{
	const struct python_call_parts *parts = adding->parts;

	return function && function < parts->function_count &&
	       (adding->named[function].is_known || !parts->names_most ||
		profile_names_bytes(adding->profile) < parts->names_most);
}

static int add_edge(struct adding *adding, const struct pkbpf_python_edge *edge)
{
	struct python_call call = {.what = PYTHON_CALL_EDGE, .count = edge->calls};
	int err;

	/* The target may have been stopped between two of them. */
	call.primitive = edge->primitive < edge->calls ? edge->primitive : edge->calls;
	call.first = edge->first < edge->calls ? edge->first : edge->calls;
	if (!edge->calls)
		return 0;
	if (!is_function(adding, edge->callee) ||
	    (edge->caller && !is_function(adding, edge->caller))) {
		adding->lost_calls += edge->calls;
		return 0;
	}
	err = set_function(adding, edge->callee, &call);
	err = err ? err : set_caller(adding, edge->caller, &call);
	return err ? err : add(adding, &call, &adding->lost_calls);
}

static int add_line(struct adding *adding, const struct pkbpf_python_line *line)
{
	struct python_call call = {.what = PYTHON_CALL_LINE, .count = line->hits, .at = line->line};
	int err;

	if (!line->hits)
		return 0;
	if (!is_function(adding, line->function)) {
		adding->lost_lines += line->hits;
		return 0;
	}
	err = set_function(adding, line->function, &call);
	return err ? err : add(adding, &call, &adding->lost_lines);
}

int python_call_note(struct profile *profile, enum python_call_what what, uint64_t count)
{
	struct python_call call = {.what = what, .count = count};
	int err = count ? python_call_list_add(profile_python_calls(profile), &call) : 0;

	return err == -ENOSPC ? 0 : err;
}

static int add_rows(struct adding *adding)
{
	const struct python_call_parts *parts = adding->parts;
	int err = 0;

	for (size_t i = 1; i < parts->edge_count && !err; i++)
		err = add_edge(adding, &parts->edges[i]);
	for (size_t i = 1; i < parts->line_count && !err; i++)
		err = add_line(adding, &parts->lines[i]);
	return err;
}

int python_call_parts_add(const struct python_call_parts *parts, struct profile *profile)
{
	static const enum python_call_what whats[] = {
		[PKBPF_PYTHON_LOADED] = PYTHON_CALL_IDLE,
		[PKBPF_PYTHON_COUNTS] = PYTHON_CALL_PROCESSES,
		[PKBPF_PYTHON_REFUSED] = PYTHON_CALL_REFUSED,
	};
	const struct pkbpf_python_head *head = &parts->head;
	_cleanup_free_ struct named *named = calloc(parts->function_count + 1, sizeof(*named));
	struct adding adding = {.parts = parts, .profile = profile, .named = named};
	int err;

	if (!named)
		return -ENOMEM;
	/* These are found also where there is no room for others. */
	err = python_call_note(profile, whats[head->state], 1);
	err = err ? err : python_call_note(profile, PYTHON_CALL_REPLACED, head->replaced);
	err = err ? err : python_call_note(profile, PYTHON_CALL_INTERPRETERS, head->interpreters);
	err = err ? err : python_call_note(profile, PYTHON_CALL_UNHOOKED, head->unhooked);
	err = err ? err : python_call_note(profile, PYTHON_CALL_LOST, head->lost_calls);
	err = err ? err : python_call_note(profile, PYTHON_CALL_LOST_LINES, head->lost_lines);
	err = err ? err : add_rows(&adding);
	err = err ? err : python_call_note(profile, PYTHON_CALL_LOST, adding.lost_calls);
	return err ? err : python_call_note(profile, PYTHON_CALL_LOST_LINES, adding.lost_lines);
}
