// SPDX-License-Identifier: BSD-2-Clause
// Tests that formats are found by name or by the end of a path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "export/format.h"

static void every_format_is_found_by_its_own_name_and_suffix(void **state)
{
	const struct format_ops *format;
	size_t count = 0;
	char path[64];

	for (; (format = format_of(format_at(count))); count++) {
		assert_ptr_equal(format_by_name(format->file.name), format);
		snprintf(path, sizeof(path), "/tmp/x%s", format->file.suffix);
		assert_ptr_equal(file_format_by_suffix(format_at, path), &format->file);
		assert_non_null(format->file.summary);
		assert_non_null(format->write);
	}
	assert_true(count > 0);
}

static char *write_format(const struct format_ops *format, struct results *results)
{
	struct format_options options = {.top = 10};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(format->write(results, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void formats_that_share_results_write_what_each_writes_alone(void **state)
{
	struct results shared, alone;
	struct fake_profile fake;

	account_scenario_init(&fake);
	results_init(&shared, fake.profile, ROWS_BY_PROCESS);
	for (size_t i = 0; format_at(i); i++) {
		char *text, *other;

		results_init(&alone, fake.profile, ROWS_BY_PROCESS);
		text = write_format(format_of(format_at(i)), &shared);
		other = write_format(format_of(format_at(i)), &alone);
		assert_string_equal(text, other);
		assert_true(text[0] != '\0');
		results_done(&alone);
		free(text);
		free(other);
	}
	results_done(&shared);
	fake_profile_done(&fake);
}

static void other_names_are_unknown(void **state)
{
	assert_null(format_by_name("fold"));
	assert_null(format_by_name("txt"));
	assert_null(format_by_name(""));
	assert_null(file_format_by_suffix(format_at, "out.unknown"));
	assert_null(file_format_by_suffix(format_at, "out.foldedx"));
	/* A suffix alone is a hidden file without one. */
	assert_null(file_format_by_suffix(format_at, ".folded"));
	assert_null(file_format_by_suffix(format_at, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_is_found_by_its_own_name_and_suffix),
		cmocka_unit_test(formats_that_share_results_write_what_each_writes_alone),
		cmocka_unit_test(other_names_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
