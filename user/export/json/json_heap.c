// SPDX-License-Identifier: BSD-2-Clause
/* Writes the heaps of sampled processes by the place of allocation. */
#include "base/array.h"
#include "export/json/json_sections.h"
#include "rows/heap_place.h"

static void write_estimate(struct json_writer *writer, const char *name,
			   const struct heap_estimate *estimate)
{
	json_writer_object_begin(writer, name);
	json_writer_u64(writer, "bytes", estimate->bytes);
	json_writer_u64(writer, "error_bytes", estimate->error_bytes);
	json_writer_u64(writer, "objects", estimate->objects);
	json_writer_u64(writer, "samples", estimate->samples);
	json_writer_object_end(writer);
}

static void write_place(struct json_writer *writer, const struct resource_rows *rows,
			const struct heap_place *place)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	uint32_t functions[JSON_FRAMES_MAX];
	size_t count;

	json_writer_object_begin(writer, NULL);
	json_writer_u64(writer, "pid", place->pid);
	json_writer_string(writer, "comm", place->comm);
	write_estimate(writer, "allocated", &place->allocated);
	write_estimate(writer, "live", &place->live);
	json_writer_u64(writer, "brief_bytes", place->brief_bytes);
	json_writer_u64(writer, "at_peak_bytes", place->at_peak_bytes);
	json_writer_u64(writer, "peak_bytes", place->peak_bytes);
	json_writer_u64(writer, "mean_bytes", place->mean_bytes);
	json_writer_i64(writer, "peak_at_ns", (int64_t)(place->peak_ns - info->start_ns));
	json_writer_string(writer, "trend", heap_trend_name((enum heap_trend)place->trend));
	if (place->trend != HEAP_TREND_UNKNOWN) {
		json_writer_u64(writer, "growth_bytes", place->growth_bytes);
		json_writer_u64(writer, "growth_error_bytes", place->growth_error_bytes);
		json_writer_u64(writer, "growth_bytes_per_second", place->growth_per_second);
		json_writer_decimal(writer, "stays_percent", (double)place->stays_permille / 10);
	}
	count = function_table_stack(rows->functions, rows->profile, place->stack, functions,
				     JSON_FRAMES_MAX);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

int json_heap(struct json_writer *writer, const struct resource_rows *rows)
{
	json_writer_array_begin(writer, "heap");
	array_foreach(&profile_heaps(rows->profile)->items, place)
		write_place(writer, rows, place);
	json_writer_array_end(writer);
	return 0;
}
