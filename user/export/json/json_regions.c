// SPDX-License-Identifier: BSD-2-Clause
/* Writes regions: the tree of each process, and all of one name together. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "rows/region_list.h"

const char *const json_part_keys[PKBPF_WAIT_STATES] = {
	[PKBPF_WAIT_NONE] = "on_cpu_ns",
	[PKBPF_WAIT_RUNQUEUE] = "runqueue_ns",
	[PKBPF_WAIT_SLEEP] = "sleep_ns",
	[PKBPF_WAIT_DISK] = "disk_ns",
	[PKBPF_WAIT_UNINTERRUPTIBLE] = "uninterruptible_ns",
	[PKBPF_WAIT_STOPPED] = "stopped_ns",
};

static void write_memory(struct json_writer *writer, const struct region_line *line)
{
	const struct region_sums *sums = &line->sums;

	if (sums->rss_readings) {
		json_writer_u64(writer, "rss_mean_bytes", region_line_mean_rss(line));
		json_writer_u64(writer, "rss_max_bytes", sums->rss_max_kib * 1024);
		json_writer_i64(writer, "rss_growth_bytes", sums->rss_growth_kib * 1024);
	}
	if (line->energy_mj)
		json_writer_u64(writer, "energy_mj", line->energy_mj);
	if (!line->heap.allocated_objects && !line->heap.live_objects)
		return;
	json_writer_u64(writer, "allocations", line->heap.allocated_objects);
	json_writer_u64(writer, "allocated_bytes", line->heap.allocated_bytes);
	json_writer_u64(writer, "live_objects", line->heap.live_objects);
	json_writer_u64(writer, "live_bytes", line->heap.live_bytes);
}

static void write_sums(struct json_writer *writer, const struct region_line *line)
{
	const struct region_sums *sums = &line->sums;

	json_writer_u64(writer, "count", sums->count);
	if (line->is_function) {
		json_writer_u64(writer, "calls", region_line_calls(line));
		json_writer_u64(writer, "recursive", sums->recursive);
		json_writer_u64(writer, "not_measured", sums->unmeasured);
	}
	if (line->is_function || line->is_let_go)
		json_writer_bool(writer, "let_go", line->is_let_go);
	json_writer_u64(writer, "not_left", sums->lost_end);
	json_writer_u64(writer, "interleaved", sums->interleaved);
	json_writer_u64(writer, "unfinished", sums->unfinished);
	json_writer_u64(writer, "wall_ns", sums->total_ns);
	json_writer_u64(writer, "self_ns", line->self_ns);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		json_writer_u64(writer, json_part_keys[i], sums->part_ns[i]);
	json_writer_u64(writer, "undivided_ns", region_sums_undivided_ns(sums));
	json_writer_u64(writer, "p50_ns", line->p50_ns);
	json_writer_u64(writer, "p95_ns", line->p95_ns);
	json_writer_u64(writer, "p99_ns", line->p99_ns);
	json_writer_u64(writer, "max_ns", sums->max_ns);
	if (region_sums_has_limit(sums)) {
		json_writer_u64(writer, "limit_ns", sums->limit_ns);
		json_writer_u64(writer, "over", sums->over);
	}
	if (line->missed_ns)
		json_writer_u64(writer, "missed_ns", line->missed_ns);
	json_writer_u64(writer, "items", sums->items);
	json_writer_decimal(writer, "items_per_second", line->items_per_second);
	json_writer_u64(writer, "minor_faults", sums->minor_faults);
	json_writer_u64(writer, "major_faults", sums->major_faults);
	json_writer_u64(writer, "read_bytes", sums->read_bytes);
	json_writer_u64(writer, "written_bytes", sums->written_bytes);
	write_memory(writer, line);
}

static void write_line(struct json_writer *writer, const struct region_list *list, size_t index)
{
	const struct region_line *line = &list->lines[index];

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "name", line->name);
	if (line->pid)
		json_writer_u64(writer, "pid", line->pid);
	json_writer_string(writer, "comm", line->comm);
	if (line->parent != REGION_ROOT)
		json_writer_u64(writer, "parent", line->parent);
	json_writer_u64(writer, "depth", line->depth);
	json_writer_bool(writer, "by_id", line->by_id);
	if (line->is_request)
		json_writer_bool(writer, "request", true);
	write_sums(writer, line);
	json_writer_object_end(writer);
}

int json_regions(struct json_writer *writer, const struct profile *profile)
{
	_cleanup_(region_list_done) struct region_list list = {0};
	_cleanup_(region_list_done) struct region_list names = {0};
	int err;

	if (!region_table_count(profile_regions(profile)))
		return 0;
	err = region_list_init(&list, profile, REGION_BY_PROCESS);
	err = err ? err : region_list_init(&names, profile, REGION_BY_NAME);
	if (err)
		return err;
	json_writer_array_begin(writer, "regions");
	for (size_t i = 0; i < list.count; i++)
		write_line(writer, &list, i);
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "regions_by_name");
	for (size_t i = 0; i < names.count; i++) {
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", names.lines[i].name);
		write_sums(writer, &names.lines[i]);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	return 0;
}
