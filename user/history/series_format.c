// SPDX-License-Identifier: BSD-2-Clause
/* A figure over time as text, JSON and CSV. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "history/series.h"

#define COLUMN 14

/* When the windows are, how busy the machine was and what was left out in each. */
static void write_json_points(const struct series *series, FILE *out)
{
	array_foreach(&series->points, point)
		fprintf(out, "%s[%.3f,%.3f]", point == series->points.items ? "" : ",",
			(double)point->range.from_unix_ns / 1e9,
			(double)point->range.to_unix_ns / 1e9);
	fprintf(out, "],\"machine_busy_percent\":[");
	array_foreach(&series->points, point)
		fprintf(out, point->busy_percent < 0 ? "%snull" : "%s%.3f",
			point == series->points.items ? "" : ",", point->busy_percent);
	fprintf(out, "],\"left_out\":[");
	array_foreach(&series->points, point) {
		fputs(point == series->points.items ? "" : ",", out);
		if (point->shed_steps)
			escape_json(out, point->shed);
		else
			fputs("null", out);
	}
}

/* Of a window in which regions were not recorded nothing is known. */
static void write_json_recorded(const struct series *series, FILE *out)
{
	fputs("],\"recorded_seconds\":[", out);
	array_foreach(&series->points, point)
		fprintf(out, "%s%.3f", point == series->points.items ? "" : ",",
			point->regions_ns / 1e9);
}

static void write_json_watched(const struct series *series, const struct series_group *group,
			       FILE *out)
{
	fputs("],\"watched_seconds\":[", out);
	for (size_t i = 0; i < series->points.count; i++)
		fprintf(out, "%s%.3f", i ? "," : "", group->watched_ns[i] / 1e9);
}

static void write_json_value(double value, FILE *out)
{
	if (isnan(value))
		fputs("null", out);
	else
		fprintf(out, "%.6g", value);
}

void series_write_json(const struct series *series, size_t top, FILE *out)
{
	char subject[SERIES_SUBJECT_SIZE];

	fputs("{\"figure\":", out);
	escape_json(out, series_subject_text(&series->question.subject, subject));
	fputs(",\"windows\":[", out);
	write_json_points(series, out);
	if (!series->question.subject.figure)
		write_json_recorded(series, out);
	fprintf(out, "],\"series\":[");
	for (size_t i = 0; i < series->groups.count && i < top; i++) {
		const struct series_group *group = &series->groups.items[i];

		fprintf(out, "%s{\"name\":", i ? "," : "");
		escape_json(out, group->name);
		fprintf(out, ",\"values\":[");
		for (size_t j = 0; j < series->points.count; j++) {
			fputs(j ? "," : "", out);
			write_json_value(series_value(series, group, j), out);
		}
		if (group->watched_ns)
			write_json_watched(series, group, out);
		fprintf(out, "]}");
	}
	fprintf(out, "]}\n");
}

static void write_csv_value(double value, FILE *out)
{
	fputc(',', out);
	if (!isnan(value))
		fprintf(out, "%.6g", value);
}

void series_write_csv(const struct series *series, size_t top, FILE *out)
{
	fprintf(out, "begin_unix,end_unix,machine_busy_percent");
	for (size_t i = 0; i < series->groups.count && i < top; i++) {
		fputc(',', out);
		escape_csv(out, series->groups.items[i].name);
	}
	fprintf(out, "\r\n");
	for (size_t j = 0; j < series->points.count; j++) {
		const struct series_point *point = &series->points.items[j];

		fprintf(out, "%.3f,%.3f,", (double)point->range.from_unix_ns / 1e9,
			(double)point->range.to_unix_ns / 1e9);
		if (point->busy_percent >= 0)
			fprintf(out, "%.3f", point->busy_percent);
		for (size_t i = 0; i < series->groups.count && i < top; i++)
			write_csv_value(series_value(series, &series->groups.items[i], j), out);
		fprintf(out, "\r\n");
	}
}

/* Rounded to tenths, but never to nothing: one event a minute is 0.017 per second. */
static const char *number_text(double value, const char *unit, char text[32])
{
	double size = fabs(value);

	snprintf(text, 32, size < 0.1 ? "%.2g%s" : size < 100 ? "%.1f%s" : "%.0f%s", value, unit);
	return text;
}

static const char *bytes_text(double value, char text[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while ((value >= 1000 || value <= -1000) && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	if (!unit && fabs(value) < 1)
		return number_text(value, " B", text);
	snprintf(text, 32, unit && value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

static const char *time_text(double ns, char text[32])
{
	if (ns >= 1e9)
		snprintf(text, 32, "%.2f s", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, 32, "%.1f ms", ns / 1e6);
	else if (ns >= 1e3)
		snprintf(text, 32, "%.0f us", ns / 1e3);
	else
		return number_text(ns, " ns", text);
	return text;
}

static const char *value_text(enum figure_unit unit, double value, char text[32])
{
	if (value == 0)
		return ".";
	if (isnan(value))
		return "-";
	switch (unit) {
	case FIGURE_NS:
		return time_text(value, text);
	case FIGURE_BYTES:
	case FIGURE_SIGNED_BYTES:
		return bytes_text(value, text);
	case FIGURE_PERCENT:
		return number_text(value, " %", text);
	case FIGURE_COUNT:
		return number_text(value, "", text);
	}
	return text;
}

static void write_time(int64_t unix_ns, FILE *out)
{
	time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char text[32] = "";

	if (localtime_r(&seconds, &calendar))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &calendar);
	fprintf(out, "%-19s", text);
}

/* What stands for a part of the window, or for nothing. */
static void write_watched(const struct series *series, size_t at, size_t top, FILE *out)
{
	const struct series_point *point = &series->points.items[at];
	double least_ns = point->regions_ns;
	char some[32], all[32];

	if (point->regions_ns <= 0) {
		fputs("  not watched", out);
		return;
	}
	for (size_t i = 0; i < series->groups.count && i < top; i++)
		if (!isnan(series->groups.items[i].values[at]) &&
		    series->groups.items[i].watched_ns[at] < least_ns)
			least_ns = series->groups.items[i].watched_ns[at];
	if (least_ns < point->covered_ns * 0.999)
		fprintf(out, "  watched %s of %s", time_text(least_ns, some),
			time_text(point->covered_ns, all));
}

void series_write_text(const struct series *series, size_t top, FILE *out)
{
	const struct series_subject *subject = &series->question.subject;
	char text[32], name[COLUMN + 1], title[SERIES_SUBJECT_SIZE], escaped[SERIES_SUBJECT_SIZE];

	series_subject_text(subject, title);
	fprintf(out, "%s: %s%s\n%-19s  %6s", escape_terminal(escaped, sizeof(escaped), title),
		series_subject_summary(subject),
		series_subject_adds_up(subject) ? ", per second" : "", "begin", "busy%");
	for (size_t i = 0; i < series->groups.count && i < top; i++)
		fprintf(out, "  %*s", COLUMN,
			escape_terminal(name, sizeof(name), series->groups.items[i].name));
	fputc('\n', out);
	for (size_t j = 0; j < series->points.count; j++) {
		const struct series_point *point = &series->points.items[j];

		write_time(point->range.from_unix_ns, out);
		if (point->busy_percent < 0)
			fprintf(out, "  %6s", "-");
		else
			fprintf(out, "  %6.1f", point->busy_percent);
		for (size_t i = 0; i < series->groups.count && i < top; i++)
			fprintf(out, "  %*s", COLUMN,
				value_text(series_subject_unit(subject),
					   series_value(series, &series->groups.items[i], j),
					   text));
		if (!subject->figure)
			write_watched(series, j, top, out);
		fputc('\n', out);
	}
}
