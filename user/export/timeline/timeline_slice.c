// SPDX-License-Identifier: BSD-2-Clause
/* Sorts the stacks of a slice. */
#include "export/timeline/timeline_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/process_table.h"
#include "profile/kind_table.h"

/* Puts a path behind those that are there, and its length into ret_depth. -ENOMEM. */
static int add_path(struct timeline_slice *slice, uint32_t stack, size_t *ret_depth)
{
	size_t depth = function_table_stack(slice->functions, slice->profile, stack, NULL, 0);
	uint32_t *path;

	if (!array_reserve_items((void **)&slice->paths, &slice->path_capacity,
				 slice->path_count + depth, sizeof(*slice->paths)))
		return -ENOMEM;
	path = slice->paths + slice->path_count;
	function_table_stack(slice->functions, slice->profile, stack, path, depth);
	for (size_t i = 0; i < depth / 2; i++) {
		uint32_t function = path[i];

		path[i] = path[depth - 1 - i];
		path[depth - 1 - i] = function;
	}
	*ret_depth = depth;
	return 0;
}

static int make_stack(struct timeline_slice *slice, const struct profile_row *row,
		      struct timeline_stack *ret_stack)
{
	const struct process *process =
		process_table_by_id(profile_processes(slice->profile), row->process);
	size_t depth;

	if (add_path(slice, row->stack, &depth))
		return -ENOMEM;
	*ret_stack = (struct timeline_stack){
		.pid = process ? process->pid : 0,
		.born_ns = process ? process->born_ns : 0,
		.comm = process ? process->comm : profile_string(slice->profile, row->comm),
		.kind = row->kind,
		.weight = row->weight,
		.path = slice->path_count,
		.depth = depth,
	};
	return 0;
}

static int add_stack(struct timeline_slice *slice, const struct profile_row *row)
{
	struct timeline_stack *stack = &slice->stacks[slice->stack_count];
	int err = make_stack(slice, row, stack);

	if (err)
		return err;
	slice->stack_count++;
	slice->path_count += stack->depth;
	return 0;
}

int timeline_moment_stack(struct timeline_slice *slice, const struct moment *moment,
			  struct timeline_stack *ret_stack)
{
	const struct profile_row row = {
		.kind = moment->kind,
		.process = moment->process,
		.comm = moment->comm,
		.stack = moment->stack,
		.weight = moment->weight,
	};

	return make_stack(slice, &row, ret_stack);
}

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = *(const struct moment *const *)left;
	const struct moment *b = *(const struct moment *const *)right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int sort_moments(struct timeline_slice *slice)
{
	const struct moment_list *list = profile_moments(slice->profile);

	slice->moments = calloc(list->items.count + 1, sizeof(const struct moment *));
	if (!slice->moments)
		return -ENOMEM;
	array_foreach(&list->items, moment) {
		if (!moment_is_life(moment))
			slice->moments[slice->moment_count++] = moment;
	}
	qsort(slice->moments, slice->moment_count, sizeof(const struct moment *), compare_moments);
	return 0;
}

/* The trace has those of its length. */
static int add_requests(struct timeline_slice *slice)
{
	const struct slow_io_list *list = profile_slow_io(slice->profile);
	uint64_t trace_ns = profile_info_read(slice->profile)->trace_ns;
	const struct slow_io *slow;
	size_t slow_count = 0;

	while (slow_io_list_at(list, slow_count))
		slow_count++;
	slice->requests = calloc(slow_count + slice->moment_count + 1, sizeof(*slice->requests));
	if (!slice->requests)
		return -ENOMEM;
	for (size_t i = 0; (slow = slow_io_list_at(list, i)); i++) {
		if (!trace_ns || slow->open || slow_io_total_ns(slow) < trace_ns)
			slice->requests[slice->request_count++] = *slow;
	}
	for (size_t i = 0; i < slice->moment_count; i++) {
		const struct moment *moment = slice->moments[i];

		if (moment->kind == PKBPF_PROFILE_BLOCKIO)
			slice->requests[slice->request_count++] = (struct slow_io){
				.process = moment->process,
				.tid = moment->tid,
				.comm = moment->comm,
				.stack = moment->stack,
				.device = moment->place,
				.bytes = moment->weight,
				.state = moment->state,
				.insert_ns = moment->begin_ns,
				.queue_ns = moment->queue_ns,
				.device_ns = moment->length_ns,
			};
	}
	return 0;
}

/* Sums agree with other formats only when none is missing. */
static bool has_all_samples(const struct profile *profile)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t in_rows = 0, single = 0;

	for (size_t i = 0; i < count; i++)
		in_rows += rows[i].kind == PKBPF_PROFILE_CPU ? rows[i].weight : 0;
	array_foreach(&profile_moments(profile)->items, moment)
		single += moment->kind == PKBPF_PROFILE_CPU ? moment->weight : 0;
	return profile_info_read(profile)->trace_ns && in_rows == single;
}

static int compare_stacks(const void *left, const void *right, void *context)
{
	const struct timeline_slice *slice = context;
	const struct timeline_stack *a = left, *b = right;
	const uint32_t *a_path = timeline_path(slice, a), *b_path = timeline_path(slice, b);

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->born_ns != b->born_ns)
		return a->born_ns < b->born_ns ? -1 : 1;
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
	size_t count;
	const struct profile_row *rows = profile_rows(slice->profile, &count);
	int err = 0;

	slice->stacks = calloc(count + 1, sizeof(*slice->stacks));
	if (!slice->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		/* That a level is none ends the one before. */
		bool counts = rows[i].weight || kind_ops_of(rows[i].kind)->is_level;

		if (counts && (rows[i].kind != PKBPF_PROFILE_CPU || !slice->has_samples))
			err = add_stack(slice, &rows[i]);
	}
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
		.has_samples = has_all_samples(profile),
	};
	results_init(&slice->results, profile, ROWS_BY_PROCESS);
	err = slice->functions ? results_rows(&slice->results, &slice->rows) : -ENOMEM;
	err = err ? err : add_stacks(slice);
	err = err ? err : sort_moments(slice);
	err = err ? err : add_requests(slice);
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
	free(slice->moments);
	free(slice->requests);
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
