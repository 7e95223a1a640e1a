// SPDX-License-Identifier: BSD-2-Clause
// Writes folded stacks: one line per distinct stack for flamegraph.pl, inferno or speedscope.
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "export/folded_frame.h"
#include "export/folded_lines.h"
#include "export/formats.h"
#include "profile/function_table.h"
#include "profile/kind_table.h"
#include "rows/gpu_call.h"

/* Longest frame text without its suffix: C++ names grow without bound, and every viewer must take
 * the line. */
#define FOLDED_FRAME_MAX 4096

struct waker_function {
	uint32_t text;
	bool is_interrupt; /* where the kernel enters one */
};

struct folded {
	const struct profile *profile;
	const struct format_options *options;
	struct function_table *functions;
	struct string_pool *texts;
	struct folded_lines *lines;
	ARRAY_OF(uint32_t) function_texts; /* text id of each function */
	ARRAY_OF(struct waker_function)
	waker_functions; /* the same in the stack of a waker; filled when there is one */
	ARRAY_OF(uint32_t) sequence; /* the line being built */
	struct hash_map roots;	     /* comm, and the process where it shows -> text */
};

static const char *mark_suffix(enum function_mark mark)
{
	switch (mark) {
	case FUNCTION_KERNEL:
		return "_[k]";
	case FUNCTION_INLINED:
		return "_[i]";
	case FUNCTION_JIT:
		return "_[j]";
	case FUNCTION_PYTHON:
		return "_[p]";
	case FUNCTION_PLAIN:
	case FUNCTION_TRUNCATED:
		break;
	}
	return "";
}

static uint32_t function_text(struct folded *folded, const struct function *function)
{
	char name[FOLDED_FRAME_MAX], text[FOLDED_FRAME_MAX + 320];

	folded_frame(name, sizeof(name), function->name);
	if (function->file[0]) {
		char file[256];

		folded_frame(file, sizeof(file), function_file_name(function));
		snprintf(text, sizeof(text), "%s (%s:%" PRIu32 ")%s", name, file, function->line,
			 mark_suffix(function->mark));
	} else {
		snprintf(text, sizeof(text), "%s%s", name, mark_suffix(function->mark));
	}
	return string_pool_add(folded->texts, text);
}

static bool build_function_texts(struct folded *folded)
{
	size_t count = function_table_count(folded->functions);

	if (!array_reserve(&folded->function_texts, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t text =
			function_text(folded, function_table_get(folded->functions, (uint32_t)i));

		if (text == STRING_POOL_NONE)
			return false;
		*array_add(&folded->function_texts) = text;
	}
	return true;
}

static uint32_t root_text(struct folded *folded, const struct profile_row *row)
{
	const struct process *process;
	char comm[64], text[128];

	folded_frame(comm, sizeof(comm), profile_string(folded->profile, row->comm));
	for (char *c = comm; *c; c++)
		if (*c == ' ')
			*c = '_';
	/* inferno drops a line that begins with '#' as a comment. */
	if (comm[0] == '#')
		comm[0] = '?';
	process = process_table_by_id(profile_processes(folded->profile), row->process);
	if (process_has_pid(process) && folded->options->per_thread &&
	    row->tid != PROFILE_NO_THREAD)
		snprintf(text, sizeof(text), "%s-%" PRIu32 "/%" PRIu32, comm, process->pid,
			 row->tid);
	else if (process_has_pid(process) && folded->options->pid_frame)
		snprintf(text, sizeof(text), "%s-%" PRIu32, comm, process->pid);
	else
		snprintf(text, sizeof(text), "%s", comm);
	return string_pool_add(folded->texts, text);
}

/* The same, made once for all rows that begin alike, of which there are thousands. */
static uint32_t find_root_text(struct folded *folded, const struct profile_row *row)
{
	const struct format_options *options = folded->options;
	uint64_t key = row->comm | (options->pid_frame ? (uint64_t)row->process << 32 : 0);
	uint64_t *known;
	bool added;

	if (options->per_thread)
		return root_text(folded, row);
	known = hash_map_get(&folded->roots, key, STRING_POOL_NONE, &added);
	if (!known)
		return STRING_POOL_NONE;
	if (added)
		*known = root_text(folded, row);
	return (uint32_t)*known;
}

/* Exceptions (page faults) are the work of whoever has them, and soft interrupts that no other
 * brings of who sends. */
static bool is_interrupt_entry(const struct function *function)
{
	static const char *const entries[] = {
		"asm_sysvec_*", "asm_common_interrupt", "asm_spurious_interrupt",
		"fred_extint",	"fred_sysvec_*",	"el[01]*_irq",
		"el[01]*_fiq",	"el0_irq_naked",
	};

	for (size_t i = 0; function->mark == FUNCTION_KERNEL && i < ARRAY_SIZE(entries); i++)
		if (!fnmatch(entries[i], function->name, 0))
			return true;
	return false;
}

static bool build_waker_functions(struct folded *folded)
{
	size_t count = function_table_count(folded->functions);

	if (!array_reserve(&folded->waker_functions, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(folded->functions, (uint32_t)i);
		char name[FOLDED_FRAME_MAX], text[FOLDED_FRAME_MAX + 8];
		uint32_t id;

		folded_frame(name, sizeof(name), function->name);
		snprintf(text, sizeof(text), "%s_[w]", name);
		id = string_pool_add(folded->texts, text);
		if (id == STRING_POOL_NONE)
			return false;
		*array_add(&folded->waker_functions) = (struct waker_function){
			.text = id, .is_interrupt = is_interrupt_entry(function)};
	}
	return true;
}

static bool push_text(struct folded *folded, uint32_t text)
{
	uint32_t *item = text == STRING_POOL_NONE ? NULL : array_add(&folded->sequence);

	if (!item)
		return false;
	*item = text;
	return true;
}

/* Is such a call among its functions? */
static bool has_call(const struct folded *folded, const struct profile_row *row,
		     bool (*is_call)(const struct function *function))
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(folded->profile, row->stack, &frame_count);

	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *list =
			function_table_frame(folded->functions, frames[i], &function_count);

		for (size_t j = 0; j < function_count; j++)
			if (is_call(function_table_get(folded->functions, list[j])))
				return true;
	}
	return false;
}

static bool push_state(struct folded *folded, const struct profile_row *row)
{
	const struct kind_ops *kind = kind_ops_of(row->kind);
	char text[32];

	if (row->kind == PKBPF_PROFILE_CPU && has_call(folded, row, gpu_call_spins))
		return push_text(folded, string_pool_add(folded->texts, "[gpu wait, spinning]"));
	if (row->kind == PKBPF_PROFILE_OFFCPU && row->state == PKBPF_WAIT_SLEEP &&
	    has_call(folded, row, gpu_call_waits))
		return push_text(folded, string_pool_add(folded->texts, "[gpu wait]"));
	if (!kind->state_name)
		return true;
	snprintf(text, sizeof(text), "[%s]", kind->state_name(row->state));
	return push_text(folded, string_pool_add(folded->texts, text));
}

/* Who ended the wait, leaf first: its leaf stands next to the waiter's. What an interrupt happened
 * to hit is not who did. */
static bool push_waker(struct folded *folded, const struct profile_row *row)
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(folded->profile, row->waker - 1, &frame_count);

	if ((!folded->waker_functions.count && !build_waker_functions(folded)) ||
	    !push_text(folded, string_pool_add(folded->texts, "--")))
		return false;
	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *list =
			function_table_frame(folded->functions, frames[i], &function_count);

		for (size_t j = 0; j < function_count; j++) {
			const struct waker_function *function =
				&folded->waker_functions.items[list[j]];

			if (!push_text(folded, function->text))
				return false;
			if (function->is_interrupt)
				return true;
		}
	}
	return true;
}

static bool add_row(struct folded *folded, const struct profile_row *row)
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(folded->profile, row->stack, &frame_count);

	folded->sequence.count = 0;
	if (!push_text(folded, find_root_text(folded, row)))
		return false;
	for (size_t i = frame_count; i-- > 0;) {
		const uint32_t *list =
			function_table_frame(folded->functions, frames[i], &function_count);

		while (function_count-- > 0)
			if (!push_text(folded, folded->function_texts.items[list[function_count]]))
				return false;
	}
	if (folded->options->wait_states && !push_state(folded, row))
		return false;
	if (row->waker && !push_waker(folded, row))
		return false;
	return folded_lines_add(folded->lines, folded->sequence.items, folded->sequence.count,
				row->weight);
}

static void folded_done(struct folded *folded)
{
	function_table_free(folded->functions);
	folded_lines_free(folded->lines);
	string_pool_free(folded->texts);
	array_free(&folded->function_texts);
	array_free(&folded->waker_functions);
	array_free(&folded->sequence);
	hash_map_done(&folded->roots);
}

static int folded_write(struct results *results, const struct format_options *options, FILE *out)
{
	const struct profile *profile = results->profile;
	_cleanup_(folded_done) struct folded folded = {.profile = profile, .options = options};
	struct function_table_options wanted = {.lines = options->lines};
	const struct profile_row *rows;
	size_t row_count;

	folded.functions = function_table_new(profile, &wanted);
	folded.texts = string_pool_new();
	folded.lines = folded.texts ? folded_lines_new(folded.texts) : NULL;
	if (!folded.functions || !folded.lines || !build_function_texts(&folded))
		return -ENOMEM;
	rows = profile_rows(profile, &row_count);
	for (size_t i = 0; i < row_count; i++)
		if (rows[i].kind == options->kind && !add_row(&folded, &rows[i]))
			return -ENOMEM;
	return folded_lines_write(folded.lines, options->kind, out) ? 0 : -ENOMEM;
}

const struct format_ops format_folded = {
	.file = {"folded", ".folded",
		 "one line per stack for flamegraph.pl, inferno and speedscope"},
	.one_kind = true,
	.only_stacks = true,
	.write = folded_write,
};
