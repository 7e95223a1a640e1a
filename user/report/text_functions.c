// SPDX-License-Identifier: BSD-2-Clause
// Prints the functions with the most weight, then the addresses that have no function.
#include <errno.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

static void add_function(struct text_table *table, const struct tally *tally,
			 const struct tally_function *row, bool by_self)
{
	const struct function *function = function_table_get(tally->functions, row->function);
	uint64_t first = by_self ? row->self : row->total;
	uint64_t second = by_self ? row->total : row->self;
	char buffer[HUMAN_SIZE];

	text_table_cell(table, human_share(buffer, first, tally->weight));
	text_table_cell(table, human_weight(buffer, tally->kind, first));
	text_table_cell(table, human_share(buffer, second, tally->weight));
	if (function->file[0])
		text_table_cellf(table, "%s (%s:%u)", function->name, function->file,
				 (unsigned int)function->line);
	else
		text_table_cell(table, function->name);
	text_table_cell(table, function->module);
}

static int write_functions(const struct text_report *report, const struct tally *tally,
			   bool by_self)
{
	const struct tally_function *rows = by_self ? tally->by_self : tally->by_total;
	const struct kind_ops *kind = kind_ops_of(tally->kind);
	const struct text_column columns[] = {
		{.title = by_self ? "self" : "total"},
		{.title = kind_measure(kind)},
		{.title = by_self ? "total" : "self"},
		{.title = "function", .left = true, .flexible = true},
		{.title = "module", .left = true, .max_columns = 28},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	size_t available = 0, shown;
	int err;

	if (!table)
		return -ENOMEM;
	/* Functions that only called others have no place among those that did the work. */
	while (available < tally->function_count && (!by_self || rows[available].self))
		available++;
	shown = available < report->options->top ? available : report->options->top;
	for (size_t i = 0; i < shown; i++)
		add_function(table, tally, &rows[i], by_self);
	if (!shown)
		return 0;
	text_heading(report, "%s: hottest functions by %s", kind->title,
		     by_self ? "self" : "total (with callees)");
	err = text_table_write(table, report->width, report->out);
	if (!err)
		text_more(report, available - shown, "functions");
	return err;
}

size_t text_python_count(const struct tally *tally)
{
	size_t count = 0;

	while (count < tally->function_count && tally->by_python[count].python)
		count++;
	return count;
}

const char *text_python_word(const struct tally *tally)
{
	size_t count = text_python_count(tally), ruby = 0;

	for (size_t i = 0; i < count; i++)
		ruby += function_table_get(tally->functions, tally->by_python[i].function)->is_ruby;
	return !ruby ? "Python" : ruby == count ? "Ruby" : "Python or Ruby";
}

int text_python_table(const struct text_report *report, const struct tally *tally,
		      const char *title, size_t shown)
{
	const struct text_column columns[] = {
		{.title = "self"},
		{.title = kind_measure(kind_ops_of(tally->kind))},
		{.title = "total"},
		{.title = title, .left = true, .flexible = true},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	char buffer[HUMAN_SIZE];

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct tally_function *row = &tally->by_python[i];

		text_table_cell(table, human_share(buffer, row->python, tally->weight));
		text_table_cell(table, human_weight(buffer, tally->kind, row->python));
		text_table_cell(table, human_share(buffer, row->total, tally->weight));
		text_table_cell(table, function_table_get(tally->functions, row->function)->name);
	}
	return text_table_write(table, report->width, report->out);
}

/* The author of a Python program looks for its functions, not for those of the C libraries. */
static int write_python(const struct text_report *report, const struct tally *tally)
{
	size_t available = text_python_count(tally);
	size_t shown = available < report->options->top ? available : report->options->top;
	int err;

	if (!shown)
		return 0;
	text_heading(report, "%s: hottest %s functions by self (with native code they call)",
		     kind_ops_of(tally->kind)->title, text_python_word(tally));
	err = text_python_table(report, tally, "function", shown);
	if (!err)
		text_more(report, available - shown, "functions");
	return err;
}

int text_functions(const struct text_report *report, const struct tally *tally)
{
	int err = write_python(report, tally);

	if (!err)
		err = write_functions(report, tally, true);
	return err ? err : write_functions(report, tally, false);
}

int text_unnamed(const struct text_report *report, const struct tally *tally)
{
	static const struct text_column columns[] = {
		{.title = "addresses"},
		{.title = "as leaf"},
		{.title = "share"},
		{.title = "reason", .left = true, .flexible = true},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	uint64_t addresses = 0;
	char buffer[HUMAN_SIZE];

	if (!table)
		return -ENOMEM;
	for (unsigned int i = 0; i < SYMBOL_RESULT_COUNT; i++) {
		const struct tally_unnamed *unnamed = &tally->unnamed[i];

		if (!unnamed->addresses)
			continue;
		addresses += unnamed->addresses;
		text_table_cell(table, human_count(buffer, unnamed->addresses));
		text_table_cell(table, human_weight(buffer, tally->kind, unnamed->self_weight));
		text_table_cell(table, human_share(buffer, unnamed->self_weight, tally->weight));
		text_table_cell(table, symbol_result_text(i));
	}
	if (!addresses)
		return 0;
	text_heading(report, "%s: unresolved addresses: %s", kind_ops_of(tally->kind)->title,
		     human_count(buffer, addresses));
	return text_table_write(table, report->width, report->out);
}
