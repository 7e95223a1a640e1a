// SPDX-License-Identifier: BSD-2-Clause
#include "diff/resampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "statistics/random.h"

/* Blocks of one length. */
struct plan {
	size_t block;	/* of the longest run */
	double freedom; /* degrees */
	/* How often each draw has a slice: those of a slice beside each other. */
	float *times;
	double *lengths;		 /* of each draw */
	double *wholes;			 /* of each draw, sums of: */
	const struct diff_series *whole; /* NULL: none yet */
};

/* Beyond it, slices are too few to tell noise from a trend. */
#define DEPENDENCE_MAX 0.8

enum { PLAN_SHORT, PLAN_LONG, PLANS };

struct resampling {
	const struct measurement *measurement;
	bool has_scatter;
	double length;		  /* of all slices, in ns */
	struct plan plans[PLANS]; /* empty without scatter */
	double *sums;		  /* of each draw, of the series at hand */
	double *residuals;	  /* of each slice, likewise */
	double *runs;
	double *run_lengths;
	double *run_wholes;
};

/* Of a run's slices: about the cube root of their number is best where they depend little on each
 * other (Hall, Horowitz and Jing 1995); where they do, the square root keeps more of it together.
 */
static size_t block_of(size_t slices, int plan)
{
	if (plan == PLAN_LONG)
		return (size_t)sqrt((double)slices);
	return slices < 16 ? 1 : (size_t)cbrt((double)slices);
}

static size_t end_of_run(const struct measurement *measurement, size_t first)
{
	size_t end = first;

	while (end < measurement->slices.count &&
	       measurement->slices.items[end].run == measurement->slices.items[first].run)
		end++;
	return end;
}

static void draw_run(struct plan *plan, size_t block, size_t first, size_t end)
{
	uint64_t state = RESAMPLING_SEED + first;
	size_t count = end - first;

	for (size_t draw = 0; draw < RESAMPLING_DRAWS; draw++) {
		for (size_t drawn = 0; drawn < count;) {
			size_t at = (size_t)(random_next(&state) % count);

			for (size_t i = 0; i < block && drawn < count; i++, drawn++)
				plan->times[(first + (at + i) % count) * RESAMPLING_DRAWS + draw]++;
		}
	}
}

static void draw_lengths(struct plan *plan, const struct measurement *measurement)
{
	for (size_t slice = 0; slice < measurement->slices.count; slice++) {
		const float *times = &plan->times[slice * RESAMPLING_DRAWS];

		for (size_t draw = 0; draw < RESAMPLING_DRAWS; draw++)
			plan->lengths[draw] +=
				times[draw] * (double)measurement->slices.items[slice].length_ns;
	}
}

/* Overlapping blocks carry half as much again as separate ones (Kunsch 1989). */
static double freedom_of(size_t slices, size_t block)
{
	return block == 1 ? (double)slices - 1 : 1.5 * (double)slices / (double)block - 1;
}

static bool draw_plan(struct resampling *resampling, int number)
{
	const struct measurement *measurement = resampling->measurement;
	struct plan *plan = &resampling->plans[number];

	plan->times = calloc(measurement->slices.count * RESAMPLING_DRAWS, sizeof(*plan->times));
	plan->lengths = calloc(RESAMPLING_DRAWS, sizeof(*plan->lengths));
	plan->wholes = calloc(RESAMPLING_DRAWS, sizeof(*plan->wholes));
	if (!plan->times || !plan->lengths || !plan->wholes)
		return false;
	for (size_t first = 0; first < measurement->slices.count;) {
		size_t end = end_of_run(measurement, first);
		size_t block = block_of(end - first, number);

		draw_run(plan, block, first, end);
		plan->freedom += freedom_of(end - first, block);
		plan->block = block > plan->block ? block : plan->block;
		first = end;
	}
	draw_lengths(plan, measurement);
	return true;
}

/* Each run has enough slices, of known length. */
static bool has_scatter(const struct measurement *measurement)
{
	for (size_t first = 0; first < measurement->slices.count;) {
		size_t end = end_of_run(measurement, first);

		if (end - first < RESAMPLING_SLICES_MIN)
			return false;
		for (; first < end; first++)
			if (!measurement->slices.items[first].length_ns)
				return false;
	}
	return measurement->slices.count;
}

static bool draw_all(struct resampling *resampling)
{
	for (int plan = 0; plan < PLANS && resampling->has_scatter; plan++)
		if (!draw_plan(resampling, plan))
			return false;
	return true;
}

struct resampling *resampling_new(const struct measurement *measurement)
{
	struct resampling *resampling = calloc(1, sizeof(*resampling));
	size_t runs = (size_t)measurement->run_count + 1;

	if (!resampling)
		return NULL;
	resampling->measurement = measurement;
	resampling->has_scatter = has_scatter(measurement);
	resampling->length = (double)measurement_length_ns(measurement);
	resampling->sums = calloc(RESAMPLING_DRAWS, sizeof(double));
	resampling->residuals = calloc(measurement->slices.count + 1, sizeof(double));
	resampling->runs = calloc(runs, sizeof(double));
	resampling->run_lengths = calloc(runs, sizeof(double));
	resampling->run_wholes = calloc(runs, sizeof(double));
	if (!resampling->sums || !resampling->residuals || !resampling->runs ||
	    !resampling->run_lengths || !resampling->run_wholes || !draw_all(resampling)) {
		resampling_free(resampling);
		return NULL;
	}
	array_foreach(&measurement->slices, slice)
		resampling->run_lengths[slice->run] += (double)slice->length_ns;
	return resampling;
}

void resampling_free(struct resampling *resampling)
{
	if (!resampling)
		return;
	for (int plan = 0; plan < PLANS; plan++) {
		free(resampling->plans[plan].times);
		free(resampling->plans[plan].lengths);
		free(resampling->plans[plan].wholes);
	}
	free(resampling->sums);
	free(resampling->residuals);
	free(resampling->runs);
	free(resampling->run_lengths);
	free(resampling->run_wholes);
	free(resampling);
}

size_t resampling_block(const struct resampling *resampling)
{
	return resampling->plans[PLAN_SHORT].block;
}

static void sum_draws(const struct plan *plan, const struct diff_series *series, double *sums)
{
	memset(sums, 0, RESAMPLING_DRAWS * sizeof(*sums));
	array_foreach(&series->values, value) {
		const float *times = &plan->times[(size_t)value->slice * RESAMPLING_DRAWS];

		for (size_t draw = 0; draw < RESAMPLING_DRAWS; draw++)
			sums[draw] += times[draw] * value->value;
	}
}

/* Standard deviation of a quotient over the draws. A sample of n blocks scatters a little less
 * than what it is a sample of: by n / (n - 1). */
static double deviation(const struct plan *plan, const double *above, const double *below)
{
	double mean = 0, squares = 0;
	size_t count = 0;

	for (size_t draw = 0; draw < RESAMPLING_DRAWS; draw++) {
		double ratio, step;

		if (below[draw] <= 0)
			continue;
		ratio = above[draw] / below[draw];
		step = ratio - mean;
		mean += step / (double)++count;
		squares += step * (ratio - mean);
	}
	if (count < 2 || plan->freedom <= 0)
		return 0;
	return sqrt(squares / (double)(count - 1) * (plan->freedom + 1) / plan->freedom);
}

/* Of each slice, what is more than its part of the sum: by its length, or by its part of the whole.
 */
static void find_residuals(const struct resampling *resampling, const struct diff_series *series,
			   const struct diff_series *whole, double quotient)
{
	const struct measurement *measurement = resampling->measurement;
	double *residuals = resampling->residuals;

	for (size_t i = 0; i < measurement->slices.count; i++)
		residuals[i] =
			whole ? 0 : -quotient * (double)measurement->slices.items[i].length_ns;
	for (size_t i = 0; whole && i < whole->values.count; i++)
		residuals[whole->values.items[i].slice] -= quotient * whole->values.items[i].value;
	array_foreach(&series->values, value)
		residuals[value->slice] += value->value;
}

/* How much a slice tells of the next one: the correlation of neighbours; 0 unless it exceeds what
 * a third of independent series reach. */
static double dependence(const struct resampling *resampling)
{
	const struct measurement *measurement = resampling->measurement;
	const struct diff_slice *slices = measurement->slices.items;
	const double *residuals = resampling->residuals;
	double squares = 0, products = 0;
	size_t count = measurement->slices.count;

	for (size_t i = 0; i < count; i++) {
		squares += residuals[i] * residuals[i];
		if (i && slices[i].run == slices[i - 1].run)
			products += residuals[i] * residuals[i - 1];
	}
	if (squares <= 0 || products / squares < 1 / sqrt((double)count))
		return 0;
	return fmin(products / squares, DEPENDENCE_MAX);
}

/* Of a sum's variance, what blocks cut apart, as a factor: exact where each slice depends on the
 * one before alone. */
static double cut_apart(double correlation, size_t block)
{
	double kept = 1, power = 1;

	for (size_t lag = 1; lag < block; lag++) {
		power *= correlation;
		kept += 2 * (1 - (double)lag / (double)block) * power;
	}
	return (1 + correlation) / (1 - correlation) / kept;
}

static double sum_of(const struct diff_series *series, double *ret_count)
{
	double sum = 0;

	*ret_count = 0;
	array_foreach(&series->values, value) {
		sum += value->value;
		*ret_count += value->count;
	}
	return sum;
}

/* by_whole: the whole is exact, and its scatter over time is not the series' own. */
static void estimate_errors(const struct resampling *resampling, struct plan *plan,
			    const struct diff_series *series, const struct diff_series *whole,
			    bool by_whole, struct diff_estimate *estimate)
{
	double error, share_error = 0, factor = sqrt(cut_apart(estimate->dependence, plan->block));

	sum_draws(plan, series, resampling->sums);
	if (whole && plan->whole != whole)
		sum_draws(plan, whole, plan->wholes);
	plan->whole = whole ? whole : plan->whole;
	if (whole)
		share_error = factor * deviation(plan, resampling->sums, plan->wholes);
	if (by_whole)
		error = estimate->share > 0 ? share_error * estimate->sum / estimate->share : 0;
	else
		error = factor * deviation(plan, resampling->sums, plan->lengths) *
			resampling->length;
	estimate->share_error = fmax(estimate->share_error, share_error);
	if (error <= estimate->error)
		return;
	estimate->error = error;
	estimate->freedom = plan->freedom;
}

void resampling_estimate(struct resampling *resampling, const struct diff_series *series,
			 const struct diff_series *whole, bool by_whole,
			 struct diff_estimate *ret_estimate)
{
	struct diff_estimate estimate = {0};
	double whole_sum, count;

	*ret_estimate = estimate;
	if (!series)
		return;
	estimate.sum = sum_of(series, &estimate.count);
	whole_sum = whole ? sum_of(whole, &count) : 0;
	if (whole_sum > 0)
		estimate.share = estimate.sum / whole_sum;
	by_whole = by_whole && whole_sum > 0;
	if (resampling->has_scatter) {
		find_residuals(resampling, series, by_whole ? whole : NULL,
			       by_whole ? estimate.share : estimate.sum / resampling->length);
		estimate.dependence = dependence(resampling);
		estimate_errors(resampling, &resampling->plans[PLAN_SHORT], series, whole, by_whole,
				&estimate);
		/* What happens to all that runs, such as load, comes and goes slowly. */
		if (estimate.dependence > 0 || !by_whole)
			estimate_errors(resampling, &resampling->plans[PLAN_LONG], series, whole,
					by_whole, &estimate);
	}
	*ret_estimate = estimate;
}

static void sum_runs(const struct measurement *measurement, const struct diff_series *series,
		     double *sums)
{
	memset(sums, 0, measurement->run_count * sizeof(*sums));
	array_foreach(&series->values, value)
		sums[measurement->slices.items[value->slice].run] += value->value;
}

static void add_scatter(const double *values, uint32_t runs, double *squares, double *freedom)
{
	double mean = 0;

	for (uint32_t run = 0; run < runs; run++)
		mean += values[run] / runs;
	for (uint32_t run = 0; run < runs && mean > 0; run++)
		*squares += (values[run] / mean - 1) * (values[run] / mean - 1);
	*freedom += runs - 1;
}

void resampling_between_runs(const struct resampling *resampling, const struct diff_series *series,
			     bool per_time, double *squares, double *freedom)
{
	const struct measurement *measurement = resampling->measurement;
	uint32_t runs = measurement->run_count;
	double *sums = resampling->runs;

	if (!series || runs < 2)
		return;
	sum_runs(measurement, series, sums);
	for (uint32_t run = 0; run < runs; run++)
		if (per_time && resampling->run_lengths[run] > 0)
			sums[run] /= resampling->run_lengths[run];
	add_scatter(sums, runs, squares, freedom);
}

void resampling_quotients_between_runs(const struct resampling *resampling,
				       const struct diff_series *series,
				       const struct diff_series *whole, double *squares,
				       double *freedom)
{
	const struct measurement *measurement = resampling->measurement;
	uint32_t runs = measurement->run_count, known = 0;
	double *sums = resampling->runs, *wholes = resampling->run_wholes;

	if (!series || !whole)
		return;
	sum_runs(measurement, series, sums);
	sum_runs(measurement, whole, wholes);
	/* A run without any has no quotient. */
	for (uint32_t run = 0; run < runs; run++)
		if (wholes[run] > 0)
			sums[known++] = sums[run] / wholes[run];
	if (known > 1)
		add_scatter(sums, known, squares, freedom);
}
