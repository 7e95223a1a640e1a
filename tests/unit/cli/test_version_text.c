// SPDX-License-Identifier: BSD-2-Clause
/* What --version says, for people who report a fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve_defaults.h"
#include "cli/version_text.h"

static void the_first_line_is_the_program_and_its_version(void **state)
{
	char *text = NULL;
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);

	version_print(out);
	fclose(out);
	assert_int_equal(strncmp(text, "pkbpf " PKBPF_VERSION, strlen("pkbpf " PKBPF_VERSION)), 0);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 4);
	assert_non_null(strstr(text, "\nbuild: "));
	assert_non_null(strstr(text, "\nlibbpf: "));
	assert_non_null(strstr(text, "\nlicence: "));
	free(text);
}

static void the_store_is_that_of_the_service_manager(void **state)
{
	char *before = getenv("STATE_DIRECTORY");

	before = before ? strdup(before) : NULL;
	setenv("STATE_DIRECTORY", "/var/lib/chosen", 1);
	assert_string_equal(serve_store(NULL), "/var/lib/chosen");
	assert_string_equal(serve_store("/given"), "/given");
	unsetenv("STATE_DIRECTORY");
	assert_string_equal(serve_store(NULL), SERVE_STORE);
	assert_string_equal(serve_store("/given"), "/given");
	if (before)
		setenv("STATE_DIRECTORY", before, 1);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_is_the_program_and_its_version),
		cmocka_unit_test(the_store_is_that_of_the_service_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
