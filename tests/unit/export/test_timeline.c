// SPDX-License-Identifier: BSD-2-Clause
/* Tests what the formats with a time axis say of slices: Firefox and Chrome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "export/format.h"
#include "export/formats.h"
#include "profile/slice/slice.h"

#define SECOND 1000000000ULL

/* A slice of a second of a process. */
static struct profile *slice_at(uint64_t second)
{
	struct profile *slice = slice_new();
	struct profile_info *info = profile_info(slice);

	info->start_ns = second * SECOND;
	info->end_ns = (second + 1) * SECOND;
	info->frequency_hz = 100;
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_LIVE;
	return slice;
}

/* A function of each name of "caller;callee". */
static uint32_t stack_of(struct profile *slice, const char *names)
{
	uint32_t frames[2048];
	char *copy = strdup(names), *rest = copy, *name;
	size_t count = 0;
	uint32_t stack;

	while ((name = strsep(&rest, ";"))) {
		struct symbol_line line = {.function = name, .file = ""};
		struct frame frame = {.location = {.space = FRAME_FILE},
				      .symbol = {.result = SYMBOL_FOUND,
						 .module = "app",
						 .lines = &line,
						 .line_count = 1},
				      .named = true};

		assert_true(count < ARRAY_SIZE(frames));
		memmove(frames + 1, frames, count++ * sizeof(*frames));
		frames[0] = profile_put_frame(slice, &frame);
		assert_int_not_equal(frames[0], UINT32_MAX);
	}
	free(copy);
	stack = profile_intern_stack(slice, frames, count);
	assert_int_not_equal(stack, UINT32_MAX);
	return stack;
}

struct row {
	uint32_t pid;
	uint64_t born_ns;
	const char *comm;
	enum pkbpf_profile_kind kind;
	const char *stack;
	uint64_t weight;
};

/* Rows of a born process are programs that it executes, in that order. */
static void add(struct profile *slice, const struct row *row, uint64_t place)
{
	struct process wanted = {
		.pid = row->pid,
		.born_ns = row->born_ns,
		.start_ns = row->born_ns ? row->born_ns + place : 0,
	};
	const struct process *process;
	struct profile_row added = {.kind = row->kind, .count = row->weight, .weight = row->weight};

	snprintf(wanted.comm, sizeof(wanted.comm), "%s", row->comm);
	process = process_table_put(profile_processes(slice), &wanted);
	assert_non_null(process);
	added.process = process->id;
	added.comm = profile_intern_string(slice, row->comm);
	added.stack = stack_of(slice, row->stack);
	assert_int_equal(profile_add(slice, &added), 0);
}

/* The file of slices with these rows, ends of rows with pid 0; the caller frees it. */
static char *written(const struct format_ops *format, const struct row (*slices)[4], size_t count)
{
	const struct format_options options = {.kind = PKBPF_PROFILE_CPU};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	void *file = format->slices->begin(out, &options);

	assert_non_null(file);
	for (size_t i = 0; i < count; i++) {
		struct profile *slice = slice_at(1 + i);

		for (size_t j = 0; j < 4 && slices[i][j].pid; j++)
			add(slice, &slices[i][j], j);
		assert_int_equal(format->slices->add(file, slice), 0);
		profile_free(slice);
	}
	assert_int_equal(format->slices->end(file), 0);
	format->slices->free(file);
	fclose(out);
	return text;
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		count++;
	}
	return count;
}

/* The sum of an array of numbers behind its name, of all places. */
static double sum_of(const char *text, const char *name)
{
	double sum = 0;

	while ((text = strstr(text, name))) {
		text += strlen(name);
		while (*text && *text != ']') {
			char *end;
			double value = strtod(text, &end);

			sum += end > text ? value : 0;
			text = end > text ? end : text + 1;
		}
	}
	return sum;
}

static void the_leaf_of_a_deep_stack_is_there(void **state)
{
	struct row slices[1][4] = {{{7, 0, "app", PKBPF_PROFILE_CPU, NULL, 5}}};
	char *stack = NULL, *text;
	size_t size = 0;
	FILE *out = open_memstream(&stack, &size);

	fputs("main", out);
	for (int i = 0; i < 2000; i++)
		fputs(i % 2 ? ";deeper" : ";deep", out);
	fputs(";leaf_spin", out);
	fclose(out);
	slices[0][0].stack = stack;
	text = written(&format_firefox, slices, 1);
	assert_int_equal(times(text, "\"leaf_spin\""), 1);
	assert_int_equal(times(text, "\"main\""), 1);
	free(text);
	text = written(&format_chrome, slices, 1);
	assert_true(times(text, "\"leaf_spin\"") >= 1);
	free(text);
	free(stack);
}

static void a_level_is_that_of_the_last_slice(void **state)
{
	static const struct row slices[3][4] = {
		{{7, 0, "app", PKBPF_PROFILE_LIVE, "main;make", 8000}},
		{{7, 0, "app", PKBPF_PROFILE_LIVE, "main;make", 8000},
		 {7, 0, "app", PKBPF_PROFILE_CPU, "main", 3}},
		{{7, 0, "app", PKBPF_PROFILE_LIVE, "main;make", 5000}},
	};
	char *text = written(&format_firefox, slices, 3);

	assert_int_equal((int)sum_of(text, "\"weight\":["), 5000 + 3);
	free(text);
	text = written(&format_firefox, slices, 2);
	assert_int_equal((int)sum_of(text, "\"weight\":["), 8000 + 3);
	free(text);
}

static void a_level_of_nothing_ends_the_one_before(void **state)
{
	static const struct row slices[2][4] = {
		{{7, 0, "app", PKBPF_PROFILE_LIVE, "main;make", 8000}},
		{{7, 0, "app", PKBPF_PROFILE_LIVE, "main;make", 0}},
	};
	char *text = written(&format_firefox, slices, 2);

	assert_int_equal((int)sum_of(text, "\"weight\":["), 0);
	free(text);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	static const struct row slices[2][4] = {
		{{7, 100, "first", PKBPF_PROFILE_CPU, "main", 3}},
		{{7, 200, "second", PKBPF_PROFILE_CPU, "main", 4}},
	};
	static const struct row same[2][4] = {
		{{7, 100, "first", PKBPF_PROFILE_CPU, "main", 3}},
		{{7, 100, "first", PKBPF_PROFILE_CPU, "main", 4}},
	};
	char *text = written(&format_firefox, slices, 2);

	assert_non_null(strstr(text, "first"));
	assert_non_null(strstr(text, "second"));
	assert_int_equal(times(text, "\"samples\":"), 2);
	free(text);
	text = written(&format_firefox, same, 2);
	assert_int_equal(times(text, "\"samples\":"), 1);
	free(text);
}

/* The shell of an entry point stands for little, and for all of the first slice. */
static void a_process_has_the_name_of_what_it_executed_last(void **state)
{
	static const struct row slices[2][4] = {
		{{7, 100, "sh", PKBPF_PROFILE_CPU, "main", 3}},
		{{7, 100, "sh", PKBPF_PROFILE_CPU, "main", 3},
		 {7, 100, "server", PKBPF_PROFILE_CPU, "main;serve", 40},
		 {7, 100, "server", PKBPF_PROFILE_OFFCPU, "main;wait", 40}},
	};
	char *text = written(&format_firefox, slices, 2);

	assert_int_equal(times(text, "\"processName\":\"server\""), 2);
	assert_int_equal(times(text, "\"name\":\"server: CPU\""), 1);
	assert_int_equal(times(text, "\"sh:") + times(text, "\"sh\""), 0);
	free(text);
	text = written(&format_chrome, slices, 2);
	assert_int_equal(times(text, "\"name\":\"process_name\""), 1);
	assert_int_equal(times(text, "\"args\":{\"name\":\"server\"}"), 1);
	free(text);
}

static void stacks_of_a_chrome_slice_have_no_more_room_than_it(void **state)
{
	/* 200 samples of 10 ms in a second: of two threads. */
	static const struct row slices[1][4] = {{{7, 0, "app", PKBPF_PROFILE_CPU, "main;a", 150},
						 {7, 0, "app", PKBPF_PROFILE_CPU, "main;b", 50}}};
	char *text = written(&format_chrome, slices, 1), *at;
	double main_us = 0;

	at = strstr(text, "\"name\":\"main\"");
	assert_non_null(at);
	at = strstr(at, "\"dur\":");
	main_us = strtod(at + strlen("\"dur\":"), NULL);
	assert_int_equal((int)(main_us + 0.5), 1000000);
	assert_int_equal(times(text, "\"name\":\"a\""), 1);
	assert_int_equal(times(text, "\"name\":\"b\""), 1);
	free(text);
}

static int deeper(char c)
{
	return c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
}

static void hostile_names_leave_no_string(void **state)
{
	static const struct row slices[1][4] = {
		{{7, 0, "a\"b\n", PKBPF_PROFILE_CPU, "main\"],;x\\\x01", 5}}};
	const struct format_ops *const formats[] = {&format_firefox, &format_chrome};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text = written(formats[i], slices, 1);
		bool in_string = false;
		int depth = 0;

		for (const char *c = text; *c; c++) {
			if (in_string && *c == '\\')
				c++;
			else if (*c == '"')
				in_string = !in_string;
			else if (in_string)
				assert_true((unsigned char)*c >= ' ');
			else
				depth += deeper(*c);
			assert_true(depth >= 0);
		}
		assert_false(in_string);
		assert_int_equal(depth, 0);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_leaf_of_a_deep_stack_is_there),
		cmocka_unit_test(a_level_is_that_of_the_last_slice),
		cmocka_unit_test(a_level_of_nothing_ends_the_one_before),
		cmocka_unit_test(a_pid_that_is_used_again_is_another_process),
		cmocka_unit_test(a_process_has_the_name_of_what_it_executed_last),
		cmocka_unit_test(stacks_of_a_chrome_slice_have_no_more_room_than_it),
		cmocka_unit_test(hostile_names_leave_no_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
