/* SPDX-License-Identifier: BSD-2-Clause */
/* Median, quantiles and outliers of a sample, without assuming a distribution. */
#ifndef PKBPF_STATISTICS_ORDER_STATISTIC_H
#define PKBPF_STATISTICS_ORDER_STATISTIC_H

#include <stdbool.h>
#include <stddef.h>

struct interval {
	bool known; /* false: too few values for this risk; the ends are the extremes */
	double low, high;
};

/* Ascending; the values are finite. */
void order_sort(double *values, size_t count);
/* Of sorted values, count > 0; linear between neighbours (Hyndman and Fan 1996, type 7).
 * 0 <= part <= 1. */
double order_quantile(const double *sorted, size_t count, double part);
/* The median is outside with a probability of at most risk, whatever the distribution: order
 * statistics that a binomial distribution gives. Needs 6 values for a risk of 5 %. */
struct interval order_median_interval(const double *sorted, size_t count, double risk);
/* Median of the distances from the median, times 1.4826: the standard deviation of a normal
 * distribution. scratch: room for count values. */
double order_scatter(const double *sorted, size_t count, double *scratch);

#endif
