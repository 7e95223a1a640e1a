// SPDX-License-Identifier: BSD-2-Clause
#include "alert/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "alert/term_value.h"
#include "base/clock.h"
#include "history/series.h"

#define HOUR ((int64_t)(3600 * NS_PER_SECOND))
#define DAY  (24 * HOUR)
/* Of a normal distribution, the standard deviation. */
#define MAD_TO_DEVIATION 1.4826
/* Days that happened to be alike are no reason to fire at the first breath. */
#define SPREAD_LEAST 0.02
/* Six of ten minutes, and those that restarts cut. */
#define WINDOWS_OF_HOUR 64

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
	return (term->subject == ALERT_OF_FIGURE && figure_adds_up(term->condition.figure)) ||
	       (term->subject == ALERT_OF_REGION && term->region.figure->adds_up);
}

/* Maxima and percentiles of an hour are above those of minutes: where the term is about less than
 * an hour they are taken of ten minutes, of which the history has weeks. */
static enum store_level level_for(const struct alert_term *term, uint64_t over_ns)
{
	return adds_up(term) || over_ns > (uint64_t)HOUR / 2 ? STORE_HOUR : STORE_TEN;
}

/* Median of the windows of an hour. false: nothing is known of it, or of less than half of it. */
static bool value_of_hour(const struct alert_term *term, struct store *store,
			  enum store_level level, int64_t hour, double *ret_value, int *err)
{
	double values[WINDOWS_OF_HOUR];
	struct store_windows windows;
	uint64_t known_ns = 0;
	size_t count = 0;

	/* Clocks are set a little: middles decide, as in the store. */
	*err = store_list(store, level, hour * HOUR, (hour + 1) * HOUR, &windows);
	for (size_t i = 0; *err == 0 && i < windows.list.count && count < WINDOWS_OF_HOUR; i++) {
		const struct store_window *window = &windows.list.items[i];
		uint64_t length_ns = (uint64_t)(window->end_unix_ns - window->begin_unix_ns);
		struct profile *profile;

		if ((window->begin_unix_ns + (int64_t)length_ns / 2) / HOUR != hour)
			continue;
		if (store_read(store, window, NULL, &profile) < 0)
			continue;
		if (term_value(term, profile, &values[count]) == 0) {
			if (adds_up(term))
				values[count] *= 1e9 / (double)length_ns;
			known_ns += length_ns;
			count++;
		}
		profile_free(profile);
	}
	array_free(&windows.list);
	if (known_ns < (uint64_t)HOUR / 2)
		return false;
	*ret_value = median(values, count);
	return true;
}

int64_t baseline_days_before(int64_t unix_ns, int days)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND), before;
	struct tm calendar;

	if (!localtime_r(&seconds, &calendar))
		return unix_ns - days * DAY;
	calendar.tm_mday -= days;
	calendar.tm_isdst = -1;
	before = mktime(&calendar);
	return before == (time_t)-1 ? unix_ns - days * DAY
				    : (int64_t)before * (int64_t)NS_PER_SECOND;
}

int baseline_update(struct baseline *baseline, const struct alert_term *term, struct store *store,
		    int64_t unix_ns, uint64_t over_ns)
{
	enum store_level level = level_for(term, over_ns);
	int64_t hour = unix_ns / HOUR;
	double values[BASELINE_DAYS];
	size_t count = 0;
	int err = 0;

	if (baseline->hour == hour)
		return 0;
	for (int day = 1; day <= BASELINE_DAYS && err == 0; day++)
		count +=
			value_of_hour(term, store, level, baseline_days_before(unix_ns, day) / HOUR,
				      &values[count], &err);
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
