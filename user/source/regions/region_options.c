// SPDX-License-Identifier: BSD-2-Clause
/* The options of the source of regions. */
#include "source/regions/region_options.h"

#include "source/source_options.h"

const struct option_row region_option_rows[] = {
	{0, "regions", NULL, "times of the regions that programs mark with pkbpf.h or pkbpf.py",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.wanted),
	 .text = "Each region gets its count, wall time, percentiles and, with the events of "
		 "offcpu, its time on the CPU, in the run queue, asleep and in disk waits."},
	{0, "region-frames", NULL, "as --regions; stacks begin with the regions they are in",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, regions.frames),
	 .text = "Call trees, flame graphs and pprof then show what is hot, and what waits, inside "
		 "of each region."},
	{.name = NULL},
};
