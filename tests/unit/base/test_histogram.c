// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/histogram and the bucket layout of <pkbpf/histogram.h>. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/histogram.h"

#define OPEN_FROM (1ULL << PKBPF_HISTOGRAM_MAX_BITS)

static void log2_is_exact_around_every_power(void **state)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t power = 1ULL << bit;

		assert_int_equal(pkbpf_log2(power), bit);
		assert_int_equal(pkbpf_log2(power | (power - 1)), bit);
		if (bit > 0)
			assert_int_equal(pkbpf_log2(power - 1), bit - 1);
	}
}

static void small_values_have_buckets_of_their_own(void **state)
{
	for (uint64_t value = 0; value < 2 * PKBPF_HISTOGRAM_SUB; value++) {
		assert_int_equal(pkbpf_histogram_index(value), value);
		assert_int_equal(histogram_bucket_low((uint32_t)value), value);
		assert_int_equal(histogram_bucket_high((uint32_t)value), value);
	}
}

static void index_is_monotone_over_bucket_edges(void **state)
{
	for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), high = histogram_bucket_high(i);

		assert_true(low <= high);
		assert_int_equal(pkbpf_histogram_index(low), i);
		assert_int_equal(pkbpf_histogram_index(low + (high - low) / 2), i);
		assert_int_equal(pkbpf_histogram_index(high), i);
		if (i > 0) {
			assert_int_equal(histogram_bucket_high(i - 1), low - 1);
			assert_int_equal(pkbpf_histogram_index(low - 1), i - 1);
		}
	}
}

static void index_never_falls_between_neighbours(void **state)
{
	uint32_t before = 0;

	for (uint64_t value = 0; value < 1U << 20; value++) {
		uint32_t index = pkbpf_histogram_index(value);

		assert_true(index == before || index == before + 1);
		before = index;
	}
}

static void huge_values_land_in_last_bucket(void **state)
{
	static const uint64_t values[] = {OPEN_FROM - 1, OPEN_FROM, OPEN_FROM + 1, 1ULL << 63,
					  UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(pkbpf_histogram_index(values[i]), PKBPF_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket_high(PKBPF_HISTOGRAM_BUCKETS - 1), UINT64_MAX);
	assert_int_equal(histogram_bucket_low(PKBPF_HISTOGRAM_BUCKETS), UINT64_MAX);
	assert_int_equal(histogram_bucket_high(UINT32_MAX), UINT64_MAX);
}

static void middle_is_within_a_32nd_of_both_edges(void **state)
{
	for (uint32_t i = 0; i + 1 < PKBPF_HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), high = histogram_bucket_high(i);
		uint64_t middle = low + (high - low) / 2;

		assert_true((middle - low) * 32 <= low);
		assert_true((high - middle) * 32 <= high);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t random_next(uint64_t *generator)
{
	*generator ^= *generator << 13;
	*generator ^= *generator >> 7;
	*generator ^= *generator << 17;
	return *generator;
}

static uint64_t value_uniform(uint64_t random)
{
	return random % 1000000;
}

static uint64_t value_log_uniform(uint64_t random)
{
	return (random >> 8) >> (20 + (random & 0xff) % 44);
}

static uint64_t value_two_peaks(uint64_t random)
{
	return random % 100 < 90 ? 80000 + random % 5000 : 9000000 + random % 700000;
}

static uint64_t value_constant(uint64_t random)
{
	return 123456789;
}

static uint64_t value_small(uint64_t random)
{
	return random % 12;
}

static void percentiles_agree_with_sorted_values(void **state)
{
	static const struct {
		const char *name;
		uint64_t (*value)(uint64_t random);
	} shapes[] = {
		{"uniform", value_uniform},	{"log-uniform", value_log_uniform},
		{"two peaks", value_two_peaks}, {"constant", value_constant},
		{"small", value_small},
	};
	static const size_t counts[] = {1, 2, 3, 10, 99, 1000, 20001};
	static const unsigned int permilles[] = {0, 1, 10, 250, 500, 501, 900, 950, 990, 999, 1000};
	static uint64_t values[20001];
	uint64_t generator = 0x9e3779b97f4a7c15ULL;

	for (size_t shape = 0; shape < ARRAY_SIZE(shapes); shape++) {
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			struct histogram histogram = {0};
			size_t count = counts[c];

			for (size_t i = 0; i < count; i++) {
				values[i] = shapes[shape].value(random_next(&generator));
				histogram_add(&histogram, values[i], 1);
			}
			qsort(values, count, sizeof(values[0]), compare_u64);
			assert_int_equal(histogram.count, count);
			assert_int_equal(histogram.max, values[count - 1]);
			for (size_t p = 0; p < ARRAY_SIZE(permilles); p++) {
				size_t rank = (count * permilles[p] + 999) / 1000;
				uint64_t exact = values[rank ? rank - 1 : 0];
				uint64_t got = histogram_percentile(&histogram, permilles[p]);
				uint64_t off = got > exact ? got - exact : exact - got;

				if (off * 32 > exact)
					fail_msg("%s, %zu values, permille %u: %lu, not %lu",
						 shapes[shape].name, count, permilles[p], got,
						 exact);
			}
		}
	}
}

static void empty_histogram_has_percentile_0(void **state)
{
	struct histogram histogram = {0};

	assert_int_equal(histogram_percentile(&histogram, 500), 0);
	assert_int_equal(histogram_percentile(&histogram, 1000), 0);
	histogram_add(&histogram, 5, 0);
	assert_int_equal(histogram.count, 0);
	assert_int_equal(histogram.max, 0);
}

static void percentile_never_exceeds_max(void **state)
{
	struct histogram histogram = {0};

	histogram_add(&histogram, 1ULL << 30, 3);
	assert_int_equal(histogram_percentile(&histogram, 500), 1ULL << 30);
	assert_int_equal(histogram_percentile(&histogram, 5000), 1ULL << 30);
}

static void values_beyond_layout_are_answered_with_max(void **state)
{
	struct histogram histogram = {0};

	histogram_add(&histogram, 10, 1);
	histogram_add(&histogram, OPEN_FROM * 4, 99);
	assert_int_equal(histogram_percentile(&histogram, 10), 10);
	assert_int_equal(histogram_percentile(&histogram, 500), OPEN_FROM * 4);
}

static void merge_equals_adding_everything_to_one(void **state)
{
	struct histogram first = {0}, second = {0}, all = {0};
	uint64_t generator = 42;

	for (int i = 0; i < 5000; i++) {
		uint64_t value = value_log_uniform(random_next(&generator));

		histogram_add(i % 3 ? &first : &second, value, (uint64_t)i);
		histogram_add(&all, value, (uint64_t)i);
	}
	histogram_merge(&first, &second);
	assert_memory_equal(&first, &all, sizeof(all));
}

static void huge_counts_saturate(void **state)
{
	struct histogram histogram = {0}, twin;

	histogram_add(&histogram, 1000, UINT64_MAX);
	assert_int_equal(histogram.sum, UINT64_MAX);
	histogram_add(&histogram, 1000, 5);
	assert_int_equal(histogram.count, UINT64_MAX);
	assert_int_equal(histogram.buckets[pkbpf_histogram_index(1000)], UINT64_MAX);
	assert_int_equal(histogram_percentile(&histogram, 1), 1000);
	assert_int_equal(histogram_percentile(&histogram, 999), 1000);
	twin = histogram;
	histogram_merge(&histogram, &twin);
	assert_int_equal(histogram.count, UINT64_MAX);
	assert_int_equal(histogram.sum, UINT64_MAX);
}

static void huge_counts_are_ranked_exactly(void **state)
{
	struct histogram histogram = {0};

	/* count * 999 overflows 64 bits; 99.9 % of 10^18 is exactly the first group. */
	histogram_add(&histogram, 3, 999000000000000000ULL);
	histogram_add(&histogram, 9, 1000000000000000ULL);
	assert_int_equal(histogram_percentile(&histogram, 999), 3);
	histogram_add(&histogram, 9, 1);
	assert_int_equal(histogram_percentile(&histogram, 999), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log2_is_exact_around_every_power),
		cmocka_unit_test(small_values_have_buckets_of_their_own),
		cmocka_unit_test(index_is_monotone_over_bucket_edges),
		cmocka_unit_test(index_never_falls_between_neighbours),
		cmocka_unit_test(huge_values_land_in_last_bucket),
		cmocka_unit_test(middle_is_within_a_32nd_of_both_edges),
		cmocka_unit_test(percentiles_agree_with_sorted_values),
		cmocka_unit_test(empty_histogram_has_percentile_0),
		cmocka_unit_test(percentile_never_exceeds_max),
		cmocka_unit_test(values_beyond_layout_are_answered_with_max),
		cmocka_unit_test(merge_equals_adding_everything_to_one),
		cmocka_unit_test(huge_counts_saturate),
		cmocka_unit_test(huge_counts_are_ranked_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
