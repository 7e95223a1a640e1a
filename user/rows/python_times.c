// SPDX-License-Identifier: BSD-2-Clause
#include "rows/python_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_map.h"

/* Of a frame that is looked up with its first stack. */
#define NOT_LOOKED_UP (SIZE_MAX - 1)

struct timing {
	struct python_calls_rows *rows;
	const struct profile *profile;
	uint64_t seed;
	struct hash_map first; /* hash of file and name -> function */
	size_t *next;	       /* the next function with the same hash */
	struct hash_map edges; /* function and caller -> place of the caller's row */
	size_t *of_frame;      /* function of each frame of the profile */
	/* The stack in which a row was counted last, plus one. */
	size_t *function_seen, *caller_seen;
};

static uint64_t hash_names(const struct timing *timing, const char *file, const char *name)
{
	return hash_bytes(name, strlen(name), hash_bytes(file, strlen(file), timing->seed));
}

static bool index_name(struct timing *timing, const char *name, size_t function)
{
	const char *file = timing->rows->functions[function].file;
	bool added;
	uint64_t *first =
		hash_map_get(&timing->first, hash_names(timing, file, name), function, &added);

	if (!first)
		return false;
	if (!added) {
		timing->next[function] = *first;
		*first = function;
	}
	return true;
}

/* Names in stacks are qualified since 3.11, and plain before. A function has one of them. */
static bool index_rows(struct timing *timing)
{
	const struct python_calls_rows *rows = timing->rows;
	bool done = true;

	for (size_t i = 0; i < rows->function_count && done; i++) {
		timing->next[i] = PYTHON_CALLS_NONE;
		if (rows->functions[i].file[0])
			done = index_name(timing, rows->functions[i].qualified, i);
	}
	for (size_t i = 0; i < rows->caller_count && done; i++)
		if (rows->callers[i].caller != PYTHON_CALLS_NONE)
			done = hash_map_put(&timing->edges,
					    (uint64_t)rows->callers[i].function << 32 |
						    rows->callers[i].caller,
					    i);
	return done;
}

static bool is_named(const struct python_function *function, const struct symbol_line *line)
{
	return strcmp(function->qualified, line->function) == 0 &&
	       strcmp(function->file, line->file) == 0;
}

static size_t find_function(const struct timing *timing, const struct symbol_line *line)
{
	const uint64_t *first =
		hash_map_find(&timing->first, hash_names(timing, line->file, line->function));
	size_t best = PYTHON_CALLS_NONE;

	for (size_t i = first ? *first : PYTHON_CALLS_NONE; i != PYTHON_CALLS_NONE;
	     i = timing->next[i]) {
		const struct python_function *function = &timing->rows->functions[i];

		if (is_named(function, line) && (!line->line || function->line <= line->line) &&
		    (best == PYTHON_CALLS_NONE ||
		     timing->rows->functions[best].line < function->line))
			best = i;
	}
	return best;
}

/* PYTHON_CALLS_NONE: it is no Python function, or one that was not counted. */
static size_t function_of(struct timing *timing, uint32_t number, bool *ret_is_python)
{
	const struct frame *frame = profile_frame(timing->profile, number);
	const struct symbol *symbol = &frame->symbol;

	*ret_is_python = symbol->flags & SYMBOL_IS_PYTHON && symbol->line_count &&
			 symbol->lines[0].function && symbol->lines[0].file &&
			 !(symbol->flags & SYMBOL_IS_GLUE);
	if (!*ret_is_python)
		return PYTHON_CALLS_NONE;
	if (timing->of_frame[number] == NOT_LOOKED_UP)
		timing->of_frame[number] = find_function(timing, &symbol->lines[0]);
	return timing->of_frame[number];
}

static void add_total(struct timing *timing, size_t function, size_t callee, size_t stack,
		      uint64_t ns)
{
	struct python_calls_rows *rows = timing->rows;
	const uint64_t *edge;

	if (timing->function_seen[function] != stack)
		rows->functions[function].total_ns += ns;
	timing->function_seen[function] = stack;
	if (callee == PYTHON_CALLS_NONE)
		return;
	edge = hash_map_find(&timing->edges, (uint64_t)callee << 32 | function);
	if (edge && timing->caller_seen[*edge] != stack) {
		rows->callers[*edge].total_ns += ns;
		timing->caller_seen[*edge] = stack;
	}
}

/* The time of a function by way of the caller that stands next to it in the stack. */
static void add_self(struct timing *timing, size_t innermost, size_t caller, uint64_t ns)
{
	const uint64_t *edge = hash_map_find(&timing->edges, (uint64_t)innermost << 32 | caller);

	if (edge)
		timing->rows->callers[*edge].self_ns += ns;
}

static void add_stack(struct timing *timing, const uint32_t *frames, size_t count, size_t stack,
		      uint64_t ns)
{
	size_t callee = PYTHON_CALLS_NONE, python = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_python;
		size_t function = function_of(timing, frames[i], &is_python);

		if (!is_python)
			continue;
		if (function != PYTHON_CALLS_NONE) {
			if (!python)
				timing->rows->functions[function].self_ns += ns;
			if (python == 1 && callee != PYTHON_CALLS_NONE)
				add_self(timing, callee, function, ns);
			add_total(timing, function, callee, stack, ns);
		}
		callee = function;
		python++;
	}
}

static uint64_t ns_of(const struct timing *timing, const struct profile_row *row)
{
	uint32_t hz = profile_info_read(timing->profile)->frequency_hz;

	if (row->kind == PKBPF_PROFILE_OFFCPU)
		return row->weight;
	return row->kind == PKBPF_PROFILE_CPU && hz
		       ? (uint64_t)((double)row->weight * NS_PER_SECOND / hz)
		       : 0;
}

static void add_all(struct timing *timing)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(timing->profile, &row_count);

	for (size_t i = 0; i < row_count; i++) {
		size_t count;
		const uint32_t *frames = profile_stack(timing->profile, rows[i].stack, &count);
		uint64_t ns = ns_of(timing, &rows[i]);

		timing->rows->has_samples |= rows[i].kind == PKBPF_PROFILE_CPU;
		timing->rows->has_waits |= rows[i].kind == PKBPF_PROFILE_OFFCPU;
		if (ns)
			add_stack(timing, frames, count, i + 1, ns);
	}
}

int python_times_add(struct python_calls_rows *rows, const struct profile *profile)
{
	size_t frames = profile_frame_count(profile);
	struct timing timing = {
		.rows = rows,
		.profile = profile,
		.seed = hash_random_seed(),
		.next = calloc(rows->function_count + 1, sizeof(size_t)),
		.of_frame = calloc(frames + 1, sizeof(size_t)),
		.function_seen = calloc(rows->function_count + 1, sizeof(size_t)),
		.caller_seen = calloc(rows->caller_count + 1, sizeof(size_t)),
	};
	bool done = timing.next && timing.of_frame && timing.function_seen && timing.caller_seen;

	for (size_t i = 0; i < frames && done; i++)
		timing.of_frame[i] = NOT_LOOKED_UP;
	done = done && index_rows(&timing);
	if (done)
		add_all(&timing);
	hash_map_done(&timing.first);
	hash_map_done(&timing.edges);
	free(timing.next);
	free(timing.of_frame);
	free(timing.function_seen);
	free(timing.caller_seen);
	return done ? 0 : -ENOMEM;
}
