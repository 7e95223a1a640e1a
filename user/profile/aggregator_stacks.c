// SPDX-License-Identifier: BSD-2-Clause
/* Numbers the stacks that are sent once, and finds those that totals refer to. */
#include <string.h>

#include "profile/aggregator_private.h"

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

void aggregator_on_stack(void *context, const struct stack_view *stack)
{
	/* Without memory its totals arrive without a stack, which is counted. */
	add_stack(context, stack);
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
