// SPDX-License-Identifier: BSD-2-Clause
#include "statistics/rank_test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Probability of a normal value further from the mean than z, in both directions. */
static double beyond(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

static double normal_quantile(double two_sided)
{
	double low = 0, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (beyond(middle) > two_sided)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* ---- ranks ---- */

struct ranked {
	double value;
	bool is_b;
	unsigned int twice_rank; /* tied values share the mean of their ranks */
};

static int compare(const void *a, const void *b)
{
	double left = ((const struct ranked *)a)->value, right = ((const struct ranked *)b)->value;

	return (left > right) - (left < right);
}

/* ret_ties: sum of t^3 - t over groups of t tied values. */
static void give_ranks(struct ranked *all, size_t count, double *ret_ties)
{
	*ret_ties = 0;
	qsort(all, count, sizeof(*all), compare);
	for (size_t first = 0, end; first < count; first = end) {
		double tied;

		for (end = first; end < count && all[end].value <= all[first].value; end++)
			;
		for (size_t i = first; i < end; i++)
			all[i].twice_rank = (unsigned int)(first + 1 + end);
		tied = (double)(end - first);
		*ret_ties += tied * tied * tied - tied;
	}
}

/* Number of ways to choose `chosen` of the ranks for each sum of twice the ranks: every choice is
 * as likely as any other, if both samples are alike. The caller frees them. NULL: out of memory. */
static double *count_sums(const struct ranked *all, size_t count, size_t chosen, size_t *ret_width)
{
	size_t width = 1;
	double *ways;

	for (size_t i = 0; i < count; i++)
		width += all[i].twice_rank;
	ways = calloc((chosen + 1) * width, sizeof(*ways));
	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 0; i < count; i++) {
		size_t rank = all[i].twice_rank;

		/* Downwards, so that each rank is taken once. */
		for (size_t taken = chosen < i + 1 ? chosen : i + 1; taken > 0; taken--)
			for (size_t sum = rank; sum < width; sum++)
				ways[taken * width + sum] += ways[(taken - 1) * width + sum - rank];
	}
	*ret_width = width;
	return ways;
}

static int exact_probability(const struct ranked *all, size_t count, size_t b_count,
			     double twice_sum, double *ret_probability)
{
	double mean = (double)b_count * (double)(count + 1), far = fabs(twice_sum - mean);
	double whole = 0, part = 0;
	size_t width;
	double *ways = count_sums(all, count, b_count, &width), *row;

	if (!ways)
		return -ENOMEM;
	row = &ways[b_count * width];
	for (size_t sum = 0; sum < width; sum++) {
		whole += row[sum];
		if (fabs((double)sum - mean) >= far - 1e-6)
			part += row[sum];
	}
	free(ways);
	*ret_probability = part / whole;
	return 0;
}

/* With continuity correction. */
static double normal_probability(double u, double a_count, double b_count, double ties)
{
	double count = a_count + b_count, pairs = a_count * b_count;
	double variance = pairs / 12 * (count + 1 - ties / (count * (count - 1)));
	double far = fabs(u - pairs / 2) - 0.5;

	if (variance <= 0 || far <= 0)
		return 1;
	return beyond(far / sqrt(variance));
}

int rank_test(const double *a, size_t a_count, const double *b, size_t b_count,
	      struct rank_test *ret_test)
{
	size_t count = a_count + b_count;
	struct ranked *all = calloc(count, sizeof(*all));
	struct rank_test test = {.exact = a_count <= RANK_EXACT_MAX && b_count <= RANK_EXACT_MAX};
	double twice_sum = 0, ties;
	int err = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		all[i] = (struct ranked){.value = i < a_count ? a[i] : b[i - a_count],
					 .is_b = i >= a_count};
	give_ranks(all, count, &ties);
	for (size_t i = 0; i < count; i++)
		twice_sum += all[i].is_b ? all[i].twice_rank : 0;
	test.u = twice_sum / 2 - (double)b_count * (double)(b_count + 1) / 2;
	test.superiority = test.u / ((double)a_count * (double)b_count);
	if (test.exact)
		err = exact_probability(all, count, b_count, twice_sum, &test.probability);
	else
		test.probability =
			normal_probability(test.u, (double)a_count, (double)b_count, ties);
	free(all);
	if (err == 0)
		*ret_test = test;
	return err;
}

/* ---- shift ---- */

struct sides {
	const double *a, *b; /* sorted */
	size_t a_count, b_count;
};

/* The largest k for which fewer than k pairs have a difference below the shift with a probability
 * of at most half of risk; 0: none. */
static int exact_rank(size_t a_count, size_t b_count, double risk, size_t *ret_rank)
{
	size_t count = a_count + b_count, width, rank = 0;
	struct ranked all[2 * RANK_EXACT_MAX];
	/* of the least sum, which is that of u = 0 */
	size_t least = b_count * (b_count + 1);
	double whole = 0, sum = 0;
	double *ways, *row;

	for (size_t i = 0; i < count; i++)
		all[i].twice_rank = 2 * (unsigned int)(i + 1);
	ways = count_sums(all, count, b_count, &width);
	if (!ways)
		return -ENOMEM;
	row = &ways[b_count * width];
	for (size_t i = 0; i < width; i++)
		whole += row[i];
	for (size_t u = 0; u < a_count * b_count; u++) {
		sum += row[least + 2 * u];
		if (2 * sum > risk * whole)
			break;
		rank = u + 1;
	}
	free(ways);
	*ret_rank = rank;
	return 0;
}

static size_t normal_rank(double a_count, double b_count, double risk)
{
	double pairs = a_count * b_count;
	double spread = sqrt(pairs * (a_count + b_count + 1) / 12);
	double rank = pairs / 2 - normal_quantile(risk) * spread;

	return rank < 1 ? 0 : (size_t)rank;
}

/* How many differences of sorted values are at most x. */
static size_t count_up_to(const struct sides *sides, double x)
{
	size_t count = 0, below = 0;

	/* With larger a more of b are below. */
	for (size_t i = 0; i < sides->a_count; i++) {
		while (below < sides->b_count && sides->b[below] - sides->a[i] <= x)
			below++;
		count += below;
	}
	return count;
}

/* The difference of this rank, from 0 on: the least number that so many are at most. All of them
 * would take a_count × b_count numbers of memory. */
static double difference_at(const struct sides *sides, size_t rank)
{
	double low = sides->b[0] - sides->a[sides->a_count - 1];
	double high = sides->b[sides->b_count - 1] - sides->a[0];

	if (count_up_to(sides, low) > rank)
		return low;
	for (;;) {
		double middle = low / 2 + high / 2;

		if (middle <= low || middle >= high)
			return high;
		if (count_up_to(sides, middle) > rank)
			high = middle;
		else
			low = middle;
	}
}

static double *sorted_copy(const double *values, size_t count)
{
	double *copy = malloc(count * sizeof(*copy));

	if (copy) {
		memcpy(copy, values, count * sizeof(*copy));
		order_sort(copy, count);
	}
	return copy;
}

int rank_shift(const double *a, size_t a_count, const double *b, size_t b_count, double risk,
	       struct rank_shift *ret_shift)
{
	_cleanup_free_ double *sorted_a = sorted_copy(a, a_count),
			      *sorted_b = sorted_copy(b, b_count);
	const struct sides sides = {sorted_a, sorted_b, a_count, b_count};
	size_t pairs = a_count * b_count, rank = 0;
	int err = 0;

	if (!sorted_a || !sorted_b)
		return -ENOMEM;
	if (a_count <= RANK_EXACT_MAX && b_count <= RANK_EXACT_MAX)
		err = exact_rank(a_count, b_count, risk, &rank);
	else
		rank = normal_rank((double)a_count, (double)b_count, risk);
	if (err < 0)
		return err;
	*ret_shift = (struct rank_shift){
		.estimate = (difference_at(&sides, (pairs - 1) / 2) +
			     difference_at(&sides, pairs / 2)) /
			    2,
		.interval = {rank > 0, difference_at(&sides, rank ? rank - 1 : 0),
			     difference_at(&sides, pairs - (rank ? rank : 1))},
	};
	return 0;
}
