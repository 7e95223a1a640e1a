// SPDX-License-Identifier: BSD-2-Clause
/* Prints in which kinds of memory pages were missing. */
#include <errno.h>

#include <pkbpf/faults.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

struct fault_sums {
	uint64_t minor, major;
};

static uint64_t sum_by_memory(const struct profile *profile,
			      struct fault_sums sums[PKBPF_FAULT_MEMORIES])
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int memory = rows[i].state >> PKBPF_FAULT_MEMORY_SHIFT;
		struct fault_sums *sum =
			&sums[memory < PKBPF_FAULT_MEMORIES ? memory : PKBPF_FAULT_MEMORY_UNKNOWN];

		if (rows[i].kind != PKBPF_PROFILE_FAULTS)
			continue;
		all += rows[i].weight;
		if ((rows[i].state & PKBPF_FAULT_MASK) == PKBPF_FAULT_MAJOR)
			sum->major += rows[i].weight;
		else
			sum->minor += rows[i].weight;
	}
	return all;
}

int text_faults(const struct text_report *report)
{
	static const char *const names[PKBPF_FAULT_MEMORIES] = {
		[PKBPF_FAULT_MEMORY_UNKNOWN] = "unknown",
		[PKBPF_FAULT_MEMORY_ANONYMOUS] = "anonymous",
		[PKBPF_FAULT_MEMORY_HEAP] = "heap",
		[PKBPF_FAULT_MEMORY_STACK] = "stack",
		[PKBPF_FAULT_MEMORY_FILE] = "private file",
		[PKBPF_FAULT_MEMORY_SHARED] = "shared",
	};
	static const struct text_column columns[] = {
		{.title = "memory", .left = true},
		{.title = "share"},
		{.title = "minor"},
		{.title = "major"},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	struct fault_sums sums[PKBPF_FAULT_MEMORIES] = {0};
	char buffer[HUMAN_SIZE];
	uint64_t all;
	int err;

	if (!table)
		return -ENOMEM;
	all = sum_by_memory(report->profile, sums);
	if (!all)
		return 0;
	for (size_t i = 0; i < PKBPF_FAULT_MEMORIES; i++) {
		size_t memory = (i + 1) % PKBPF_FAULT_MEMORIES; /* the unknown last */

		if (!sums[memory].minor && !sums[memory].major)
			continue;
		text_table_cell(table, names[memory]);
		text_table_cell(table,
				human_share(buffer, sums[memory].minor + sums[memory].major, all));
		text_table_cell(table, human_count(buffer, sums[memory].minor));
		text_table_cell(table, human_count(buffer, sums[memory].major));
	}
	text_heading(report, "Page faults by type of memory");
	err = text_table_write(table, report->width, report->out);
	if (!err)
		text_wrap(
			report->out, report->width, "", 1,
			"(Counts per process are exact; stacks and types of memory are estimated; "
			"small processes are pooled by name.)");
	return err;
}
