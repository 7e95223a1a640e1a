// SPDX-License-Identifier: BSD-2-Clause
/* Tests the formats of counted Python calls: marshalled bytes, and CSV. Python reads the former in
 * test_python_calls.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "python_call_rows.h"

static struct fake_profile fake;

static int setup(void **state)
{
	fake_profile_init(&fake, NULL);
	fake_profile_name(&fake, NULL, 0);
	profile_info(fake.profile)->frequency_hz = 100;
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

/* With its size: the bytes have NULs. */
static char *write_pstats(size_t *ret_size)
{
	const struct format_ops *format = format_by_name("pstats");
	struct format_options options = {.top = 10};
	struct results results;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	results_init(&results, fake.profile, ROWS_BY_PROCESS);
	assert_int_equal(format->write(&results, &options, out), 0);
	fclose(out);
	results_done(&results);
	return bytes;
}

static void assert_bytes(const char *bytes, size_t size, const char *wanted, size_t wanted_size)
{
	assert_non_null(memmem(bytes, size, wanted, wanted_size));
}

#define ASSERT_BYTES(wanted) assert_bytes(bytes, size, wanted, sizeof(wanted) - 1)

static void without_calls_it_is_an_empty_dictionary(void **state)
{
	size_t size;
	char *bytes = write_pstats(&size);

	assert_int_equal(size, 2);
	assert_memory_equal(bytes, "{0", 2);
	free(bytes);
	(void)state;
}

static void functions_are_marshalled_with_their_callers(void **state)
{
	size_t size;
	char *bytes;

	python_call_rows_fill(fake.profile);
	bytes = write_pstats(&size);
	/* The key of fib, 2 primitive calls, and 5,000,000,002 in digits of 15 bits. */
	ASSERT_BYTES("(\3\0\0\0u\13\0\0\0/app/fib.pyi\2\0\0\0u\3\0\0\0fib"
		     "(\5\0\0\0i\2\0\0\0l\3\0\0\0\2\x72\x0b\x54\4\0");
	/* Of a function in C: ~, line 0, called by f of line 20. */
	ASSERT_BYTES("(\3\0\0\0u\1\0\0\0~i\0\0\0\0u\36\0\0\0<built-in method builtins.len>"
		     "(\5\0\0\0i\7\0\0\0i\7\0\0\0g\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0"
		     "{(\3\0\0\0u\13\0\0\0/app/fib.pyi\24\0\0\0u\1\0\0\0f(\4\0\0\0i\7\0\0\0i\7");
	assert_memory_equal(bytes + size - 2, "00", 2);
	free(bytes);
	(void)state;
}

static void times_are_seconds(void **state)
{
	static const struct python_call_words stack[] = {{"f", PYTHON_FILE, 22}};
	size_t size;
	char *bytes;

	python_call_rows_fill(fake.profile);
	python_call_rows_stack(fake.profile, PKBPF_PROFILE_CPU, stack, 1, 50);
	bytes = write_pstats(&size);
	ASSERT_BYTES("g\0\0\0\0\0\0\xe0?g\0\0\0\0\0\0\xe0?"); /* 0.5 */
	free(bytes);
	(void)state;
}

static void names_are_utf_8_whatever_a_target_says(void **state)
{
	static const struct python_call_words none = {"", "", 0},
					      bad = {"a\xff\xc3\xa4\xed\xa0\x80z", "/b.py", 1};
	size_t size;
	char *bytes;

	python_call_rows_add(fake.profile, PYTHON_CALL_EDGE, bad, none, (uint64_t[]){1, 1, 1}, 0);
	bytes = write_pstats(&size);
	ASSERT_BYTES("u\10\0\0\0a?\xc3\xa4???z");
	free(bytes);
	(void)state;
}

static void tables_are_written_as_csv(void **state)
{
	char *text;

	python_call_rows_fill(fake.profile);
	text = fake_profile_write(&fake, "csv-python-calls", NULL);
	assert_non_null(strstr(text, "file,first_line,function,qualified_name,calls,"
				     "primitive_calls,self_ns,total_ns\r\n"
				     "/app/fib.py,2,fib,fib,5000000002,2,0,0\r\n"));
	assert_non_null(strstr(text, "\r\n,,<built-in method builtins.len>,"
				     "<built-in method builtins.len>,7,7,,\r\n"));
	free(text);
	text = fake_profile_write(&fake, "csv-python-lines", NULL);
	assert_string_equal(text, "file,first_line,function,qualified_name,line,hits\r\n"
				  "/app/fib.py,10,f,f,12,11\r\n/app/fib.py,2,fib,fib,3,9\r\n");
	free(text);
	(void)state;
}

static void json_has_functions_callers_and_lines(void **state)
{
	char *text;

	python_call_rows_fill(fake.profile);
	text = fake_profile_write(&fake, "json", NULL);
	assert_non_null(strstr(text, "\"python_calls\": {"));
	assert_non_null(strstr(text, "\"calls\": 5000000002"));
	assert_non_null(strstr(text, "\"primitive_calls\": 2"));
	assert_non_null(strstr(text, "\"hits\": 11"));
	assert_null(strstr(text, "\"lost_calls\""));
	free(text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_calls_it_is_an_empty_dictionary, setup,
						teardown),
		cmocka_unit_test_setup_teardown(functions_are_marshalled_with_their_callers, setup,
						teardown),
		cmocka_unit_test_setup_teardown(times_are_seconds, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_utf_8_whatever_a_target_says, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tables_are_written_as_csv, setup, teardown),
		cmocka_unit_test_setup_teardown(json_has_functions_callers_and_lines, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
