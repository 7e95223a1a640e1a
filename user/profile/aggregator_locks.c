// SPDX-License-Identifier: BSD-2-Clause
/* Adds waits for locks to their locks, holders and stacks, and threads of deadlocks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/lock_event.h"
#include "profile/aggregator_private.h"
#include "symbol/elf/data_namer.h"

/* By the symbol of the variable that the lock is, or lies in. */
static void name_lock(const struct aggregator *aggregator, const struct process *process,
		      struct lock *lock)
{
	/* Numbers of processes are used again. */
	uint64_t key = hash_u64(process->start_ns) + process->id;

	if (!lock->name[0] && lock->address && lock->class < PKBPF_LOCK_KERNEL_MUTEX)
		snprintf(lock->name, sizeof(lock->name), "%s",
			 data_namer_name(aggregator->options.data_namer, key,
					 process_table_mappings(aggregator->processes, process),
					 lock->address));
}

int aggregator_take_lock(struct aggregator *aggregator, const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_lock *record = (const void *)header;
	struct profile *slice = aggregator_slice(aggregator, header->time_ns);
	const struct process *process;
	struct lock lock;
	int err = lock_event_check(header);

	if (err)
		return err;
	process = process_table_get_late(aggregator->processes, record->pid, "");
	if (!process)
		return -ENOMEM;
	lock = (struct lock){
		.address = record->address,
		.pid = record->pid,
		.class = record->class,
		.max_waiters = record->max_waiters,
		.waits = record->waits,
		.wait_ns = record->wait_ns,
		.queue_ns = record->queue_ns,
		.max_ns = record->max_ns,
	};
	memcpy(lock.comm, process->comm, sizeof(lock.comm));
	memcpy(lock.name, record->name, sizeof(lock.name));
	name_lock(aggregator, process, &lock);
	for (uint32_t i = 0; i < record->n_buckets; i++)
		lock.buckets[record->buckets[i].index] = record->buckets[i].count;
	return lock_list_add(profile_locks(slice), &lock) < 0 ? -ENOMEM : 0;
}

/* Waits of a stack are rows of the profile, too. */
static int add_row(struct aggregator *aggregator, struct profile *slice,
		   const struct pkbpf_event_lock_part *record, const struct numbered_stack *stack)
{
	const struct process *process =
		aggregator_process_of_stack(aggregator, record->lock_pid, "", stack);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_LOCKS,
		.process = process ? process->id : 0,
		.tid = PROFILE_NO_THREAD,
		.comm = process ? profile_intern_comm(slice, process->comm) : UINT32_MAX,
		.stack = aggregator_stack_of(aggregator, slice, stack),
		.count = record->count,
		.weight = record->ns,
	};

	if (!process || row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(slice, &row) < 0 ? -ENOMEM : 0;
}

int aggregator_take_lock_part(struct aggregator *aggregator,
			      const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_lock_part *record = (const void *)header;
	struct profile *slice = aggregator_slice(aggregator, header->time_ns);
	const struct numbered_stack *stack;
	struct lock_part part;
	int64_t lock;
	int err = lock_part_event_check(header);

	if (err)
		return err;
	lock = lock_list_get(profile_locks(slice), record->lock_pid, record->address,
			     record->class);
	if (lock < 0)
		return (int)lock;
	stack = record->stack_id
			? aggregator_find_stack(aggregator, record->stack_id, header->time_ns)
			: NULL;
	part = (struct lock_part){
		.lock = (uint32_t)lock,
		.kind = record->kind,
		.state = record->state,
		.pid = record->pid,
		.tid = record->tid,
		.stack = stack ? aggregator_stack_in(aggregator, slice, stack->stack)
			       : LOCK_NO_STACK,
		.count = record->count,
		.ns = record->ns,
	};
	memcpy(part.comm, record->comm, sizeof(record->comm));
	err = lock_list_add_part(profile_locks(slice), &part);
	if (err || record->kind != PKBPF_LOCK_SITE)
		return err;
	return add_row(aggregator, slice, record, stack);
}

int aggregator_take_deadlock(struct aggregator *aggregator, const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_deadlock *record = (const void *)header;
	struct profile *slice = aggregator_slice(aggregator, header->time_ns);
	const struct numbered_stack *stack;
	struct deadlock_thread thread;
	int err = deadlock_event_check(header);

	if (err)
		return err;
	if (!process_table_get_late(aggregator->processes, record->pid, ""))
		return -ENOMEM;
	stack = record->stack_id
			? aggregator_find_stack(aggregator, record->stack_id, header->time_ns)
			: NULL;
	thread = (struct deadlock_thread){
		.address = record->address,
		.wait_ns = record->wait_ns,
		.pid = record->pid,
		.tid = record->tid,
		.cycle = record->cycle,
		.index = record->index,
		.count = record->count,
		.behind = record->behind,
		.class = record->class,
		.stack = stack ? aggregator_stack_in(aggregator, slice, stack->stack)
			       : DEADLOCK_NO_STACK,
	};
	memcpy(thread.comm, record->comm, sizeof(record->comm));
	return deadlock_list_add(profile_deadlocks(slice), &thread);
}
