/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile with counted Python calls, and stacks of two functions of one name. */
#ifndef PKBPF_TEST_PYTHON_CALL_ROWS_H
#define PKBPF_TEST_PYTHON_CALL_ROWS_H

#include "profile/profile.h"

#define PYTHON_FILE "/app/fib.py"

struct python_call_words {
	const char *name, *file;
	uint32_t line;
};

static inline void python_call_rows_add(struct profile *profile, enum python_call_what what,
					struct python_call_words callee,
					struct python_call_words caller, const uint64_t counts[3],
					uint32_t at)
{
	struct python_call call = {
		.what = what,
		.name = profile_intern_string(profile, callee.name),
		.file = profile_intern_string(profile, callee.file),
		.line = callee.line,
		.qualified = profile_intern_string(profile, callee.name),
		.caller_name = profile_intern_string(profile, caller.name),
		.caller_file = profile_intern_string(profile, caller.file),
		.caller_line = caller.line,
		.at = at,
		.count = counts[0],
		.primitive = counts[1],
		.first = counts[2],
	};

	assert_int_equal(python_call_list_add(profile_python_calls(profile), &call), 0);
}

/* fib() by the module and by itself, two functions f, len(), and lines. */
static inline void python_call_rows_fill(struct profile *profile)
{
	static const struct python_call_words none = {"", "", 0},
					      module = {"<module>", PYTHON_FILE, 1},
					      fib = {"fib", PYTHON_FILE, 2},
					      first = {"f", PYTHON_FILE, 10},
					      second = {"f", PYTHON_FILE, 20},
					      len = {"<built-in method builtins.len>", "", 0};

	python_call_rows_add(profile, PYTHON_CALL_EDGE, module, none, (uint64_t[]){1, 1, 1}, 0);
	python_call_rows_add(profile, PYTHON_CALL_EDGE, fib, module, (uint64_t[]){2, 2, 2}, 0);
	python_call_rows_add(profile, PYTHON_CALL_EDGE, fib, fib, (uint64_t[]){5000000000, 0, 4},
			     0);
	python_call_rows_add(profile, PYTHON_CALL_EDGE, first, module, (uint64_t[]){3, 3, 3}, 0);
	python_call_rows_add(profile, PYTHON_CALL_EDGE, second, module, (uint64_t[]){4, 4, 4}, 0);
	python_call_rows_add(profile, PYTHON_CALL_EDGE, len, second, (uint64_t[]){7, 7, 7}, 0);
	python_call_rows_add(profile, PYTHON_CALL_LINE, fib, none, (uint64_t[]){9, 0, 0}, 3);
	python_call_rows_add(profile, PYTHON_CALL_LINE, first, none, (uint64_t[]){11, 0, 0}, 12);
	python_call_rows_add(profile, PYTHON_CALL_PROCESSES, none, none, (uint64_t[]){2, 0, 0}, 0);
}

/* A stack, leaf first: names and lines of functions; "" is code that is not Python's. */
static inline void python_call_rows_stack(struct profile *profile, enum pkbpf_profile_kind kind,
					  const struct python_call_words *words, size_t count,
					  uint64_t weight)
{
	struct process wanted = {.pid = 5, .comm = "python3"};
	struct profile_row row = {.kind = kind, .count = 1, .weight = weight};
	uint32_t frames[8];

	for (size_t i = 0; i < count; i++) {
		struct symbol_line line = {.function = words[i].name[0] ? words[i].name : "malloc",
					   .file = words[i].file,
					   .line = words[i].line};
		struct frame frame = {.location = {.space = FRAME_FILE},
				      .symbol = {.result = SYMBOL_FOUND,
						 .module = "",
						 .lines = &line,
						 .line_count = 1,
						 .flags = words[i].name[0] ? SYMBOL_IS_PYTHON : 0},
				      .named = true};

		frames[i] = profile_put_frame(profile, &frame);
	}
	row.process = process_table_put(profile_processes(profile), &wanted)->id;
	row.stack = profile_intern_stack(profile, frames, count);
	assert_int_equal(profile_add(profile, &row), 0);
}

#endif
