/* SPDX-License-Identifier: BSD-2-Clause */
/* RSS and page faults of a row, from kernel counters. */
#ifndef PKBPF_ROWS_PART_ROW_MEMORY_H
#define PKBPF_ROWS_PART_ROW_MEMORY_H

#include "rows/part/row_part.h"

struct row_memory {
	uint64_t minor_faults, major_faults;
	uint64_t oom_killed; /* processes behind this row */
	/* peak: of several processes at least the largest one's, and what all have at the end:
	 * those of processes that were not there at the same time do not add up. */
	uint64_t rss_bytes, peak_rss_bytes, private_bytes;
	int64_t rss_growth_bytes;
	/* Of RSS over time: the sum over processes and their times, which begin and end so. */
	double rss_byte_ns;
	uint64_t rss_begin_ns, rss_end_ns, mean_rss_bytes;
	/* Of it, the processes' own memory, neither of files nor shared. */
	int64_t own_growth_bytes;
};

extern const struct row_part row_memory_part;

#endif
