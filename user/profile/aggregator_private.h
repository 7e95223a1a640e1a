/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the aggregator; private. */
#ifndef PKBPF_PROFILE_AGGREGATOR_PRIVATE_H
#define PKBPF_PROFILE_AGGREGATOR_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/aggregator.h"
#include "profile/heap/heap.h"
#include "profile/record_list.h"
#include "profile/region_names.h"
#include "profile/stack_builder.h"

/* A stack that was sent once; later totals refer to it by number. */
struct numbered_stack {
	uint32_t pid;
	uint32_t process; /* the process that had the pid when the stack arrived */
	uint32_t stack;	  /* in the profile */
	bool has_user_frames;
	bool has_generated; /* code; other code may replace it before the next event */
	bool named_lately;  /* referred to since stacks were last forgotten */
	enum pkbpf_stack_end user_end;
	uint64_t guessed; /* number of its guessed frames */
};

/* The current slice, one being closed, and one that a cut makes. */
#define OPEN_SLICES 3

struct aggregator_memory; /* aggregator_resident.c */

struct aggregator {
	struct aggregator_options options;
	struct profile *running;
	struct profile *closing; /* the previous slice, which may still get late records; or NULL */
	ARRAY_OF(struct profile *) closed; /* not yet taken, oldest first */
	struct process_table *processes;
	struct event_sink process_sink;
	struct stack_builder *builder;
	struct region_names regions;
	ARRAY_OF(struct numbered_stack) stacks; /* numbered by the kernel side */
	struct hash_map stack_numbers;	  /* stack id of the kernel side -> number in stacks */
	size_t next_merge_bytes;	  /* of profile_stack_bytes() */
	bool shortening;		  /* until the stacks take half of the maximum */
	bool joining;			  /* the next step counts the rarest as one instead */
	struct peer_table *peers;	  /* of the whole capture; NULL: none yet */
	struct hash_map peer_numbers;	  /* number of the kernel side -> number in peers */
	uint64_t next_ended;		  /* of profile_ended_tasks() */
	size_t next_forget;		  /* of stacks.count */
	struct heap *heap;		  /* NULL: no allocation was sampled */
	struct aggregator_memory *memory; /* NULL: no record of it */
	uint64_t names_since_ns;	  /* begin of the generation of names; 0: before any cut */
	bool is_planned, renews_names;	  /* the next cut */
};

/* The slice that gets a record of this time. */
struct profile *aggregator_slice(struct aggregator *aggregator, uint64_t time_ns);
/* The slice's number of a stack of the running slice, which may have other names. UINT32_MAX: no
 * memory. */
uint32_t aggregator_stack_in(const struct aggregator *aggregator, struct profile *slice,
			     uint32_t stack);
/* The same of a numbered one; NULL: the empty stack. */
uint32_t aggregator_stack_of(const struct aggregator *aggregator, struct profile *slice,
			     const struct numbered_stack *stack);
/* Forgets numbers of stacks without recent references. -ENOMEM: all stay. */
int aggregator_forget_unnamed(struct aggregator *aggregator);

/* A record that belongs to an account, or to what gives names. -EBADMSG, -ENOMEM, -ENOSPC. */
int aggregator_take_record(struct aggregator *aggregator, const struct pkbpf_event_header *record);
#define X(kind, function)                                                                          \
	int aggregator_take_##function(struct aggregator *aggregator,                              \
				       const struct pkbpf_event_header *record);
RECORD_LIST(X)
#undef X
int aggregator_take_resource(struct aggregator *aggregator,
			     const struct pkbpf_event_header *record);
/* Parts of the sink: a stack that is sent once; a block request, whose weight is in totals, too. */
void aggregator_on_stack(void *context, const struct stack_view *stack);
void aggregator_on_slow_io(void *context, const struct slow_io_view *slow_io);

/* Replaces the kernel side's number of a peer by that of the slice. false: no memory. */
bool aggregator_number_peer(struct aggregator *aggregator, struct profile *slice, uint32_t *number);
/* The same stack with the peer that its events are about as its leaf. UINT32_MAX: no memory. */
uint32_t aggregator_stack_about_peer(struct aggregator *aggregator, struct profile *slice,
				     uint32_t stack, uint32_t peer);

/* Sampled allocations (aggregator_heap.c). Before the process table learns of the event. */
void aggregator_heap_task(struct aggregator *aggregator, const struct task_view *task);
/* Before stacks without recent references are forgotten. */
void aggregator_heap_keep_stacks(struct aggregator *aggregator);
/* Adds what is alive of ended processes to the current slice, and forgets it. */
void aggregator_heap_settle(struct aggregator *aggregator);
/* The same of all processes. */
void aggregator_heap_finish(struct aggregator *aggregator);
/* At the end of a slice: adds what is alive of running processes to it. */
void aggregator_heap_cut(struct aggregator *aggregator);
/* Resident memory (aggregator_resident.c): the same for it. After the process table has learned of
 * the event. */
void aggregator_memory_task(struct aggregator *aggregator, const struct task_view *task);
void aggregator_memory_keep_stacks(struct aggregator *aggregator);
/* Process ids in use are marked. */
void aggregator_memory_mark(const struct aggregator *aggregator, bool *is_used);
void aggregator_memory_settle(struct aggregator *aggregator);
void aggregator_memory_finish(struct aggregator *aggregator);
void aggregator_memory_cut(struct aggregator *aggregator);
void aggregator_memory_free(struct aggregator_memory *memory);
void aggregator_cut(struct aggregator *aggregator, const struct cut_view *cut);
/* The stack as of time_ns. NULL: no stack with this number has arrived. */
struct numbered_stack *aggregator_find_stack(struct aggregator *aggregator, uint64_t stack_id,
					     uint64_t time_ns);
/* The process of a stack, which may be NULL. NULL: out of memory. */
struct process *aggregator_process_of_stack(struct aggregator *aggregator, uint32_t pid,
					    const char *comm, const struct numbered_stack *stack);
/* Single events for the trace; what finds no room is counted. row: that of the sample. */
void aggregator_trace_sample(struct aggregator *aggregator, struct profile *slice,
			     const struct sample_view *sample, const struct profile_row *row);
void aggregator_trace_request(struct aggregator *aggregator, struct profile *slice,
			      const struct slow_io *request);
/* True when no other slice shares numbers with the current one. */
static inline bool aggregator_has_one_slice(const struct aggregator *aggregator)
{
	return !aggregator->closing && !aggregator->closed.count &&
	       !profile_shares_names(aggregator->running);
}

#endif
