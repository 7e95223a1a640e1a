// SPDX-License-Identifier: BSD-2-Clause
/* Adds the weighted stacks of samples and totals to their processes. */
#include "profile/aggregator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/alloc.h>
#include <pkbpf/lock.h>
#include <pkbpf/memory.h>
#include <pkbpf/trace.h>
#include <pkbpf/v8.h>

#include "base/cleanup.h"
#include "event/peer_event.h"
#include "event/region_event.h"
#include "event/resource_event.h"
#include "profile/aggregator_private.h"
#include "profile/kind_table.h"
#include "python/python_functions.h"
#include "symbol/jit/code_history.h"

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

static bool add_stack(struct aggregator *aggregator, const struct stack_view *view)
{
	struct sample_view sample = {
		.time_ns = process_table_now_ns(aggregator->processes),
		.pid = view->pid,
		.after_syscall = view->after_syscall,
		.user_end = view->user_end,
		.kernel_ips = view->kernel_ips,
		.kernel_count = view->kernel_count,
		.user_ips = view->user_ips,
		.user_count = view->user_count,
		.guessed_count = view->guessed_count,
		.region = view->region,
	};
	struct process *process = process_table_get_late(aggregator->processes, view->pid, "");
	struct numbered_stack stack;
	uint64_t *number;
	bool added;

	if (!process || !array_reserve(&aggregator->stacks, aggregator->stacks.count + 1))
		return false;
	stack = (struct numbered_stack){
		.pid = view->pid,
		.process = process->id,
		.stack = stack_builder_add(aggregator->builder, &sample, process),
		.has_user_frames = view->user_count != 0,
		.named_lately = true,
		.user_end = view->user_end,
		.guessed = view->guessed_count,
	};
	stack.has_generated = stack_builder_has_generated(aggregator->builder);
	if (stack.stack == UINT32_MAX)
		return false;
	number = hash_map_get(&aggregator->stack_numbers, view->stack_id, aggregator->stacks.count,
			      &added);
	if (!number)
		return false;
	/* The same id again: the pid runs a new program, or the kernel side forgot that it had
	 * sent the stack. */
	if (added)
		array_add(&aggregator->stacks);
	aggregator->stacks.items[*number] = stack;
	return true;
}

static void on_stack(void *context, const struct stack_view *stack)
{
	/* Without memory its totals arrive without a stack, which is counted. */
	add_stack(context, stack);
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
	on_stack(context, &stack);
}

struct numbered_stack *aggregator_find_stack(struct aggregator *aggregator, uint64_t stack_id,
					     uint64_t time_ns)
{
	const uint64_t *number = hash_map_find(&aggregator->stack_numbers, stack_id);
	struct numbered_stack *stack = number ? &aggregator->stacks.items[*number] : NULL;
	uint32_t now;

	if (!stack)
		return NULL;
	stack->named_lately = true;
	if (stack->has_generated) {
		now = stack_builder_read_again(aggregator->builder, stack->stack, time_ns);
		/* Without memory it stays what it was. */
		stack->stack = now == UINT32_MAX ? stack->stack : now;
	}
	return stack;
}

/* Totals that refer to a stack arrive some time after the events, when the process may have exited
 * and its pid may be reused. User frames identify the program; kernel frames do not. */
struct process *aggregator_process_of_stack(struct aggregator *aggregator, uint32_t pid,
					    const char *comm, const struct numbered_stack *stack)
{
	struct process *process = NULL;

	if (stack && stack->has_user_frames && stack->pid == pid)
		process = process_table_by_id(aggregator->processes, stack->process);
	if (!process && stack && stack->pid == pid) {
		struct process *living = process_table_find(aggregator->processes, pid);

		if (!living || living->end_ns)
			process = process_table_by_id(aggregator->processes, stack->process);
	}
	if (!process)
		return process_table_get_late(aggregator->processes, pid, comm);
	if (!process->comm[0])
		memcpy(process->comm, comm, sizeof(process->comm));
	return process;
}

uint32_t aggregator_stack_of(const struct aggregator *aggregator, struct profile *slice,
			     const struct numbered_stack *stack)
{
	return stack ? aggregator_stack_in(aggregator, slice, stack->stack)
		     : profile_intern_stack(slice, NULL, 0);
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

/* The same stack with the peer that its events are about as its leaf. */
static uint32_t stack_about_peer(struct aggregator *aggregator, struct profile *profile,
				 uint32_t stack, uint32_t label)
{
	const uint64_t *known = hash_map_find(&aggregator->peer_numbers, label);
	const struct peer *peer = known ? peer_table_at(aggregator->peers, (uint32_t)*known) : NULL;
	_cleanup_free_ uint32_t *frames = NULL;
	const uint32_t *from;
	size_t count;

	if (!peer)
		return stack;
	from = profile_stack(profile, stack, &count);
	frames = malloc((count + 1) * sizeof(*frames));
	if (!frames)
		return UINT32_MAX;
	memcpy(frames + 1, from, count * sizeof(*frames));
	frames[0] = profile_intern_peer(profile, (uint32_t)*known, peer);
	return frames[0] == UINT32_MAX ? UINT32_MAX
				       : profile_intern_stack(profile, frames, count + 1);
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
		row.stack = stack_about_peer(aggregator, profile, row.stack, totals->device);
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	profile_count_end(profile, process->id, wanted ? stack->user_end : PKBPF_END_NONE,
			  totals->count, wanted ? stack->guessed : 0);
	return true;
}

/* The slice's number of a peer. false: no memory. */
static bool number_peer(struct aggregator *aggregator, struct profile *profile, uint32_t *number)
{
	const uint64_t *known = hash_map_find(&aggregator->peer_numbers, *number);
	const struct peer *peer = known ? peer_table_at(aggregator->peers, (uint32_t)*known) : NULL;

	*number = peer ? peer_table_get(profile_peers(profile), peer) : PEER_NONE;
	return !peer || *number != PEER_NONE;
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
	if (key.kind == PKBPF_PROFILE_NETWORK && !number_peer(aggregator, profile, &key.device))
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

static bool add_slow_io(struct aggregator *aggregator, const struct slow_io_view *view)
{
	struct profile *profile = aggregator_slice(aggregator, view->time_ns);
	const struct numbered_stack *stack =
		aggregator_find_stack(aggregator, view->stack_id, view->time_ns);
	const struct process *process =
		aggregator_process_of_stack(aggregator, view->pid, view->comm, stack);
	uint64_t issue_ns = view->issue_ns ? view->issue_ns : view->time_ns;
	struct slow_io slow_io = {
		.process = process ? process->id : 0,
		/* The originator of write-back is unknown: there the kernel side repeats the
		 * number in tid. */
		.tid = view->tid == view->pid && view->tid & PKBPF_PID_WRITEBACK ? 0 : view->tid,
		.comm = profile_intern_comm(profile, view->comm),
		.stack = aggregator_stack_of(aggregator, profile, stack),
		.device = view->device,
		.bytes = view->bytes,
		.state = view->state,
		.open = view->open,
		.failed = view->failed,
		.fua = view->fua,
		.metadata = view->metadata,
		.cgroup_id = view->cgroup_id,
		.insert_ns = view->insert_ns,
		.queue_ns = issue_ns - view->insert_ns,
		.device_ns = view->time_ns - issue_ns,
		.sector = view->sector,
	};

	if (!process || slow_io.comm == UINT32_MAX || slow_io.stack == UINT32_MAX)
		return false;
	if (aggregator->options.trace_ns && !slow_io.open)
		aggregator_trace_request(aggregator, profile, &slow_io);
	return slow_io_total_ns(&slow_io) < aggregator->options.slow_io_ns ||
	       slow_io_list_add(profile_slow_io(profile), &slow_io) == 0;
}

/* The totals already have the request's weight, and count a missing stack. */
static void on_slow_io(void *context, const struct slow_io_view *slow_io)
{
	struct aggregator *aggregator = context;

	if (!add_slow_io(aggregator, slow_io))
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_SLOW_IO_LOST]++;
}

static int feed_resources(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct resource_slices slices = {
		.closing = aggregator->closing ? profile_resources(aggregator->closing) : NULL,
		.running = profile_resources(aggregator->running),
		.cut_ns = profile_info(aggregator->running)->start_ns,
	};

	return resource_usage_feed_slices(&slices, record);
}

/* This usage belongs to the program before exec, whose name the kernel no longer knows. */
static int take_leaver(struct aggregator *aggregator, const struct pkbpf_event_resource *record)
{
	const struct process *process = process_table_find(aggregator->processes, record->pid);
	struct pkbpf_event_resource renamed = *record;

	if (process && process->comm_before[0])
		memcpy(renamed.comm, process->comm_before, sizeof(renamed.comm));
	return feed_resources(aggregator, &renamed.header);
}

static uint32_t stack_of_relation(struct aggregator *aggregator, struct profile *slice,
				  uint64_t stack_id, uint64_t time_ns)
{
	const struct numbered_stack *stack =
		stack_id ? aggregator_find_stack(aggregator, stack_id, time_ns) : NULL;

	return stack ? aggregator_stack_in(aggregator, slice, stack->stack) : RELATION_NO_STACK;
}

static int take_relation(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct profile *slice = aggregator_slice(aggregator, record->time_ns);
	struct relation_view view;
	struct relation relation;
	int err = relation_event_decode(record, &view);

	if (err)
		return err;
	relation = (struct relation){
		.kind = view.relation,
		.pid = view.pid,
		.other_pid = view.other_pid,
		.stack = stack_of_relation(aggregator, slice, view.stack_id, record->time_ns),
		.other_stack =
			stack_of_relation(aggregator, slice, view.other_stack_id, record->time_ns),
		.count = view.count,
		.value = view.value,
	};
	memcpy(relation.other_comm, view.other_comm, sizeof(relation.other_comm));
	snprintf(relation.text, sizeof(relation.text), "%s", view.text);
	err = relation_list_add(profile_relations(slice), &relation);
	/* The list is a sample; it may be full. */
	return err == -ENOSPC ? 0 : err;
}

/* The code object of a function is at this address from now on. */
static int take_python_code(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_python_code *code = (const void *)record;
	struct process *process;
	int err;

	if (record->size < sizeof(*code))
		return -EBADMSG;
	process = process_table_get(aggregator->processes, code->pid, "");
	if (!process || !aggregator->options.python)
		return process ? 0 : -ENOMEM;
	err = python_functions_note(aggregator->options.python, process->id, code, record->size);
	stack_builder_forget_mappings(aggregator->builder, process->id);
	return err == -ENOSPC ? 0 : err;
}

static int take_v8_function(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_v8_function *function = (const void *)record;
	struct process *process;

	if (record->size < sizeof(*function))
		return -EBADMSG;
	process = process_table_get(aggregator->processes, function->pid, "");
	if (!process)
		return -ENOMEM;
	if (aggregator->options.code_history)
		code_history_note_javascript(aggregator->options.code_history, process->id,
					     function);
	return 0;
}

/* Totals that follow refer to the peer by its number. */
static int take_peer(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct peer_view view;
	struct peer peer;
	uint32_t number;
	int err = peer_event_decode(record, &view);

	if (err)
		return err;
	if (!aggregator->peers)
		aggregator->peers = peer_table_new();
	peer = (struct peer){.address = view.peer, .pid = view.pid};
	memcpy(peer.comm, view.comm, sizeof(peer.comm));
	memcpy(peer.name, view.name, sizeof(peer.name));
	peer_table_complete(profile_peers(aggregator->running), &peer);
	if (aggregator->closing)
		peer_table_complete(profile_peers(aggregator->closing), &peer);
	number = aggregator->peers ? peer_table_get(aggregator->peers, &peer) : PEER_NONE;
	return number != PEER_NONE && hash_map_put(&aggregator->peer_numbers, view.number, number)
		       ? 0
		       : -ENOMEM;
}

/* Adds to the region at the end of the path; regions around it are added when they are new.
 */
static int add_region(struct profile *profile, uint32_t process, const struct region_view *view)
{
	const struct pkbpf_event_region *record = view->record;
	struct region_sums sums = {
		.count = record->count,
		.lost_end = record->lost_end,
		.interleaved = record->interleaved,
		.unfinished = record->unfinished,
		.recursive = record->recursive,
		.unmeasured = record->unmeasured,
		.total_ns = record->total_ns,
		.self_ns = record->self_ns,
		.max_ns = record->max_ns,
		.items = record->items,
		.minor_faults = record->minor_faults,
		.major_faults = record->major_faults,
		.read_bytes = record->read_bytes,
		.written_bytes = record->written_bytes,
		.limit_ns = record->limit_ns,
		.over = record->over,
		.missed_ns = record->missed_ns,
	};
	struct region_bucket buckets[PKBPF_HISTOGRAM_BUCKETS];
	int64_t place = REGION_ROOT;

	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		sums.part_ns[i] = record->part_ns[i];
	for (size_t i = 0; i < view->bucket_count; i++)
		buckets[i] = (struct region_bucket){view->buckets[i].index, view->buckets[i].count};
	for (size_t i = 0; i < view->depth && place >= 0; i++) {
		uint32_t name = profile_intern_comm(profile, region_view_name(view, i));

		if (name == UINT32_MAX)
			return -ENOMEM;
		place = region_table_get(profile_regions(profile), process, (uint32_t)place, name,
					 i + 1 == view->depth ? record->header.flags : 0);
	}
	return place < 0 ? (int)place
			 : region_table_add(profile_regions(profile), (uint32_t)place, &sums,
					    buckets, view->bucket_count);
}

static int take_region(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct region_view view;
	struct process *process;
	int err = region_event_decode(record, &view);

	if (err)
		return err;
	process = process_table_get_late(aggregator->processes, view.record->pid, "");
	if (!process)
		return -ENOMEM;
	return add_region(aggregator_slice(aggregator, record->time_ns), process->id, &view);
}

static int take_region_name(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	int err = region_name_check(record);

	return err ? err : region_names_put(&aggregator->regions, (const void *)record);
}

static int take_slow_region(struct aggregator *aggregator, const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_slow_region *record = (const void *)header;
	struct profile *profile = aggregator_slice(aggregator, header->time_ns);
	const struct numbered_stack *stack;
	const struct process *process;
	struct slow_region region;
	int err = slow_region_check(header);

	if (err)
		return err;
	stack = aggregator_find_stack(aggregator, record->stack_id, header->time_ns);
	process = aggregator_process_of_stack(aggregator, record->pid, record->comm, stack);
	region = (struct slow_region){
		.process = process ? process->id : 0,
		.tid = record->tid,
		.comm = profile_intern_comm(profile, record->comm),
		.name = profile_intern_comm(profile, record->name),
		.stack = aggregator_stack_of(aggregator, profile, stack),
		.flags = header->flags,
		.cgroup_id = record->cgroup_id,
		.start_ns = record->start_ns,
		.wall_ns = record->wall_ns,
	};
	memcpy(region.part_ns, record->part_ns, sizeof(region.part_ns));
	if (!process || region.comm == UINT32_MAX || region.name == UINT32_MAX ||
	    region.stack == UINT32_MAX)
		return -ENOMEM;
	return slow_region_list_add(profile_slow_regions(profile), &region);
}

static int take_record_of_region(struct aggregator *aggregator,
				 const struct pkbpf_event_header *record)
{
	switch (record->kind) {
	case PKBPF_EVENT_REGION:
		return take_region(aggregator, record);
	case PKBPF_EVENT_SLOW_REGION:
		return take_slow_region(aggregator, record);
	}
	return take_region_name(aggregator, record);
}

static void on_other(void *context, const struct pkbpf_event_header *record)
{
	struct aggregator *aggregator = context;
	uint64_t *counters = profile_info(aggregator->running)->counters;
	int err;

	if (record->kind == PKBPF_EVENT_RESOURCE &&
	    record->size == sizeof(struct pkbpf_event_resource) &&
	    record->flags == PKBPF_RESOURCE_LEFT)
		err = take_leaver(aggregator, (const struct pkbpf_event_resource *)record);
	else if (record->kind == PKBPF_EVENT_PYTHON_CODE)
		err = take_python_code(aggregator, record);
	else if (record->kind == PKBPF_EVENT_V8_FUNCTION)
		err = take_v8_function(aggregator, record);
	else if (record->kind == PKBPF_EVENT_RELATION)
		err = take_relation(aggregator, record);
	else if (record->kind == PKBPF_EVENT_ALLOC || record->kind == PKBPF_EVENT_FREE)
		err = aggregator_take_heap(aggregator, record);
	else if (record->kind >= PKBPF_EVENT_PAGE && record->kind <= PKBPF_EVENT_RESIDENT)
		err = aggregator_take_memory(aggregator, record);
	else if (record->kind == PKBPF_EVENT_WAIT)
		err = aggregator_trace_wait(aggregator, record);
	else if (record->kind == PKBPF_EVENT_PEER)
		err = take_peer(aggregator, record);
	else if (record->kind == PKBPF_EVENT_LOCK || record->kind == PKBPF_EVENT_LOCK_PART)
		err = aggregator_take_lock(aggregator, record);
	else if (record->kind >= PKBPF_EVENT_REGION && record->kind <= PKBPF_EVENT_SLOW_REGION)
		err = take_record_of_region(aggregator, record);
	else
		err = feed_resources(aggregator, record);
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
		.on_stack = on_stack,
		.on_totals = on_totals,
		.on_slow_io = on_slow_io,
		.on_cut = on_cut,
		.on_other = on_other,
	};

	return (struct event_sink){.ops = &ops, .context = aggregator};
}
