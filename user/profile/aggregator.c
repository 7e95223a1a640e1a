// SPDX-License-Identifier: BSD-2-Clause
/* Adds the weighted stacks of samples and totals to their processes. */
#include "profile/aggregator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/aggregator_private.h"
#include "profile/kind_table.h"

struct aggregator *aggregator_new(const struct aggregator_options *options, struct profile *profile)
{
	struct aggregator *aggregator = calloc(1, sizeof(*aggregator));

	if (!aggregator)
		return NULL;
	aggregator->options = *options;
	aggregator->next_merge_bytes = options->merge_bytes;
	aggregator->next_ended = options->max_ended_tasks;
	aggregator->next_forget = options->max_numbered_stacks;
	aggregator->running = profile;
	aggregator->processes = profile_processes(profile);
	slow_io_list_limit(profile_slow_io(profile), options->slow_io_limit);
	slow_region_list_limit(profile_slow_regions(profile), options->slow_region_limit);
	request_list_limit(profile_contexts(profile), options->slow_request_limit);
	aggregator->process_sink = process_table_sink(aggregator->processes);
	aggregator->builder = stack_builder_new(profile, options->want_kernel, options->want_user,
						options->code_history);
	if (aggregator->builder)
		stack_builder_use_python(aggregator->builder, options->python,
					 options->python_full);
	if (aggregator->builder)
		stack_builder_use_own_code(aggregator->builder, options->own_code);
	if (aggregator->builder)
		stack_builder_use_regions(aggregator->builder, &aggregator->regions);
	if (!aggregator->builder || !array_reserve(&aggregator->closed, OPEN_SLICES)) {
		aggregator->running = NULL; /* the caller keeps the profile */
		aggregator_free(aggregator);
		return NULL;
	}
	return aggregator;
}

void aggregator_free(struct aggregator *aggregator)
{
	if (!aggregator)
		return;
	stack_builder_free(aggregator->builder);
	region_names_done(&aggregator->regions);
	array_foreach(&aggregator->closed, slice)
		profile_free(*slice);
	array_free(&aggregator->closed);
	profile_free(aggregator->closing);
	profile_free(aggregator->running);
	array_free(&aggregator->stacks);
	hash_map_done(&aggregator->stack_numbers);
	peer_table_free(aggregator->peers);
	hash_map_done(&aggregator->peer_numbers);
	heap_free(aggregator->heap);
	aggregator_memory_free(aggregator->memory);
	free(aggregator);
}

static bool add_sample(struct aggregator *aggregator, const struct sample_view *sample)
{
	const struct aggregator_options *options = &aggregator->options;
	struct profile *profile = aggregator_slice(aggregator, sample->time_ns);
	const struct kind_ops *kind = kind_ops_of(sample->kind);
	struct process *process;
	struct profile_row row;

	process = process_table_get(aggregator->processes, sample->pid, sample->comm);
	if (!process)
		return false;
	if (sample->cgroup_id)
		process->cgroup_id = sample->cgroup_id;

	row = (struct profile_row){
		.kind = sample->kind,
		.process = process->id,
		.tid = options->per_thread ? sample->tid : PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, sample->comm),
		.stack = aggregator_stack_in(
			aggregator, profile,
			stack_builder_add(aggregator->builder, sample, process)),
		.state = sample->state,
		.count = sample->count,
		.weight = sample->weight,
		.max = sample->count == 1 || kind->is_thinned ? sample->weight : 0,
	};
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	profile_count_end(profile, process->id,
			  options->want_user ? sample->user_end : PKBPF_END_NONE, sample->count,
			  options->want_user ? sample->guessed_count : 0);
	if (options->trace_ns && kind->is_expected)
		aggregator_trace_sample(aggregator, profile, sample, &row);
	return true;
}

static void on_sample(void *context, const struct sample_view *sample)
{
	struct aggregator *aggregator = context;

	if (!add_sample(aggregator, sample))
		profile_info(aggregator->running)->counters[kind_ops_of(sample->kind)->no_memory] +=
			sample->count;
}

static void on_task(void *context, const struct task_view *task)
{
	struct aggregator *aggregator = context;

	if (aggregator->options.library_watch)
		library_watch_on_task(aggregator->options.library_watch, task);
	/* Before exec, the pid is that of another incarnation. */
	aggregator_heap_task(aggregator, task);
	aggregator->process_sink.ops->on_task(aggregator->process_sink.context, task);
	aggregator_memory_task(aggregator, task);
}

static void on_mapping(void *context, const struct mapping_view *mapping)
{
	struct aggregator *aggregator = context;
	const struct aggregator_options *options = &aggregator->options;
	struct process *process;

	if (options->library_watch)
		library_watch_on_mapping(options->library_watch, mapping);
	aggregator->process_sink.ops->on_mapping(aggregator->process_sink.context, mapping);
	process = process_table_find(aggregator->processes, mapping->pid);
	if (!process)
		return;
	stack_builder_forget_mappings(aggregator->builder, process->id);
	if (!options->is_followed || options->is_followed(options->follow_context, mapping->pid))
		stack_builder_note_mapping(aggregator->builder, process, mapping);
}

static void on_lost(void *context, const struct lost_view *lost)
{
	struct aggregator *aggregator = context;

	if ((unsigned int)lost->cause < PKBPF_COUNTER_COUNT)
		profile_info(aggregator_slice(aggregator, lost->time_ns))->counters[lost->cause] +=
			lost->count;
}

/* The unwinder replaces raw stacks by samples and stacks. A raw stack that arrives here was not
 * unwound; it has the reason. */
static void on_raw_stack(void *context, const struct raw_stack_view *raw)
{
	struct stack_view stack;

	if (raw->check)
		return;
	if (!raw->stack_id) {
		on_sample(context, &raw->sample);
		return;
	}
	stack = stack_view_of(raw->stack_id, &raw->sample);
	aggregator_on_stack(context, &stack);
}

/* 1 + the profile's stack of the waker; 0: unknown. */
static uint32_t waker_of_totals(struct aggregator *aggregator, struct profile *profile,
				const struct totals_view *totals)
{
	const struct numbered_stack *waker =
		totals->waker_id
			? aggregator_find_stack(aggregator, totals->waker_id, totals->time_ns)
			: NULL;

	return waker ? aggregator_stack_in(aggregator, profile, waker->stack) + 1 : 0;
}

/* A measure that gives its weight to stacks. */
static bool has_stack(const struct totals_view *totals)
{
	return totals->measure ==
	       (totals->kind == PKBPF_PROFILE_NETWORK ? PKBPF_NETWORK_STACKS : 0);
}

static bool has_peer(const struct totals_view *totals)
{
	return totals->device &&
	       (totals->kind == PKBPF_PROFILE_NETWORK || totals->kind == PKBPF_PROFILE_OFFCPU);
}

static bool add_totals_row(struct aggregator *aggregator, struct profile *profile,
			   const struct totals_view *totals, const struct process *process,
			   struct numbered_stack *stack)
{
	struct profile_row row = {
		.kind = totals->kind,
		.process = process->id,
		.tid = aggregator->options.per_thread ? totals->tid : PROFILE_NO_THREAD,
		/* Totals of a whole process have no thread name. */
		.comm = profile_intern_comm(profile,
					    totals->comm[0] ? totals->comm : process->comm),
		.stack = aggregator_stack_of(aggregator, profile, stack),
		.waker = waker_of_totals(aggregator, profile, totals),
		.state = totals->state,
		.count = totals->count,
		.weight = totals->total,
		.max = totals->max,
	};
	bool wanted = stack && aggregator->options.want_user;

	if (has_peer(totals) && stack && row.stack != UINT32_MAX)
		row.stack =
			aggregator_stack_about_peer(aggregator, profile, row.stack, totals->device);
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	profile_count_end(profile, process->id, wanted ? stack->user_end : PKBPF_END_NONE,
			  totals->count, wanted ? stack->guessed : 0);
	return true;
}

static bool add_totals(struct aggregator *aggregator, const struct totals_view *totals)
{
	struct numbered_stack *stack =
		aggregator_find_stack(aggregator, totals->stack_id, totals->time_ns);
	struct distribution_change change = {
		.count = totals->count,
		.total = totals->total,
		.max = totals->max,
		.bytes = totals->bytes,
		.variance = totals->variance,
		.buckets = totals->buckets,
		.bucket_count = totals->bucket_count,
		.estimated = totals->estimated,
		.open = totals->open,
	};
	struct distribution_key key = {
		.kind = totals->kind,
		.tid = totals->tid,
		.device = totals->device,
		.state = totals->state,
		.measure = totals->measure,
	};
	struct process *process =
		aggregator_process_of_stack(aggregator, totals->pid, totals->comm, stack);
	struct profile *profile = aggregator_slice(aggregator, totals->time_ns);

	if (!process)
		return false;
	if (totals->cgroup_id)
		process->cgroup_id = totals->cgroup_id;
	if (totals->stack_id && !stack)
		profile_info(profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN] += totals->count;
	/* Stacks get only the weight of their kind; other measures describe the same events. */
	if (has_stack(totals) && !add_totals_row(aggregator, profile, totals, process, stack))
		return false;
	key.process = process->id;
	if (key.kind == PKBPF_PROFILE_NETWORK && has_stack(totals))
		return true;
	if (key.kind == PKBPF_PROFILE_OFFCPU)
		key.device = 0;
	if (key.kind == PKBPF_PROFILE_NETWORK &&
	    !aggregator_number_peer(aggregator, profile, &key.device))
		return false;
	return profile_add_distribution(profile, &key, &change) == 0;
}

static void on_totals(void *context, const struct totals_view *totals)
{
	struct aggregator *aggregator = context;

	if (!add_totals(aggregator, totals))
		profile_info(aggregator->running)->counters[kind_ops_of(totals->kind)->no_memory] +=
			totals->count;
}

static void on_other(void *context, const struct pkbpf_event_header *record)
{
	struct aggregator *aggregator = context;
	uint64_t *counters = profile_info(aggregator->running)->counters;
	int err = aggregator_take_record(aggregator, record);

	if (err)
		counters[err == -ENOMEM || err == -ENOSPC ? PKBPF_COUNTER_EVENTS_NO_MEMORY
							  : PKBPF_COUNTER_LOST_MALFORMED]++;
}

static void on_cut(void *context, const struct cut_view *cut)
{
	aggregator_cut(context, cut);
}

struct event_sink aggregator_sink(struct aggregator *aggregator)
{
	static const struct event_sink_ops ops = {
		.on_sample = on_sample,
		.on_task = on_task,
		.on_mapping = on_mapping,
		.on_lost = on_lost,
		.on_raw_stack = on_raw_stack,
		.on_stack = aggregator_on_stack,
		.on_totals = on_totals,
		.on_slow_io = aggregator_on_slow_io,
		.on_cut = on_cut,
		.on_other = on_other,
	};

	return (struct event_sink){.ops = &ops, .context = aggregator};
}
