// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/diff_condition and the formats of a comparison: what a condition is, what it says
 * of changes, noise and absent names, and that hostile names stay harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "diff/baseline.h"
#include "diff/diff_format.h"
#include "diff/measure_stack.h"

#define SLICES	20
#define HOSTILE "evil</script>\x1b[31m;`|\"&\nname] 12"

struct pair {
	struct diff_names names;
	struct measurement sides[DIFF_SIDES];
	struct comparison comparison;
};

/* "parse" has so many samples in each slice, give or take one; "steady" has 50, a hostile name 10.
 */
static void fill(struct measurement *side, size_t slices, unsigned int samples)
{
	struct stack_measure measure = {.measurement = side};
	struct string_pool *texts = side->names->texts;
	const struct {
		const char *name;
		unsigned int samples;
	} functions[] = {{"parse", samples}, {"steady", 50}, {HOSTILE, 10}};

	side->kinds_mask = side->sampled_mask = 1U << PKBPF_PROFILE_CPU;
	for (size_t slice = 0; slice < slices; slice++) {
		struct diff_slice second = {.length_ns = NS_PER_SECOND};

		assert_true(measurement_begin_slice(side, &second));
		for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
			uint32_t stack[] = {string_pool_add(texts, "app"),
					    string_pool_add(texts, functions[i].name)};
			double count = functions[i].samples + (double)((slice + i) % 3) - 1;
			struct diff_key all = {PKBPF_PROFILE_CPU, DIFF_ALL, 0};

			if (!functions[i].samples)
				continue;
			assert_true(stack_measure_add(&measure, PKBPF_PROFILE_CPU, stack, 2,
						      count * 1e7, count));
			assert_true(measurement_add(side, &all, count * 1e7, count));
		}
	}
	stack_measure_done(&measure);
}

static void pair_init(struct pair *pair, size_t slices, unsigned int base, unsigned int new)
{
	struct diff_work work = {.per = DIFF_PER_SECOND};

	assert_true(diff_names_init(&pair->names));
	for (int i = 0; i < DIFF_SIDES; i++) {
		measurement_init(&pair->sides[i], &pair->names);
		fill(&pair->sides[i], slices, i == DIFF_BASE ? base : new);
		measurement_finish(&pair->sides[i]);
	}
	assert_int_equal(comparison_init(&pair->comparison, &pair->sides[DIFF_BASE],
					 &pair->sides[DIFF_NEW], &work, NULL),
			 0);
}

static void pair_done(struct pair *pair)
{
	comparison_done(&pair->comparison);
	for (int i = 0; i < DIFF_SIDES; i++)
		measurement_done(&pair->sides[i]);
	diff_names_done(&pair->names);
}

static enum diff_condition_outcome outcome(const struct pair *pair, const char *text)
{
	struct diff_condition_result result;
	struct diff_condition condition;

	assert_int_equal(diff_condition_parse(text, &condition, NULL), 0);
	diff_condition_check(&condition, text, &pair->comparison, &result);
	assert_ptr_equal(strstr(result.sentence, text), result.sentence);
	return result.outcome;
}

static void reads_conditions(void **state)
{
	struct diff_condition condition;

	(void)state;
	assert_int_equal(
		diff_condition_parse("cpu.function[operator[]].self > +10%", &condition, NULL), 0);
	assert_string_equal(condition.name, "operator[]");
	assert_int_equal(condition.level, DIFF_SELF);
	assert_true(condition.above);
	assert_float_equal(condition.ratio, 0.1, 1e-9);
	assert_int_equal(diff_condition_parse("?offcpu.process[a>b]<-5%", &condition, NULL), 0);
	assert_true(condition.may_be_absent);
	assert_false(condition.above);
	assert_string_equal(condition.name, "a>b");
	assert_int_equal(diff_condition_parse("faults.total>0%", &condition, NULL), 0);
	assert_int_equal(condition.level, DIFF_ALL);
}

static void refuses_other_texts(void **state)
{
	static const char *const texts[] = {
		"",
		"cpu",
		"cpu.total",
		"cpu.total>10",
		"cpu.total>-10%",
		"cpu.total<+10%",
		"cpu.total<-100%",
		"cpu.total>nan%",
		"cpu.total>0x1%",
		"cpu.total>10%%",
		"gpu.total>10%",
		"cpu.function[parse]>10%",
		"cpu.function[].self>1%",
		"cpu.function[parse.self>1%",
		"cpu.process[a].self>1%",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct diff_condition condition;

		if (diff_condition_parse(texts[i], &condition, NULL) == 0)
			fail_msg("%s is taken", texts[i]);
	}
}

static void fails_only_on_significant_changes(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, SLICES, 50, 75);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+10%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome(&pair, "cpu.function[parse].total>+10%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome(&pair, "cpu.function[*].self>+10%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+60%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self<-1%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome(&pair, "cpu.function[steady].self>+0%"), DIFF_CONDITION_PASSED);
	pair_done(&pair);
	pair_init(&pair, SLICES, 75, 0);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self<-50%"), DIFF_CONDITION_HELD);
	pair_done(&pair);
	pair_init(&pair, SLICES, 0, 75);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+1000%"), DIFF_CONDITION_HELD);
	pair_done(&pair);
}

/* It passes, with the reason. */
static void an_insignificant_change_beyond_the_threshold_passes(void **state)
{
	static const char text[] = "cpu.function[parse].self>+1%";
	struct diff_condition_result result;
	struct diff_condition condition;
	struct pair pair;

	(void)state;
	pair_init(&pair, SLICES, 50, 51);
	assert_int_equal(diff_condition_parse(text, &condition, NULL), 0);
	diff_condition_check(&condition, text, &pair.comparison, &result);
	assert_int_equal(result.outcome, DIFF_CONDITION_PASSED);
	assert_non_null(
		strstr(result.sentence, "the change beyond the threshold is not significant"));
	pair_done(&pair);
}

/* Runs of a machine that others use: each second may have anything from 20 to 180 samples. */
static void fill_unsteady(struct measurement *side, double factor)
{
	uint32_t random = 1;

	side->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	for (size_t slice = 0; slice < 60; slice++) {
		struct diff_slice second = {.length_ns = NS_PER_SECOND};
		struct diff_key all = {PKBPF_PROFILE_CPU, DIFF_ALL, 0};
		double count;

		random = random * 1664525 + 1013904223;
		count = factor * (20 + (random >> 16) % 160);

		assert_true(measurement_begin_slice(side, &second));
		assert_true(measurement_add(side, &all, count * 1e7, count));
	}
	measurement_finish(side);
}

static enum diff_condition_outcome unsteady_outcome(double base, double new)
{
	struct diff_work work = {.per = DIFF_PER_SECOND};
	enum diff_condition_outcome found;
	struct pair pair;

	assert_true(diff_names_init(&pair.names));
	for (int i = 0; i < DIFF_SIDES; i++) {
		measurement_init(&pair.sides[i], &pair.names);
		fill_unsteady(&pair.sides[i], i == DIFF_BASE ? base : new);
	}
	assert_int_equal(comparison_init(&pair.comparison, &pair.sides[DIFF_BASE],
					 &pair.sides[DIFF_NEW], &work, NULL),
			 0);
	found = outcome(&pair, "cpu.total>+10%");
	pair_done(&pair);
	return found;
}

static void one_run_a_side_does_not_fail_by_its_own_scatter(void **state)
{
	assert_int_equal(unsteady_outcome(1, 1.3), DIFF_CONDITION_UNJUDGED);
	assert_int_equal(unsteady_outcome(1, 1), DIFF_CONDITION_PASSED);
	assert_int_equal(unsteady_outcome(1, 4), DIFF_CONDITION_HELD);
}

static void refuses_names_that_match_nothing(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, SLICES, 50, 50);
	assert_int_equal(outcome(&pair, "cpu.function[pars].self>+10%"), DIFF_CONDITION_ABSENT);
	assert_int_equal(outcome(&pair, "?cpu.function[pars].self>+10%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome(&pair, "offcpu.total>+10%"), DIFF_CONDITION_NO_KIND);
	pair_done(&pair);
}

/* Without slices sampling is all that is known, and without samples nothing. */
static void invents_no_noise(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 1, 50, 60);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+10%"), DIFF_CONDITION_PASSED);
	array_foreach(&pair.comparison.rows, row)
		assert_int_equal(row->evidence, DIFF_BY_SAMPLING);
	pair_done(&pair);
	pair_init(&pair, 1, 50, 5000);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+10%"), DIFF_CONDITION_HELD);
	comparison_done(&pair.comparison);
	pair.sides[DIFF_BASE].sampled_mask = 0;
	assert_int_equal(comparison_init(&pair.comparison, &pair.sides[DIFF_BASE],
					 &pair.sides[DIFF_NEW],
					 &(struct diff_work){.per = DIFF_PER_RUN}, NULL),
			 0);
	assert_int_equal(outcome(&pair, "cpu.function[parse].self>+10%"), DIFF_CONDITION_UNJUDGED);
	pair_done(&pair);
}

static char *document(const struct pair *pair, const char *format)
{
	struct diff_document document = {
		.comparison = &pair->comparison, .titles = {HOSTILE, "new"}, .full = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(diff_format_by_name(format)->write(&document, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void keeps_hostile_names_harmless(void **state)
{
	static const char *const forbidden[] = {"\x1b", "evil</script>"};
	struct pair pair;

	(void)state;
	pair_init(&pair, SLICES, 50, 75);
	for (size_t i = 0; diff_format_at(i); i++) {
		char *text = document(&pair, diff_format_at(i)->name);

		if (strcmp(diff_format_at(i)->name, "junit") != 0)
			assert_non_null(strstr(text, "parse"));
		for (size_t j = 0; j < ARRAY_SIZE(forbidden); j++)
			if (strstr(text, forbidden[j]) &&
			    !(j && (strcmp(diff_format_at(i)->name, "folded") == 0 ||
				    strcmp(diff_format_at(i)->name, "text") == 0 ||
				    strcmp(diff_format_at(i)->name, "markdown") == 0)))
				fail_msg("%s holds it", diff_format_at(i)->name);
		free(text);
	}
	pair_done(&pair);
}

static void folds_both_sides(void **state)
{
	struct pair pair;
	char *text;

	(void)state;
	pair_init(&pair, SLICES, 50, 0);
	text = document(&pair, "folded");
	assert_non_null(strstr(text, "app;parse 999 0\n"));
	assert_non_null(strstr(text, "app;steady 1001 1001\n"));
	free(text);
	pair_done(&pair);
}

static void writes_the_same_twice(void **state)
{
	struct pair first, second;
	char *text, *again;

	(void)state;
	pair_init(&first, SLICES, 50, 75);
	pair_init(&second, SLICES, 50, 75);
	text = document(&first, "json");
	again = document(&second, "json");
	assert_string_equal(text, again);
	free(text);
	free(again);
	pair_done(&first);
	pair_done(&second);
}

/* Reads what is written of the base side as its own base side. */
static void keeps_runs_in_a_baseline(void **state)
{
	struct diff_work work = {.per = DIFF_PER_SECOND};
	struct measurement read;
	struct pair pair;
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	(void)state;
	pair_init(&pair, SLICES, 50, 75);
	assert_int_equal(baseline_write(&pair.sides[DIFF_BASE], out), 0);
	assert_int_equal(fclose(out), 0);
	measurement_init(&read, &pair.names);
	assert_int_equal(baseline_read(&read, bytes, size, NULL), 0);
	assert_int_equal(baseline_read(&read, bytes, size, NULL), 0);
	assert_int_equal(read.run_count, 2);
	assert_int_equal(read.slices.count, 2 * SLICES);
	comparison_done(&pair.comparison);
	assert_int_equal(
		comparison_init(&pair.comparison, &pair.sides[DIFF_BASE], &read, &work, NULL), 0);
	array_foreach(&pair.comparison.rows, row) {
		assert_float_equal(row->ratio, 0, 1e-9);
		assert_false(diff_is_significant(row));
	}
	bytes[size - 1] ^= 1;
	assert_true(baseline_read(&read, bytes, size, NULL) < 0);
	measurement_done(&read);
	free(bytes);
	pair_done(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_conditions),
		cmocka_unit_test(refuses_other_texts),
		cmocka_unit_test(fails_only_on_significant_changes),
		cmocka_unit_test(an_insignificant_change_beyond_the_threshold_passes),
		cmocka_unit_test(one_run_a_side_does_not_fail_by_its_own_scatter),
		cmocka_unit_test(refuses_names_that_match_nothing),
		cmocka_unit_test(invents_no_noise),
		cmocka_unit_test(keeps_hostile_names_harmless),
		cmocka_unit_test(folds_both_sides),
		cmocka_unit_test(writes_the_same_twice),
		cmocka_unit_test(keeps_runs_in_a_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
