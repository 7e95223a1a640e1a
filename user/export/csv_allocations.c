// SPDX-License-Identifier: BSD-2-Clause
/* Writes the heaps of sampled processes as comma-separated values: a record for each stack of
 * allocations. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/folded_frame.h"
#include "export/formats.h"
#include "rows/heap_place.h"

#define FRAMES_MAX 1024
#define NAME_SIZE  4096

#define HEADING                                                                                    \
	"pid,comm,function,file,line,stack,allocated_bytes,allocated_error_bytes,"                 \
	"allocated_objects,allocated_samples,live_bytes,live_error_bytes,live_objects,"            \
	"live_samples,brief_bytes,at_peak_bytes,peak_bytes,peak_at_ns,trend,growth_bytes,"         \
	"growth_error_bytes,growth_bytes_per_second,mean_bytes"

struct writing {
	struct csv_cells cells;
	const struct profile *profile;
	struct function_table *functions;
	uint64_t start_ns;
};

static void write_estimate(struct csv_cells *cells, const struct heap_estimate *estimate)
{
	csv_u64(cells, estimate->bytes);
	csv_u64(cells, estimate->error_bytes);
	csv_u64(cells, estimate->objects);
	csv_u64(cells, estimate->samples);
}

/* The function that asked the allocator. */
static void write_function(struct writing *writing, const struct heap_place *place)
{
	const struct function *function;

	if (!heap_place_functions(writing->profile, writing->functions, place, &function, 1)) {
		for (int i = 0; i < 3; i++)
			csv_text(&writing->cells, "");
		return;
	}
	csv_text(&writing->cells, function->name);
	csv_text(&writing->cells, function->file[0] ? function->file : function->path);
	if (function->line)
		csv_u64(&writing->cells, function->line);
	else
		csv_text(&writing->cells, "");
}

/* "main;work;malloc", root first, as in folded stacks; of deeper stacks the frames at the leaf. */
static int write_stack(struct writing *writing, const struct heap_place *place)
{
	uint32_t functions[FRAMES_MAX];
	size_t count = function_table_stack(writing->functions, writing->profile, place->stack,
					    functions, FRAMES_MAX);
	_cleanup_free_ char *text = NULL;
	char name[NAME_SIZE];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	if (count > FRAMES_MAX)
		fprintf(out, "[%zu more frames];", count - FRAMES_MAX);
	for (size_t i = count < FRAMES_MAX ? count : FRAMES_MAX; i-- > 0;) {
		folded_frame(name, sizeof(name),
			     function_table_get(writing->functions, functions[i])->name);
		fprintf(out, "%s%s", name, i ? ";" : "");
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	csv_text(&writing->cells, text);
	return 0;
}

static void write_growth(struct csv_cells *cells, const struct heap_place *place)
{
	csv_text(cells, heap_trend_name((enum heap_trend)place->trend));
	if (place->trend == HEAP_TREND_UNKNOWN) {
		for (int i = 0; i < 3; i++)
			csv_text(cells, "");
		return;
	}
	csv_u64(cells, place->growth_bytes);
	csv_u64(cells, place->growth_error_bytes);
	csv_u64(cells, place->growth_per_second);
}

static int write_place(struct writing *writing, const struct heap_place *place)
{
	struct csv_cells *cells = &writing->cells;
	int err;

	csv_u64(cells, place->pid);
	csv_text(cells, place->comm);
	write_function(writing, place);
	err = write_stack(writing, place);
	if (err)
		return err;
	write_estimate(cells, &place->allocated);
	write_estimate(cells, &place->live);
	csv_u64(cells, place->brief_bytes);
	csv_u64(cells, place->at_peak_bytes);
	csv_u64(cells, place->peak_bytes);
	csv_i64(cells, (int64_t)(place->peak_ns - writing->start_ns));
	write_growth(cells, place);
	csv_u64(cells, place->mean_bytes);
	csv_end(cells);
	return 0;
}

static int write_allocations(struct results *results, _unused_ const struct format_options *options,
			     FILE *out)
{
	const struct function_table_options lines = {.lines = true};
	struct writing writing = {
		.cells = {.out = out},
		.profile = results->profile,
		.functions = function_table_new(results->profile, &lines),
		.start_ns = profile_info_read(results->profile)->start_ns,
	};
	int err = writing.functions ? 0 : -ENOMEM;

	fputs(HEADING CSV_LINE_END, out);
	array_foreach(&profile_heaps(results->profile)->items, place) {
		if (err)
			break;
		err = write_place(&writing, place);
	}
	function_table_free(writing.functions);
	return err;
}

const struct format_ops format_csv_allocations = {
	.file = {"csv-allocations", ".allocations.csv", "stacks of allocations of each process"},
	.write = write_allocations,
};
