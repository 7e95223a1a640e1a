// SPDX-License-Identifier: BSD-2-Clause
/* Writes the slowest requests by thread contexts one by one. */
#include "base/cleanup.h"
#include "export/json/json_sections.h"
#include "finding/wait_group.h"
#include "rows/cgroup_label.h"
#include "rows/request_text.h"

static void write_who(struct json_writer *writer, const struct profile *profile,
		      const struct slow_request *request)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), request->process);
	const char *cgroup = resource_usage_cgroup(profile_resources(profile), request->cgroup_id);
	char container[ROW_CONTAINER_SIZE];

	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	json_writer_u64(writer, "tid", request->tid);
	json_writer_string(writer, "comm", profile_string(profile, request->comm));
	if (!cgroup)
		return;
	json_writer_string(writer, "cgroup", cgroup);
	cgroup_label(profile_resources(profile), request->cgroup_id, cgroup, container,
		     sizeof(container));
	json_writer_string(writer, "container", container);
}

static void write_labels(struct json_writer *writer, const struct profile *profile,
			 const struct slow_request *request)
{
	const struct profile_info *info = profile_info_read(profile);

	json_writer_array_begin(writer, "labels");
	for (size_t i = 0; i < PKBPF_CONTEXT_LABELS; i++) {
		const char *value = profile_string(profile, request->labels[i]);

		if (!value[0])
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "key", info->label_keys[i]);
		json_writer_string(writer, "value", value);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_reason(struct json_writer *writer, const struct resource_rows *rows,
			 const struct request_reason *reason)
{
	uint32_t functions[JSON_FRAMES_MAX];
	size_t count = function_table_stack(rows->functions, rows->profile, reason->stack,
					    functions, JSON_FRAMES_MAX);
	/* Of deeper stacks, the innermost functions. */
	enum wait_class class = wait_class_of_functions(
		rows, functions, count < JSON_FRAMES_MAX ? count : JSON_FRAMES_MAX);

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "reason", wait_class_row(class)->cause);
	json_writer_string(writer, "kind", wait_group_word(wait_group_of_class(class)));
	json_writer_u64(writer, "wait_ns", reason->wait_ns);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

static void write_request(struct json_writer *writer, const struct resource_rows *rows,
			  const struct slow_request *request)
{
	const struct profile *profile = rows->profile;
	char trace[REQUEST_ID_TEXT], span[REQUEST_ID_TEXT];

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "trace_id",
			   request_id_text(trace, request->trace, sizeof(request->trace)));
	json_writer_string(writer, "span_id",
			   request_id_text(span, request->span, sizeof(request->span)));
	write_labels(writer, profile, request);
	json_writer_i64(writer, "at_ns",
			(int64_t)(request->start_ns - profile_info_read(profile)->start_ns));
	write_who(writer, profile, request);
	json_writer_u64(writer, "wall_ns", request->wall_ns);
	if (request->flags & PKBPF_REQUEST_OPEN)
		json_writer_bool(writer, "open", true);
	json_writer_u64(writer, "edge_ns", request->edge_ns);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		json_writer_u64(writer, json_part_keys[i], request->part_ns[i]);
	json_writer_array_begin(writer, "waits");
	for (size_t i = 0; i < PKBPF_CONTEXT_REASONS; i++)
		if (request->reasons[i].stack != REQUEST_NO_STACK && request->reasons[i].wait_ns)
			write_reason(writer, rows, &request->reasons[i]);
	json_writer_array_end(writer);
	json_writer_u64(writer, "other_wait_ns", request_other_wait_ns(request));
	json_writer_object_end(writer);
}

int json_requests(struct json_writer *writer, const struct resource_rows *rows)
{
	_cleanup_free_ const struct slow_request **items = NULL;
	size_t count;
	int err = request_list_sorted(profile_contexts(rows->profile), &items, &count);

	if (err || !count)
		return err;
	json_writer_array_begin(writer, "requests");
	for (size_t i = 0; i < count; i++)
		write_request(writer, rows, items[i]);
	json_writer_array_end(writer);
	return 0;
}
