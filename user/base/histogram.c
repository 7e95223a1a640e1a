// SPDX-License-Identifier: BSD-2-Clause
/* Counts values into log-linear buckets; reads percentiles back. */
#include "base/histogram.h"

/* Counters stop at the top instead of wrapping: a wrong "at least" is better than a small lie. */
static void add_saturating(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
	uint64_t product;

	if (times == 0)
		return;
	if (__builtin_mul_overflow(value, times, &product))
		product = UINT64_MAX;
	add_saturating(&histogram->count, times);
	add_saturating(&histogram->sum, product);
	add_saturating(&histogram->buckets[pkbpf_histogram_index(value)], times);
	if (value > histogram->max)
		histogram->max = value;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	add_saturating(&into->count, from->count);
	add_saturating(&into->sum, from->sum);
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++)
		add_saturating(&into->buckets[i], from->buckets[i]);
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t histogram_bucket_low(uint32_t index)
{
	uint32_t octave = index / PKBPF_HISTOGRAM_SUB;

	if (index >= PKBPF_HISTOGRAM_BUCKETS)
		return UINT64_MAX;
	if (octave == 0)
		return index;
	return (uint64_t)(PKBPF_HISTOGRAM_SUB + index % PKBPF_HISTOGRAM_SUB) << (octave - 1);
}

uint64_t histogram_bucket_high(uint32_t index)
{
	return index + 1 < PKBPF_HISTOGRAM_BUCKETS ? histogram_bucket_low(index + 1) - 1
						   : UINT64_MAX;
}

/* ceil(count * permille / 1000), at least 1, without a product that overflows. */
uint64_t histogram_rank(uint64_t count, unsigned int permille)
{
	uint64_t rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;

	return rank ? rank : 1;
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned int permille)
{
	uint64_t rank, seen = 0;

	if (histogram->count == 0)
		return 0;
	if (permille >= 1000)
		return histogram->max;

	rank = histogram_rank(histogram->count, permille);
	/* The last bucket has no middle: what lies in it is answered with max. */
	for (uint32_t i = 0; i + 1 < PKBPF_HISTOGRAM_BUCKETS; i++) {
		uint64_t low, middle;

		add_saturating(&seen, histogram->buckets[i]);
		if (seen < rank)
			continue;
		low = histogram_bucket_low(i);
		middle = low + (histogram_bucket_high(i) - low) / 2;
		return middle < histogram->max ? middle : histogram->max;
	}
	return histogram->max;
}
