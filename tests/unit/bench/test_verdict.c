// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_format.h"
#include "bench/bench_limit.h"
#include "bench/bench_read.h"
#include "statistics/random.h"

#define BOTH(bench) (&(struct bench_sides){bench, 0, bench, 1})

static const struct bench_judgement usual = {0.01, 0.05};

/* About normal, from -6 to 6. */
static double noise(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(state) >> 11) / 9007199254740992.0;
	return sum;
}

static void add_run(struct bench *bench, uint32_t variant, double wall_ns)
{
	struct bench_run *run = array_add(&bench->runs);

	run->variant = variant;
	run->number = 1 + (uint32_t)bench_run_count(bench, variant);
	bench_run_set(run, BENCH_WALL, wall_ns);
}

/* Two variants, the second times `factor`, with log-normal scatter. */
static void fill(struct bench *bench, size_t runs, double factor, double scatter, uint64_t seed)
{
	bench_init(bench);
	bench_add_variant(bench, "old");
	bench_add_variant(bench, "new");
	for (size_t i = 0; i < runs; i++) {
		add_run(bench, 0, 1e8 * exp(scatter * noise(&seed)));
		add_run(bench, 1, 1e8 * factor * exp(scatter * noise(&seed)));
	}
}

static enum bench_verdict verdict_of(size_t runs, double factor, double scatter, uint64_t seed)
{
	struct bench_comparison comparison;
	struct bench bench;

	fill(&bench, runs, factor, scatter, seed);
	assert_int_equal(bench_compare(BOTH(&bench), BENCH_WALL, &usual, &comparison), 0);
	bench_done(&bench);
	return comparison.verdict;
}

static size_t count_of(enum bench_verdict wanted, size_t runs, double factor, double scatter)
{
	size_t count = 0;

	for (uint64_t seed = 0; seed < 200; seed++)
		count += verdict_of(runs, factor, scatter, seed) == wanted;
	return count;
}

/* A fixed seed: the numbers are what they are. */
static void of_equal_programs_few_are_called_different(void **state)
{
	size_t wrong = count_of(BENCH_SLOWER, 10, 1, 0.03) + count_of(BENCH_FASTER, 10, 1, 0.03);

	assert_in_range(wrong, 0, 10);
	assert_in_range(count_of(BENCH_SLOWER, 40, 1, 0.2) + count_of(BENCH_FASTER, 40, 1, 0.2), 0,
			20);
}

static void ten_percent_are_found_with_ten_runs(void **state)
{
	assert_in_range(count_of(BENCH_SLOWER, 10, 1.1, 0.03), 190, 200);
	assert_in_range(count_of(BENCH_FASTER, 10, 1 / 1.1, 0.03), 190, 200);
}

static void many_steady_runs_are_the_same(void **state)
{
	assert_in_range(count_of(BENCH_SAME, 40, 1, 0.003), 195, 200);
}

static void few_scattered_runs_cannot_tell(void **state)
{
	struct bench_comparison comparison;
	struct bench bench;
	char text[BENCH_SENTENCE_SIZE];

	assert_int_equal(verdict_of(3, 3, 0.001, 1), BENCH_UNKNOWN);
	fill(&bench, 8, 1.01, 0.3, 3);
	assert_int_equal(bench_compare(BOTH(&bench), BENCH_WALL, &usual, &comparison), 0);
	assert_int_equal(comparison.verdict, BENCH_UNKNOWN);
	assert_true(comparison.more_runs > 8);
	bench_verdict_text(&comparison, &usual, text, sizeof(text));
	assert_non_null(strstr(text, "cannot tell"));
	bench_done(&bench);
}

static void a_change_below_the_threshold_is_none(void **state)
{
	assert_int_equal(verdict_of(50, 1.005, 0.0005, 1), BENCH_SAME);
	assert_int_equal(verdict_of(50, 1.02, 0.0005, 1), BENCH_SLOWER);
}

static void what_was_nothing_is_compared_by_its_difference(void **state)
{
	struct bench_comparison comparison;
	struct bench bench;
	char text[BENCH_SENTENCE_SIZE];

	fill(&bench, 10, 1, 0, 1);
	array_foreach(&bench.runs, run)
		bench_run_set(run, BENCH_MAJOR_FAULTS, run->variant ? 5 : 0);
	assert_int_equal(bench_compare(BOTH(&bench), BENCH_MAJOR_FAULTS, &usual, &comparison), 0);
	assert_false(comparison.has_ratio);
	assert_int_equal(comparison.verdict, BENCH_SLOWER);
	bench_verdict_text(&comparison, &usual, text, sizeof(text));
	assert_string_equal(text, "more: 5 (5 to 5)");
	bench_done(&bench);
}

static void gates_need_size_and_significance(void **state)
{
	static const struct {
		size_t runs;
		double factor, scatter;
		enum bench_gate_outcome outcome;
	} table[] = {
		{10, 1.1, 0.01, BENCH_GATE_FAILED}, {10, 1.03, 0.001, BENCH_GATE_PASSED},
		{10, 1.0, 0.3, BENCH_GATE_PASSED},  {3, 2, 0.001, BENCH_GATE_NOT_CHECKED},
		{10, 0.5, 0.01, BENCH_GATE_PASSED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct bench_comparison comparison;
		struct bench_gate_result result;
		struct bench bench;

		fill(&bench, table[i].runs, table[i].factor, table[i].scatter, 7);
		assert_int_equal(bench_compare(BOTH(&bench), BENCH_WALL, &usual, &comparison), 0);
		bench_gate_check(&comparison, &usual, 0.05, "new", &result);
		assert_int_equal(result.outcome, table[i].outcome);
		bench_done(&bench);
	}
}

static enum bench_gate_outcome outcome_of(const struct bench *bench, const char *text)
{
	struct bench_gate_result result;
	struct bench_limit limit;
	struct error error;

	assert_int_equal(bench_limit_parse(text, NULL, &limit, &error), 0);
	assert_int_equal(bench_limit_check(&limit, text, bench, 0, &result), 0);
	return result.outcome;
}

static void limits_are_on_the_whole_interval_of_the_median(void **state)
{
	struct bench bench;

	bench_init(&bench);
	bench_add_variant(&bench, "a");
	for (size_t i = 1; i <= 20; i++)
		add_run(&bench, 0, (double)i * 1e6);
	/* Median 10.5 ms, 6 to 15 ms. */
	assert_int_equal(outcome_of(&bench, "wall>5ms"), BENCH_GATE_FAILED);
	assert_int_equal(outcome_of(&bench, "wall > 7ms"), BENCH_GATE_PASSED);
	assert_int_equal(outcome_of(&bench, "wall>16ms"), BENCH_GATE_PASSED);
	assert_int_equal(outcome_of(&bench, "wall<16ms"), BENCH_GATE_FAILED);
	assert_int_equal(outcome_of(&bench, "wall.max>19ms"), BENCH_GATE_FAILED);
	assert_int_equal(outcome_of(&bench, "wall.min<1ms"), BENCH_GATE_PASSED);
	assert_int_equal(outcome_of(&bench, "wall.p95>18ms"), BENCH_GATE_FAILED);
	assert_int_equal(outcome_of(&bench, "wall.p99>1ms"), BENCH_GATE_NOT_CHECKED);
	assert_int_equal(outcome_of(&bench, "disk>1ms"), BENCH_GATE_NOT_CHECKED);
	bench_done(&bench);
}

static void refuses_limits_of_nothing(void **state)
{
	static const char *const texts[] = {
		"",	 "wall",   ">1s",	"walls>1s",    "wall.p50>1s",
		"wall>", "wall>1", "wall>fast", "peak_rss>1s", "wall.>1s"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct bench_limit limit;
		struct error error = {""};

		assert_true(bench_limit_parse(texts[i], NULL, &limit, &error) < 0);
		assert_true(error.text[0]);
	}
}

static void a_baseline_gives_the_same_verdict_as_a_variant(void **state)
{
	struct bench bench, again;
	struct bench_document live, from_file;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct error error;

	fill(&bench, 12, 1.07, 0.01, 3);
	assert_int_equal(bench_document_init(&live, &bench, NULL, 0.01, 0.05), 0);
	assert_int_equal(bench_format_json.write(&live, out), 0);
	fclose(out);
	bench_init(&again);
	assert_int_equal(bench_read_text(&again, text, size, &error), 0);
	assert_int_equal(again.runs.count, 24);
	/* "new" of both: nothing changed. */
	assert_int_equal(bench_document_init(&from_file, &bench, &again, 0.01, 0.05), 0);
	assert_int_equal(from_file.pairs.count, 2);
	assert_int_equal(from_file.pairs.items[1].base, 1);
	assert_true(fabs(from_file.pairs.items[1].figures[BENCH_WALL].ratio) < 1e-9);
	assert_int_equal(live.pairs.items[0].figures[BENCH_WALL].verdict, BENCH_SLOWER);
	bench_document_done(&live);
	bench_document_done(&from_file);
	bench_done(&bench);
	bench_done(&again);
	free(text);
}

static void refuses_files_that_are_no_benchmark(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{\"kind\": \"bench\"}",
		"{\"kind\": \"report\", \"schema_version\": 1}",
		"{\"kind\": \"bench\", \"schema_version\": 2, \"variants\": [{\"command\": "
		"\"a\"}]}",
		"{\"kind\": \"bench\", \"schema_version\": 1, \"variants\": [{\"command\": \"a\"}],"
		" \"runs\": [{\"variant\": 1, \"number\": 1, \"status\": 0, \"figures\": "
		"{\"wall_ns\": 1}}]}",
		"{\"kind\": \"bench\", \"schema_version\": 1, \"variants\": [{\"command\": \"a\"}],"
		" \"runs\": [{\"variant\": 0, \"number\": 1, \"status\": 0, \"figures\": "
		"{\"wall_ns\": -1}}]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct bench bench;
		struct error error = {""};

		bench_init(&bench);
		assert_true(bench_read_text(&bench, texts[i], strlen(texts[i]), &error) < 0);
		assert_true(error.text[0]);
		bench_done(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_equal_programs_few_are_called_different),
		cmocka_unit_test(ten_percent_are_found_with_ten_runs),
		cmocka_unit_test(many_steady_runs_are_the_same),
		cmocka_unit_test(few_scattered_runs_cannot_tell),
		cmocka_unit_test(a_change_below_the_threshold_is_none),
		cmocka_unit_test(what_was_nothing_is_compared_by_its_difference),
		cmocka_unit_test(gates_need_size_and_significance),
		cmocka_unit_test(limits_are_on_the_whole_interval_of_the_median),
		cmocka_unit_test(refuses_limits_of_nothing),
		cmocka_unit_test(a_baseline_gives_the_same_verdict_as_a_variant),
		cmocka_unit_test(refuses_files_that_are_no_benchmark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
