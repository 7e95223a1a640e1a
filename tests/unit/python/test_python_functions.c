// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_functions: which function is where, and what is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_functions.h"

#define CODE 0x7f0000001000ULL

static void put(struct pkbpf_python_string *string, const char *text)
{
	string->width = 1;
	string->length = string->bytes = (uint16_t)strlen(text);
	memcpy(string->text, text, strlen(text));
}

static void note_in_file(struct python_functions *functions, uint32_t process, uint64_t address,
			 const char *name, const char *file)
{
	struct pkbpf_event_python_code record = {.minor = 12, .first_line = 1, .code = address};

	put(&record.name, name);
	put(&record.file, file);
	assert_int_equal(python_functions_note(functions, process, &record, sizeof(record)), 0);
}

static void note(struct python_functions *functions, uint32_t process, uint64_t address,
		 const char *name)
{
	note_in_file(functions, process, address, name, "");
}

static const char *name_at(const struct python_functions *functions, uint32_t process,
			   uint64_t address)
{
	const struct python_code *code =
		python_functions_get(functions, python_functions_at(functions, process, address));

	return code ? code->name : "none";
}

static void each_process_has_its_own_addresses(void **state)
{
	struct python_functions *functions = python_functions_new();

	(void)state;
	note(functions, 1, CODE, "first");
	note(functions, 2, CODE, "second");
	assert_string_equal(name_at(functions, 1, CODE), "first");
	assert_string_equal(name_at(functions, 2, CODE), "second");
	assert_string_equal(name_at(functions, 3, CODE), "none");
	note(functions, 1, CODE, "third");
	assert_string_equal(name_at(functions, 1, CODE), "third");
	python_functions_free(functions);
}

static void equal_functions_have_one_number(void **state)
{
	struct python_functions *functions = python_functions_new();

	(void)state;
	note(functions, 1, CODE, "same");
	note(functions, 2, CODE + 64, "same");
	assert_int_equal(python_functions_at(functions, 1, CODE),
			 python_functions_at(functions, 2, CODE + 64));
	python_functions_free(functions);
}

static void a_process_that_is_forgotten_leaves_the_others_alone(void **state)
{
	struct python_functions *functions = python_functions_new();

	(void)state;
	note(functions, 1, CODE, "first");
	note(functions, 2, CODE, "second");
	note(functions, 3, CODE, "third");
	python_functions_forget_process(functions, 1);
	python_functions_forget_process(functions, 1);
	assert_false(python_functions_knows(functions, 1));
	assert_string_equal(name_at(functions, 2, CODE), "second");
	assert_string_equal(name_at(functions, 3, CODE), "third");
	python_functions_free(functions);
}

static void numbers_that_nobody_refers_to_are_used_again(void **state)
{
	struct python_functions *functions = python_functions_new();
	bool is_used[3] = {false};
	uint32_t first, marked;

	(void)state;
	note(functions, 1, CODE, "forgotten");
	note(functions, 1, CODE + 64, "marked");
	note(functions, 2, CODE, "alive");
	first = python_functions_at(functions, 1, CODE);
	marked = python_functions_at(functions, 1, CODE + 64);
	python_functions_forget_process(functions, 1);
	is_used[marked] = true;
	assert_int_equal(python_functions_count(functions), 3);
	python_functions_forget(functions, is_used);
	assert_null(python_functions_get(functions, first));
	assert_string_equal(python_functions_get(functions, marked)->name, "marked");
	assert_string_equal(name_at(functions, 2, CODE), "alive");
	note(functions, 3, CODE, "new");
	assert_int_equal(python_functions_at(functions, 3, CODE), first);
	note(functions, 3, CODE + 64, "marked");
	assert_int_equal(python_functions_at(functions, 3, CODE + 64), marked);
	python_functions_free(functions);
}

/* Each turn has names that nobody has seen, as of a program that makes functions without end. */
static void names_take_no_memory_once_nobody_refers_to_them(void **state)
{
	enum { COUNT = 20000 };
	struct python_functions *functions = python_functions_new();
	char name[PKBPF_PYTHON_STRING_BYTES + 1];
	bool is_used[COUNT];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (uint32_t turn = 0; turn * COUNT * 2 * sizeof(name) < 80 << 20; turn++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			snprintf(name, 9, "%08u", turn * COUNT + i);
			name[8] = 'x';
			note_in_file(functions, turn, CODE + 64 * i, name, name);
		}
		python_functions_forget_process(functions, turn);
		memset(is_used, 0, sizeof(is_used));
		python_functions_forget(functions, is_used);
	}
	assert_int_equal(python_functions_refused(functions), 0);
	python_functions_free(functions);
}

static void line_tables_take_no_more_memory_than_there_is_for_them(void **state)
{
	const size_t size = sizeof(struct pkbpf_event_python_code) + PKBPF_PYTHON_LINE_BYTES;
	struct pkbpf_event_python_code *large = calloc(1, size);
	struct python_functions *functions = python_functions_new();
	int err = 0;
	uint32_t i;

	(void)state;
	assert_non_null(large);
	large->minor = 12;
	large->line_bytes = PKBPF_PYTHON_LINE_BYTES;
	for (i = 0; i < 2000 && !err; i++) {
		large->first_line = i + 1;
		large->code = CODE + 64ULL * i;
		err = python_functions_note(functions, 1, large, size);
	}
	free(large);
	assert_int_equal(err, -ENOSPC);
	assert_in_range(i, 1000, 1100);
	assert_int_equal(python_functions_refused(functions), 1);
	python_functions_free(functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_has_its_own_addresses),
		cmocka_unit_test(equal_functions_have_one_number),
		cmocka_unit_test(a_process_that_is_forgotten_leaves_the_others_alone),
		cmocka_unit_test(numbers_that_nobody_refers_to_are_used_again),
		cmocka_unit_test(names_take_no_memory_once_nobody_refers_to_them),
		cmocka_unit_test(line_tables_take_no_more_memory_than_there_is_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
