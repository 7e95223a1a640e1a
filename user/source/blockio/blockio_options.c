// SPDX-License-Identifier: BSD-2-Clause
/* The options of the block I/O source. */
#include "source/blockio/blockio_options.h"

#include <string.h>

#include "base/clock.h"
#include "base/parse_value.h"
#include "source/source_options.h"

/* Longer than a hard disk takes for a single request without competing requests. */
#define SLOW_NS	   (10 * NS_PER_MS)
#define SLOW_COUNT 10

static int parse_slow_io(void *options, const char *value, struct error *error)
{
	struct blockio_options *blockio = &((struct source_options *)options)->blockio;

	if (strcmp(value, "none") == 0)
		blockio->slow_ns = UINT64_MAX;
	else if (strcmp(value, "0") == 0)
		blockio->slow_ns = 0;
	else
		return parse_duration_ns(value, "--slow-io", &blockio->slow_ns, error);
	return 0;
}

const struct option_row blockio_option_rows[] = {
	{0, "slow-io", "TIME",
	 "block I/O: list the slowest requests, if they take at least TIME; 0: any; none: no list; "
	 "default 10ms",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_slow_io,
	 .needs = "blockio",
	 .text = "A time counts from submission to completion; --top limits their number."},
	{.name = NULL},
};

void blockio_options_init(struct source_options *options)
{
	options->blockio = (struct blockio_options){.slow_ns = SLOW_NS, .slow_count = SLOW_COUNT};
}
