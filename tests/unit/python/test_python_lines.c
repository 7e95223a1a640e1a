// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_lines, against what interpreters say of their own library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interpreters.h"
#include "python/python_lines.h"

static uint8_t *parse_hex(const char *text, size_t *ret_size)
{
	size_t size = text[0] == '-' ? 0 : strlen(text) / 2;
	uint8_t *bytes = malloc(size + !size); /* exact: AddressSanitizer sees a read beyond it */

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	*ret_size = size;
	return bytes;
}

/* One line of lines.py; returns the number of instructions. */
static size_t check_code(char *text)
{
	char *rest, *minor = strtok_r(text, " ", &rest), *first = strtok_r(NULL, " ", &rest);
	char *hex = strtok_r(NULL, " ", &rest);
	struct python_lines lines = {0};
	uint32_t instruction = 0;

	assert_non_null(hex);
	lines.minor = (uint8_t)atoi(minor);
	lines.first_line = (uint32_t)atoi(first);
	lines.bytes = parse_hex(hex, &lines.size);
	for (char *run; (run = strtok_r(NULL, " \n", &rest));) {
		unsigned int count, line;

		assert_int_equal(sscanf(run, "%u:%u", &count, &line), 2);
		for (; count--; instruction++)
			assert_int_equal(python_lines_find(&lines, instruction), line);
	}
	free((void *)lines.bytes);
	return instruction;
}

static void lines_are_what_the_interpreter_says(void **state)
{
	struct interpreters interpreters;

	(void)state;
	interpreters_find(&interpreters);
	if (!interpreters.count)
		skip();
	for (size_t i = 0; i < interpreters.count; i++) {
		struct script script =
			script_start(interpreters.paths[i], TEST_DATA_DIR "/lines.py");
		size_t codes = 0, instructions = 0, capacity = 0;
		char *text = NULL;

		while (getline(&text, &capacity, script.out) > 0) {
			instructions += check_code(text);
			codes++;
		}
		free(text);
		script_end(&script);
		print_message("%s: %zu code objects, %zu instructions\n", interpreters.paths[i],
			      codes, instructions);
		assert_true(codes > 1000);
		assert_true(instructions > 50 * 1000);
	}
	interpreters_done(&interpreters);
}

struct lines_case {
	uint8_t minor;
	const char *table;
	size_t size;
	uint32_t instruction, line;
};

static void damaged_tables_give_a_line_or_none(void **state)
{
	static const struct lines_case cases[] = {
		/* no table at all, and beyond its end: the first line */
		{8, "", 0, 7, 100},
		{10, "", 0, 7, 100},
		{11, "", 0, 7, 100},
		{11, "\x80\x00", 2, 1, 100},
		/* half an entry */
		{9, "\x02", 1, 5, 100},
		{10, "\x02", 1, 0, 100},
		{11, "\xe8", 1, 0, 100},
		{11, "\xf0\x42", 2, 0, 101},
		/* lines before the file's first one */
		{9, "\x00\x80\x00\x80", 4, 0, 0},
		{10, "\x02\x81", 2, 0, 0},
		/* a varint without an end */
		{11, "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 11, 0, 0},
		/* no line */
		{10, "\x02\x80", 2, 0, 0},
		{11, "\xf8", 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *exact = malloc(cases[i].size + !cases[i].size);
		struct python_lines lines = {exact, cases[i].size, 100, cases[i].minor};

		assert_non_null(exact);
		memcpy(exact, cases[i].table, cases[i].size);
		if (python_lines_find(&lines, cases[i].instruction) != cases[i].line)
			fail_msg("case %zu: line %u", i,
				 python_lines_find(&lines, cases[i].instruction));
		free(exact);
	}
}

/* A frame of Ruby points behind the instruction that it runs. */
static void runs_have_the_line_of_the_instruction_before(void **state)
{
	static const struct python_line_run runs[] = {{0, 10}, {4, 12}, {9, 11}};
	struct python_lines lines = {(const uint8_t *)runs, sizeof(runs), 9, PYTHON_LINES_RUNS};
	static const struct python_line_run beyond = {0, UINT32_MAX};
	static const uint32_t expected[] = {10, 10, 10, 10, 10, 12, 12, 12, 12, 12, 11, 11};

	(void)state;
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(python_lines_find(&lines, i), expected[i]);
	assert_int_equal(python_lines_find(&lines, UINT32_MAX), 11);
	/* half a run, and none */
	lines.size = sizeof(runs[0]) + 3;
	assert_int_equal(python_lines_find(&lines, 9), 10);
	lines.size = 0;
	assert_int_equal(python_lines_find(&lines, 9), 9);
	/* no line of any file */
	lines.bytes = (const uint8_t *)&beyond;
	lines.size = sizeof(beyond);
	assert_int_equal(python_lines_find(&lines, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_what_the_interpreter_says),
		cmocka_unit_test(damaged_tables_give_a_line_or_none),
		cmocka_unit_test(runs_have_the_line_of_the_instruction_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
