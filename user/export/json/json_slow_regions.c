// SPDX-License-Identifier: BSD-2-Clause
/* Writes the regions and calls that took longest one by one. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "rows/cgroup_label.h"

static void write_who(struct json_writer *writer, const struct profile *profile,
		      const struct slow_region *region)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), region->process);
	const char *cgroup = resource_usage_cgroup(profile_resources(profile), region->cgroup_id);
	char container[ROW_CONTAINER_SIZE];

	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	json_writer_u64(writer, "tid", region->tid);
	json_writer_string(writer, "comm", profile_string(profile, region->comm));
	if (!cgroup)
		return;
	json_writer_string(writer, "cgroup", cgroup);
	cgroup_label(profile_resources(profile), region->cgroup_id, cgroup, container,
		     sizeof(container));
	json_writer_string(writer, "container", container);
}

static void write_region(struct json_writer *writer, const struct resource_rows *rows,
			 const struct slow_region *region)
{
	const struct profile *profile = rows->profile;
	int64_t at_ns = (int64_t)(region->start_ns - profile_info_read(profile)->start_ns);
	uint32_t functions[JSON_FRAMES_MAX];
	uint64_t rest_ns = region->wall_ns;
	size_t count;

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "name", profile_string(profile, region->name));
	json_writer_i64(writer, "at_ns", at_ns);
	write_who(writer, profile, region);
	json_writer_bool(writer, "is_function", region->flags & PKBPF_REGION_FUNCTION);
	json_writer_bool(writer, "by_id", region->flags & PKBPF_REGION_BY_ID);
	json_writer_u64(writer, "wall_ns", region->wall_ns);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++) {
		json_writer_u64(writer, json_part_keys[i], region->part_ns[i]);
		rest_ns -= region->part_ns[i] < rest_ns ? region->part_ns[i] : rest_ns;
	}
	json_writer_u64(writer, "undivided_ns", rest_ns);
	count = function_table_stack(rows->functions, profile, region->stack, functions,
				     JSON_FRAMES_MAX);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

int json_slow_regions(struct json_writer *writer, const struct resource_rows *rows)
{
	_cleanup_free_ const struct slow_region **items = NULL;
	size_t count;
	int err = slow_region_list_sorted(profile_slow_regions(rows->profile), &items, &count);

	if (err || !count)
		return err;
	json_writer_array_begin(writer, "slow_regions");
	for (size_t i = 0; i < count; i++)
		write_region(writer, rows, items[i]);
	json_writer_array_end(writer);
	return 0;
}
