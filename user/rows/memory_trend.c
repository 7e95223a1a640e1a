// SPDX-License-Identifier: BSD-2-Clause
#include "rows/memory_trend.h"

#include <stdlib.h>

#include "base/array.h"

#define PARTS	   8
#define PAIRS	   (PARTS * (PARTS - 1) / 2)
#define POINTS_MIN (2 * PARTS)
/* Of 28 pairs of eight values in an order of chance, so many more rise than fall 7 times in 1,000.
 */
#define RISING_MIN 20

static double own_bytes(const struct memory_point *point)
{
	return (double)(point->anonymous + point->swap);
}

/* A point holds up to the next one: that at the beginning of a part is the last before it. */
static void find_lows(const struct memory_row *row, double lows[PARTS])
{
	double first_ns = (double)row->points[0]->time_ns;
	double length_ns = (double)memory_row_last(row)->time_ns - first_ns;
	size_t at = 0;

	for (int part = 0; part < PARTS; part++) {
		double end_ns = first_ns + length_ns * (part + 1) / PARTS;

		lows[part] = own_bytes(row->points[at]);
		while (at + 1 < row->count && (double)row->points[at + 1]->time_ns <= end_ns) {
			double bytes = own_bytes(row->points[++at]);

			lows[part] = bytes < lows[part] ? bytes : lows[part];
		}
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

uint64_t memory_trend_growth(const struct memory_row *row)
{
	double lows[PARTS], slopes[PAIRS], slope;
	int rising = 0;
	size_t count = 0;

	if (row->count < POINTS_MIN)
		return 0;
	find_lows(row, lows);
	for (int i = 0; i < PARTS; i++) {
		for (int j = i + 1; j < PARTS; j++) {
			rising += (lows[j] > lows[i]) - (lows[j] < lows[i]);
			slopes[count++] = (lows[j] - lows[i]) / (j - i);
		}
	}
	qsort(slopes, count, sizeof(*slopes), compare);
	slope = (slopes[PAIRS / 2 - 1] + slopes[PAIRS / 2]) / 2;
	if (rising < RISING_MIN || slope <= 0 ||
	    lows[PARTS - 1] - lows[PARTS / 2] < (lows[PARTS - 1] - lows[0]) / 4)
		return 0;
	return (uint64_t)(slope * PARTS);
}
