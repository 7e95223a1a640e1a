// SPDX-License-Identifier: BSD-2-Clause
/* Tests for the formats of a comparison: heads, rows and conditions of JSON, Markdown and JUnit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_format.h"
#include "side_fixture.h"

static struct sides sides;
static char *text;
static struct diff_condition_result results[3];

/* Ten slices of a second in which app has 100 ms, and then 150. */
static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 1U << PKBPF_PROFILE_CPU);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (int i = 0; i < 10; i++) {
			sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
			sides_add(&sides, (enum diff_side)side,
				  sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_PROCESS, "app"),
				  (side ? 150 : 100) * MS + i * 1000, 0);
			sides_add(&sides, (enum diff_side)side,
				  sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_PROCESS, "idle|er"),
				  10 * MS + i * 1000, 0);
		}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
	results[0] = (struct diff_condition_result){"cpu.total>+1%", DIFF_CONDITION_PASSED,
						    "cpu.total>+1%: passed"};
	results[1] = (struct diff_condition_result){"cpu.process[app]>+1%", DIFF_CONDITION_HELD,
						    "it <grew>"};
	results[2] =
		(struct diff_condition_result){"cpu.process[x]>+1%", DIFF_CONDITION_ABSENT, "no x"};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	free(text);
	text = NULL;
	return 0;
}

static const char *write_as(const char *format, size_t conditions)
{
	struct diff_document document = {.comparison = &sides.comparison,
					 .titles = {"old.pkbpf", "new.pkbpf"},
					 .conditions = results,
					 .condition_count = conditions};
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	assert_int_equal(diff_format_by_name(format)->write(&document, out), 0);
	fclose(out);
	return text;
}

static void assert_has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void a_picture_says_what_it_compares(void **state)
{
	(void)state;
	write_as("svg", 0);
	assert_has("flame graph: CPU, base 0 ns, new 0 ns per second");
}

static void json_has_sides_method_and_rows(void **state)
{
	(void)state;
	write_as("json", 3);
	assert_has("\"schema_version\": 1");
	assert_has("\"title\": \"old.pkbpf\"");
	assert_has("\"duration_ns\": 10000000000");
	assert_has("\"slices\": 10");
	assert_has("\"unit\": \"second\"");
	assert_has("\"name\": \"app\"");
	assert_has("\"verdict\": \"grew\"");
	assert_has("\"evidence\": \"slices\"");
	assert_has("\"outcome\": \"passed\"");
	assert_has("\"outcome\": \"failed\"");
	assert_has("\"outcome\": \"absent\"");
	/* Base before new, and both with their values. */
	assert_true(strstr(text, "old.pkbpf") < strstr(text, "new.pkbpf"));
	assert_has("\"change\": 50000000");
}

static void json_of_work_has_its_amounts(void **state)
{
	(void)state;
	comparison_done(&sides.comparison);
	sides.is_compared = false;
	assert_int_equal(
		sides_compare(&sides, (struct diff_work){DIFF_PER_WORK, "requests", 100, 250}), 0);
	write_as("json", 0);
	assert_has("\"unit\": \"requests\"");
	assert_has("\"base\": 100");
	assert_has("\"new\": 250");
	assert_has("\"conditions\": []");
}

static void markdown_has_what_changed_alone(void **state)
{
	(void)state;
	write_as("markdown", 3);
	assert_has("## Profile: base against new, per second\n");
	assert_has("- passed: `cpu.total>+1%: passed`\n");
	assert_has("- **failed**: `it <grew>`\n");
	assert_has("- **not checked**: `no x`\n");
	assert_has("| process | `app` | 100 ms | 150 ms | **+50.0 %** | ");
	assert_null(strstr(text, "idle"));
	assert_has("<sub>base old.pkbpf: 10.0 s in 10 slices<br>new new.pkbpf: ");
}

static void markdown_says_when_nothing_changed(void **state)
{
	(void)state;
	comparison_done(&sides.comparison);
	sides.comparison.rows.count = 0;
	assert_int_equal(comparison_init(&sides.comparison, &sides.items[0], &sides.items[0],
					 &(struct diff_work){.per = DIFF_PER_SECOND}, NULL),
			 0);
	write_as("markdown", 0);
	assert_has("No significant change.\n");
	assert_null(strstr(text, "| process"));
}

/* Their headings alone are more than the page has lines. */
static void text_of_all_kinds_has_a_row_of_each_table(void **state)
{
	char name[16];

	(void)state;
	sides_done(&sides);
	sides_init(&sides, (1U << PKBPF_PROFILE_KINDS) - 1);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (int i = 0; i < 10; i++) {
			sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
			for (int app = 0; app < 20; app++) {
				snprintf(name, sizeof(name), "app%d", app);
				sides_add(&sides, (enum diff_side)side,
					  sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_PROCESS, name),
					  (side ? 150 : 100) * MS + i * 1000, 0);
			}
		}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_SECOND}), 0);
	write_as("text", 0);
	assert_has(" ... and 19 more (--full)\n");
}

static void junit_tells_failures_from_errors(void **state)
{
	(void)state;
	write_as("junit", 3);
	assert_has("<testsuite name=\"pkbpf diff\" tests=\"3\" failures=\"1\" errors=\"1\" ");
	assert_has("<testcase classname=\"pkbpf.diff\" name=\"cpu.total&gt;+1%\" time=\"0\">\n"
		   "    <system-out>");
	assert_has("<failure message=\"it &lt;grew&gt;\"/>");
	assert_has("<error message=\"no x\"/>");
	write_as("junit", 0);
	assert_has("tests=\"0\" failures=\"0\" errors=\"0\"");
}

static void formats_are_found_by_name(void **state)
{
	(void)state;
	assert_null(diff_format_by_name("yaml"));
	assert_true(diff_format_by_name("junit")->needs_conditions);
	assert_false(diff_format_by_name("json")->needs_conditions);
	for (size_t i = 0; diff_format_at(i); i++) {
		assert_ptr_equal(&diff_format_by_name(diff_format_at(i)->name)->file,
				 diff_format_at(i));
		assert_ptr_equal(diff_format_of(diff_format_at(i)),
				 diff_format_by_name(diff_format_at(i)->name));
	}
	assert_null(diff_format_of(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_picture_says_what_it_compares),
		TEST(json_has_sides_method_and_rows),
		TEST(json_of_work_has_its_amounts),
		TEST(markdown_has_what_changed_alone),
		TEST(markdown_says_when_nothing_changed),
		TEST(junit_tells_failures_from_errors),
		cmocka_unit_test(formats_are_found_by_name),
		TEST(text_of_all_kinds_has_a_row_of_each_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
