// SPDX-License-Identifier: BSD-2-Clause
/* Tests for alert/objective_write: a row for each objective, escaped, as text, table and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alert/objective.h"

#define COUNT 3

static struct objectives objectives;
static struct objective_result *results;
static char *text;

static int setup(void **state)
{
	static const char *const names[COUNT] = {"fast", "<b>", "idle"};
	struct error error;

	(void)state;
	objectives = (struct objectives){0};
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(
			objectives_add(&objectives, names[i], "postgres:offcpu.p99<20ms", &error),
			0);
	/* On the heap: what is behind them is nobody's. */
	results = calloc(COUNT, sizeof(*results));
	assert_non_null(results);
	for (size_t i = 0; i < COUNT; i++) {
		objectives.list.items[i].target = 95;
		results[i] = (struct objective_result){.objective = &objectives.list.items[i],
						       .worst = 30e6};
	}
	results[0].kept = 99;
	results[0].missed = 1;
	results[1].kept = 9;
	results[1].missed = 1;
	results[2].unknown = 7;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	free(results);
	objectives_done(&objectives);
	return 0;
}

static void write_as(void (*write)(const struct objective_result *, size_t, FILE *))
{
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(results, COUNT, out);
	assert_int_equal(fclose(out), 0);
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void a_table_has_a_row_for_each(void **state)
{
	size_t rows = 0;

	(void)state;
	write_as(objectives_write_html);
	for (const char *at = text; (at = strstr(at, "<tr class=")); at++)
		rows++;
	assert_int_equal(rows, COUNT);
	assert_has(
		"<tr class=\"met\"><td>fast<td>met<td>99.00 %<td>95 %<td>100<td>1<td>0<td>30.0 ms");
	assert_has("<tr class=\"missed\"><td>&lt;b&gt;<td>missed<td>90.00 %");
	assert_has("<tr class=\"unknown\"><td>idle<td>unknown<td>-<td>95 %<td>0<td>0<td>7<td>-");
	assert_has("postgres:offcpu.p99&lt;20ms");
}

static void a_text_has_a_line_for_each(void **state)
{
	size_t lines = 0;

	(void)state;
	write_as(objectives_write_text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + COUNT);
	assert_has("99.00 %");
	assert_has("30.0 ms");
}

static void json_has_a_share_where_there_is_one(void **state)
{
	(void)state;
	write_as(objectives_write_json);
	assert_has("\"kept\":99,\"missed\":1,\"unknown\":0,\"kept_percent\":99.0000,\"met\":true");
	assert_has("\"kept_percent\":90.0000,\"met\":false");
	assert_has("\"kept\":0,\"missed\":0,\"unknown\":7,\"misses\":[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_has_a_row_for_each, setup, teardown),
		cmocka_unit_test_setup_teardown(a_text_has_a_line_for_each, setup, teardown),
		cmocka_unit_test_setup_teardown(json_has_a_share_where_there_is_one, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
