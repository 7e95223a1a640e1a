// SPDX-License-Identifier: BSD-2-Clause
/* Writes who allocates, what was not freed, and whose the resident pages are. */
#include <errno.h>

#include "base/cleanup.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/memory_series.h"

#define LEAST_LINES 3

static void label_bytes(char *text, size_t size, const struct path_weight *weight, uint64_t whole)
{
	char share[HUMAN_SIZE], bytes[HUMAN_SIZE];

	snprintf(text, size, " %6s %9s  ", human_share(share, weight->weight, whole),
		 human_bytes(bytes, weight->weight));
}

static const struct summary_stacks alloc_stacks = {.kind = PKBPF_PROFILE_ALLOC,
						   .label = label_bytes};
static const struct summary_stacks live_stacks = {.kind = PKBPF_PROFILE_LIVE, .label = label_bytes};

int summary_heap(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree alloc = {0}, live = {0};
	const struct text_report *report = &summary->report;
	char bytes[HUMAN_SIZE], number[HUMAN_SIZE];
	int err = summary_join_stacks(summary, &alloc_stacks, &alloc);
	size_t for_alloc = lines / 2 > LEAST_LINES ? lines / 2 : LEAST_LINES;

	err = err ? err : summary_join_stacks(summary, &live_stacks, &live);
	if (err || !alloc.sum.weight)
		return err;
	text_heading(report, "Allocated: about %s in %s", human_bytes(bytes, alloc.sum.weight),
		     human_counted(number, alloc.sum.count, "allocations"));
	summary_write_stacks(summary, &alloc_stacks, &alloc, NULL, for_alloc - 1);
	if (lines <= for_alloc + 1)
		return 0;
	if (profile_info_read(report->profile)->counters[PKBPF_COUNTER_ALLOC_WINDOWS] &&
	    !live.sum.weight) {
		fprintf(report->out,
			"Not freed at the end: not known, calls were seen in windows of "
			"20 ms; sums are of these alone\n");
		return 0;
	}
	fprintf(report->out, "Not freed at the end: about %s in %s\n",
		human_bytes(bytes, live.sum.weight),
		human_counted(number, live.sum.count, "allocations"));
	if (live.sum.weight)
		summary_write_stacks(summary, &live_stacks, &live, NULL, lines - for_alloc - 1);
	return 0;
}

static const struct summary_stacks resident_stacks = {.kind = PKBPF_PROFILE_MEMORY,
						      .label = label_bytes};

int summary_resident(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree tree = {0};
	const struct text_report *report = &summary->report;
	_cleanup_(memory_rows_done) struct memory_rows rows = {0};
	char bytes[HUMAN_SIZE], peak[HUMAN_SIZE];
	uint64_t peak_sum = 0;
	int err = summary_join_stacks(summary, &resident_stacks, &tree);

	if (err || !tree.sum.weight)
		return err;
	err = memory_rows_make(report->profile, &rows);
	if (err)
		return err;
	for (size_t i = 0; i < rows.count; i++)
		peak_sum += rows.items[i].peak_bytes;
	text_heading(report, "Resident, by who wrote first: %s private; RSS at its peak %s%s",
		     human_bytes(bytes, tree.sum.weight), human_bytes(peak, peak_sum),
		     rows.count > 1 ? " (sum of processes)" : "");
	summary_write_stacks(summary, &resident_stacks, &tree, NULL, lines - 1);
	return 0;
}
