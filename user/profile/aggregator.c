// SPDX-License-Identifier: BSD-2-Clause
// Turns samples into weighted stacks of frames that outlive the processes they were seen in.
#include "profile/aggregator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/stack_end.h"

/*
 * Most addresses of a sample were in earlier samples of the same process: a direct-mapped cache spares them the
 * search among the mappings and in the frame table. 32,768 entries are 512 KiB.
 *
 * An entry belongs to an era: the time in which one process kept its mappings as they are. A change of the
 * mappings begins the next era, so what the cache knew of the last one is never found again.
 */
#define FRAME_CACHE_BITS 15
#define FRAME_CACHE_SIZE (1U << FRAME_CACHE_BITS)
#define ERA_NONE	 0 /* unused entries */
#define ERA_KERNEL	 1
#define ERA_FIRST	 2

struct cached_frame {
	uint64_t key; /* address and whether it is a return address */
	uint32_t era;
	uint32_t frame;
};

/* A stack that was sent once, and is named by its number in the totals that follow. */
struct numbered_stack {
	uint32_t pid;
	uint32_t process; /* incarnation that had the pid when the stack came */
	uint32_t stack;	  /* in the profile */
	bool has_user_frames;
	enum pkbpf_stack_end user_end;
	uint64_t guessed; /* guessed frames not counted yet */
};

struct aggregator {
	struct aggregator_options options;
	struct profile *profile;
	struct process_table *processes;
	struct event_sink process_sink;
	ARRAY_OF(uint32_t) eras; /* per incarnation; ERA_NONE: not begun */
	uint32_t next_era;
	ARRAY_OF(uint32_t) frames; /* the stack being built, leaf first */
	ARRAY_OF(struct numbered_stack) stacks; /* numbered by the kernel side */
	struct hash_map stack_numbers; /* stack id of the kernel side -> number in stacks */
	struct hash_map latest;	       /* pid -> incarnation last seen, for totals that come when it is gone */
	struct cached_frame cache[FRAME_CACHE_SIZE];
};

struct aggregator *aggregator_new(const struct aggregator_options *options, struct profile *profile)
{
	struct aggregator *aggregator = calloc(1, sizeof(*aggregator));

	if (!aggregator)
		return NULL;
	aggregator->options = *options;
	aggregator->profile = profile;
	aggregator->next_era = ERA_FIRST;
	aggregator->processes = profile_processes(profile);
	aggregator->process_sink = process_table_sink(aggregator->processes);
	return aggregator;
}

void aggregator_free(struct aggregator *aggregator)
{
	if (!aggregator)
		return;
	array_free(&aggregator->eras);
	array_free(&aggregator->frames);
	array_free(&aggregator->stacks);
	hash_map_done(&aggregator->stack_numbers);
	hash_map_done(&aggregator->latest);
	free(aggregator);
}

/* The top bit makes room for the flag: it is the same in all addresses of one side, and others are not cached. */
static uint64_t cache_key(uint64_t ip, bool is_return_address)
{
	return ip << 1 | is_return_address;
}

static struct cached_frame *cache_slot(struct aggregator *aggregator, uint32_t era, uint64_t key)
{
	/* Fibonacci hashing: the upper bits of the product depend on every bit of the factor. */
	uint64_t mixed = (key + ((uint64_t)era << 40)) * 0x9e3779b97f4a7c15ULL;

	return &aggregator->cache[mixed >> (64 - FRAME_CACHE_BITS)];
}

static uint32_t era_begin(struct aggregator *aggregator)
{
	/* After four thousand million eras old numbers come back. */
	if (aggregator->next_era == ERA_NONE) {
		for (size_t i = 0; i < FRAME_CACHE_SIZE; i++)
			aggregator->cache[i].era = ERA_NONE;
		aggregator->next_era = ERA_FIRST;
		array_foreach(&aggregator->eras, era)
			*era = ERA_NONE;
	}
	return aggregator->next_era++;
}

/* ERA_NONE when there is no memory for one: such a process is not cached. */
static uint32_t era_of(struct aggregator *aggregator, uint32_t process)
{
	while (aggregator->eras.count <= process)
		if (!array_add(&aggregator->eras))
			return ERA_NONE;
	if (aggregator->eras.items[process] == ERA_NONE)
		aggregator->eras.items[process] = era_begin(aggregator);
	return aggregator->eras.items[process];
}

static void era_end(struct aggregator *aggregator, uint32_t process)
{
	if (process < aggregator->eras.count)
		aggregator->eras.items[process] = ERA_NONE;
}

static struct frame_location user_location(struct aggregator *aggregator, const struct process *process,
					   const struct address_space *space, uint64_t ip, bool is_return_address)
{
	struct frame_location location = {
		.space = FRAME_UNMAPPED,
		.object = process->id,
		.address = ip,
		.is_return_address = is_return_address,
	};
	const struct mapping *mapping;

	/* A call may be the last instruction of its mapping: what is mapped is the call, not where it returns. */
	mapping = space ? address_space_find(space, ip - is_return_address) : NULL;
	if (!mapping)
		return location;
	if (mapping->file && !mapped_file_is_generated(process_table_files(aggregator->processes), mapping->file)) {
		location.space = FRAME_FILE;
		location.object = mapping->file->id;
		location.address = ip - mapping->start + mapping->file_offset;
	} else if (mapping->protection & PKBPF_PROT_EXEC) {
		location.space = FRAME_ANONYMOUS;
	}
	return location;
}

static uint32_t intern_user(struct aggregator *aggregator, const struct process *process,
			    const struct address_space *space, uint32_t era, uint64_t ip,
			    bool is_return_address)
{
	uint64_t key = cache_key(ip, is_return_address);
	struct cached_frame *slot = cache_slot(aggregator, era, key);
	bool cached = era != ERA_NONE && !(ip >> 63);
	struct frame_location location;
	uint32_t frame;

	if (cached && slot->era == era && slot->key == key)
		return slot->frame;
	location = user_location(aggregator, process, space, ip, is_return_address);
	frame = profile_intern_frame(aggregator->profile, &location);
	if (cached && frame != UINT32_MAX)
		*slot = (struct cached_frame){key, era, frame};
	return frame;
}

static uint32_t intern_kernel(struct aggregator *aggregator, uint64_t ip, bool is_return_address)
{
	uint64_t key = cache_key(ip, is_return_address);
	struct cached_frame *slot = cache_slot(aggregator, ERA_KERNEL, key);
	struct frame_location location = {
		.space = FRAME_KERNEL,
		.address = ip,
		.is_return_address = is_return_address,
	};
	bool cached = ip >> 63;
	uint32_t frame;

	if (cached && slot->era == ERA_KERNEL && slot->key == key)
		return slot->frame;
	frame = profile_intern_frame(aggregator->profile, &location);
	if (cached && frame != UINT32_MAX)
		*slot = (struct cached_frame){key, ERA_KERNEL, frame};
	return frame;
}

static bool push_truncated(struct aggregator *aggregator, enum pkbpf_stack_end end)
{
	struct frame_location location = {.space = FRAME_TRUNCATED, .address = end};
	uint32_t frame = profile_intern_frame(aggregator->profile, &location);

	if (frame == UINT32_MAX)
		return false;
	aggregator->frames.items[aggregator->frames.count++] = frame;
	return true;
}

/*
 * Code built without frame pointers keeps data in that register, and the kernel's walk then reads "return
 * addresses" from anywhere: text, counters. What lies in no mapping at the root end is such garbage. The leaf is
 * the sampled register and stays. A process of which no mapping is known gives no ground for a judgement.
 */
static bool drop_garbage(struct aggregator *aggregator, const struct address_space *space,
			 size_t first_user)
{
	size_t mapping_count, count = aggregator->frames.count;

	if (!space || !address_space_mappings(space, &mapping_count) || !mapping_count)
		return false;
	while (count > first_user + 1) {
		uint32_t outermost = aggregator->frames.items[count - 1];

		if (profile_frame(aggregator->profile, outermost)->location.space != FRAME_UNMAPPED)
			break;
		count--;
	}
	if (count == aggregator->frames.count)
		return false;
	aggregator->frames.count = count;
	return true;
}

static bool push_user(struct aggregator *aggregator, const struct sample_view *sample,
		      const struct process *process)
{
	const struct address_space *space = process_table_mappings(aggregator->processes, process);
	uint32_t era = era_of(aggregator, process->id);
	size_t first_user = aggregator->frames.count;
	/*
	 * In a system call the saved address is the instruction after it, so the call before it names the frame. A
	 * page fault returns to the faulting instruction itself.
	 */
	bool after_call = sample->in_kernel || (sample->kernel_count && sample->kind != PKBPF_PROFILE_FAULTS);

	for (size_t i = 0; i < sample->user_count; i++) {
		uint32_t frame = intern_user(aggregator, process, space, era, sample->user_ips[i],
					     i > 0 || after_call);

		if (frame == UINT32_MAX)
			return false;
		aggregator->frames.items[aggregator->frames.count++] = frame;
	}
	if (stack_end_is_truncated(sample->user_end))
		return push_truncated(aggregator, sample->user_end);
	if (sample->user_end == PKBPF_END_UNVERIFIED && drop_garbage(aggregator, space, first_user))
		return push_truncated(aggregator, PKBPF_END_UNVERIFIED);
	return true;
}

static bool push_kernel(struct aggregator *aggregator, const struct sample_view *sample)
{
	for (size_t i = 0; i < sample->kernel_count; i++) {
		uint32_t frame = intern_kernel(aggregator, sample->kernel_ips[i], i > 0);

		if (frame == UINT32_MAX)
			return false;
		aggregator->frames.items[aggregator->frames.count++] = frame;
	}
	return true;
}

/* The profile's stack of the frames of a sample; UINT32_MAX: out of memory. */
static uint32_t intern_stack(struct aggregator *aggregator, const struct sample_view *sample,
			     const struct process *process)
{
	/* One more for the frame that says where the stack was cut. */
	if (!array_reserve(&aggregator->frames, sample->kernel_count + sample->user_count + 1))
		return UINT32_MAX;
	aggregator->frames.count = 0;
	if (aggregator->options.want_kernel && !push_kernel(aggregator, sample))
		return UINT32_MAX;
	if (aggregator->options.want_user && !push_user(aggregator, sample, process))
		return UINT32_MAX;
	return profile_intern_stack(aggregator->profile, aggregator->frames.items, aggregator->frames.count);
}

/* The living process of a pid, or one that ended a moment ago; made when there is none. */
static struct process *process_get(struct aggregator *aggregator, uint32_t pid, const char *comm)
{
	struct process *process = process_table_get(aggregator->processes, pid, comm);

	/* Without memory, late totals make a process of their own. */
	if (process)
		hash_map_put(&aggregator->latest, pid, process->id);
	return process;
}

static bool add_sample(struct aggregator *aggregator, const struct sample_view *sample)
{
	const struct aggregator_options *options = &aggregator->options;
	struct profile *profile = aggregator->profile;
	struct process *process;
	struct profile_row row;

	process = process_get(aggregator, sample->pid, sample->comm);
	if (!process)
		return false;
	if (sample->cgroup_id)
		process->cgroup_id = sample->cgroup_id;

	row = (struct profile_row){
		.kind = sample->kind,
		.process = process->id,
		.tid = options->per_thread ? sample->tid : PROFILE_NO_THREAD,
		.comm = profile_intern_string(profile, sample->comm),
		.stack = intern_stack(aggregator, sample, process),
		.state = sample->state,
		.count = sample->count,
		.weight = sample->weight,
		.max = sample->count == 1 ? sample->weight : 0,
	};
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	profile_count_end(profile, process->id, options->want_user ? sample->user_end : PKBPF_END_NONE,
			  sample->count, options->want_user ? sample->guessed_count : 0);
	return true;
}

static bool add_stack(struct aggregator *aggregator, const struct stack_view *view);

static void on_sample(void *context, const struct sample_view *sample)
{
	struct aggregator *aggregator = context;
	struct stack_view stack = {
		.stack_id = sample->weight,
		.pid = sample->pid,
		.user_end = sample->user_end,
		.kernel_ips = sample->kernel_ips,
		.kernel_count = sample->kernel_count,
		.user_ips = sample->user_ips,
		.user_count = sample->user_count,
		.guessed_count = sample->guessed_count,
	};

	/* No event, but a stack that was walked in user space. */
	if (!sample->count && sample->kind == PKBPF_PROFILE_OFFCPU)
		add_stack(aggregator, &stack);
	else if (!add_sample(aggregator, sample))
		profile_info(aggregator->profile)->counters[PKBPF_COUNTER_LOST_NO_MEMORY] +=
			sample->count;
}

static void on_task(void *context, const struct task_view *task)
{
	struct aggregator *aggregator = context;

	aggregator->process_sink.ops->on_task(aggregator->process_sink.context, task);
}

static void on_mapping(void *context, const struct mapping_view *mapping)
{
	struct aggregator *aggregator = context;
	struct process *process;

	aggregator->process_sink.ops->on_mapping(aggregator->process_sink.context, mapping);
	process = process_table_find(aggregator->processes, mapping->pid);
	if (process)
		era_end(aggregator, process->id);
}

static void on_lost(void *context, const struct lost_view *lost)
{
	struct aggregator *aggregator = context;

	if ((unsigned int)lost->cause < PKBPF_COUNTER_COUNT)
		profile_info(aggregator->profile)->counters[lost->cause] += lost->count;
}

/* Whoever unwinds raw stacks sends samples instead; one that comes through was not unwound and says why. */
static void on_raw_stack(void *context, const struct raw_stack_view *raw)
{
	if (!raw->check)
		on_sample(context, &raw->sample);
}

static bool add_stack(struct aggregator *aggregator, const struct stack_view *view)
{
	struct sample_view sample = {
		.pid = view->pid,
		.kind = PKBPF_PROFILE_OFFCPU,
		.user_end = view->user_end,
		.kernel_ips = view->kernel_ips,
		.kernel_count = view->kernel_count,
		.user_ips = view->user_ips,
		.user_count = view->user_count,
		.guessed_count = view->guessed_count,
	};
	struct process *process = process_get(aggregator, view->pid, "");
	struct numbered_stack stack;
	uint64_t *number;
	bool added;

	if (!process || !array_reserve(&aggregator->stacks, aggregator->stacks.count + 1))
		return false;
	stack = (struct numbered_stack){
		.pid = view->pid,
		.process = process->id,
		.stack = intern_stack(aggregator, &sample, process),
		.has_user_frames = view->user_count != 0,
		.user_end = view->user_end,
		.guessed = view->guessed_count,
	};
	if (stack.stack == UINT32_MAX)
		return false;
	number = hash_map_get(&aggregator->stack_numbers, view->stack_id, aggregator->stacks.count, &added);
	if (!number)
		return false;
	/* The same id again: a new program image under the same pid, or the kernel side forgot that it was sent. */
	if (added)
		array_add(&aggregator->stacks);
	aggregator->stacks.items[*number] = stack;
	return true;
}

static void on_stack(void *context, const struct stack_view *stack)
{
	/* Without memory its totals come without a stack, which is counted then. */
	add_stack(context, stack);
}

/*
 * Whose totals these are. They arrive some time after the events, when the process may be long gone or its pid in use
 * again: user frames tell which image it was, kernel frames do not.
 */
static struct process *process_of_totals(struct aggregator *aggregator, const struct totals_view *totals,
					 const struct numbered_stack *stack)
{
	struct process *process = NULL;

	if (stack && stack->has_user_frames && stack->pid == totals->pid)
		process = process_table_by_id(aggregator->processes, stack->process);
	if (!process) {
		struct process *living = process_table_find(aggregator->processes, totals->pid);

		if (stack && stack->pid == totals->pid && (!living || living->end_ns))
			process = process_table_by_id(aggregator->processes, stack->process);
	}
	if (!process && !process_table_find(aggregator->processes, totals->pid)) {
		const uint64_t *latest = hash_map_find(&aggregator->latest, totals->pid);

		process = latest ? process_table_by_id(aggregator->processes, (uint32_t)*latest) : NULL;
	}
	if (!process)
		return process_get(aggregator, totals->pid, totals->comm);
	if (!process->comm[0])
		memcpy(process->comm, totals->comm, sizeof(process->comm));
	return process;
}

/* 1 + the profile's stack of who ended the waits; 0: not known. */
static uint32_t waker_of_totals(const struct aggregator *aggregator, const struct totals_view *totals)
{
	const uint64_t *number = NULL;

	if (totals->kind == PKBPF_PROFILE_OFFCPU && totals->bytes)
		number = hash_map_find(&aggregator->stack_numbers, totals->bytes);
	return number ? aggregator->stacks.items[*number].stack + 1 : 0;
}

static bool add_totals_row(struct aggregator *aggregator, const struct totals_view *totals,
			   const struct process *process, struct numbered_stack *stack)
{
	struct profile *profile = aggregator->profile;
	struct profile_row row = {
		.kind = totals->kind,
		.process = process->id,
		.tid = aggregator->options.per_thread ? totals->tid : PROFILE_NO_THREAD,
		.comm = profile_intern_string(profile, totals->comm),
		.stack = stack ? stack->stack : profile_intern_stack(profile, NULL, 0),
		.waker = waker_of_totals(aggregator, totals),
		.state = totals->state,
		.count = totals->count,
		.weight = totals->total,
		.max = totals->max,
	};
	bool wanted = stack && aggregator->options.want_user;

	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX || profile_add(profile, &row) < 0)
		return false;
	profile_count_end(profile, process->id, wanted ? stack->user_end : PKBPF_END_NONE, totals->count,
			  wanted ? stack->guessed : 0);
	if (stack)
		stack->guessed = 0;
	return true;
}

static bool add_totals(struct aggregator *aggregator, const struct totals_view *totals)
{
	const uint64_t *number = hash_map_find(&aggregator->stack_numbers, totals->stack_id);
	struct numbered_stack *stack = number ? &aggregator->stacks.items[*number] : NULL;
	struct distribution_change change = {
		.count = totals->count,
		.total = totals->total,
		.max = totals->max,
		.bytes = totals->kind == PKBPF_PROFILE_OFFCPU ? 0 : totals->bytes,
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
	struct process *process = process_of_totals(aggregator, totals, stack);

	if (!process)
		return false;
	if (totals->cgroup_id)
		process->cgroup_id = totals->cgroup_id;
	if (totals->stack_id && !stack)
		profile_info(aggregator->profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN] += totals->count;
	/* Only the weight of a kind belongs to its stacks; other measures are about the same events. */
	if (totals->measure == 0 && !add_totals_row(aggregator, totals, process, stack))
		return false;
	key.process = process->id;
	return profile_add_distribution(aggregator->profile, &key, &change) == 0;
}

static void on_totals(void *context, const struct totals_view *totals)
{
	struct aggregator *aggregator = context;

	if (!add_totals(aggregator, totals))
		profile_info(aggregator->profile)->counters[PKBPF_COUNTER_LOST_NO_MEMORY] += totals->count;
}

static void on_other(void *context, const struct pkbpf_event_header *record)
{
	struct aggregator *aggregator = context;
	uint64_t *counters = profile_info(aggregator->profile)->counters;
	int err = resource_usage_feed(profile_resources(aggregator->profile), record);

	if (err)
		counters[err == -ENOMEM ? PKBPF_COUNTER_LOST_NO_MEMORY : PKBPF_COUNTER_LOST_MALFORMED]++;
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
		.on_other = on_other,
	};

	return (struct event_sink){.ops = &ops, .context = aggregator};
}
