// SPDX-License-Identifier: BSD-2-Clause
/* Lays out the page: what all sections want, shortened until it fits. */
#include "report/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

struct section {
	int (*write)(const struct summary *summary, size_t lines);
	/* Lines with which it says the most important, and with which it says enough; of a host
	 * more. */
	unsigned int least, most, most_of_host;
};

static const struct section sections[] = {
	{summary_title, 2, 2, 2},	    {summary_findings, 8, 14, 20},
	{summary_processes, 6, 8, 16},	    {summary_on_cpu, 6, 10, 14},
	{summary_python, 4, 7, 8},	    {summary_off_cpu, 8, 12, 12},
	{summary_locks, 6, 12, 14},	    {summary_storage, 5, 8, 9},
	{summary_network, 4, 8, 10},	    {summary_memory, 2, 5, 5},
	{summary_calls, 10, 18, 18},	    {summary_callers, 6, 12, 12},
	{summary_regions, 10, 16, 16},	    {summary_slow_regions, 8, 15, 15},
	{summary_requests, 5, 13, 13},	    {summary_gpu_calls, 8, 14, 14},
	{summary_python_calls, 14, 21, 21}, {summary_resident, 4, 8, 10},
	{summary_heap, 6, 12, 14},	    {summary_notes, 2, 4, 5},
};

struct page {
	char *texts[ARRAY_SIZE(sections)];
	size_t lines[ARRAY_SIZE(sections)];
	size_t asked[ARRAY_SIZE(sections)]; /* lines that it was told to have; 0: not yet */
	bool is_dense;			    /* no empty lines between sections */
};

static void page_done(struct page *page)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		free(page->texts[i]);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static int write_section(const struct summary *summary, struct page *page, size_t index,
			 size_t lines)
{
	struct summary writing = *summary;
	char *text = NULL;
	size_t size = 0;
	int err;

	writing.report.out = open_memstream(&text, &size);
	if (!writing.report.out)
		return -ENOMEM;
	err = sections[index].write(&writing, lines);
	if (fclose(writing.report.out) != 0)
		err = err ? err : -ENOMEM;
	free(page->texts[index]);
	page->texts[index] = text;
	page->lines[index] = text ? count_lines(text) : 0;
	return err;
}

static size_t page_lines(const struct page *page)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		count += page->lines[i] ? page->lines[i] + (count > 0 && !page->is_dense) : 0;
	return count;
}

/* The section with the most lines beyond what it needs. */
static size_t longest(const struct page *page)
{
	size_t best = ARRAY_SIZE(sections), most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		size_t spare =
			page->lines[i] > sections[i].least ? page->lines[i] - sections[i].least : 0;

		if (spare > most) {
			most = spare;
			best = i;
		}
	}
	return best;
}

static int shorten(const struct summary *summary, struct page *page, size_t limit)
{
	page->is_dense = page_lines(page) > limit;
	while (page_lines(page) > limit) {
		size_t index = longest(page), lines;
		int err;

		if (index == ARRAY_SIZE(sections))
			return 0;
		/* A section may need more lines than it was asked for, but never for ever. */
		lines = page->lines[index] - 1;
		if (page->asked[index] && lines >= page->asked[index])
			lines = page->asked[index] - 1;
		if (!lines)
			return 0;
		page->asked[index] = lines;
		err = write_section(summary, page, index, lines);
		if (err)
			return err;
	}
	return 0;
}

/* The title, the trees, and how far to believe them. */
static int write_trees(const struct summary *summary)
{
	int err = summary_title(summary, 2);

	err = err ? err : text_tree(summary);
	fputc('\n', summary->report.out);
	return err ? err : summary_notes(summary, 5);
}

/* The same with the hottest lines. */
static int write_lines(const struct summary *summary)
{
	int err = summary_title(summary, 2);

	err = err ? err : text_all_lines(&summary->report);
	fputc('\n', summary->report.out);
	return err ? err : summary_notes(summary, 5);
}

static int write_page(const struct summary *summary)
{
	_cleanup_(page_done) struct page page = {0};
	bool first = true;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && !err; i++)
		err = write_section(summary, &page, i,
				    summary->is_host ? sections[i].most_of_host : sections[i].most);
	err = err ? err
		  : shorten(summary, &page,
			    summary->is_host ? REPORT_LINES_OF_HOST : REPORT_LINES_OF_TARGETS);
	for (size_t i = 0; i < ARRAY_SIZE(sections) && !err; i++) {
		if (!page.lines[i])
			continue;
		fprintf(summary->report.out, "%s%s", first || page.is_dense ? "" : "\n",
			page.texts[i]);
		first = false;
	}
	return err;
}

int summary_write(struct results *results, const struct text_report *report)
{
	struct summary summary = {
		.report = *report,
		.is_host = !profile_info_read(report->profile)->has_targets,
	};
	int err = results_rows(results, &summary.rows);

	if (!err && resource_usage_known(profile_resources(report->profile)))
		err = results_findings(results, &summary.findings);
	if (err)
		return err;
	summary.report.order = row_order_sort(summary.rows, report->options->order);
	err = summary.report.order ? plumbing_init(&summary.plumbing, summary.rows->functions)
				   : -ENOMEM;
	err = err ? err : comm_groups_init(&summary.comms, report->profile);
	if (!err)
		err = report->options->tree	 ? write_trees(&summary)
		      : report->options->by_line ? write_lines(&summary)
						 : write_page(&summary);
	comm_groups_done(&summary.comms);
	plumbing_done(&summary.plumbing);
	free(summary.report.order);
	return err;
}
