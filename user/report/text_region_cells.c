// SPDX-License-Identifier: BSD-2-Clause
/* Writes cells of regions and of calls. */
#include "report/text_region_cells.h"

#include "base/array.h"
#include "rows/human.h"

void text_region_parts(struct text_table *table, const struct region_sums *sums)
{
	const uint64_t *part_ns = sums->part_ns;
	bool is_known = sums->total_ns && region_sums_undivided_ns(sums) < sums->total_ns;
	const uint64_t shown_ns[] = {
		part_ns[PKBPF_WAIT_NONE],
		part_ns[PKBPF_WAIT_RUNQUEUE],
		part_ns[PKBPF_WAIT_SLEEP] + part_ns[PKBPF_WAIT_STOPPED],
		part_ns[PKBPF_WAIT_DISK] + part_ns[PKBPF_WAIT_UNINTERRUPTIBLE],
	};
	char share[HUMAN_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(shown_ns); i++)
		text_table_cell(table, !is_known ? "-"
				       : shown_ns[i]
					       ? human_share(share, shown_ns[i], sums->total_ns)
					       : ".");
}

void text_region_time(struct text_table *table, uint64_t time_ns, bool is_known)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, is_known ? human_time(buffer, time_ns) : "-");
}
