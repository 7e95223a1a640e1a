// SPDX-License-Identifier: BSD-2-Clause
/* Writes who called the chosen functions, as paths from caller to callee. */
#include "base/cleanup.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/human.h"

static void label_calls(char *text, size_t size, const struct path_weight *weight, uint64_t whole)
{
	char share[HUMAN_SIZE], time[HUMAN_SIZE], count[HUMAN_SIZE];

	snprintf(text, size, " %6s %8s %9s  ", human_share(share, weight->weight, whole),
		 human_time(time, weight->weight), human_count(count, weight->count));
}

static const struct summary_stacks call_stacks = {.kind = PKBPF_PROFILE_CALLS,
						  .label = label_calls};

int summary_callers(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree calls = {0};
	char time[HUMAN_SIZE], number[HUMAN_SIZE];
	int err = summary_join_stacks(summary, &call_stacks, &calls);

	if (err || !calls.sum.count)
		return err;
	text_heading(&summary->report, "Calls by stack: %s in %s",
		     human_time(time, calls.sum.weight),
		     human_counted(number, calls.sum.count, "calls"));
	summary_write_stacks(summary, &call_stacks, &calls,
			     "  share     time     calls  where (caller > callee)", lines - 1);
	return 0;
}
