// SPDX-License-Identifier: BSD-2-Clause
/* The options of the alloc source. */
#include "source/alloc/alloc_options.h"

#include "base/option_row.h"
#include "source/source_options.h"

#define MOST_INTERVAL_BYTES (1ULL << 40)

const struct option_row alloc_option_rows[] = {
	{0, "alloc", NULL, "allocations of a command or of --pid, and its live memory, by stack",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, alloc.wanted),
	 .text = "Starts COMMAND with a library before its allocator, which samples calls of "
		 "malloc "
		 "and its relatives: a call that is not sampled costs a nanosecond more. C++ "
		 "operators are sampled where they call malloc, as those of libstdc++ do. Adds "
		 "the kinds alloc and live to those of --events. Processes of --pid that run "
		 "without the "
		 "library are watched in windows of 20 ms per second: who allocates, not what "
		 "lives."},
	{0, "alloc-rate", "SIZE",
	 "mean bytes between two sampled allocations; default 64K, more in processes that "
	 "allocate much",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_SIZE,
	 OPTION_AT(struct source_options, alloc.interval_bytes), .least = 1,
	 .most = MOST_INTERVAL_BYTES, .needs = "alloc",
	 .text = "By default, a process that takes more than 2000 samples per second doubles its "
		 "own. Results stay unbiased."},
	{0, "python-objects", NULL, "with --alloc: small objects of Python as well",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, alloc.python_objects), .needs = "alloc",
	 .text = "Sets PYTHONMALLOC=malloc: objects of 512 bytes and less come from malloc instead "
		 "of Python's own arenas, which are allocated as a whole."},
	{.name = NULL},
};
