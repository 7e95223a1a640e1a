// SPDX-License-Identifier: BSD-2-Clause
#include "alert/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alert/term_value.h"
#include "base/clock.h"
#include "history/series.h"

#define HOUR ((int64_t)(3600 * NS_PER_SECOND))
#define DAY  (24 * HOUR)
/* Of a normal distribution, the standard deviation. */
#define MAD_TO_DEVIATION 1.4826
/* Days that happened to be alike are no reason to fire at the first breath. */
#define SPREAD_LEAST 0.02

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void baseline_of(double *values, size_t count, struct baseline *ret_baseline)
{
	double usual = median(values, count), distances[BASELINE_DAYS], spread;

	for (size_t i = 0; i < count && i < BASELINE_DAYS; i++)
		distances[i] = fabs(values[i] - usual);
	spread =
		MAD_TO_DEVIATION * median(distances, count < BASELINE_DAYS ? count : BASELINE_DAYS);
	ret_baseline->days = count;
	ret_baseline->usual = usual;
	ret_baseline->spread =
		spread > SPREAD_LEAST * fabs(usual) ? spread : SPREAD_LEAST * fabs(usual);
}

static bool adds_up(const struct alert_term *term)
{
	return term->subject == ALERT_OF_FIGURE && figure_adds_up(term->condition.figure);
}

/* false: nothing is known of that hour, or of less than half of it. */
static bool value_of_hour(const struct alert_term *term, struct store *store, int64_t hour,
			  double *ret_value, int *err)
{
	struct store_windows windows;
	struct profile *profile = NULL;
	const struct profile_info *info;
	uint64_t length_ns;
	size_t missing;
	bool known = false;

	*err = store_list(store, STORE_HOUR, hour * HOUR + HOUR / 4, hour * HOUR + HOUR / 4 * 3,
			  &windows);
	if (*err == 0)
		*err = store_merge(store, &windows, NULL, &profile, &missing);
	array_free(&windows.list);
	if (profile) {
		info = profile_info_read(profile);
		length_ns = info->end_ns - info->start_ns;
		known = length_ns >= (uint64_t)HOUR / 2 &&
			term_value(term, profile, ret_value) == 0;
		if (known && adds_up(term))
			*ret_value *= 1e9 / (double)length_ns;
	}
	profile_free(profile);
	return known;
}

int baseline_update(struct baseline *baseline, const struct alert_term *term, struct store *store,
		    int64_t unix_ns)
{
	int64_t hour = unix_ns / HOUR;
	double values[BASELINE_DAYS];
	size_t count = 0;
	int err = 0;

	if (baseline->hour == hour)
		return 0;
	for (int64_t day = 1; day <= BASELINE_DAYS && err == 0; day++)
		count +=
			value_of_hour(term, store, hour - day * (DAY / HOUR), &values[count], &err);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	*baseline = (struct baseline){.hour = hour};
	if (count)
		baseline_of(values, count, baseline);
	return 0;
}

bool baseline_limit(const struct baseline *baseline, const struct alert_term *term,
		    uint64_t over_ns, double *ret_limit)
{
	double limit = term->usual * baseline->usual + term->spread * baseline->spread;

	if (baseline->days < BASELINE_DAYS_MIN)
		return false;
	*ret_limit = adds_up(term) ? limit * (double)over_ns / 1e9 : limit;
	return true;
}
