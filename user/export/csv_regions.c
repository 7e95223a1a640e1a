// SPDX-License-Identifier: BSD-2-Clause
/* Writes regions and counted functions as comma-separated values: a record for each place in the
 * tree of each process, a parent before its children. */
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/region_list.h"

#define HEADING                                                                                    \
	"id,parent,depth,pid,comm,region,type,count,calls,recursive,not_measured,not_left,"        \
	"unfinished,wall_ns,self_ns,on_cpu_ns,runqueue_ns,sleep_ns,disk_ns,uninterruptible_ns,"    \
	"stopped_ns,undivided_ns,p50_ns,p95_ns,p99_ns,max_ns,items,minor_faults,major_faults,"     \
	"read_bytes,written_bytes,allocations,allocated_bytes,live_objects,live_bytes,"            \
	"missed_ns,rss_mean_bytes,rss_max_bytes,rss_growth_bytes,energy_mj"

static void write_name(struct csv_cells *cells, const struct region_list *list, size_t index)
{
	const struct region_line *line = &list->lines[index];

	csv_u64(cells, index);
	if (line->parent == REGION_ROOT)
		csv_text(cells, "");
	else
		csv_u64(cells, line->parent);
	csv_u64(cells, line->depth);
	if (line->pid)
		csv_u64(cells, line->pid);
	else
		csv_text(cells, "");
	csv_text(cells, line->comm);
	csv_text(cells, line->name);
	csv_text(cells, line->is_function  ? "function"
			: line->is_request ? "request"
			: line->by_id	   ? "by_id"
					   : "region");
}

static void write_counts(struct csv_cells *cells, const struct region_line *line)
{
	csv_u64(cells, line->sums.count);
	csv_u64(cells, region_line_calls(line));
	csv_u64(cells, line->sums.recursive);
	csv_u64(cells, line->sums.unmeasured);
	csv_u64(cells, line->sums.lost_end);
	csv_u64(cells, line->sums.unfinished);
}

static void write_times(struct csv_cells *cells, const struct region_line *line)
{
	csv_u64(cells, line->sums.total_ns);
	csv_u64(cells, line->self_ns);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		csv_u64(cells, line->sums.part_ns[i]);
	csv_u64(cells, region_sums_undivided_ns(&line->sums));
	csv_u64(cells, line->p50_ns);
	csv_u64(cells, line->p95_ns);
	csv_u64(cells, line->p99_ns);
	csv_u64(cells, line->sums.max_ns);
}

static void write_usage(struct csv_cells *cells, const struct region_line *line)
{
	csv_u64(cells, line->sums.items);
	csv_u64(cells, line->sums.minor_faults);
	csv_u64(cells, line->sums.major_faults);
	csv_u64(cells, line->sums.read_bytes);
	csv_u64(cells, line->sums.written_bytes);
	csv_u64(cells, line->heap.allocated_objects);
	csv_u64(cells, line->heap.allocated_bytes);
	csv_u64(cells, line->heap.live_objects);
	csv_u64(cells, line->heap.live_bytes);
	csv_u64(cells, line->missed_ns);
}

static void write_memory(struct csv_cells *cells, const struct region_line *line)
{
	if (line->sums.rss_readings) {
		csv_u64(cells, region_line_mean_rss(line));
		csv_u64(cells, line->sums.rss_max_kib * 1024);
		csv_i64(cells, line->sums.rss_growth_kib * 1024);
	} else {
		for (int i = 0; i < 3; i++)
			csv_text(cells, "");
	}
	if (line->energy_mj)
		csv_u64(cells, line->energy_mj);
	else
		csv_text(cells, "");
}

static int write_regions(struct results *results, _unused_ const struct format_options *options,
			 FILE *out)
{
	_cleanup_(region_list_done) struct region_list list = {0};
	struct csv_cells cells = {.out = out};
	int err = region_list_init(&list, results->profile, REGION_BY_PROCESS);

	if (err)
		return err;
	fputs(HEADING CSV_LINE_END, out);
	for (size_t i = 0; i < list.count; i++) {
		write_name(&cells, &list, i);
		write_counts(&cells, &list.lines[i]);
		write_times(&cells, &list.lines[i]);
		write_usage(&cells, &list.lines[i]);
		write_memory(&cells, &list.lines[i]);
		csv_end(&cells);
	}
	return 0;
}

const struct format_ops format_csv_regions = {
	.file = {"csv-regions", ".regions.csv", "regions and counted functions of each process"},
	.write = write_regions,
};
