// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_limit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_column.h"

#define NAME_SIZE 64

static const char *const statistics[BENCH_STATISTICS] = {
	[BENCH_MEDIAN] = "median", [BENCH_MEAN] = "mean", [BENCH_MIN] = "min",
	[BENCH_MAX] = "max",	   [BENCH_P95] = "p95",	  [BENCH_P99] = "p99",
};

static enum figure_unit unit_of(enum bench_figure figure)
{
	switch (bench_figures[figure].unit) {
	case BENCH_NS:
		return FIGURE_NS;
	case BENCH_BYTES:
		return FIGURE_BYTES;
	case BENCH_COUNT:
	case BENCH_JOULES:
	case BENCH_CELSIUS:
	case BENCH_HERTZ:
	case BENCH_NUMBER:
		break;
	}
	return FIGURE_COUNT;
}

static int find_figure(const struct bench *bench, const char *name)
{
	for (size_t i = 0; bench && i < bench->columns.count; i++)
		if (strcmp(bench->columns.items[i].name, name) == 0)
			return (int)(BENCH_COLUMN + i);
	return bench_figure_find(name);
}

/* "wall.p99 " */
static bool parse_names(const char *text, size_t length, const struct bench *bench,
			struct bench_limit *limit)
{
	char name[NAME_SIZE], *dot;
	int figure;

	while (length && text[length - 1] == ' ')
		length--;
	if (length >= sizeof(name))
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	dot = strchr(name, '.');
	if (dot)
		*dot++ = '\0';
	figure = find_figure(bench, name);
	limit->figure = (enum bench_figure)figure;
	limit->statistic = dot ? BENCH_STATISTICS : BENCH_MEDIAN;
	for (int i = 0; dot && i < BENCH_STATISTICS; i++)
		if (strcmp(dot, statistics[i]) == 0)
			limit->statistic = (enum bench_statistic)i;
	return figure >= 0 && limit->statistic < BENCH_STATISTICS;
}

int bench_limit_parse(const char *text, const struct bench *bench, struct bench_limit *ret_limit,
		      struct error *error)
{
	struct bench_limit limit = {0};
	const char *comparison = comparator_find(text, &limit.comparison), *example = "0.9";

	if (!comparison || !parse_names(text, (size_t)(comparison - text), bench, &limit))
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --fail-if: expected a figure, and a limit, "
			"such as 'wall>100ms', 'wall.p99>1s' or 'peak_rss.max>64MiB'",
			text);
	if (limit.figure >= BENCH_COLUMN
		    ? !bench_column_value(comparator_value(comparison), &limit.value)
		    : quantity_parse(comparator_value(comparison), unit_of(limit.figure),
				     &limit.value, &example) < 0)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --fail-if: expected a limit such as %s",
				 text, example);
	*ret_limit = limit;
	return 0;
}

static double statistic_of(const struct bench_summary *summary, enum bench_statistic statistic)
{
	const double values[BENCH_STATISTICS] = {
		[BENCH_MEDIAN] = summary->median, [BENCH_MEAN] = summary->mean,
		[BENCH_MIN] = summary->min,	  [BENCH_MAX] = summary->max,
		[BENCH_P95] = summary->p95,	  [BENCH_P99] = summary->p99,
	};

	return summary->count ? values[statistic] : NAN;
}

/* Of the median, both ends of its interval are beyond the limit, or neither. */
static bool is_sure(const struct bench_limit *limit, const struct interval *interval)
{
	return limit->statistic != BENCH_MEDIAN || !interval->known ||
	       comparator_holds(limit->comparison, interval->low, limit->value) ==
		       comparator_holds(limit->comparison, interval->high, limit->value);
}

int bench_limit_check(const struct bench_limit *limit, const char *text, const struct bench *bench,
		      uint32_t variant, struct bench_gate_result *ret_result)
{
	struct bench_gate_result result = {.outcome = BENCH_GATE_PASSED};
	const char *label = bench->variants.items[variant].label;
	enum bench_unit unit = bench_figures[limit->figure].unit;
	char value_text[BENCH_VALUE_SIZE];
	struct bench_summary summary;
	double value;
	int err = bench_summarize(bench, variant, limit->figure, &summary);

	if (err < 0)
		return err;
	value = statistic_of(&summary, limit->statistic);
	snprintf(result.name, sizeof(result.name), "%.100s: %.150s", label, text);
	if (isnan(value)) {
		result.outcome = BENCH_GATE_NOT_CHECKED;
		snprintf(result.sentence, sizeof(result.sentence),
			 "%.200s: %s of %.200s is not known: %s", text,
			 bench_figure_title(bench, limit->figure), label,
			 summary.count ? "it needs more runs" : "it was not measured");
	} else {
		bool holds = comparator_holds(limit->comparison, value, limit->value);
		bool sure = is_sure(limit, &summary.interval);

		if (holds && sure)
			result.outcome = BENCH_GATE_FAILED;
		snprintf(result.sentence, sizeof(result.sentence), "%.200s: %s of %.200s is %s%s",
			 text, statistics[limit->statistic], label,
			 bench_value_text(value_text, unit, value),
			 sure ? "" : ", and its interval holds the limit: cannot tell");
	}
	*ret_result = result;
	return 0;
}
