// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bench/bench_json with bench/bench_read: a baseline comes back as it was written, and
 * what strangers write is refused. */
#include <errno.h>

#include "paper_bench.h"

#define HOSTILE "sh -c 'echo \"\\ \x1b[31m\n</script>'"

static struct bench bench, again;
static struct error error;

static int setup(void **state)
{
	struct bench_run *run;

	(void)state;
	bench_init(&bench);
	bench_init(&again);
	assert_non_null(bench_add_variant(&bench, "old"));
	assert_non_null(bench_add_variant(&bench, HOSTILE));
	for (int i = 0; i < 6; i++) {
		run = paper_run(&bench, 0, 1e8 + i * 1e5);
		bench_run_set(run, BENCH_PEAK_RSS, 3 << 20);
		run->is_warmup = i == 0;
		paper_run(&bench, 1, 2e8 + i * 1e5);
	}
	bench.runs.items[3].has_failed = true;
	bench.runs.items[3].status = 137;
	bench.runs.items[3].timed_out = true;
	bench.seed = 42;
	assert_true(environment_add(&bench.environment, "cpu", "a \"fast\" one", true));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench_done(&bench);
	bench_done(&again);
	return 0;
}

static int read_again(void)
{
	char *text = paper_write(&bench, "json", NULL, 0);
	int err = bench_read_text(&again, text, strlen(text), &error);

	free(text);
	return err;
}

static void runs_come_back_as_they_were(void **state)
{
	(void)state;
	if (read_again() < 0)
		fail_msg("%s", error.text);
	assert_int_equal(again.variants.count, 2);
	assert_string_equal(again.variants.items[1].label, HOSTILE);
	assert_int_equal(again.runs.count, 12);
	for (size_t i = 0; i < 12; i++) {
		const struct bench_run *a = &bench.runs.items[i], *b = &again.runs.items[i];

		assert_int_equal(a->variant, b->variant);
		assert_int_equal(a->number, b->number);
		assert_int_equal(a->is_warmup, b->is_warmup);
		assert_int_equal(a->has_failed, b->has_failed);
		assert_int_equal(a->timed_out, b->timed_out);
		assert_int_equal(a->status, b->status);
		assert_int_equal(a->known, b->known);
		assert_float_equal(a->values[BENCH_WALL], b->values[BENCH_WALL], 0);
		assert_float_equal(a->values[BENCH_PEAK_RSS], b->values[BENCH_PEAK_RSS], 0);
	}
	assert_string_equal(environment_find(&again.environment, "cpu"), "a \"fast\" one");
}

static void each_seed_comes_back(void **state)
{
	static const uint64_t seeds[] = {0, 1, 9007199254740993, INT64_MAX, 1ULL << 63, UINT64_MAX};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		if (i)
			setup(state);
		bench.seed = seeds[i];
		if (read_again() < 0)
			fail_msg("%s", error.text);
		assert_true(again.seed == seeds[i]);
		if (i + 1 < sizeof(seeds) / sizeof(*seeds))
			teardown(state);
	}
}

static void a_region_as_unit_comes_back(void **state)
{
	(void)state;
	bench.unit = strdup("predict");
	assert_int_equal(read_again(), 0);
	assert_string_equal(again.unit, "predict");
	assert_int_equal(bench_main_figure(&again), BENCH_UNIT);
}

static void what_is_no_benchmark_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "is no JSON"},
		{"{\"kind\":\"bench\"", "is no JSON"},
		{"[]", "kind"},
		{"{\"kind\":\"profile\",\"schema_version\":1}", "kind"},
		{"{\"kind\":\"bench\",\"schema_version\":99}", "schema_version"},
		{"{\"kind\":\"bench\",\"schema_version\":1,\"variants\":[]}", "variants"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (i)
			setup(state);
		assert_int_equal(
			bench_read_text(&again, rows[i].text, strlen(rows[i].text), &error),
			-EBADMSG);
		if (!strstr(error.text, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, error.text);
		if (i + 1 < sizeof(rows) / sizeof(*rows))
			teardown(state);
	}
}

/* A run of a command that the file does not have, or without its wall time. */
static void a_run_that_fits_nothing_is_refused(void **state)
{
	static const char *const runs[] = {
		"{\"variant\":1,\"number\":1,\"status\":0,\"figures\":{\"wall_ns\":5}}",
		"{\"variant\":-1,\"number\":1,\"status\":0,\"figures\":{\"wall_ns\":5}}",
		"{\"variant\":0,\"number\":1,\"status\":0,\"figures\":{}}",
		"{\"variant\":0,\"number\":1,\"status\":0,\"figures\":{\"wall_ns\":-5}}",
		"{\"variant\":0,\"number\":1000000,\"status\":0,\"figures\":{\"wall_ns\":5}}",
		"{\"variant\":0,\"number\":1,\"status\":300,\"figures\":{\"wall_ns\":5}}",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		if (i)
			setup(state);
		snprintf(text, sizeof(text),
			 "{\"kind\":\"bench\",\"schema_version\":1,\"environment\":{\"items\":[]},"
			 "\"variants\":[{\"command\":\"true\"}],\"runs\":[%s]}",
			 runs[i]);
		if (bench_read_text(&again, text, strlen(text), &error) != -EBADMSG)
			fail_msg("%s is taken", runs[i]);
		if (i + 1 < sizeof(runs) / sizeof(*runs))
			teardown(state);
	}
}

static void machines_that_differ_are_named(void **state)
{
	bool other_machine;
	char text[256];

	(void)state;
	assert_int_equal(read_again(), 0);
	bench_differences(&bench, &again, text, sizeof(text), &other_machine);
	assert_string_equal(text, "");
	assert_false(other_machine);
	assert_true(environment_add(&bench.environment, "governor", "powersave", false));
	assert_true(environment_add(&again.environment, "governor", "performance", false));
	bench_differences(&bench, &again, text, sizeof(text), &other_machine);
	assert_string_equal(text, "governor: powersave, now performance");
	assert_false(other_machine);
	assert_true(environment_add(&bench.environment, "host", "a", true));
	assert_true(environment_add(&again.environment, "host", "b", true));
	bench_differences(&bench, &again, text, sizeof(text), &other_machine);
	assert_string_equal(text, "governor: powersave, now performance; host: a, now b");
	assert_true(other_machine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_come_back_as_they_were),	  TEST(each_seed_comes_back),
		TEST(a_region_as_unit_comes_back),	  TEST(what_is_no_benchmark_is_refused),
		TEST(a_run_that_fits_nothing_is_refused), TEST(machines_that_differ_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
