// SPDX-License-Identifier: BSD-2-Clause
/* Writes the hottest Python functions, where Python is a part of what ran. */
#include <errno.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/human.h"

/* Of all CPU samples: below it, Python is beside the point. */
#define LEAST_PERMILLE 100

DEFINE_CLEANUP(struct text_table *, text_table_free)

static const struct text_column columns[] = {
	{.title = "self"},
	{.title = "samples"},
	{.title = "total"},
	{.title = "Python function, self with native code it calls",
	 .left = true,
	 .flexible = true},
};

/* A heading and lines below that of the table. */
static int write_table(const struct summary *summary, const struct tally *tally, size_t count,
		       size_t lines)
{
	const struct text_report *report = &summary->report;
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	size_t shown = count <= lines - 1 ? count : lines - 2;
	char buffer[HUMAN_SIZE];
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct tally_function *row = &tally->by_python[i];

		text_table_cell(table, human_share(buffer, row->python, tally->weight));
		text_table_cell(table, human_weight(buffer, tally->kind, row->python));
		text_table_cell(table, human_share(buffer, row->total, tally->weight));
		text_table_cell(table, function_table_get(tally->functions, row->function)->name);
	}
	err = text_table_write(table, report->width, report->out);
	if (!err && shown < count)
		text_more(report, count - shown, "Python functions");
	return err;
}

int summary_python(const struct summary *summary, size_t lines)
{
	_cleanup_(tally_done) struct tally tally = {0};
	uint64_t python = 0;
	size_t count = 0;
	int err = tally_init(&tally, summary->report.profile, PKBPF_PROFILE_CPU, false);

	if (err)
		return err;
	while (count < tally.function_count && tally.by_python[count].python)
		python += tally.by_python[count++].python;
	if (!count || lines < 3 || python * 1000 < tally.weight * LEAST_PERMILLE)
		return 0;
	return write_table(summary, &tally, count, lines);
}
