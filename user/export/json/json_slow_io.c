// SPDX-License-Identifier: BSD-2-Clause
/* Writes the slowest block requests one by one. */
#include "base/array.h"
#include "base/cleanup.h"
#include "rows/cgroup_label.h"
#include "rows/devices.h"
#include "export/json/json_sections.h"

static void write_flags(struct json_writer *writer, const struct slow_io *slow_io)
{
	const struct {
		const char *name;
		bool is_set;
	} flags[] = {
		{"sync", slow_io->state & PKBPF_BLOCKIO_SYNC},
		{"read_ahead", slow_io->state & PKBPF_BLOCKIO_AHEAD},
		{"fua", slow_io->fua},
		{"metadata", slow_io->metadata},
		{"failed", slow_io->failed},
		{"unfinished", slow_io->open},
	};

	json_writer_array_begin(writer, "flags");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (flags[i].is_set)
			json_writer_string(writer, NULL, flags[i].name);
	}
	json_writer_array_end(writer);
}

static void write_who(struct json_writer *writer, const struct profile *profile,
		      const struct slow_io *slow_io)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), slow_io->process);
	const char *cgroup = resource_usage_cgroup(profile_resources(profile), slow_io->cgroup_id);
	char container[ROW_CONTAINER_SIZE];

	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	if (slow_io->tid)
		json_writer_u64(writer, "tid", slow_io->tid);
	json_writer_string(writer, "comm", profile_string(profile, slow_io->comm));
	if (!cgroup)
		return;
	json_writer_string(writer, "cgroup", cgroup);
	cgroup_label(profile_resources(profile), slow_io->cgroup_id, cgroup, container,
		     sizeof(container));
	json_writer_string(writer, "container", container);
}

static void write_request(struct json_writer *writer, const struct resource_rows *rows,
			  const struct slow_io *slow_io)
{
	const struct profile *profile = rows->profile;
	int64_t at_ns = (int64_t)(slow_io->insert_ns - profile_info_read(profile)->start_ns);
	uint32_t functions[JSON_FRAMES_MAX];
	char buffer[32];
	size_t count;

	json_writer_object_begin(writer, NULL);
	json_writer_i64(writer, "at_ns", at_ns);
	write_who(writer, profile, slow_io);
	json_writer_string(writer, "device", device_name(profile, slow_io->device, buffer));
	json_writer_u64(writer, "major", slow_io->device >> 20);
	json_writer_u64(writer, "minor", slow_io->device & 0xfffff);
	json_writer_string(writer, "operation",
			   device_operation_name(slow_io->state & PKBPF_BLOCKIO_OPERATION_MASK));
	write_flags(writer, slow_io);
	json_writer_u64(writer, "bytes", slow_io->bytes);
	if (slow_io->sector != PKBPF_NO_SECTOR)
		json_writer_u64(writer, "sector", slow_io->sector);
	json_writer_u64(writer, "queue_ns", slow_io->queue_ns);
	json_writer_u64(writer, "device_ns", slow_io->device_ns);
	json_writer_u64(writer, "total_ns", slow_io_total_ns(slow_io));
	count = function_table_stack(rows->functions, profile, slow_io->stack, functions,
				     JSON_FRAMES_MAX);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

int json_slow_io(struct json_writer *writer, const struct resource_rows *rows)
{
	_cleanup_free_ const struct slow_io **items = NULL;
	size_t count;
	int err = slow_io_list_sorted(profile_slow_io(rows->profile), &items, &count);

	if (err)
		return err;
	json_writer_array_begin(writer, "slow_requests");
	for (size_t i = 0; i < count; i++)
		write_request(writer, rows, items[i]);
	json_writer_array_end(writer);
	return 0;
}
