// SPDX-License-Identifier: BSD-2-Clause
/* Prints the heaps of sampled processes by the place of allocation. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/text_append.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/heap_place.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)
DEFINE_CLEANUP(struct function_table *, function_table_free)

#define PATH_FUNCTIONS	 4
#define FUNCTION_COLUMNS 40
#define PATH_SIZE	 1024

static int by_live_bytes(const void *a, const void *b)
{
	const struct heap_place *left = *(const struct heap_place *const *)a;
	const struct heap_place *right = *(const struct heap_place *const *)b;
	uint64_t of_left = left->live.bytes ? left->live.bytes : left->allocated.bytes / 1000;
	uint64_t of_right = right->live.bytes ? right->live.bytes : right->allocated.bytes / 1000;

	if (left->trend == HEAP_TREND_GROWS || right->trend == HEAP_TREND_GROWS) {
		of_left += left->trend == HEAP_TREND_GROWS ? UINT64_MAX / 2 : 0;
		of_right += right->trend == HEAP_TREND_GROWS ? UINT64_MAX / 2 : 0;
	}
	return of_left < of_right ? 1 : of_left > of_right ? -1 : left < right ? -1 : 1;
}

static void estimate_cells(struct text_table *table, const struct heap_estimate *estimate)
{
	char buffer[HUMAN_SIZE];

	/* What was not seen at all is below three intervals. */
	if (estimate->samples < HEAP_PLACE_LEAST_SAMPLES && estimate->error_bytes) {
		text_table_cell(table, estimate->samples ? "few" : ".");
		text_table_cell(table, "");
		return;
	}
	text_table_cell(table, estimate->bytes ? human_bytes(buffer, estimate->bytes) : ".");
	text_table_cell(table,
			estimate->error_bytes ? human_bytes(buffer, estimate->error_bytes) : "");
}

static void write_place(struct text_table *table, const struct text_report *report,
			const struct function_table *functions, const struct heap_place *place)
{
	char buffer[HUMAN_SIZE], path[PATH_SIZE] = "", clean[PATH_SIZE];
	const struct function *chosen[PATH_FUNCTIONS];
	size_t count;

	snprintf(buffer, sizeof(buffer), "%" PRIu32, place->pid);
	text_table_cell(table, buffer);
	estimate_cells(table, &place->live);
	text_table_cell(table,
			place->at_peak_bytes ? human_bytes(buffer, place->at_peak_bytes) : ".");
	text_table_cell(table, human_bytes(buffer, place->allocated.bytes));
	text_table_cell(table, human_count(buffer, place->allocated.objects));
	text_table_cell(table, human_share(buffer, place->brief_bytes, place->allocated.bytes));
	text_table_cell(table, place->trend >= HEAP_TREND_FILLS
				       ? human_bytes(buffer, place->growth_per_second)
				       : "");
	text_table_cell(table, place->trend == HEAP_TREND_UNKNOWN
				       ? ""
				       : heap_trend_name((enum heap_trend)place->trend));
	count = heap_place_functions(report->profile, functions, place, chosen, PATH_FUNCTIONS);
	for (size_t i = 0; i < count; i++) {
		escape_terminal(clean, sizeof(clean), chosen[i]->name);
		text_cut(clean, FUNCTION_COLUMNS);
		text_append(path, sizeof(path), "%s%s", i ? " <- " : "", clean);
	}
	text_table_cell(table, path[0] ? path : "[no stack]");
}

static int write_table(const struct text_report *report, const struct heap_place **places,
		       size_t shown)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "live"},
		{.title = "+-"},
		{.title = "at peak", .expendable = 1},
		{.title = "allocated"},
		{.title = "allocations", .expendable = 3},
		{.title = "<1 ms", .expendable = 2},
		{.title = "growth/s"},
		{.title = "trend", .left = true},
		{.title = "place (leaf <- caller)", .left = true, .flexible = true},
	};
	const struct function_table_options plain = {.lines = false};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(report->profile, &plain);

	if (!table || !functions)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++)
		write_place(table, report, functions, places[i]);
	return text_table_write(table, report->width, report->out);
}

int text_heap(const struct text_report *report)
{
	const struct heap_list *heaps = profile_heaps(report->profile);
	_cleanup_free_ const struct heap_place **places =
		calloc(heaps->items.count + 1, sizeof(*places));
	size_t count = 0, shown;
	int err;

	if (!places)
		return -ENOMEM;
	array_foreach(&heaps->items, place)
		if (place->allocated.samples >= HEAP_PLACE_LEAST_SAMPLES)
			places[count++] = place;
	if (!count)
		return 0;
	qsort(places, count, sizeof(*places), by_live_bytes);
	shown = count < report->options->top ? count : report->options->top;
	text_heading(report, "Heap by place of allocation");
	err = write_table(report, places, shown);
	if (!err)
		text_more(report, count - shown, "places");
	if (!err)
		text_wrap(report->out, report->width, "", 1,
			  "(Estimates from samples; +- is for 95 %. Live: not freed at the end, or "
			  "at the exit of the process. <1 ms: of allocated, freed within a "
			  "millisecond. Places with fewer than 3 samples are left out.)");
	return err;
}
