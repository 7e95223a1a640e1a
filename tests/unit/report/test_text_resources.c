// SPDX-License-Identifier: BSD-2-Clause
/* Tests the tables of the joined account against the text they gave; UPDATE_GOLDEN=1 rewrites what
 * is expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "base/array.h"
#include "report/report.h"
#include "report/text_table.h"

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text;
	size_t size;

	if (!file)
		fail_msg("%s is missing: run with UPDATE_GOLDEN=1", path);
	text = calloc(1, 1 << 20);
	assert_non_null(text);
	size = fread(text, 1, (1 << 20) - 1, file);
	assert_true(size < (1 << 20) - 1);
	fclose(file);
	return text;
}

static char *report_in(enum rows_by by, bool full, unsigned int width)
{
	struct fake_profile fake;
	char *text;

	account_scenario_init(&fake);
	text = fake_profile_write_by(
		&fake, "text", by,
		&(struct format_options){.top = 6, .full = full, .width = width});
	fake_profile_done(&fake);
	return text;
}

static char *report(enum rows_by by, bool full)
{
	return report_in(by, full, 0);
}

static void expect(const char *name, char *text)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[4096], *expected;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	if (update && !strcmp(update, "1")) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		fputs(text, file);
		assert_int_equal(fclose(file), 0);
	}
	expected = read_file(path);
	if (strcmp(expected, text)) {
		print_error("--- expected %s\n%s--- got\n%s", path, expected, text);
		fail_msg("%s differs", path);
	}
	free(expected);
	free(text);
}

static void the_account_is_told_as_ever(void **state)
{
	expect("account.txt", report(ROWS_BY_PROCESS, false));
	expect("account.full.txt", report(ROWS_BY_PROCESS, true));
}

static void the_account_of_containers_is_told_as_ever(void **state)
{
	expect("account_container.txt", report(ROWS_BY_CONTAINER, false));
	expect("account_container.full.txt", report(ROWS_BY_CONTAINER, true));
}

static void every_grouping_fits_a_terminal(void **state)
{
	static const unsigned int widths[] = {80, 100, 200};

	for (size_t i = 0; i < 2 * ROWS_BY_COUNT * ARRAY_SIZE(widths); i++) {
		bool full = i % 2;
		unsigned int width = widths[i / 2 % ARRAY_SIZE(widths)];
		char *text = report_in((enum rows_by)(i / 2 / ARRAY_SIZE(widths)), full, width);
		size_t lines = 0;
		char *save = NULL;

		for (char *line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save), lines++) {
			if (text_columns(line) > width)
				fail_msg("%zu columns: %s", text_columns(line), line);
			assert_true(line[strlen(line) - 1] != ' ');
			for (const char *c = line; *c; c++)
				assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
		}
		assert_true(full || lines <= REPORT_LINES_OF_HOST);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_is_told_as_ever),
		cmocka_unit_test(the_account_of_containers_is_told_as_ever),
		cmocka_unit_test(every_grouping_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
