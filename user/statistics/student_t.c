// SPDX-License-Identifier: BSD-2-Clause
/* Student's t distribution by the regularized incomplete beta function, from its continued fraction
 * (Abramowitz and Stegun 26.5.8), evaluated by Lentz's method. */
#include "statistics/student_t.h"

#include <math.h>

#define TERMS_MAX 500
#define ACCURACY  1e-13
#define TINY	  1e-290 /* instead of a divisor of 0 */

static double not_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* Term of the fraction, from 1; m = term / 2. */
static double term_of(int number, double a, double b, double x)
{
	int half = number / 2;
	double m = half;

	if (number % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* 1 / (1 + term 1 / (1 + term 2 / (1 + ...))) */
static double continued_fraction(double a, double b, double x)
{
	double above = 1, below = 0, fraction = 1;

	for (int number = 1; number < TERMS_MAX; number++) {
		double term = term_of(number, a, b, x);

		below = 1 / not_zero(1 + term * below);
		above = not_zero(1 + term / above);
		fraction *= above * below;
		if (fabs(above * below - 1) < ACCURACY)
			break;
	}
	return 1 / fraction;
}

/* Of x in [0, 1]. */
static double incomplete_beta(double a, double b, double x)
{
	double factor;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* It converges quickly on this side, and the function is symmetric. */
	if (x < (a + 1) / (a + b + 2))
		return factor * continued_fraction(a, b, x) / a;
	return 1 - factor * continued_fraction(b, a, 1 - x) / b;
}

double student_t_probability(double t, double freedom)
{
	if (freedom >= STUDENT_T_MANY)
		return erfc(fabs(t) / sqrt(2));
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_t_quantile(double probability, double freedom)
{
	double low = 0, high = 1;

	while (student_t_probability(high, freedom) > probability && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100 && high - low > 1e-9 * high; i++) {
		double middle = (low + high) / 2;

		if (student_t_probability(middle, freedom) > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}
