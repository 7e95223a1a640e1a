// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bench/bench_column: names, commands and numbers of --column, in runs, limits and files.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bench_column.h"
#include "bench/bench_plan.h"
#include "bench/bench_series.h"
#include "paper_bench.h"

static struct error error;

static void a_name_a_direction_and_a_command(void **state)
{
	struct bench_column_spec spec;

	(void)state;
	assert_int_equal(bench_column_parse("accuracy=cat a=b", &spec, &error), 0);
	assert_string_equal(spec.name, "accuracy");
	assert_string_equal(spec.command, "cat a=b");
	assert_int_equal(spec.better, BENCH_BETTER_UNKNOWN);
	assert_int_equal(bench_column_parse("top_5:higher=x", &spec, &error), 0);
	assert_string_equal(spec.name, "top_5");
	assert_int_equal(spec.better, BENCH_BETTER_HIGHER);
	assert_int_equal(bench_column_parse("loss:lower=x", &spec, &error), 0);
	assert_int_equal(spec.better, BENCH_BETTER_LOWER);
}

static void what_is_no_column_is_refused_by_name(void **state)
{
	static const char *const bad[] = {
		"",
		"accuracy",
		"=x",
		"accuracy=",
		"accuracy:best=x",
		"accuracy:=x",
		"Accuracy=x",
		"5top=x",
		"a b=x",
		"wall=x",
		"wall_ns=x",
		"peak_rss_bytes=x",
		"run=x",
		"a_name_that_is_longer_than_31_characters=x",
	};
	struct bench_column_spec spec;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		error.text[0] = '\0';
		if (bench_column_parse(bad[i], &spec, &error) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
		assert_non_null(strstr(error.text, "--column"));
	}
	assert_true(bench_column_is_name("walls"));
}

static void an_answer_is_one_number(void **state)
{
	static const struct {
		const char *text;
		double value; /* NAN: none */
	} rows[] = {
		{"0.93\n", 0.93}, {" -1e3 \n\n", -1000}, {"7", 7},	     {"", NAN},
		{"\n", NAN},	  {"acc 0.93", NAN},	 {"0.93 0.94", NAN}, {"nan", NAN},
		{"inf", NAN},	  {"0.93%", NAN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double value = NAN;

		if (bench_column_value(rows[i].text, &value) != !isnan(rows[i].value))
			fail_msg("'%s'", rows[i].text);
		if (!isnan(rows[i].value))
			assert_float_equal(value, rows[i].value, 0);
	}
}

/* ---- with real commands ---- */

struct fixture {
	struct bench bench;
	struct bench_plan plan;
	enum bench_end end;
};

static void run(struct fixture *fixture, const char *command, const char *const *columns,
		size_t count)
{
	static const struct invoking_user nobody;
	const struct bench_request request = {
		.texts = &command,
		.text_count = 1,
		.matrix = {.items = {"n=3,5"}, .count = 1},
		.columns = columns,
		.column_count = count,
	};
	struct bench_series_options options = {.runs = 2, .stop_fd = -1};
	struct launcher_options launching = {.user = &nobody, .has_readers = true};
	int failure;
	sigset_t mask;

	bench_init(&fixture->bench);
	if (bench_plan_make(&request, &fixture->bench, &fixture->plan, &error) < 0)
		fail_msg("%s", error.text);
	sigemptyset(&mask);
	launching.mask = &mask;
	launching.commands = fixture->plan.commands.items;
	launching.output_fd = options.output_fd = memfd_create("output", MFD_CLOEXEC);
	launching.answer_fd = options.answer_fd = memfd_create("answer", MFD_CLOEXEC);
	launching.writers = 2;
	launching.first_reader = options.columns = fixture->plan.columns;
	options.setup = options.prepare = options.conclude = BENCH_NO_COMMAND;
	options.launcher = launcher_start(&launching, &error);
	assert_non_null(options.launcher);
	fixture->end = bench_series_run(&fixture->bench, &options, NULL, &failure, &error);
	launcher_free(options.launcher);
	close(options.output_fd);
	close(options.answer_fd);
}

static void done(struct fixture *fixture)
{
	bench_plan_done(&fixture->plan);
	bench_done(&fixture->bench);
}

static void each_column_reads_what_its_run_has_written(void **state)
{
	static const char *const columns[] = {"value=sed s/acc=//", "length=wc -c",
					      "parameter=echo {n}0"};
	struct fixture fixture;

	(void)state;
	run(&fixture, "sh -c 'printf acc=%{n}d {n}'", columns, 3);
	if (fixture.end != BENCH_END_COMPLETE)
		fail_msg("%s", error.text);
	assert_int_equal(fixture.bench.runs.count, 4);
	array_foreach(&fixture.bench.runs, one) {
		double number = one->variant ? 5 : 3;

		assert_float_equal(one->values[BENCH_COLUMN], number, 0);
		assert_float_equal(one->values[BENCH_COLUMN + 1], 4 + number, 0);
		assert_float_equal(one->values[BENCH_COLUMN + 2], 10 * number, 0);
	}
	done(&fixture);
}

static void what_is_no_number_or_fails_ends_the_benchmark(void **state)
{
	static const char *const word[] = {"accuracy=echo good; echo more"},
				 *const failing[] = {"accuracy=exit 4"};
	struct fixture fixture;

	(void)state;
	run(&fixture, "true {n}", word, 1);
	assert_int_equal(fixture.end, BENCH_END_FAILED);
	assert_non_null(strstr(error.text, "--column accuracy printed 'good': expected a number"));
	done(&fixture);
	run(&fixture, "true {n}", failing, 1);
	assert_int_equal(fixture.end, BENCH_END_FAILED);
	assert_non_null(strstr(error.text, "--column failed with status 4"));
	done(&fixture);
}

static void one_name_has_one_column(void **state)
{
	static const char *const columns[] = {"a=echo 1", "a=echo 2"};
	const char *command = "true";
	const struct bench_request request = {
		.texts = &command, .text_count = 1, .columns = columns, .column_count = 2};
	struct bench bench;
	struct bench_plan plan;

	(void)state;
	bench_init(&bench);
	assert_int_equal(bench_plan_make(&request, &bench, &plan, &error), -EINVAL);
	assert_string_equal(error.text, "two times --column a");
	bench_plan_done(&plan);
	bench_done(&bench);
}

/* ---- on paper ---- */

static void fill(struct bench *bench, const char *first, const char *second)
{
	bench_init(bench);
	assert_non_null(bench_add_variant(bench, "one"));
	assert_true(bench_add_column(bench, first, BENCH_BETTER_HIGHER));
	assert_true(bench_add_column(bench, second, BENCH_BETTER_UNKNOWN));
	for (int i = 0; i < 6; i++) {
		struct bench_run *of = paper_run(bench, 0, 1e8);

		bench_run_set(of, BENCH_COLUMN, 0.5 + i * 0.01);
		bench_run_set(of, (enum bench_figure)(BENCH_COLUMN + 1), -7);
	}
}

static void a_limit_may_name_a_column(void **state)
{
	struct bench bench;
	struct bench_limit limit;
	struct bench_gate_result result;

	(void)state;
	fill(&bench, "accuracy", "loss");
	assert_int_equal(bench_limit_parse("accuracy.min<0.51", &bench, &limit, &error), 0);
	assert_int_equal(limit.figure, BENCH_COLUMN);
	assert_int_equal(bench_limit_check(&limit, "accuracy.min<0.51", &bench, 0, &result), 0);
	assert_int_equal(result.outcome, BENCH_GATE_FAILED);
	assert_non_null(strstr(result.sentence, "min of one is 0.5"));
	assert_int_equal(bench_limit_parse("loss>-8", &bench, &limit, &error), 0);
	assert_float_equal(limit.value, -8, 0);
	assert_int_equal(bench_limit_parse("loss>1ms", &bench, &limit, &error), -EINVAL);
	assert_int_equal(bench_limit_parse("other<1", &bench, &limit, &error), -EINVAL);
	assert_int_equal(bench_limit_parse("accuracy<1", NULL, &limit, &error), -EINVAL);
	bench_done(&bench);
}

static void a_baseline_has_them_in_an_order_of_its_own(void **state)
{
	struct bench bench, baseline;
	char *text;

	(void)state;
	fill(&baseline, "accuracy", "loss");
	text = paper_write(&baseline, "json", NULL, 0);
	bench_done(&baseline);
	bench_init(&baseline);
	assert_int_equal(bench_read_text(&baseline, text, strlen(text), &error), 0);
	free(text);
	fill(&bench, "loss", "other");
	bench_match_columns(&baseline, &bench);
	array_foreach(&baseline.runs, of) {
		assert_true(bench_run_knows(of, BENCH_COLUMN));
		assert_float_equal(of->values[BENCH_COLUMN], -7, 0);
		assert_false(bench_run_knows(of, (enum bench_figure)(BENCH_COLUMN + 1)));
		assert_true(bench_run_knows(of, BENCH_WALL));
	}
	bench_done(&baseline);
	bench_done(&bench);
}

static void they_stand_in_csv_and_text(void **state)
{
	struct bench bench;
	char *text;

	(void)state;
	fill(&bench, "accuracy", "loss");
	text = paper_write(&bench, "csv", NULL, 0);
	assert_non_null(strstr(text, ",accuracy,loss\r\n"));
	assert_non_null(strstr(text, ",0.5,-7\r\n"));
	free(text);
	text = paper_write(&bench, "text", NULL, 0);
	assert_non_null(strstr(text, "\n1: accuracy 0.525 (0.5 to 0.55), loss -7 (-7 to -7)\n"));
	free(text);
	text = paper_write(&bench, "markdown", NULL, 0);
	assert_non_null(strstr(text, " accuracy | loss | runs |"));
	assert_non_null(strstr(text, " | 0.525 | -7 | 6 |"));
	free(text);
	bench_done(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_a_direction_and_a_command),
		cmocka_unit_test(what_is_no_column_is_refused_by_name),
		cmocka_unit_test(an_answer_is_one_number),
		cmocka_unit_test(each_column_reads_what_its_run_has_written),
		cmocka_unit_test(what_is_no_number_or_fails_ends_the_benchmark),
		cmocka_unit_test(one_name_has_one_column),
		cmocka_unit_test(a_limit_may_name_a_column),
		cmocka_unit_test(a_baseline_has_them_in_an_order_of_its_own),
		cmocka_unit_test(they_stand_in_csv_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
