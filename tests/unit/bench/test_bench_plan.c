// SPDX-License-Identifier: BSD-2-Clause
/* Tests that each combination of parameters becomes a command, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench_plan.h"
#include "bench/bench_series.h"
#include "bench/command_words.h"

static struct bench bench;
static struct bench_plan plan;
static struct error error;

static int setup(void **state)
{
	(void)state;
	bench_init(&bench);
	error = (struct error){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench_plan_done(&plan);
	bench_done(&bench);
	return 0;
}

static void assert_words(size_t command, const char *joined)
{
	char *text = command_words_join(plan.commands.items[command]);

	assert_non_null(text);
	assert_string_equal(text, joined);
	free(text);
}

static const struct bench_parameter *parameter_of(size_t variant, size_t number)
{
	return &bench.variants.items[variant].parameters.items[number];
}

static void commands_without_parameters_are_variants_as_they_are(void **state)
{
	static const char *const texts[] = {"sleep 1", "sleep 2 | cat"};
	const struct bench_request request = {.texts = texts, .text_count = 2};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), 0);
	assert_int_equal(bench.variants.count, 2);
	assert_string_equal(bench.variants.items[1].label, "sleep 2 | cat");
	assert_words(0, "sleep 1");
	assert_string_equal(plan.commands.items[1][0], "sh");
	assert_string_equal(plan.commands.items[1][2], "sleep 2 | cat");
	assert_true(plan.uses_shell);
	assert_int_equal(plan.setup, BENCH_NO_COMMAND);
	assert_int_equal(plan.prepare, BENCH_NO_COMMAND);
	assert_int_equal(plan.conclude, BENCH_NO_COMMAND);
}

static void the_last_parameter_changes_first(void **state)
{
	static const char *const texts[] = {"run -t {threads} -m {mode}"};
	const struct bench_request request = {
		.texts = texts,
		.text_count = 1,
		.matrix = {.items = {"threads=1,16", "mode=a,b,c"}, .count = 2}};
	static const char *const expected[] = {"run -t 1 -m a",	 "run -t 1 -m b",
					       "run -t 1 -m c",	 "run -t 16 -m a",
					       "run -t 16 -m b", "run -t 16 -m c"};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), 0);
	assert_int_equal(bench.variants.count, 6);
	assert_false(plan.uses_shell);
	for (size_t i = 0; i < 6; i++) {
		assert_words(i, expected[i]);
		assert_string_equal(bench.variants.items[i].label, expected[i]);
		assert_string_equal(parameter_of(i, 0)->name, "threads");
		assert_string_equal(parameter_of(i, 0)->value, i < 3 ? "1" : "16");
		assert_string_equal(parameter_of(i, 1)->name, "mode");
	}
	assert_string_equal(parameter_of(4, 1)->value, "b");
}

static void words_that_are_split_already_get_their_values_and_nothing_is_expanded(void **state)
{
	char program[] = "prog", size[] = "--size={n}", more[] = "a b;{n}";
	char *words[] = {program, size, more, NULL};
	const struct bench_request request = {.words = words,
					      .matrix = {.items = {"n=3,"}, .count = 1}};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), 0);
	assert_int_equal(bench.variants.count, 2);
	assert_words(0, "prog --size=3 'a b;3'");
	/* An empty value is one. */
	assert_string_equal(plan.commands.items[1][1], "--size=");
	/* The caller's own words are as before. */
	assert_string_equal(words[1], "--size={n}");
}

static void commands_beside_runs_are_there_once_for_each_variant(void **state)
{
	static const char *const texts[] = {"run {n}"};
	const struct bench_request request = {.texts = texts,
					      .text_count = 1,
					      .matrix = {.items = {"n=1,2"}, .count = 1},
					      .prepare = "rm -f out{n}",
					      .conclude = "true"};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), 0);
	assert_int_equal(plan.setup, BENCH_NO_COMMAND);
	assert_int_equal(plan.prepare, 2);
	assert_int_equal(plan.conclude, 4);
	assert_int_equal(plan.commands.count, 6);
	assert_string_equal(plan.commands.items[2][2], "rm -f out1");
	assert_string_equal(plan.commands.items[3][2], "rm -f out2");
	assert_string_equal(plan.commands.items[5][2], "true");
	/* Theirs is no shell of a variant, whose start would count. */
	assert_false(plan.uses_shell);
}

static void a_parameter_without_a_place_is_refused(void **state)
{
	static const char *const texts[] = {"run {threads}"};
	const struct bench_request request = {
		.texts = texts, .text_count = 1, .matrix = {.items = {"thread=1,2"}, .count = 1}};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), -EINVAL);
	assert_string_equal(error.text, "--matrix thread=1,2: no command has {thread}");
	assert_int_equal(bench.variants.count, 0);
}

static void more_combinations_than_can_be_compared_are_refused(void **state)
{
	static const char *const texts[] = {"run {a} {b} {c}"};
	const struct bench_request request = {
		.texts = texts,
		.text_count = 1,
		.matrix = {.items = {"a=1,2,3,4,5,6,7,8,9,10", "b=1,2,3,4,5,6,7,8,9,10",
				     "c=1,2,3,4,5,6,7,8,9,10"},
			   .count = 3}};

	(void)state;
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), -EINVAL);
	assert_non_null(strstr(error.text, "commands to compare"));
	assert_true(bench.variants.count <= BENCH_VARIANTS_MAX);
}

static void a_value_of_more_than_a_kilobyte_is_refused(void **state)
{
	static const char *const texts[] = {"run {n}"};
	char item[2000] = "n=";
	const struct bench_request request = {
		.texts = texts, .text_count = 1, .matrix = {.items = {item}, .count = 1}};

	(void)state;
	memset(item + 2, 'x', 1024);
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), 0);
	bench_plan_done(&plan);
	item[1026] = 'x';
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), -EINVAL);
	assert_non_null(strstr(error.text, "longer than 1024 bytes"));
}

static void a_matrix_is_a_name_and_values(void **state)
{
	static const char *const refused[] = {"", "=1", "n", "n=", "a b=1", "n\xff=1", "$n=1"};
	char name[70];

	(void)state;
	assert_int_equal(bench_matrix_check("n=1", &error), 0);
	assert_int_equal(bench_matrix_check("n-2.x_Y=a=b", &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(bench_matrix_check(refused[i], &error), -EINVAL);
	memset(name, 'n', 64);
	strcpy(name + 63, "=1");
	assert_int_equal(bench_matrix_check(name, &error), 0);
	strcpy(name + 63, "n=1");
	assert_int_equal(bench_matrix_check(name, &error), -EINVAL);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(commands_without_parameters_are_variants_as_they_are),
		test(the_last_parameter_changes_first),
		test(words_that_are_split_already_get_their_values_and_nothing_is_expanded),
		test(commands_beside_runs_are_there_once_for_each_variant),
		test(a_parameter_without_a_place_is_refused),
		test(more_combinations_than_can_be_compared_are_refused),
		test(a_value_of_more_than_a_kilobyte_is_refused),
		test(a_matrix_is_a_name_and_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
