// SPDX-License-Identifier: BSD-2-Clause
/* Writes the hottest Python functions, where Python is a part of what ran. */
#include <stdio.h>

#include "base/cleanup.h"
#include "report/summary.h"

/* Of all CPU samples: below it, Python is beside the point. */
#define LEAST_PERMILLE 100

static bool has_python(const struct function_table *functions)
{
	size_t count = function_table_count(functions);

	for (uint32_t i = 0; i < count; i++)
		if (function_table_get(functions, i)->mark == FUNCTION_PYTHON)
			return true;
	return false;
}

int summary_python(const struct summary *summary, size_t lines)
{
	_cleanup_(tally_done) struct tally tally = {0};
	uint64_t python = 0;
	size_t count, shown;
	char title[64], more[32];
	int err;

	if (lines < 3 || !has_python(summary->rows->functions))
		return 0;
	err = tally_init(&tally, summary->report.profile, PKBPF_PROFILE_CPU, false);
	if (err)
		return err;
	count = text_python_count(&tally);
	for (size_t i = 0; i < count; i++)
		python += tally.by_python[i].python;
	if (!count || python * 1000 < tally.weight * LEAST_PERMILLE)
		return 0;
	/* A heading and lines below that of the table. */
	shown = count <= lines - 1 ? count : lines - 2;
	snprintf(title, sizeof(title), "%s function, self with native code it calls",
		 text_python_word(&tally));
	snprintf(more, sizeof(more), "%s functions", text_python_word(&tally));
	err = text_python_table(&summary->report, &tally, title, shown);
	if (!err)
		text_more(&summary->report, count - shown, more);
	return err;
}
