// SPDX-License-Identifier: BSD-2-Clause
/* Sorts the stacks of a slice. */
#include "export/timeline/timeline_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/process_table.h"
#include "profile/kind_table.h"

/* Deeper ones keep their outer part, as in other formats that draw. */
#define PATH_MAX_FUNCTIONS 1024

struct path {
	uint32_t functions[PATH_MAX_FUNCTIONS];
	size_t count;
};

static void find_path(const struct timeline_slice *slice, uint32_t stack, struct path *path)
{
	size_t frame_count, count;
	const uint32_t *frames = profile_stack(slice->profile, stack, &frame_count);

	path->count = 0;
	while (frame_count-- > 0) {
		const uint32_t *list =
			function_table_frame(slice->functions, frames[frame_count], &count);

		while (count-- > 0 && path->count < PATH_MAX_FUNCTIONS)
			path->functions[path->count++] = list[count];
	}
}

static int add_stack(struct timeline_slice *slice, const struct profile_row *row, size_t *capacity)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice->profile), row->process);
	struct path path;

	find_path(slice, row->stack, &path);
	if (!array_reserve_items((void **)&slice->paths, capacity, slice->path_count + path.count,
				 sizeof(*slice->paths)))
		return -ENOMEM;
	memcpy(slice->paths + slice->path_count, path.functions,
	       path.count * sizeof(*path.functions));
	slice->stacks[slice->stack_count++] = (struct timeline_stack){
		.pid = process ? process->pid : 0,
		.comm = process ? process->comm : profile_string(slice->profile, row->comm),
		.kind = row->kind,
		.weight = row->weight,
		.path = slice->path_count,
		.depth = path.count,
	};
	slice->path_count += path.count;
	return 0;
}

static int compare_stacks(const void *left, const void *right, void *context)
{
	const struct timeline_slice *slice = context;
	const struct timeline_stack *a = left, *b = right;
	const uint32_t *a_path = timeline_path(slice, a), *b_path = timeline_path(slice, b);

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	for (size_t i = 0; i < a->depth && i < b->depth; i++) {
		if (a_path[i] != b_path[i])
			return a_path[i] < b_path[i] ? -1 : 1;
	}
	return a->depth != b->depth ? (a->depth < b->depth ? -1 : 1) : 0;
}

static int add_stacks(struct timeline_slice *slice)
{
	size_t count, capacity = 0;
	const struct profile_row *rows = profile_rows(slice->profile, &count);
	int err = 0;

	slice->stacks = calloc(count + 1, sizeof(*slice->stacks));
	if (!slice->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = rows[i].weight ? add_stack(slice, &rows[i], &capacity) : 0;
	qsort_r(slice->stacks, slice->stack_count, sizeof(*slice->stacks), compare_stacks, slice);
	return err;
}

int timeline_slice_init(struct timeline_slice *slice, const struct profile *profile, bool lines)
{
	const struct profile_info *info = profile_info_read(profile);
	const struct function_table_options wanted = {.lines = lines};
	int err;

	*slice = (struct timeline_slice){
		.profile = profile,
		.begin_ns = info->start_ns,
		.end_ns = info->end_ns > info->start_ns ? info->end_ns : info->start_ns + 1,
		.functions = function_table_new(profile, &wanted),
	};
	results_init(&slice->results, profile, ROWS_BY_PROCESS);
	err = slice->functions ? results_rows(&slice->results, &slice->rows) : -ENOMEM;
	err = err ? err : add_stacks(slice);
	if (err)
		timeline_slice_done(slice);
	return err;
}

void timeline_slice_done(struct timeline_slice *slice)
{
	results_done(&slice->results);
	function_table_free(slice->functions);
	free(slice->stacks);
	free(slice->paths);
}

double timeline_weight_ns(const struct timeline_slice *slice, enum pkbpf_profile_kind kind,
			  uint64_t weight)
{
	const struct kind_ops *ops = kind_ops_of(kind);
	uint32_t frequency_hz = profile_info_read(slice->profile)->frequency_hz;

	if (ops->weight == PROFILE_WEIGHT_NS)
		return (double)weight;
	return ops->is_expected && frequency_hz ? (double)weight * 1e9 / frequency_hz : 0;
}
