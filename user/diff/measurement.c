// SPDX-License-Identifier: BSD-2-Clause
/* Keeps values by key and slice. */
#include "diff/measurement.h"

#include <math.h>

#include "base/clock.h"
#include "profile/kind_table.h"

/* Beyond it samples are missing for another reason than chance. */
#define CHANCE_SIGMAS 4

const char *const diff_level_names[DIFF_LEVELS] = {
	[DIFF_ALL] = "all",
	[DIFF_PROCESS] = "process",
	[DIFF_CONTAINER] = "container",
	[DIFF_SELF] = "function_self",
	[DIFF_TOTAL] = "function_total",
	[DIFF_ALL_STACKS] = "all_stacks",
	[DIFF_STACK] = "stack",
	[DIFF_LOCK] = "lock",
	[DIFF_REGION_TIME] = "region_time",
	[DIFF_REGION_COUNT] = "region_count",
	[DIFF_REGION_MEAN] = "region_mean",
	[DIFF_REGION_P50] = "region_p50",
	[DIFF_REGION_P99] = "region_p99",
	[DIFF_REGION_MEASURED] = "region_measured",
	[DIFF_REGION_BUCKET] = "region_bucket",
	[DIFF_REGION_LET_GO] = "region_let_go",
	[DIFF_PLACE] = "place",
	[DIFF_GPU_LAUNCHES] = "gpu_launches",
	[DIFF_GPU_BLOCKS] = "gpu_blocks",
	[DIFF_GPU_KERNEL_TIME] = "gpu_kernel_time",
	[DIFF_GPU_COPIED] = "gpu_copied",
	[DIFF_GPU_ALLOCATED] = "gpu_allocated",
	[DIFF_GPU_KEPT] = "gpu_kept",
	[DIFF_GPU_WAIT] = "gpu_wait",
};

bool diff_names_init(struct diff_names *names)
{
	*names = (struct diff_names){string_pool_new(), stack_table_new()};
	return names->texts && names->stacks;
}

void diff_names_done(struct diff_names *names)
{
	string_pool_free(names->texts);
	stack_table_free(names->stacks);
	*names = (struct diff_names){0};
}

void measurement_init(struct measurement *measurement, struct diff_names *names)
{
	*measurement = (struct measurement){.names = names};
}

void measurement_done(struct measurement *measurement)
{
	array_foreach(&measurement->series, series)
		array_free(&series->values);
	array_free(&measurement->series);
	array_free(&measurement->slices);
	array_free(&measurement->places);
	hash_index_done(&measurement->index);
	*measurement = (struct measurement){0};
}

bool measurement_wants(const struct measurement *measurement, enum diff_level level)
{
	return !measurement->levels_mask || measurement->levels_mask & 1U << level;
}

bool measurement_begin_slice(struct measurement *measurement, const struct diff_slice *slice)
{
	struct diff_slice *added =
		measurement->slices.count < UINT32_MAX ? array_add(&measurement->slices) : NULL;

	if (!added)
		return false;
	*added = *slice;
	if (slice->run >= measurement->run_count)
		measurement->run_count = slice->run + 1;
	return true;
}

static bool is_of_key(const void *context, uint32_t item, const void *wanted)
{
	const struct measurement *measurement = context;
	const struct diff_key *a = &measurement->series.items[item].key, *b = wanted;

	return a->kind == b->kind && a->level == b->level && a->name == b->name;
}

static uint64_t hash_of(const struct diff_key *key)
{
	return hash_u64((uint64_t)key->kind << 40 | (uint64_t)key->level << 32 | key->name);
}

static struct diff_series *get_series(struct measurement *measurement, const struct diff_key *key)
{
	uint64_t hash = hash_of(key);
	uint32_t number = hash_index_find(&measurement->index, hash, is_of_key, measurement, key);
	struct diff_series *series;

	if (number != HASH_INDEX_NONE)
		return &measurement->series.items[number];
	number = (uint32_t)measurement->series.count;
	series = number < HASH_INDEX_NONE ? array_add(&measurement->series) : NULL;
	if (!series)
		return NULL;
	series->key = *key;
	if (!hash_index_add(&measurement->index, hash, number)) {
		measurement->series.count--;
		return NULL;
	}
	return series;
}

bool measurement_put(struct measurement *measurement, const struct diff_key *key, uint32_t slice,
		     double value, double count)
{
	struct diff_series *series;
	struct diff_value *last;

	if (!measurement_wants(measurement, (enum diff_level)key->level))
		return true;
	series = get_series(measurement, key);
	if (!series)
		return false;
	measurement->has_level[key->level] = true;
	last = series->values.count ? &series->values.items[series->values.count - 1] : NULL;
	if (!last || last->slice != slice)
		last = array_add(&series->values);
	if (!last)
		return false;
	last->slice = slice;
	last->value += value;
	last->count += count;
	return true;
}

/* What is there at the end of a slice adds up over time, so that its mean can be told. */
static double level_seconds(const struct measurement *measurement, uint32_t kind)
{
	uint64_t length_ns = measurement->slices.items[measurement->slices.count - 1].length_ns;

	if (!kind_ops_of((enum pkbpf_profile_kind)kind)->is_level || !length_ns)
		return 1;
	return (double)length_ns / NS_PER_SECOND;
}

bool measurement_add(struct measurement *measurement, const struct diff_key *key, double value,
		     double count)
{
	value *= level_seconds(measurement, key->kind);
	return measurement_put(measurement, key, (uint32_t)measurement->slices.count - 1, value,
			       count);
}

const struct diff_series *measurement_find(const struct measurement *measurement,
					   const struct diff_key *key)
{
	uint32_t number =
		hash_index_find(&measurement->index, hash_of(key), is_of_key, measurement, key);

	return number == HASH_INDEX_NONE ? NULL : &measurement->series.items[number];
}

/* Numbers of the slices that take the place of those there are. */
static void renumber(struct measurement *measurement, const uint32_t *numbers)
{
	array_foreach(&measurement->series, series) {
		size_t count = 0;

		for (size_t i = 0; i < series->values.count; i++) {
			struct diff_value value = series->values.items[i];
			struct diff_value *last = count ? &series->values.items[count - 1] : NULL;

			value.slice = numbers[value.slice];
			if (last && last->slice == value.slice) {
				last->value += value.value;
				last->count += value.count;
			} else {
				series->values.items[count++] = value;
			}
		}
		series->values.count = count;
	}
}

/* Every `width` slices of a run become one. */
static size_t merge_slices(struct diff_slice *slices, size_t count, size_t width, uint32_t *numbers)
{
	size_t merged = 0, in_last = 0;

	for (size_t i = 0; i < count; i++) {
		struct diff_slice *last = merged ? &slices[merged - 1] : NULL;

		if (last && last->run == slices[i].run && in_last < width) {
			last->end_ns = slices[i].end_ns;
			last->length_ns += slices[i].length_ns;
			in_last++;
		} else {
			slices[merged++] = slices[i];
			in_last = 1;
		}
		numbers[i] = (uint32_t)merged - 1;
	}
	return merged;
}

struct series_sum {
	double value, count;
};

static struct series_sum sum_of(const struct measurement *measurement, enum diff_level level)
{
	struct diff_key key = {PKBPF_PROFILE_CPU, level, 0};
	const struct diff_series *series = measurement_find(measurement, &key);
	struct series_sum sum = {0, 0};

	if (!series)
		return sum;
	array_foreach(&series->values, each) {
		sum.value += each->value;
		sum.count += each->count;
	}
	return sum;
}

/* CPU time of functions is that of their samples; the kernel's account has the time of all. So that
 * no part is larger than all of it, functions get their share of that account. Where samples are
 * missing by more than chance, or processes are, they stay what they are. */
static void fit_samples(struct measurement *measurement)
{
	struct series_sum all = sum_of(measurement, DIFF_ALL);
	struct series_sum stacks = sum_of(measurement, DIFF_ALL_STACKS);

	/* An account that is made of samples has them counted. */
	if (all.value <= 0 || all.count > 0 || stacks.value <= 0 || stacks.count <= 0 ||
	    fabs(log(all.value / stacks.value)) > log1p(CHANCE_SIGMAS / sqrt(stacks.count)))
		return;
	array_foreach(&measurement->series, series)
		if (series->key.kind == PKBPF_PROFILE_CPU &&
		    diff_level_is_stacks(series->key.level))
			array_foreach(&series->values, each)
				each->value *= all.value / stacks.value;
}

void measurement_finish(struct measurement *measurement)
{
	size_t count = measurement->slices.count;
	size_t most = measurement->run_count * (size_t)MEASUREMENT_SLICES_OF_RUN;
	size_t width;
	uint32_t *numbers;

	fit_samples(measurement);
	most = most > MEASUREMENT_SLICES_MAX ? most : MEASUREMENT_SLICES_MAX;
	width = (count + most - 1) / most;
	numbers = width > 1 ? malloc(count * sizeof(*numbers)) : NULL;

	if (!numbers)
		return; /* finer slices are as right, and take longer */
	measurement->slices.count = merge_slices(measurement->slices.items, count, width, numbers);
	renumber(measurement, numbers);
	free(numbers);
}

uint64_t measurement_length_ns(const struct measurement *measurement)
{
	uint64_t length_ns = 0;

	array_foreach(&measurement->slices, slice)
		length_ns += slice->length_ns;
	return length_ns;
}
