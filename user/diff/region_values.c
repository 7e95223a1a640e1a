// SPDX-License-Identifier: BSD-2-Clause
#include "diff/region_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"

/* Of a value somewhere in a bucket: that is 1/16 of it, and uniform. */
#define BUCKET_ERROR (1 / 16.0 / 3.4641)

void region_bucket_name(char text[REGION_BUCKET_SIZE], uint32_t index, const char *region)
{
	snprintf(text, REGION_BUCKET_SIZE, "%u:%.*s", index, REGION_NAME_SIZE - 1, region);
}

static int compare(const void *left, const void *right)
{
	const struct region_bucket_series *a = left, *b = right;

	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static double sum_of(const struct diff_series *series)
{
	double sum = 0;

	array_foreach(&series->values, value)
		sum += value->value;
	return sum;
}

static bool add_bucket(struct region_values *values, const struct diff_series *series)
{
	struct string_pool *texts = values->measurement->names->texts;
	char name[REGION_BUCKET_SIZE], *end;
	struct region_bucket_series *bucket;
	unsigned long index;

	snprintf(name, sizeof(name), "%s", string_pool_get(texts, series->key.name));
	index = strtoul(name, &end, 10);
	/* A baseline may say anything. */
	if (*end != ':' || index >= PKBPF_HISTOGRAM_BUCKETS)
		return true;
	bucket = array_add(&values->buckets);
	if (!bucket)
		return false;
	*bucket = (struct region_bucket_series){string_pool_add(texts, end + 1), (uint32_t)index,
						series, sum_of(series)};
	return bucket->region != STRING_POOL_NONE;
}

bool region_values_init(struct region_values *values, const struct measurement *measurement,
			struct resampling *resampling)
{
	*values = (struct region_values){.measurement = measurement, .resampling = resampling};
	array_foreach(&measurement->series, series) {
		if (series->key.level == DIFF_REGION_BUCKET && !add_bucket(values, series))
			return false;
	}
	if (values->buckets.count)
		qsort(values->buckets.items, values->buckets.count, sizeof(*values->buckets.items),
		      compare);
	return true;
}

void region_values_done(struct region_values *values)
{
	array_free(&values->buckets);
}

static const struct diff_series *series_of(const struct region_values *values,
					   enum diff_level level, uint32_t region)
{
	struct diff_key key = {PKBPF_PROFILE_CALLS, level, region};

	return measurement_find(values->measurement, &key);
}

/* Standard error of a quotient and its freedom: by the scatter between slices, or between runs
 * where that is larger. */
static void estimate_quotient(const struct region_values *values, const struct diff_series *series,
			      const struct diff_series *whole, struct diff_estimate *estimate)
{
	double squares = 0, freedom = 0, error;

	resampling_estimate(values->resampling, series, whole, true, estimate);
	estimate->sum = estimate->share;
	estimate->error = estimate->share_error;
	/* A time is no part of all. */
	estimate->share = estimate->share_error = 0;
	resampling_quotients_between_runs(values->resampling, series, whole, &squares, &freedom);
	error = freedom > 0 ? estimate->sum * sqrt(squares / freedom / (freedom + 1)) : 0;
	if (error < estimate->error)
		return;
	estimate->error = error;
	estimate->freedom = freedom;
}

/* ---- the mean ---- */

static void estimate_mean(const struct region_values *values, uint32_t region,
			  struct diff_estimate *estimate)
{
	const struct diff_series *calls = series_of(values, DIFF_REGION_MEASURED, region);

	if (calls)
		estimate_quotient(values, series_of(values, DIFF_REGION_TIME, region), calls,
				  estimate);
}

/* ---- percentiles ---- */

struct distribution_of {
	const struct region_bucket_series *buckets;
	size_t count;
	double all; /* calls in all of them */
};

/* The time that a part of the calls stays below; ret_bucket: in which it is. */
static double time_at(const struct distribution_of *distribution, double part, size_t *ret_bucket)
{
	double rank = fmin(fmax(part, 0), 1) * distribution->all, below = 0;
	size_t i = 0;
	double low, high;

	while (i + 1 < distribution->count && below + distribution->buckets[i].calls < rank)
		below += distribution->buckets[i++].calls;
	*ret_bucket = i;
	low = (double)histogram_bucket_low(distribution->buckets[i].index);
	high = low * (1 + 1 / 16.0) + 1;
	return low +
	       (high - low) * fmin(fmax((rank - below) / distribution->buckets[i].calls, 0), 1);
}

/* Calls in buckets up to this one, in each slice. */
static bool add_up(const struct region_values *values, const struct distribution_of *distribution,
		   size_t last, struct diff_series *ret_series)
{
	size_t slices = values->measurement->slices.count;
	double *sums = calloc(slices + 1, sizeof(*sums));
	bool added = sums;

	for (size_t i = 0; added && i <= last; i++)
		array_foreach(&distribution->buckets[i].series->values, value)
			sums[value->slice] += value->value;
	for (uint32_t slice = 0; added && slice < slices; slice++) {
		struct diff_value *value = sums[slice] > 0 ? array_add(&ret_series->values) : NULL;

		added = value || sums[slice] <= 0;
		if (value)
			*value = (struct diff_value){.slice = slice, .value = sums[slice]};
	}
	free(sums);
	return added;
}

static void estimate_percentile(const struct region_values *values,
				const struct distribution_of *distribution, double part,
				const struct diff_series *calls, struct diff_estimate *estimate)
{
	/* Lower bound: the error for independent calls. */
	double reach = sqrt(part * (1 - part) / distribution->all);
	struct diff_series below = {0};
	size_t bucket, other;

	estimate->sum = time_at(distribution, part, &bucket);
	if (add_up(values, distribution, bucket, &below)) {
		struct diff_estimate share = {0};

		estimate_quotient(values, &below, calls, &share);
		reach = fmax(reach, share.error);
		estimate->freedom = share.freedom;
	}
	array_free(&below.values);
	estimate->error = (time_at(distribution, part + reach, &other) -
			   time_at(distribution, part - reach, &other)) /
			  2;
	estimate->error = hypot(estimate->error, BUCKET_ERROR * estimate->sum);
}

static size_t first_bucket(const struct region_values *values, uint32_t region)
{
	size_t first = 0, end = values->buckets.count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (values->buckets.items[middle].region < region)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static void find_percentile(const struct region_values *values, uint32_t region, double part,
			    struct diff_estimate *estimate)
{
	size_t first = first_bucket(values, region);
	const struct diff_series *calls = series_of(values, DIFF_REGION_MEASURED, region);
	struct distribution_of distribution = {0};

	for (size_t i = first;
	     i < values->buckets.count && values->buckets.items[i].region == region; i++) {
		distribution.count++;
		distribution.all += values->buckets.items[i].calls;
	}
	if (!calls || distribution.all <= 0)
		return;
	distribution.buckets = &values->buckets.items[first];
	estimate_percentile(values, &distribution, part, calls, estimate);
}

void region_values_estimate(const struct region_values *values, enum diff_level level,
			    uint32_t region, struct diff_estimate *ret_estimate)
{
	*ret_estimate = (struct diff_estimate){0};
	if (level == DIFF_REGION_MEAN)
		estimate_mean(values, region, ret_estimate);
	else
		find_percentile(values, region, level == DIFF_REGION_P50 ? 0.5 : 0.99,
				ret_estimate);
}
