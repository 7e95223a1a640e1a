// SPDX-License-Identifier: BSD-2-Clause
#include "history/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "finding/results.h"
#include "rows/figure_table.h"
#include "rows/human.h"

#define DAY ((int64_t)(86400 * NS_PER_SECOND))
/* Fewer of its hours are the night of a day, or its business. */
#define DAY_LEAST_NS (18 * 3600 * NS_PER_SECOND)

static const struct {
	const char *name, *unit, *what;
	double limit; /* 0: pkbpf knows of none */
} figures[CAPACITY_COUNT] = {
	[CAPACITY_CPU] = {"cpu", "percent", "busy share of all CPUs", 80},
	[CAPACITY_MEMORY] = {"memory", "percent", "memory that is not available", 80},
	[CAPACITY_READ] = {"read", "bytes_per_second", "read from block devices", 0},
	[CAPACITY_WRITTEN] = {"written", "bytes_per_second", "written to block devices", 0},
};

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* ---- growth ---- */

static double slope_per_day(const struct capacity_figure *figure)
{
	double slopes[CAPACITY_DAYS_MAX * (CAPACITY_DAYS_MAX - 1) / 2];
	size_t count = 0;

	for (size_t i = 0; i < figure->day_count; i++)
		for (size_t j = i + 1; j < figure->day_count; j++)
			slopes[count++] = (figure->days[j].p95 - figure->days[i].p95) /
					  (double)(figure->days[j].number - figure->days[i].number);
	qsort(slopes, count, sizeof(*slopes), by_value);
	return count % 2 ? slopes[count / 2] : (slopes[count / 2 - 1] + slopes[count / 2]) / 2;
}

/* Where the line is on the last day: the median of what it would be there by each day. */
static double level_now(const struct capacity_figure *figure, double slope)
{
	double levels[CAPACITY_DAYS_MAX];
	size_t count = figure->day_count;
	int64_t last = figure->days[count - 1].number;

	for (size_t i = 0; i < count; i++)
		levels[i] = figure->days[i].p95 + slope * (double)(last - figure->days[i].number);
	qsort(levels, count, sizeof(*levels), by_value);
	return count % 2 ? levels[count / 2] : (levels[count / 2 - 1] + levels[count / 2]) / 2;
}

void capacity_estimate(struct capacity_figure *figure, double limit)
{
	double slope, now;

	figure->has_growth = figure->day_count >= CAPACITY_DAYS_MIN;
	if (!figure->has_growth)
		return;
	slope = slope_per_day(figure);
	now = level_now(figure, slope);
	figure->growth_per_week = 7 * slope;
	figure->meets_limit = limit > 0 && (now >= limit || slope > 0);
	if (figure->meets_limit)
		figure->days_to_limit = now >= limit ? 0 : (limit - now) / slope;
}

/* ---- reading ---- */

struct day_values {
	ARRAY_OF(struct capacity_sample) samples[CAPACITY_COUNT];
	int64_t number;
	uint64_t length_ns; /* of the window that is being read */
	bool failed;	    /* out of memory */
};

static int by_sample(const void *left, const void *right)
{
	const struct capacity_sample *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

bool capacity_day_p95(struct capacity_sample *samples, size_t count, double *ret_p95)
{
	uint64_t all_ns = 0, seen_ns = 0;
	size_t i = 0;

	for (size_t j = 0; j < count; j++)
		all_ns += samples[j].length_ns;
	if (all_ns < DAY_LEAST_NS)
		return false;
	qsort(samples, count, sizeof(*samples), by_sample);
	while (i + 1 < count && (double)(seen_ns += samples[i].length_ns) < 0.95 * (double)all_ns)
		i++;
	*ret_p95 = samples[i].value;
	return true;
}

static void take(struct day_values *day, enum capacity_what what, double value)
{
	struct capacity_sample *added = array_add(&day->samples[what]);

	if (added)
		*added = (struct capacity_sample){value, day->length_ns};
	day->failed = day->failed || !added;
}

static void take_rate(struct day_values *day, enum capacity_what what, const char *name,
		      const struct resource_rows *rows)
{
	const struct figure *figure = figure_find(name);
	double value;

	if (figure && rows->interval_ns && figure_value(figure, rows, &rows->total, &value))
		take(day, what, value * 1e9 / (double)rows->interval_ns);
}

static void take_profile(struct day_values *day, const struct profile *profile)
{
	const struct resource_rows *rows;
	struct results results;

	results_init(&results, profile, ROWS_BY_COMM);
	if (results_rows(&results, &rows) == 0) {
		if (rows->busy_percent >= 0)
			take(day, CAPACITY_CPU, rows->busy_percent);
		if (rows->machine.known && rows->machine.memory_bytes)
			take(day, CAPACITY_MEMORY,
			     100 - 100 * (double)rows->machine.memory_available_bytes /
					     (double)rows->machine.memory_bytes);
		take_rate(day, CAPACITY_READ, "blockio.read", rows);
		take_rate(day, CAPACITY_WRITTEN, "blockio.written", rows);
	}
	results_done(&results);
}

static void end_day(struct capacity *capacity, struct day_values *day)
{
	for (int i = 0; i < CAPACITY_COUNT; i++) {
		struct capacity_figure *figure = &capacity->figures[i];
		double p95;

		if (figure->day_count < CAPACITY_DAYS_MAX &&
		    capacity_day_p95(day->samples[i].items, day->samples[i].count, &p95))
			figure->days[figure->day_count++] = (struct capacity_day){day->number, p95};
		day->samples[i].count = 0;
	}
}

static void day_done(struct day_values *day)
{
	for (int i = 0; i < CAPACITY_COUNT; i++)
		array_free(&day->samples[i]);
}

int capacity_read(struct store *store, int64_t to_unix_ns, struct capacity *ret_capacity,
		  struct error *error)
{
	/* Of stacks only those of I/O, which are few. */
	const struct slice_choice choice = {.kinds_mask = 1U << PKBPF_PROFILE_BLOCKIO};
	struct day_values day = {0};
	struct store_windows windows;
	int err = store_list(store, STORE_TEN, (to_unix_ns / DAY + 1 - CAPACITY_DAYS_MAX) * DAY,
			     to_unix_ns, &windows);

	*ret_capacity = (struct capacity){0};
	for (size_t i = 0; i < windows.list.count; i++) {
		const struct store_window *window = &windows.list.items[i];
		int64_t number = window->begin_unix_ns / DAY;
		struct profile *profile;

		if (number != day.number)
			end_day(ret_capacity, &day);
		day.number = number;
		day.length_ns = (uint64_t)(window->end_unix_ns - window->begin_unix_ns);
		if (store_read(store, window, &choice, &profile) < 0)
			continue;
		take_profile(&day, profile);
		profile_free(profile);
		ret_capacity->windows++;
	}
	array_free(&windows.list);
	end_day(ret_capacity, &day);
	day_done(&day);
	if (day.failed || err < 0)
		return error_set(error, ENOMEM, "cannot read the history: out of memory");
	for (int i = 0; i < CAPACITY_COUNT; i++)
		capacity_estimate(&ret_capacity->figures[i], figures[i].limit);
	return ret_capacity->windows
		       ? 0
		       : error_set(error, ENODATA, "there are no windows of ten minutes yet");
}

/* ---- writing ---- */

static void write_value(int what, double value, FILE *out)
{
	if (what == CAPACITY_CPU || what == CAPACITY_MEMORY)
		fprintf(out, "%11.1f %%  ", value);
	else
		fprintf(out, "%8.2f MiB/s", value / (1 << 20));
}

static void write_limit(const struct capacity_figure *figure, double limit, FILE *out)
{
	char days[HUMAN_SIZE];

	if (!limit)
		fprintf(out, "limit unknown");
	else if (!figure->meets_limit)
		fprintf(out, "does not grow");
	else if (figure->days_to_limit == 0)
		fprintf(out, "has met %.0f %%", limit);
	else if (figure->days_to_limit > 3650)
		fprintf(out, "not within ten years");
	else if (figure->days_to_limit < 1)
		fprintf(out, "within a day");
	else
		fprintf(out, "in %s",
			human_counted(days, human_whole(rint(figure->days_to_limit)), "days"));
}

void capacity_write_text(const struct capacity *capacity, FILE *out)
{
	fprintf(out, "%-8s  %5s  %13s  %13s  %s\n", "", "days", "p95 last day", "per week",
		"meets 80 %");
	for (int i = 0; i < CAPACITY_COUNT; i++) {
		const struct capacity_figure *figure = &capacity->figures[i];

		fprintf(out, "%-8s  %5zu  ", figures[i].name, figure->day_count);
		if (!figure->day_count) {
			fprintf(out, "%13s  %13s  no whole day yet\n", "-", "-");
			continue;
		}
		write_value(i, figure->days[figure->day_count - 1].p95, out);
		fprintf(out, "  ");
		if (!figure->has_growth) {
			fprintf(out, "%13s  not enough days: %d at least\n", "-",
				CAPACITY_DAYS_MIN);
			continue;
		}
		write_value(i, figure->growth_per_week, out);
		fprintf(out, "  ");
		write_limit(figure, figures[i].limit, out);
		fputc('\n', out);
	}
}

void capacity_write_json(const struct capacity *capacity, FILE *out)
{
	fprintf(out, "{\"windows\":%zu,\"figures\":[", capacity->windows);
	for (int i = 0; i < CAPACITY_COUNT; i++) {
		const struct capacity_figure *figure = &capacity->figures[i];

		fprintf(out, "%s{\"name\":\"%s\",\"unit\":\"%s\",\"summary\":\"%s\",\"days\":[",
			i ? "," : "", figures[i].name, figures[i].unit, figures[i].what);
		for (size_t j = 0; j < figure->day_count; j++)
			fprintf(out, "%s[%lld,%.6g]", j ? "," : "",
				(long long)figure->days[j].number * 86400, figure->days[j].p95);
		fprintf(out, "]");
		if (figure->has_growth)
			fprintf(out, ",\"growth_per_week\":%.6g", figure->growth_per_week);
		if (figures[i].limit > 0)
			fprintf(out, ",\"limit\":%g", figures[i].limit);
		if (figure->has_growth && figure->meets_limit)
			fprintf(out, ",\"days_to_limit\":%.6g", figure->days_to_limit);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
}
