// SPDX-License-Identifier: BSD-2-Clause
/* Tests for formats of a benchmark: rows of CSV, seconds of hyperfine, cases of JUnit, the table of
 * Markdown. */
#include "paper_bench.h"

static struct bench bench;
static char *text;

static int setup(void **state)
{
	(void)state;
	bench_init(&bench);
	assert_non_null(bench_add_variant(&bench, "old, \"quoted\""));
	assert_non_null(bench_add_variant(&bench, "new|<b>"));
	for (int i = 0; i < 10; i++) {
		struct bench_run *run = paper_run(&bench, 0, 1e8 + i * 1e4);

		bench_run_set(run, BENCH_USER, 2e7);
		bench_run_set(run, BENCH_SYSTEM, 1e7);
		bench_run_set(run, BENCH_PEAK_RSS, 5 << 20);
		paper_run(&bench, 1, 2e8 + i * 1e4);
	}
	paper_run(&bench, 0, 7e8)->is_warmup = true;
	bench.duration_ns = 2500000000;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench_done(&bench);
	free(text);
	text = NULL;
	return 0;
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void csv_has_a_row_for_each_run(void **state)
{
	size_t rows = 0;

	(void)state;
	text = paper_write(&bench, "csv", NULL, 0);
	for (const char *at = text; (at = strstr(at, "\r\n")); at += 2)
		rows++;
	assert_int_equal(rows, 1 + 21);
	assert_int_equal(
		strncmp(text, "order,variant,command,run,warmup,status,failed,wall_ns,", 55), 0);
	assert_has("\r\n1,1,\"old, \"\"quoted\"\"\",1,0,0,0,100000000,,20000000,10000000,");
	assert_has("\r\n2,2,new|<b>,1,0,0,0,200000000,,,");
	assert_has("\r\n21,1,\"old, \"\"quoted\"\"\",11,1,0,0,700000000,");
}

static void hyperfine_has_seconds_and_no_warm_ups(void **state)
{
	(void)state;
	text = paper_write(&bench, "hyperfine", NULL, 0);
	assert_has("\"command\": \"old, \\\"quoted\\\"\"");
	assert_has("\"min\": 0.1");
	assert_has("\"max\": 0.10009");
	assert_has("\"median\": 0.100045");
	assert_has("\"user\": 0.02");
	assert_has("\"system\": 0.01");
	assert_has("5242880");
	assert_null(strstr(text, "0.7"));
}

static void the_text_says_how_it_was_measured(void **state)
{
	(void)state;
	text = paper_write(&bench, "text", NULL, 0);
	assert_has("20 runs of 2 commands after 1 warm-up in 2.50 s");
	free(text);
	paper_run(&bench, 1, 7e8)->is_warmup = true;
	text = paper_write(&bench, "text", NULL, 0);
	assert_has("20 runs of 2 commands after 2 warm-ups in 2.50 s");
	assert_has("2 against 1: ");
	assert_has("slower in 100 % of pairs");
}

static void json_has_the_load_where_it_is_known(void **state)
{
	(void)state;
	bench.environment.load_before = 0;
	bench.environment.load_after = 1.5;
	text = paper_write(&bench, "json", NULL, 0);
	assert_has("\"load_before\": 0.000");
	assert_has("\"load_after\": 1.500");
	free(text);
	bench.environment.load_before = -1;
	bench.environment.load_after = 0;
	text = paper_write(&bench, "json", NULL, 0);
	assert_has("\"load_after\": 0.000");
	assert_null(strstr(text, "load_before"));
}

static void junit_counts_failures_and_errors(void **state)
{
	static const struct bench_gate_result gates[] = {
		{BENCH_GATE_PASSED, "a<b", "fine & well"},
		{BENCH_GATE_FAILED, "c", "slower by \"10 %\""},
		{BENCH_GATE_NOT_CHECKED, "d", "too few"},
		{BENCH_GATE_FAILED, "e", "slower"},
	};

	(void)state;
	text = paper_write(&bench, "junit", gates, 4);
	assert_has("<testsuite name=\"pkbpf bench\" tests=\"4\" failures=\"2\" errors=\"1\" "
		   "skipped=\"0\" time=\"2.500\">");
	assert_has("name=\"a&lt;b\" time=\"0\">\n    <system-out>fine &amp; well</system-out>");
	assert_has("<failure message=\"slower by &quot;10 %&quot;\"/>");
	assert_has("<error message=\"too few\"/>");
}

static void markdown_has_a_row_for_each_command(void **state)
{
	(void)state;
	text = paper_write(&bench, "markdown", NULL, 0);
	assert_has("100 ms");
	assert_has("200 ms");
	assert_has("+100");
	/* No table is broken by a name. */
	assert_null(strstr(text, "| `new|<b>` |"));
}

static void pairs_are_against_the_first_command(void **state)
{
	struct bench_document document;
	const struct bench_pair *pair;

	(void)state;
	assert_int_equal(bench_document_init(&document, &bench, NULL, 0.01, 0.05), 0);
	assert_int_equal(document.pairs.count, 1);
	pair = &document.pairs.items[0];
	assert_int_equal(pair->base, 0);
	assert_int_equal(pair->new, 1);
	assert_float_equal(pair->decision.ratio, 1, 0.001);
	assert_float_equal(pair->decision.change, 1e8, 1e4);
	assert_int_equal(pair->decision.verdict, BENCH_SLOWER);
	assert_float_equal(pair->decision.medians[0], 100045000, 1);
	assert_ptr_equal(bench_document_base(&document), &bench);
	bench_document_done(&document);
}

static void a_baseline_is_the_base_of_the_same_command(void **state)
{
	struct bench_document document;
	struct bench base;

	(void)state;
	bench_init(&base);
	assert_non_null(bench_add_variant(&base, "other"));
	assert_non_null(bench_add_variant(&base, "new|<b>"));
	for (int i = 0; i < 10; i++)
		paper_run(&base, 1, 4e8 + i * 1e4);
	assert_int_equal(bench_document_init(&document, &bench, &base, 0.01, 0.05), 0);
	assert_ptr_equal(bench_document_base(&document), &base);
	/* The other one has no namesake. */
	assert_int_equal(document.pairs.count, 1);
	assert_int_equal(document.pairs.items[0].base, 1);
	assert_int_equal(document.pairs.items[0].new, 1);
	assert_int_equal(document.pairs.items[0].decision.verdict, BENCH_FASTER);
	assert_float_equal(document.pairs.items[0].decision.ratio, -0.5, 0.001);
	assert_float_equal(document.pairs.items[0].decision.change, -2e8, 1e4);
	bench_document_done(&document);
	bench_done(&base);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(csv_has_a_row_for_each_run),
		TEST(the_text_says_how_it_was_measured),
		TEST(json_has_the_load_where_it_is_known),
		TEST(hyperfine_has_seconds_and_no_warm_ups),
		TEST(junit_counts_failures_and_errors),
		TEST(markdown_has_a_row_for_each_command),
		TEST(pairs_are_against_the_first_command),
		TEST(a_baseline_is_the_base_of_the_same_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
