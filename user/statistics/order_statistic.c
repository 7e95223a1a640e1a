// SPDX-License-Identifier: BSD-2-Clause
#include "statistics/order_statistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MAD of the standard normal distribution, inverted. */
#define NORMAL_PER_MAD 1.4826

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

void order_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

double order_quantile(const double *sorted, size_t count, double part)
{
	double place = part * (double)(count - 1);
	size_t below = (size_t)place;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct interval order_median_interval(const double *sorted, size_t count, double risk)
{
	struct interval interval = {false, sorted[0], sorted[count - 1]};
	/* Of `below` values under the median; a logarithm, for it is less than any double when
	 * there are thousands of values. */
	double logarithm = -(double)count * log(2), sum = 0;
	size_t below = 0;

	while (below < count / 2 && 2 * (sum + exp(logarithm)) <= risk) {
		sum += exp(logarithm);
		below++;
		logarithm += log((double)(count - below + 1) / (double)below);
	}
	if (!below)
		return interval;
	return (struct interval){true, sorted[below - 1], sorted[count - below]};
}

double order_scatter(const double *sorted, size_t count, double *scratch)
{
	double median = order_quantile(sorted, count, 0.5);

	for (size_t i = 0; i < count; i++)
		scratch[i] = fabs(sorted[i] - median);
	order_sort(scratch, count);
	return NORMAL_PER_MAD * order_quantile(scratch, count, 0.5);
}
