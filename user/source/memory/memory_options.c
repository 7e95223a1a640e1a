// SPDX-License-Identifier: BSD-2-Clause
/* The options of the memory source. */
#include "source/memory/memory_options.h"

#include <errno.h>

#include "base/clock.h"
#include "base/parse_value.h"
#include "source/source_options.h"

#define EVERY_NS     (100 * NS_PER_MS)
#define EVERY_MIN_NS NS_PER_MS
#define EVERY_MAX_NS (3600 * NS_PER_SECOND)

static int parse_every(void *options, const char *value, struct error *error)
{
	struct memory_options *memory = &((struct source_options *)options)->memory;
	uint64_t every_ns;
	int err = parse_duration_ns(value, "--memory-every", &every_ns, error);

	if (err)
		return err;
	if (every_ns < EVERY_MIN_NS || every_ns > EVERY_MAX_NS)
		return error_set(error, EINVAL,
				 "invalid --memory-every '%s': a time from 1ms to 1h is needed",
				 value);
	memory->every_ns = every_ns;
	return 0;
}

const struct option_row memory_option_rows[] = {
	{0, "memory-every", "TIME", "memory: time between two readings; default 100ms",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_every,
	 .needs = "memory",
	 .text = "Of memory over time and its mean. Readings take at most 0.2 % of a CPU: "
		 "with many processes they are less frequent. Each process keeps 256 points at "
		 "most. The peak is the kernel's own, whatever the time between readings."},
	{.name = NULL},
};

void memory_options_init(struct source_options *options)
{
	options->memory = (struct memory_options){.every_ns = EVERY_NS};
}
