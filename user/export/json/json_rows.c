// SPDX-License-Identifier: BSD-2-Clause
/* Writes the rows, a key per figure, with their hottest stacks. */
#include <string.h>

#include "export/json/json_sections.h"
#include "profile/kind_table.h"
#include "rows/figure_table.h"

static void write_figures(struct json_writer *writer, const struct resource_row *row)
{
	const struct figure *figure;
	const char *group = NULL;
	char key[64];

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		if (!figure_known(figure, row))
			continue;
		if (!group || strcmp(group, figure->group) != 0) {
			if (group)
				json_writer_object_end(writer);
			group = figure->group;
			json_writer_object_begin(writer, group);
		}
		snprintf(key, sizeof(key), "%s%s", figure->name, figure_unit_suffix(figure->unit));
		if (figure->unit == FIGURE_PERCENT) {
			double value = 0;

			figure_value(figure, NULL, row, &value);
			json_writer_decimal(writer, key, value);
		} else if (figure->unit == FIGURE_SIGNED_BYTES) {
			json_writer_i64(writer, key, (int64_t)figure_u64(figure, row));
		} else {
			json_writer_u64(writer, key, figure_u64(figure, row));
		}
	}
	if (group)
		json_writer_object_end(writer);
}

void json_frames(struct json_writer *writer, const struct resource_rows *rows,
		 const uint32_t *functions, size_t count)
{
	json_writer_array_begin(writer, "frames");
	for (size_t i = 0; i < count && i < JSON_FRAMES_MAX; i++) {
		const struct function *function = function_table_get(rows->functions, functions[i]);

		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "name", function->name);
		if (function->module[0])
			json_writer_string(writer, "module", function->module);
		if (function->mark == FUNCTION_KERNEL)
			json_writer_bool(writer, "kernel", true);
		if (function->mark == FUNCTION_PYTHON)
			json_writer_bool(writer, function->is_ruby ? "ruby" : "python", true);
		if (function->path[0])
			json_writer_string(writer, "file", function->path);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	if (count > JSON_FRAMES_MAX)
		json_writer_u64(writer, "frames_left_out", count - JSON_FRAMES_MAX);
}

static void write_stacks(struct json_writer *writer, const struct resource_rows *rows,
			 const struct resource_row *row)
{
	static const char *const weight_keys[] = {
		[PROFILE_WEIGHT_COUNT] = "weight",
		[PROFILE_WEIGHT_NS] = "weight_ns",
		[PROFILE_WEIGHT_BYTES] = "weight_bytes",
	};
	static const char *const max_keys[] = {
		[PROFILE_WEIGHT_COUNT] = "max",
		[PROFILE_WEIGHT_NS] = "max_ns",
		[PROFILE_WEIGHT_BYTES] = "max_bytes",
	};
	json_writer_object_begin(writer, "hottest_stacks");
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const struct kind_ops *names = kind_ops_of(kind);
		const struct row_stack *stack = &row->stacks[kind];
		const uint32_t *functions;
		size_t count;

		if (stack->stack == ROW_NO_STACK || !row->kind_weight[kind])
			continue;
		json_writer_object_begin(writer, names->name);
		json_writer_u64(writer, weight_keys[names->weight], stack->weight);
		json_writer_decimal(writer, "share_percent",
				    100 * (double)stack->weight / (double)row->kind_weight[kind]);
		if (stack->max)
			json_writer_u64(writer, max_keys[names->weight], stack->max);
		functions = resource_rows_stack(rows, stack->stack, &count);
		json_frames(writer, rows, functions, count);
		json_writer_object_end(writer);
	}
	json_writer_object_end(writer);
}

static void write_row(struct json_writer *writer, const struct resource_rows *rows,
		      const struct resource_row *row, bool with_stacks)
{
	json_writer_object_begin(writer, NULL);
	if (row->pid)
		json_writer_u64(writer, "pid", row->pid);
	if (row->tid)
		json_writer_u64(writer, "tid", row->tid);
	/* A thread may call itself by the empty name. */
	if (rows->by != ROWS_BY_CONTAINER)
		json_writer_string(writer,
				   rows_are_of_regions(rows->by) ? rows_grouping_name(rows->by)
								 : "comm",
				   row->name);
	if (row->container[0])
		json_writer_string(writer, "container", row->container);
	if (row->cgroup)
		json_writer_string(writer, "cgroup", row->cgroup);
	if (row->no_process)
		json_writer_bool(writer, "no_process", true);
	json_writer_u64(writer, "processes", row->processes);
	json_writer_bool(writer, "started_inside", row->started_inside);
	json_writer_bool(writer, "ended_inside", row->ended_inside);
	json_writer_u64(writer, "lifetime_ns", row->lifetime_ns);
	write_figures(writer, row);
	if (with_stacks)
		write_stacks(writer, rows, row);
	json_writer_object_end(writer);
}

void json_rows(struct json_writer *writer, const struct resource_rows *rows, bool with_stacks)
{
	json_writer_string(writer, "by", rows_grouping_name(rows->by));
	json_writer_object_begin(writer, "total");
	write_figures(writer, &rows->total);
	if (with_stacks)
		write_stacks(writer, rows, &rows->total);
	json_writer_object_end(writer);
	json_writer_u64(writer, rows->by == ROWS_BY_THREAD ? "quiet_threads" : "quiet_processes",
			rows->quiet_processes);
	json_writer_u64(writer, "threads_missing", rows->missing_threads);
	json_writer_array_begin(writer, "rows");
	for (size_t i = 0; i < rows->count; i++)
		write_row(writer, rows, &rows->items[i], with_stacks);
	json_writer_array_end(writer);
}
