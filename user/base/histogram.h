/* SPDX-License-Identifier: BSD-2-Clause */
/* Mergeable histogram over the buckets of <pkbpf/histogram.h>; percentiles within 3.1 %. */
#ifndef PKBPF_BASE_HISTOGRAM_H
#define PKBPF_BASE_HISTOGRAM_H

#include <stdint.h>

#include <pkbpf/histogram.h>

struct histogram { /* zero-initialised is empty; max is exact */
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t buckets[PKBPF_HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Value below which `permille` thousandths of the values lie (500 = median); middle of its bucket,
 * at most max; 0 when empty. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int permille);
/* Which of `count` values in ascending order, from 1, that is. */
uint64_t histogram_rank(uint64_t count, unsigned int permille);
/* Smallest and largest value of a bucket (the last one is open: UINT64_MAX). */
uint64_t histogram_bucket_low(uint32_t index);
uint64_t histogram_bucket_high(uint32_t index);

#endif
