// SPDX-License-Identifier: BSD-2-Clause
/* The options of the source of regions. */
#include "source/regions/region_options.h"

#include <errno.h>
#include <string.h>

#include <pkbpf/span.h>

#include "base/cleanup.h"
#include "source/source_options.h"

#define USDT "usdt:"

bool region_pair_parse(char *text, struct usdt_pair *ret_pair)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || equals - text >= PKBPF_SPAN_NAME ||
	    strncmp(equals + 1, USDT, strlen(USDT)) != 0)
		return false;
	*equals = '\0';
	return usdt_pair_parse(equals + 1 + strlen(USDT), text, ret_pair);
}

static int parse_region(void *options, const char *value, struct error *error)
{
	struct region_options *regions = &((struct source_options *)options)->regions;
	_cleanup_free_ char *copy = strdup(value);
	struct usdt_pair pair;

	if (!copy)
		return error_set(error, ENOMEM, "out of memory");
	if (!region_pair_parse(copy, &pair))
		return error_set(
			error, EINVAL,
			"invalid value '%s' for --region: expected "
			"NAME=usdt:PROVIDER:BEGIN..END or ...@N, the number of an argument",
			value);
	if (regions->pair_count == REGION_PAIRS_MAX)
		return error_set(error, EINVAL, "more than %d times --region", REGION_PAIRS_MAX);
	regions->pairs[regions->pair_count++] = value;
	regions->wanted = true;
	return 0;
}

const struct option_row region_option_rows[] = {
	{0, "regions", NULL,
	 "times of the regions that programs mark with pkbpf.h or pkbpf.py, and of PostgreSQL, "
	 "JVMs and other programs with known USDT probes",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.wanted),
	 .text = "Each region gets its count, wall time, percentiles and, with the events of "
		 "offcpu, its time on the CPU, in the run queue, asleep and in disk waits."},
	{0, "region-frames", NULL, "as --regions; stacks begin with the regions they are in",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.frames),
	 .text = "Call trees, flame graphs and pprof then show what is hot, and what waits, inside "
		 "of each region."},
	{0, "region", "NAME=PAIR",
	 "as --regions; also a region between two USDT probes: usdt:PROVIDER:BEGIN..END; "
	 "repeatable",
	 .group = OPTION_GROUP_EVENTS, .repeatable = true, .form = OPTION_PARSED,
	 .parse = parse_region,
	 .text = "Both probes are hit by one thread. With @N behind them they may be hit by "
		 "different ones: argument N of both, from 0, tells which belong together. "
		 "`readelf "
		 "-n FILE` lists the probes of a file."},
	{.name = NULL},
};
