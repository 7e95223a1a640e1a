// SPDX-License-Identifier: BSD-2-Clause
/* Writes the memory of processes over time. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "rows/memory_series.h"

static void write_point(struct json_writer *writer, const struct memory_point *point,
			uint64_t start_ns)
{
	json_writer_object_begin(writer, NULL);
	json_writer_i64(writer, "at_ns", (int64_t)(point->time_ns - start_ns));
	json_writer_u64(writer, "rss_bytes", memory_point_rss(point));
	json_writer_u64(writer, "anonymous_bytes", point->anonymous);
	json_writer_u64(writer, "file_bytes", point->file);
	json_writer_u64(writer, "shared_bytes", point->shared);
	json_writer_u64(writer, "swap_bytes", point->swap);
	json_writer_u64(writer, "peak_rss_bytes", point->peak);
	json_writer_object_end(writer);
}

int json_memory(struct json_writer *writer, const struct resource_rows *rows)
{
	uint64_t start_ns = profile_info_read(rows->profile)->start_ns;
	_cleanup_(memory_rows_done) struct memory_rows series = {0};
	int err = memory_rows_make(rows->profile, &series);

	if (err)
		return err;
	json_writer_array_begin(writer, "memory_over_time");
	for (size_t i = 0; i < series.count; i++) {
		const struct memory_row *row = &series.items[i];
		const struct memory_point *last = memory_row_last(row);

		json_writer_object_begin(writer, NULL);
		json_writer_u64(writer, "pid", last->pid);
		json_writer_string(writer, "comm", last->comm);
		json_writer_u64(writer, "mean_rss_bytes", memory_row_mean(row));
		json_writer_u64(writer, "peak_rss_bytes", row->peak_bytes);
		if (row->peak_at_ns)
			json_writer_i64(writer, "peak_at_ns",
					(int64_t)(row->peak_at_ns - start_ns));
		json_writer_u64(writer, "one_in_regions", last->regions);
		json_writer_array_begin(writer, "points");
		for (size_t j = 0; j < row->count; j++)
			write_point(writer, row->points[j], start_ns);
		json_writer_array_end(writer);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	return 0;
}
