// SPDX-License-Identifier: BSD-2-Clause
/* Reads and writes quantities with their units. */
#include "finding/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rows/human.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {
	{"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
	{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};

static const struct unit byte_units[] = {
	{"", 1},       {"B", 1},	{"K", 0x1p10}, {"KiB", 0x1p10},
	{"M", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30},
	{"T", 0x1p40}, {"TiB", 0x1p40}, {NULL, 0},
};

static const struct unit percent_units[] = {{"%", 1}, {"", 1}, {NULL, 0}};
static const struct unit count_units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {NULL, 0}};

static const struct unit *units_of(enum figure_unit unit, const char **ret_example)
{
	switch (unit) {
	case FIGURE_NS:
		*ret_example = "10ms";
		return time_units;
	case FIGURE_BYTES:
	case FIGURE_SIGNED_BYTES:
		*ret_example = "64MiB";
		return byte_units;
	case FIGURE_PERCENT:
		*ret_example = "80%";
		return percent_units;
	case FIGURE_COUNT:
		break;
	}
	*ret_example = "1000";
	return count_units;
}

/* Digits with at most one point; strtod would take "inf", "0x1p3" and other languages' points. */
static size_t number_length(const char *text)
{
	size_t whole = strspn(text, "0123456789"), length = whole;

	if (text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	return whole && length < 32 ? length : 0;
}

static double parse_number(const char *text, size_t length)
{
	double value = 0, scale = 1;
	bool is_fraction = false;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.') {
			is_fraction = true;
			continue;
		}
		value = value * 10 + (text[i] - '0');
		scale *= is_fraction ? 10 : 1;
	}
	return value / scale;
}

int quantity_parse(const char *text, enum figure_unit unit, double *ret_value,
		   const char **ret_example)
{
	const struct unit *known = units_of(unit, ret_example);
	bool is_negative = *text == '-' && unit == FIGURE_SIGNED_BYTES;
	size_t length = number_length(text + is_negative), unit_length;

	text += is_negative + length;
	unit_length = strcspn(text, " \t");
	for (; length && known->name; known++)
		if (strlen(known->name) == unit_length &&
		    strncmp(known->name, text, unit_length) == 0)
			break;
	if (!length || !known->name || text[unit_length + strspn(text + unit_length, " \t")])
		return -EINVAL;
	*ret_value = parse_number(text - length, length) * known->factor * (is_negative ? -1 : 1);
	return 0;
}

void quantity_format(char buffer[HUMAN_SIZE], enum figure_unit unit, double value)
{
	uint64_t size = human_whole(value < 0 ? -value : value);
	char bytes[HUMAN_SIZE];

	switch (unit) {
	case FIGURE_NS:
		human_time(buffer, size);
		break;
	case FIGURE_BYTES:
		human_bytes(buffer, size);
		break;
	case FIGURE_SIGNED_BYTES:
		snprintf(buffer, HUMAN_SIZE, "%s%s", value < 0 ? "-" : "",
			 human_bytes(bytes, size));
		break;
	case FIGURE_PERCENT:
		snprintf(buffer, HUMAN_SIZE, "%.2f%%", value);
		break;
	case FIGURE_COUNT:
		human_count(buffer, size);
		break;
	}
}

bool comparator_holds(enum condition_comparison comparison, double value, double limit)
{
	switch (comparison) {
	case CONDITION_ABOVE:
		return value > limit;
	case CONDITION_AT_LEAST:
		return value >= limit;
	case CONDITION_BELOW:
		return value < limit;
	case CONDITION_AT_MOST:
		return value <= limit;
	}
	return false;
}

const char *comparator_find(const char *text, enum condition_comparison *ret_comparison)
{
	const char *above = strrchr(text, '>'), *below = strrchr(text, '<');
	const char *comparison = !above ? below : !below || above > below ? above : below;

	if (!comparison)
		return NULL;
	if (comparison[1] == '=')
		*ret_comparison = *comparison == '>' ? CONDITION_AT_LEAST : CONDITION_AT_MOST;
	else
		*ret_comparison = *comparison == '>' ? CONDITION_ABOVE : CONDITION_BELOW;
	return comparison;
}

const char *comparator_value(const char *comparison)
{
	comparison += comparison[1] == '=' ? 2 : 1;
	return comparison + strspn(comparison, " \t");
}
