// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/comparison: made-up programs with the scatter of real ones, compared many times;
 * noise is not reported, and a change is found with its true size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "diff/comparison.h"
#include "trials.h"

/* The level of 95 % and the power wanted, and what the first 20 pairs scatter around them. */
#define MOST_ALARMED (trials(100) < 100 ? 10 : 5)
#define LEAST_FOUND  (trials(100) < 100 ? 80 : 90)
#define FUNCTIONS    16
#define SAMPLE_NS    10101010.0

/* A program whose functions have samples in slices of a second. */
struct program {
	double parse;	 /* share of "parse"; the others divide the rest by Zipf's law */
	double slowdown; /* of "parse" */
	double load;	 /* samples of a slice without slowdown */
	size_t slices;	 /* without slowdown */
	bool is_busy;	 /* uses its CPU all of the time: slower is longer */
	double phases;	 /* relative deviation of functions over several slices */
};

/* ---- random numbers that are equal everywhere ---- */

static double uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(1 - uniform(state))) * cos(6.283185307179586 * uniform(state));
}

static unsigned int poisson(uint64_t *state, double mean)
{
	double limit = exp(-mean), product = uniform(state);
	unsigned int count = 0;

	for (; product > limit; count++)
		product *= uniform(state);
	return count;
}

/* ---- programs ---- */

static double share_of(const struct program *program, size_t function)
{
	double sum = 0;

	if (!function)
		return program->parse;
	for (size_t i = 1; i < FUNCTIONS; i++)
		sum += 1 / (double)i;
	return (1 - program->parse) / ((double)function * sum);
}

static void add(struct measurement *side, enum diff_level level, const char *name, double count)
{
	struct diff_key key = {PKBPF_PROFILE_CPU, level, string_pool_add(side->names->texts, name)};

	if (count > 0)
		assert_true(measurement_add(side, &key, count * SAMPLE_NS, count));
}

/* By the kernel, not sampled. */
static void add_counted(struct measurement *side, enum diff_level level, const char *name,
			double time)
{
	struct diff_key key = {PKBPF_PROFILE_CPU, level, string_pool_add(side->names->texts, name)};

	assert_true(measurement_add(side, &key, time * SAMPLE_NS, 0));
}

/* time: that the kernel counted, in samples */
static void add_counts(struct measurement *side, const unsigned int *counts, double time)
{
	double sum = 0;
	char name[32];

	for (size_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), i ? "function_%zu" : "parse", i);
		add(side, DIFF_SELF, name, counts[i]);
		add(side, DIFF_TOTAL, name, counts[i]);
		sum += counts[i];
	}
	add(side, DIFF_TOTAL, "main", sum);
	add_counted(side, DIFF_PROCESS, "app", time);
	add_counted(side, DIFF_ALL, "", time);
	add(side, DIFF_ALL_STACKS, "", sum);
}

/* What functions do wanders slowly, as inputs and neighbours do. */
static void wander(const struct program *program, uint64_t *random, double *phase)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		phase[i] = 0.7 * phase[i] + 0.714 * program->phases * normal(random);
}

/* Returns the time it took, in samples. */
static double run_slice(const struct program *program, uint64_t *random, const double *phase,
			unsigned int *counts)
{
	double weights[FUNCTIONS], sum = 0;

	memset(counts, 0, FUNCTIONS * sizeof(*counts));
	for (size_t i = 0; i < FUNCTIONS; i++) {
		weights[i] = share_of(program, i) * exp(phase[i]) * (i ? 1 : program->slowdown);
		sum += weights[i];
	}
	for (size_t i = 0; i < FUNCTIONS && !program->is_busy; i++)
		counts[i] = poisson(random, weights[i] * program->load);
	for (uint64_t i = 0; program->is_busy && i < (uint64_t)program->load; i++) {
		double at = uniform(random) * sum;
		size_t function = 0;

		while (function < FUNCTIONS - 1 && at >= weights[function])
			at -= weights[function++];
		counts[function]++;
	}
	return program->load * (program->is_busy ? 1 : sum);
}

static void measure(const struct program *program, uint64_t seed, struct measurement *side)
{
	double phase[FUNCTIONS] = {0}, slices = (double)program->slices;
	uint64_t random = seed * 7919 + 1;
	unsigned int counts[FUNCTIONS];

	side->kinds_mask = side->sampled_mask = 1U << PKBPF_PROFILE_CPU;
	if (program->is_busy)
		slices *= 1 + program->parse * (program->slowdown - 1);
	for (int i = 0; i < 20; i++)
		wander(program, &random, phase);
	for (uint64_t i = 0; (double)i < slices; i++) {
		double left = slices - (double)i;
		struct program part = *program;

		if (left < 1)
			part.load *= left;
		assert_true(measurement_begin_slice(
			side, &(struct diff_slice){
				      .length_ns = (uint64_t)(fmin(left, 1) * NS_PER_SECOND)}));
		wander(program, &random, phase);
		add_counts(side, counts, run_slice(&part, &random, phase, counts));
	}
	measurement_finish(side);
}

struct pair {
	struct diff_names names;
	struct measurement base, new;
	struct comparison comparison;
};

static void compare(struct pair *pair, const struct program *base, const struct program *new,
		    uint64_t seed)
{
	struct diff_work work = {.per = base->is_busy ? DIFF_PER_RUN : DIFF_PER_SECOND};

	assert_true(diff_names_init(&pair->names));
	measurement_init(&pair->base, &pair->names);
	measurement_init(&pair->new, &pair->names);
	measure(base, 2 * seed, &pair->base);
	measure(new, 2 * seed + 1, &pair->new);
	assert_int_equal(comparison_init(&pair->comparison, &pair->base, &pair->new, &work, NULL),
			 0);
}

static void pair_done(struct pair *pair)
{
	comparison_done(&pair->comparison);
	measurement_done(&pair->base);
	measurement_done(&pair->new);
	diff_names_done(&pair->names);
}

static const struct diff_row *row_of(const struct pair *pair, enum diff_level level,
				     const char *name)
{
	struct diff_key key = {PKBPF_PROFILE_CPU, level, string_pool_find(pair->names.texts, name)};

	return comparison_find(&pair->comparison, &key);
}

static size_t count_significant(const struct pair *pair)
{
	size_t count = 0;

	array_foreach(&pair->comparison.rows, row)
		count += diff_is_significant(row);
	return count;
}

/* In percent of the pairs of runs of one program: those in which anything is reported. */
static int percent_alarmed(const struct program *program)
{
	int alarms = 0;

	for (uint64_t seed = 1; seed <= trials(100); seed++) {
		struct pair pair;

		compare(&pair, program, program, seed);
		alarms += count_significant(&pair) > 0;
		pair_done(&pair);
	}
	print_message("%.0f samples in %zu slices, phases %.2f: %d of %d pairs differ\n",
		      program->load * (double)program->slices, program->slices, program->phases,
		      alarms, (int)trials(100));
	return alarms * 100 / (int)trials(100);
}

/* In percent of the pairs: those in which "parse" grew and its true size is in the interval. */
static int percent_found(const struct program *program, double slowdown)
{
	struct program slower = *program;
	int found = 0, inside = 0;

	slower.slowdown = slowdown;
	for (uint64_t seed = 1; seed <= trials(100); seed++) {
		const struct diff_row *row;
		struct pair pair;

		compare(&pair, program, &slower, seed);
		row = row_of(&pair, DIFF_SELF, "parse");
		assert_non_null(row);
		if (row->verdict == DIFF_GREW) {
			found++;
			inside += row->ratio_low <= slowdown - 1 && row->ratio_high >= slowdown - 1;
		}
		pair_done(&pair);
	}
	print_message("%.0f samples, share %.2f: found %d, right %d\n",
		      program->load * (double)program->slices, program->parse, found, inside);
	return inside * 100 / (int)trials(100);
}

/* ---- tests ---- */

static const struct program steady = {
	.parse = 0.7, .slowdown = 1, .load = 100, .slices = 100, .is_busy = true, .phases = 0.02};

static void reports_nothing_between_two_runs_of_one_program(void **state)
{
	struct program server = {
		.parse = 0.2, .slowdown = 1, .load = 40, .slices = 60, .phases = 0.2};
	struct program brief = {.parse = 0.3,
				.slowdown = 1,
				.load = 100,
				.slices = 10,
				.is_busy = true,
				.phases = 0.1};

	(void)state;
	assert_true(percent_alarmed(&steady) <= MOST_ALARMED);
	assert_true(percent_alarmed(&server) <= MOST_ALARMED);
	assert_true(percent_alarmed(&brief) <= MOST_ALARMED);
}

static void finds_a_function_slowed_by_five_percent(void **state)
{
	struct program part = steady;

	(void)state;
	assert_true(percent_found(&steady, 1.05) >= LEAST_FOUND);
	/* 10,000 samples of the function itself. */
	part.parse = 0.6;
	part.load = 167;
	assert_true(percent_found(&part, 1.05) >= LEAST_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_nothing_between_two_runs_of_one_program),
		cmocka_unit_test(finds_a_function_slowed_by_five_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
