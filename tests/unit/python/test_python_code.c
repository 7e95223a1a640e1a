// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_code: names and lines of records, also of hostile programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_code.h"

static void strings_of_records_become_utf8(void **state)
{
	static const uint8_t lines[] = {0x80, 0x00, 0xd9, 0x01, 0x02, 0x00, 0x00, 0x00};
	struct pkbpf_event_python_code *record = calloc(1, sizeof(*record) + sizeof(lines));
	struct python_code code;

	(void)state;
	assert_non_null(record);
	record->minor = 12;
	record->first_line = 10;
	record->line_bytes = 5;
	record->name = (struct pkbpf_python_string){
		.length = 300, .bytes = 3, .width = 1, .text = "Gr\xfc"};
	record->file = (struct pkbpf_python_string){
		.length = 4, .bytes = 4, .width = 2, .text = "\xe5\x65\x2c\x67"};
	memcpy(record->lines, lines, sizeof(lines));
	assert_int_equal(python_code_decode(record, sizeof(*record) + sizeof(lines), &code), 0);
	assert_string_equal(code.name, "Grü…");
	assert_string_equal(code.file, "…日本");
	assert_int_equal(python_code_line(&code, 0), 10);
	assert_int_equal(python_code_line(&code, 2), 11);
	assert_int_equal(python_code_line(&code, PKBPF_PYTHON_NO_INSTRUCTION), 0);
	python_code_done(&code);
	free(record);
}

static void rejects_records_that_say_more_than_they_have(void **state)
{
	struct pkbpf_event_python_code record = {.line_bytes = 1};
	struct python_code code;

	(void)state;
	assert_int_equal(python_code_decode(&record, sizeof(record), &code), -EBADMSG);
	record.line_bytes = PKBPF_PYTHON_LINE_BYTES + 1;
	assert_int_equal(python_code_decode(&record, 1 << 20, &code), -EBADMSG);
	assert_int_equal(python_code_decode(&record, 8, &code), -EBADMSG);
}

static struct python_code decode(const struct pkbpf_event_python_code *record)
{
	struct python_code code;

	assert_int_equal(python_code_decode(record, sizeof(*record), &code), 0);
	return code;
}

static void a_line_table_that_was_not_read_gives_no_line(void **state)
{
	struct pkbpf_event_python_code record = {
		.minor = 12, .first_line = 10, .line_size = PKBPF_PYTHON_LINE_BYTES + 1};
	struct python_code code = decode(&record);

	(void)state;
	assert_int_equal(python_code_line(&code, 3), 0);
	python_code_done(&code);
}

static void code_with_one_object_as_name_and_file_is_glue(void **state)
{
	struct pkbpf_event_python_code record = {.name.address = 64, .file.address = 64};
	struct python_code code = decode(&record);

	(void)state;
	assert_true(code.is_glue);
	python_code_done(&code);
	record.file.address = 80;
	code = decode(&record);
	assert_false(code.is_glue);
	assert_string_equal(code.name, "?");
	python_code_done(&code);
}

static struct python_code named(const char *name, const char *file)
{
	struct pkbpf_event_python_code record = {.name.address = 64, .file.address = 80};

	record.name.width = record.file.width = 1;
	record.name.length = record.name.bytes = (uint32_t)strlen(name);
	record.file.length = record.file.bytes = (uint32_t)strlen(file);
	memcpy(record.name.text, name, record.name.bytes);
	memcpy(record.file.text, file, record.file.bytes);
	return decode(&record);
}

static void what_an_import_runs_before_the_module_is_glue(void **state)
{
	static const struct {
		const char *name, *file;
		bool is_glue;
	} cases[] = {
		{"_find_and_load", "<frozen importlib._bootstrap>", true},
		{"_LoaderBasics.exec_module", "<frozen importlib._bootstrap_external>", true},
		{"SourceLoader.get_code", "<frozen importlib._bootstrap_external>", false},
		{"_find_and_load", "/app/loader.py", false},
		{"<module>", "/app/loader.py", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct python_code code = named(cases[i].name, cases[i].file);

		if (code.is_glue != cases[i].is_glue)
			fail_msg("case %zu", i);
		python_code_done(&code);
	}
}

static void files_that_every_package_has_come_with_their_folder(void **state)
{
	(void)state;
	assert_string_equal(python_short_path("/usr/lib/flask/app.py"), "app.py");
	assert_string_equal(python_short_path("/usr/lib/flask/__init__.py"), "flask/__init__.py");
	assert_string_equal(python_short_path("flask/__main__.py"), "flask/__main__.py");
	assert_string_equal(python_short_path("/__init__.py"), "__init__.py");
	assert_string_equal(python_short_path("__init__.py"), "__init__.py");
	assert_string_equal(python_short_path("<string>"), "<string>");
	assert_string_equal(python_short_path("/odd/"), "/odd/");
}

/* A function with cells begins with instructions that have no line. */
static void instructions_before_the_first_line_count_as_it(void **state)
{
	static const uint8_t lines[] = {0xf9, 0xe8, 0x02, 0xf9};
	struct pkbpf_event_python_code *record = calloc(1, sizeof(*record) + 8);
	struct python_code code;

	(void)state;
	assert_non_null(record);
	record->minor = 12;
	record->first_line = 10;
	record->line_bytes = record->line_size = sizeof(lines);
	memcpy(record->lines, lines, sizeof(lines));
	assert_int_equal(python_code_decode(record, sizeof(*record) + sizeof(lines), &code), 0);
	assert_int_equal(python_code_line(&code, 0), 10);
	assert_int_equal(python_code_line(&code, 2), 11);
	assert_int_equal(python_code_line(&code, 3), 0);
	python_code_done(&code);
	free(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_of_records_become_utf8),
		cmocka_unit_test(rejects_records_that_say_more_than_they_have),
		cmocka_unit_test(a_line_table_that_was_not_read_gives_no_line),
		cmocka_unit_test(code_with_one_object_as_name_and_file_is_glue),
		cmocka_unit_test(what_an_import_runs_before_the_module_is_glue),
		cmocka_unit_test(files_that_every_package_has_come_with_their_folder),
		cmocka_unit_test(instructions_before_the_first_line_count_as_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
