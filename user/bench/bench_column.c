// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_column.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHARACTERS "abcdefghijklmnopqrstuvwxyz"
#define CHARACTERS	 FIRST_CHARACTERS "0123456789_"

/* Of a row in CSV, beside the figures. */
static const char *const other_names[] = {"order",  "variant", "command", "run",
					  "warmup", "status",  "failed"};

static bool is_key_of(const char *name, const struct bench_figure_row *figure)
{
	size_t length = strlen(figure->name);

	return strncmp(name, figure->name, length) == 0 &&
	       (!name[length] || strcmp(name + length, bench_unit_suffix(figure->unit)) == 0);
}

bool bench_column_is_name(const char *name)
{
	if (!name[0] || strlen(name) >= BENCH_COLUMN_NAME_SIZE ||
	    !strchr(FIRST_CHARACTERS, name[0]) || name[strspn(name, CHARACTERS)])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
		if (strcmp(name, other_names[i]) == 0)
			return false;
	for (int i = 0; i < BENCH_COLUMN; i++)
		if (is_key_of(name, &bench_figures[i]))
			return false;
	return true;
}

/* NAME or NAME:higher, without the rest. */
static bool parse_name(const char *text, size_t length, struct bench_column_spec *spec)
{
	size_t name_length = strcspn(text, ":=");

	if (!name_length || name_length >= sizeof(spec->name))
		return false;
	memcpy(spec->name, text, name_length);
	spec->name[name_length] = '\0';
	if (name_length == length)
		return true;
	text += name_length + 1;
	length -= name_length + 1;
	for (int i = BENCH_BETTER_HIGHER; i <= BENCH_BETTER_LOWER; i++)
		if (strlen(bench_better_names[i]) == length &&
		    strncmp(text, bench_better_names[i], length) == 0)
			spec->better = (enum bench_better)i;
	return spec->better != BENCH_BETTER_UNKNOWN;
}

int bench_column_parse(const char *text, struct bench_column_spec *ret_spec, struct error *error)
{
	struct bench_column_spec spec = {0};
	const char *equals = strchr(text, '=');

	if (!equals || !equals[1] || !parse_name(text, (size_t)(equals - text), &spec))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --column: expected NAME=COMMAND, "
				 "NAME:higher=COMMAND or NAME:lower=COMMAND",
				 text);
	if (!bench_column_is_name(spec.name))
		return error_set(error, EINVAL,
				 "invalid name '%s' for --column: expected lower-case letters, "
				 "digits and _, and not the name of a figure that bench measures",
				 spec.name);
	spec.command = equals + 1;
	*ret_spec = spec;
	return 0;
}

bool bench_column_value(const char *text, double *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return false;
	while (isspace((unsigned char)*end))
		end++;
	*ret_value = value;
	return !*end;
}
