// SPDX-License-Identifier: BSD-2-Clause
/* Prints tables of the joined rows. */
#include "report/text_rows.h"

#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "rows/figure_table.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

#define COLUMNS_MAX 32

#define FOR_PROCESS   (1U << ROWS_BY_PROCESS)
#define FOR_THREAD    (1U << ROWS_BY_THREAD)
#define FOR_CONTAINER (1U << ROWS_BY_CONTAINER)
#define FOR_COMM      (1U << ROWS_BY_COMM | 1U << ROWS_BY_NAME)
#define FOR_REGION    (1U << ROWS_BY_REGION)
#define FOR_LABEL     (1U << ROWS_BY_LABEL)

static void cell_number(struct text_table *table, uint32_t number)
{
	if (number)
		text_table_cellf(table, "%" PRIu32, number);
	else
		text_table_cell(table, "-");
}

static void cell_pid(struct text_table *table, const struct resource_row *row)
{
	cell_number(table, row->pid);
}

static void cell_tid(struct text_table *table, const struct resource_row *row)
{
	cell_number(table, row->tid);
}

static void cell_comm(struct text_table *table, const struct resource_row *row)
{
	text_table_cell(table, row->name[0] ? row->name : "[unknown]");
}

void text_rows_container(struct text_table *table, const struct resource_row *row)
{
	text_table_cell(table, row->container);
}

/* Whose a row is. */
static const struct row_column who_columns[] = {
	{{.title = "pid"}, .cell = cell_pid, .groupings = FOR_PROCESS | FOR_THREAD},
	{{.title = "tid"}, .cell = cell_tid, .groupings = FOR_THREAD},
	{{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
	 .cell = cell_comm,
	 .groupings = FOR_PROCESS | FOR_THREAD | FOR_COMM},
	{{.title = "region", .left = true, .max_columns = 40, .flexible = true},
	 .cell = cell_comm,
	 .groupings = FOR_REGION},
	{{.title = "label", .left = true, .max_columns = 40, .flexible = true},
	 .cell = cell_comm,
	 .groupings = FOR_LABEL},
	{{.title = "container or unit", .left = true, .max_columns = 30, .flexible = true},
	 .cell = text_rows_container,
	 .groupings = FOR_CONTAINER},
};

static const char *short_count(char buffer[HUMAN_SIZE], uint64_t count)
{
	static const char units[] = "kMGTP";
	double value = (double)count;
	size_t unit = 0;

	if (count < 10000)
		return human_count(buffer, count);
	value /= 1000;
	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, HUMAN_SIZE, "%.*f%c",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[unit]);
	return buffer;
}

void text_rows_count(struct text_table *table, uint64_t count)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, short_count(buffer, count));
}

void text_rows_time(struct text_table *table, bool is_known, uint64_t time_ns)
{
	char buffer[HUMAN_SIZE];

	/* Zeros are many: a point leaves the eye to the rest. */
	text_table_cell(table, !is_known ? "-" : time_ns ? human_time(buffer, time_ns) : ".");
}

static void cell_signed_bytes(struct text_table *table, int64_t bytes)
{
	char buffer[HUMAN_SIZE];

	text_table_cellf(table, "%c%s", bytes < 0 ? '-' : '+',
			 human_bytes(buffer, (uint64_t)(bytes < 0 ? -bytes : bytes)));
}

static void cell_figure(struct text_table *table, const struct figure *figure,
			const struct resource_row *row)
{
	uint64_t value = figure_u64(figure, row);
	char buffer[HUMAN_SIZE];
	double percent = 0;

	if ((row->known & figure->needs) != figure->needs) {
		text_table_cell(table, "-");
		return;
	}
	switch (figure->unit) {
	case FIGURE_COUNT:
		text_rows_count(table, value);
		break;
	case FIGURE_PERCENT:
		figure_value(figure, NULL, row, &percent);
		text_table_cellf(table, "%.1f%%", percent);
		break;
	case FIGURE_NS:
		text_rows_time(table, true, value);
		break;
	case FIGURE_BYTES:
		text_table_cell(table, value ? human_bytes(buffer, value) : ".");
		break;
	case FIGURE_SIGNED_BYTES:
		if (value)
			cell_signed_bytes(table, (int64_t)value);
		else
			text_table_cell(table, ".");
		break;
	}
}

/* The columns of one table that are there. */
struct chosen {
	const struct row_column *columns[COLUMNS_MAX];
	const struct figure *figures[COLUMNS_MAX];
	struct text_column texts[COLUMNS_MAX];
	size_t count;
};

static const struct resource_row *row_at(const struct text_report *report,
					 const struct resource_rows *rows, size_t index)
{
	return report->order ? report->order[index] : &rows->items[index];
}

/* Has any row of a figure something in it? */
static bool has_value(const struct resource_rows *rows, const struct figure *figure)
{
	for (size_t i = 0; i < rows->count; i++)
		if (figure_known(figure, &rows->items[i]) && figure_u64(figure, &rows->items[i]))
			return true;
	return false;
}

static int choose(struct chosen *chosen, const struct resource_rows *rows,
		  const struct row_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row_column *column = &columns[i];
		const struct figure *figure = column->figure ? figure_find(column->figure) : NULL;
		unsigned int needs = column->shown_with;

		if ((column->figure && !figure) || chosen->count == COLUMNS_MAX)
			return -EINVAL;
		if (!needs && figure)
			needs = figure->needs;
		if ((rows->total.known & needs) != needs ||
		    (rows->total.known & column->hidden_with) ||
		    (column->groupings && !(column->groupings & 1U << rows->by)))
			continue;
		if ((column->hide_zero || rows_are_of_regions(rows->by)) && figure &&
		    !has_value(rows, figure))
			continue;
		chosen->columns[chosen->count] = column;
		chosen->figures[chosen->count] = figure;
		chosen->texts[chosen->count++] = column->text;
	}
	return 0;
}

static void add_row(struct text_table *text, const struct chosen *chosen,
		    const struct resource_row *row)
{
	for (size_t i = 0; i < chosen->count; i++) {
		if (chosen->figures[i])
			cell_figure(text, chosen->figures[i], row);
		else
			chosen->columns[i]->cell(text, row);
	}
}

int text_rows(const struct text_report *report, const struct resource_rows *rows,
	      const struct row_table *table)
{
	static const char *const nouns[ROWS_BY_COUNT] = {
		[ROWS_BY_PROCESS] = "processes",
		[ROWS_BY_THREAD] = "threads",
		[ROWS_BY_REGION] = "regions",
		[ROWS_BY_LABEL] = "labels",
	};
	_cleanup_(text_table_free_cleanup) struct text_table *text = NULL;
	struct chosen chosen = {.count = 0};
	size_t shown = 0, fit = 0;
	int err = choose(&chosen, rows, who_columns, ARRAY_SIZE(who_columns));

	err = err ? err : choose(&chosen, rows, table->columns, table->count);
	if (err)
		return err;
	text = text_table_new(chosen.texts, chosen.count);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		const struct resource_row *row = row_at(report, rows, i);

		if (table->has && !table->has(row))
			continue;
		fit++;
		if (shown == report->options->top)
			continue;
		shown++;
		add_row(text, &chosen, row);
	}
	err = text_table_write(text, report->width, report->out);
	if (!err)
		text_more(report, fit - shown, nouns[rows->by] ? nouns[rows->by] : "rows");
	return err;
}
