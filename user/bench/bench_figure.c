// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rows/human.h"

const struct bench_figure_row bench_figures[BENCH_FIGURES] = {
#define X(number, text, title, unit, summary) [BENCH_##number] = {text, title, summary, unit},
	BENCH_FIGURE_LIST(X)
#undef X
		[BENCH_COLUMN... BENCH_FIGURES - 1] = {"", "", "", BENCH_NUMBER},
};

int bench_figure_find(const char *name)
{
	for (int i = 0; i < BENCH_COLUMN; i++)
		if (strcmp(bench_figures[i].name, name) == 0)
			return i;
	return -1;
}

static const struct {
	const char *suffix, *word; /* NULL: by its own function */
	int digits;
	double scale;
} units[] = {
	[BENCH_NS] = {"_ns", NULL, 0, 1},	   [BENCH_BYTES] = {"_bytes", NULL, 0, 1},
	[BENCH_COUNT] = {"", NULL, 0, 1},	   [BENCH_JOULES] = {"_joules", "J", 2, 1},
	[BENCH_CELSIUS] = {"_celsius", "C", 0, 1}, [BENCH_HERTZ] = {"_hz", "GHz", 2, 1e9},
	[BENCH_NUMBER] = {"", NULL, 0, 1},
};

const char *bench_unit_suffix(enum bench_unit unit)
{
	return units[unit].suffix;
}

char *bench_value_text(char text[BENCH_VALUE_SIZE], enum bench_unit unit, double value)
{
	char buffer[HUMAN_SIZE];
	uint64_t whole = human_whole(fabs(value));
	const char *human;

	if (unit == BENCH_NUMBER) {
		snprintf(text, BENCH_VALUE_SIZE, "%.4g", value);
		return text;
	}
	if (units[unit].word) {
		snprintf(text, BENCH_VALUE_SIZE, "%.*f %s", units[unit].digits,
			 value / units[unit].scale, units[unit].word);
		return text;
	}
	human = unit == BENCH_NS      ? human_time(buffer, whole)
		: unit == BENCH_BYTES ? human_bytes(buffer, whole)
				      : human_count(buffer, whole);
	snprintf(text, BENCH_VALUE_SIZE, "%s%.38s", value < 0 && whole ? "-" : "", human);
	return text;
}
