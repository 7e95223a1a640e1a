// SPDX-License-Identifier: BSD-2-Clause
#include "bench/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text_append.h"

/* An estimate of how many runs is rough, and more than this is of no use. */
#define MORE_RUNS_MAX 10000.0
/* A part of the change that is worth a word. */
#define STATE_PART 0.05

const char *const bench_verdict_names[] = {
	[BENCH_UNKNOWN] = "unknown",
	[BENCH_SAME] = "same",
	[BENCH_SLOWER] = "slower",
	[BENCH_FASTER] = "faster",
};

bool bench_is_significant(const struct bench_comparison *comparison)
{
	const struct interval *interval =
		comparison->has_ratio ? &comparison->ratio_interval : &comparison->change_interval;

	return comparison->counts[0] && interval->known &&
	       (interval->low > 0 || interval->high < 0);
}

/* ---- judging ---- */

static void judge(struct bench_comparison *comparison, double threshold)
{
	double part = comparison->ratio;
	const struct interval *interval = &comparison->ratio_interval;

	/* What was nothing before cannot grow by a part of it. */
	if (!comparison->has_ratio) {
		if (bench_is_significant(comparison))
			comparison->verdict = comparison->change > 0 ? BENCH_SLOWER : BENCH_FASTER;
		else if (comparison->change_interval.known &&
			 comparison->change_interval.low >= 0 &&
			 comparison->change_interval.high <= 0)
			comparison->verdict = BENCH_SAME;
		return;
	}
	if (bench_is_significant(comparison) && fabs(part) > threshold)
		comparison->verdict = part > 0 ? BENCH_SLOWER : BENCH_FASTER;
	else if (interval->known && interval->low >= -threshold && interval->high <= threshold)
		comparison->verdict = BENCH_SAME;
}

/* An interval shrinks with the square root of the number of runs. */
static uint32_t more_runs(const struct bench_comparison *comparison, double threshold)
{
	double part = fabs(comparison->ratio), needed, runs, now;
	const struct interval *interval = &comparison->ratio_interval;

	if (comparison->verdict != BENCH_UNKNOWN || !comparison->has_ratio || !interval->known)
		return 0;
	now = fmin((double)comparison->counts[0], (double)comparison->counts[1]);
	needed = part > threshold ? part : threshold - part;
	if (needed <= 0)
		return 0;
	runs = now * pow((interval->high - interval->low) / 2 / needed, 2) - now;
	return runs < 1 ? 1 : runs > MORE_RUNS_MAX ? (uint32_t)MORE_RUNS_MAX : (uint32_t)ceil(runs);
}

static int find_shift(double *values[2], const size_t counts[2], double risk,
		      struct bench_comparison *comparison)
{
	struct rank_shift shift;
	int err = rank_shift(values[0], counts[0], values[1], counts[1], risk, &shift);

	comparison->has_ratio = true;
	for (int side = 0; side < 2 && err == 0; side++)
		for (size_t i = 0; i < counts[side]; i++)
			comparison->has_ratio &= values[side][i] > 0;
	if (err < 0)
		return err;
	comparison->change = shift.estimate;
	comparison->change_interval = shift.interval;
	if (!comparison->has_ratio)
		return 0;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < counts[side]; i++)
			values[side][i] = log(values[side][i]);
	err = rank_shift(values[0], counts[0], values[1], counts[1], risk, &shift);
	if (err < 0)
		return err;
	comparison->ratio = expm1(shift.estimate);
	comparison->ratio_interval = (struct interval){
		shift.interval.known, expm1(shift.interval.low), expm1(shift.interval.high)};
	return 0;
}

static int compare_values(double *values[2], const size_t counts[2],
			  const struct bench_judgement *judgement,
			  struct bench_comparison *comparison)
{
	int err;

	for (int side = 0; side < 2; side++) {
		comparison->counts[side] = counts[side];
		order_sort(values[side], counts[side]);
		comparison->medians[side] = order_quantile(values[side], counts[side], 0.5);
	}
	err = rank_test(values[0], counts[0], values[1], counts[1], &comparison->test);
	if (err == 0)
		err = find_shift(values, counts, judgement->risk, comparison);
	if (err < 0)
		return err;
	judge(comparison, judgement->threshold);
	comparison->more_runs = more_runs(comparison, judgement->threshold);
	return 0;
}

int bench_compare(const struct bench_sides *sides, enum bench_figure figure,
		  const struct bench_judgement *judgement, struct bench_comparison *ret_comparison)
{
	struct bench_comparison comparison = {.figure = figure};
	double *values[2] = {calloc(sides->base->runs.count + 1, sizeof(double)),
			     calloc(sides->new->runs.count + 1, sizeof(double))};
	size_t counts[2];
	int err = values[0] && values[1] ? 0 : -ENOMEM;

	if (err == 0) {
		counts[0] = bench_values(sides->base, sides->base_variant, figure, values[0]);
		counts[1] = bench_values(sides->new, sides->new_variant, figure, values[1]);
		if (counts[0] && counts[1])
			err = compare_values(values, counts, judgement, &comparison);
	}
	free(values[0]);
	free(values[1]);
	if (err == 0)
		*ret_comparison = comparison;
	return err;
}

/* ---- in words ---- */

void bench_percent_text(double part, char *ret_text, size_t size)
{
	double percent = 100 * part;
	int digits = fabs(percent) < 10 ? 1 : 0;

	if (part >= 1) /* "+100 %" and more are hard to imagine */
		snprintf(ret_text, size, "x%.2f", 1 + part);
	else
		snprintf(ret_text, size, "%+.*f %%", digits, percent);
}

static void interval_text(const struct bench_comparison *comparison, char *ret_text, size_t size)
{
	char low[BENCH_VALUE_SIZE], high[BENCH_VALUE_SIZE];
	enum bench_unit unit = bench_figures[comparison->figure].unit;

	if (comparison->has_ratio) {
		bench_percent_text(comparison->ratio_interval.low, low, sizeof(low));
		bench_percent_text(comparison->ratio_interval.high, high, sizeof(high));
	} else {
		bench_value_text(low, unit, comparison->change_interval.low);
		bench_value_text(high, unit, comparison->change_interval.high);
	}
	snprintf(ret_text, size, "%s to %s", low, high);
}

static void unknown_text(const struct bench_comparison *comparison, char *ret_text, size_t size)
{
	char range[2 * BENCH_VALUE_SIZE + 8];

	if (!comparison->change_interval.known) {
		snprintf(ret_text, size, "cannot tell: at least 4 runs of each are needed");
		return;
	}
	interval_text(comparison, range, sizeof(range));
	snprintf(ret_text, size, "cannot tell: %s", range);
	if (comparison->more_runs >= MORE_RUNS_MAX)
		text_append(ret_text, size, "; the scatter is too large for this difference");
	else if (comparison->more_runs)
		text_append(ret_text, size, "; about %u more run%s of each might tell",
			    comparison->more_runs, comparison->more_runs == 1 ? "" : "s");
}

/* "slower" is of times; bytes and counts are more or less. */
static const char *word_of(const struct bench_comparison *comparison)
{
	bool is_time = bench_figures[comparison->figure].unit == BENCH_NS;

	if (comparison->verdict == BENCH_SLOWER)
		return is_time ? "slower" : "more";
	return is_time ? "faster" : "less";
}

void bench_verdict_text(const struct bench_comparison *comparison,
			const struct bench_judgement *judgement, char *ret_text, size_t size)
{
	char by[BENCH_VALUE_SIZE], range[2 * BENCH_VALUE_SIZE + 8];

	if (!comparison->counts[0]) {
		snprintf(ret_text, size, "not measured");
		return;
	}
	interval_text(comparison, range, sizeof(range));
	switch (comparison->verdict) {
	case BENCH_SLOWER:
	case BENCH_FASTER:
		if (comparison->has_ratio)
			bench_percent_text(comparison->ratio, by, sizeof(by));
		else
			bench_value_text(by, bench_figures[comparison->figure].unit,
					 comparison->change);
		snprintf(ret_text, size, "%s: %s (%s)", word_of(comparison), by, range);
		break;
	case BENCH_SAME:
		snprintf(ret_text, size, "same within %.3g %% (%s)", 100 * judgement->threshold,
			 range);
		break;
	case BENCH_UNKNOWN:
		unknown_text(comparison, ret_text, size);
		break;
	}
}

int bench_verdict_states(const struct bench_sides *sides, const struct bench_judgement *judgement,
			 char *ret_text, size_t size)
{
	static const struct {
		enum bench_figure figure;
		const char *words;
	} states[] = {
		{BENCH_CPU, "on CPU"},	   {BENCH_RUNQUEUE, "run queue"},
		{BENCH_DISK, "disk wait"}, {BENCH_UNINTERRUPTIBLE, "D state, not I/O"},
		{BENCH_SLEEP, "sleep"},	   {BENCH_STOPPED, "stopped"},
	};
	struct bench_comparison wall, state;
	char value[BENCH_VALUE_SIZE];
	const char *separator = ": ";
	int err = bench_compare(sides, BENCH_WALL, judgement, &wall);

	ret_text[0] = '\0';
	if (err < 0 || !wall.counts[0] || !bench_is_significant(&wall))
		return err;
	text_append(ret_text, size, "%s%s", wall.change > 0 ? "+" : "",
		    bench_value_text(value, BENCH_NS, wall.change));
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		err = bench_compare(sides, states[i].figure, judgement, &state);
		if (err < 0)
			return err;
		if (!bench_is_significant(&state) ||
		    fabs(state.change) < STATE_PART * fabs(wall.change))
			continue;
		text_append(ret_text, size, "%s%s%s %s", separator, state.change > 0 ? "+" : "",
			    bench_value_text(value, BENCH_NS, state.change), states[i].words);
		separator = ", ";
	}
	return 0;
}
