// SPDX-License-Identifier: BSD-2-Clause
/* Tests the CSV report with a parser of RFC 4180. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"

#define CELLS_MAX 128
#define CELL_SIZE 256

struct record {
	char cells[CELLS_MAX][CELL_SIZE];
	size_t count;
};

/* The record at *at, which is moved behind it. Fails the test where the text is not RFC 4180. */
static void read_record(const char **at, struct record *record)
{
	const char *c = *at;

	record->count = 0;
	for (;;) {
		bool quoted = *c == '"';
		size_t length = 0;

		c += quoted;
		while (*c && (quoted || (*c != ',' && *c != '\r'))) {
			if (quoted && *c == '"') {
				if (c[1] != '"')
					break;
				c++;
			}
			assert_true(quoted || (*c != '"' && *c != '\n'));
			assert_true(length + 1 < CELL_SIZE);
			record->cells[record->count][length++] = *c++;
		}
		record->cells[record->count++][length] = '\0';
		assert_true(record->count < CELLS_MAX);
		if (quoted)
			assert_int_equal(*c++, '"');
		if (*c == ',') {
			c++;
			continue;
		}
		assert_int_equal(*c++, '\r');
		assert_int_equal(*c++, '\n');
		*at = c;
		return;
	}
}

static size_t column_of(const struct record *heading, const char *name)
{
	for (size_t i = 0; i < heading->count; i++)
		if (!strcmp(heading->cells[i], name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static void rows_are_read_back_with_every_cell(void **state)
{
	static struct record heading, record, postgres, hostile;
	struct fake_profile fake;
	char *text;
	const char *at;
	size_t rows = 0;

	account_scenario_init(&fake);
	at = text = fake_profile_write(&fake, "csv", NULL);
	fake_profile_done(&fake);
	read_record(&at, &heading);
	while (*at) {
		read_record(&at, &record);
		assert_int_equal(record.count, heading.count);
		rows++;
		if (!strcmp(record.cells[0], "812"))
			postgres = record;
		if (!strcmp(record.cells[0], "77"))
			hostile = record;
	}
	assert_int_equal(rows, ACCOUNT_SHORT_LIVED + 4);
	assert_string_equal(postgres.cells[column_of(&heading, "comm")], "postgres");
	assert_string_equal(postgres.cells[column_of(&heading, "cpu.total_ns")], "900000000");
	assert_string_equal(postgres.cells[column_of(&heading, "cpu.share_percent")], "9.000");
	assert_string_equal(postgres.cells[column_of(&heading, "blockio.writes")], "450");
	assert_string_equal(postgres.cells[column_of(&heading, "hottest.offcpu")], "io_schedule");
	/* A spreadsheet would take it for a formula, a terminal for a command. */
	assert_string_equal(hostile.cells[column_of(&heading, "comm")], "'=\"a\",?[2J\n<b>");
	assert_string_equal(hostile.cells[column_of(&heading, "offcpu.wall_ns")], "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_back_with_every_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
