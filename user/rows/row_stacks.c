// SPDX-License-Identifier: BSD-2-Clause
/* Adds what was recorded with stacks to the rows: the weight of each stack of functions, the
 * hottest of each kind. */
#include <errno.h>
#include <stdlib.h>

#include "profile/kind_table.h"
#include "profile/stack_table.h"
#include "rows/gpu_call.h"
#include "rows/resource_rows_work.h"

/* A row, a stack and a kind in one key. Stack ids are dense: 28 bits are more than memory holds. */
#define KIND_BITS  4
#define STACK_BITS 28
_Static_assert(PKBPF_PROFILE_KINDS <= 1 << KIND_BITS, "each kind has weights of its own");

static uint32_t function_stack(struct rows_work *work, uint32_t stack)
{
	size_t frame_count, function_count;
	const uint32_t *frames, *functions;
	uint64_t *slot;
	bool added;

	slot = hash_map_get(&work->function_stacks, stack, STACK_TABLE_NONE, &added);
	if (!slot || !added)
		return slot ? (uint32_t)*slot : STACK_TABLE_NONE;
	frames = profile_stack(work->profile, stack, &frame_count);
	work->functions.count = 0;
	for (size_t i = 0; i < frame_count; i++) {
		functions = function_table_frame(work->rows->functions, frames[i], &function_count);
		for (size_t j = 0; j < function_count; j++) {
			uint32_t *item = array_add(&work->functions);

			if (!item)
				return STACK_TABLE_NONE;
			*item = functions[j];
		}
	}
	*slot = stack_table_add(work->rows->stacks, work->functions.items, work->functions.count);
	return (uint32_t)*slot;
}

static int add_stack(struct rows_work *work, uint32_t row, const struct profile_row *from,
		     uint32_t stack)
{
	struct resource_row *into = row == TOTAL ? &work->rows->total : &work->items.items[row];
	struct row_stack *hottest = &into->stacks[from->kind], *sum;
	struct row_weight *item;
	uint8_t state_mask = kind_ops_of(from->kind)->state_mask;
	uint8_t state = from->state & state_mask;
	uint64_t key = (uint64_t)row << 32 | (uint64_t)stack << KIND_BITS | from->kind, *number;
	bool added;

	if (stack >> STACK_BITS)
		return -ENOMEM;
	number = hash_map_get(&work->weights, key, work->sums.count, &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		item = array_add(&work->sums);
		if (!item)
			return -ENOMEM;
		*item = (struct row_weight){
			.number = row, .kind = from->kind, .stack = {.stack = stack}};
	}
	sum = &work->sums.items[*number].stack;
	sum->weight += from->weight;
	sum->count += from->count;
	if (state_mask && state < KIND_STATES)
		work->sums.items[*number].state_weight[state] += from->weight;
	if (from->max > sum->max)
		sum->max = from->max;
	/* Of equal ones the first, in whatever order rows have come. */
	if (hottest->stack == ROW_NO_STACK || hottest->stack == stack ||
	    sum->weight > hottest->weight ||
	    (sum->weight == hottest->weight && stack < hottest->stack))
		*hottest = *sum;
	into->kind_weight[from->kind] += from->weight;
	return 0;
}

static void add_numbers(const struct resource_rows *rows, struct resource_row *row,
			const struct profile_row *stack)
{
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (part->add_stack)
			part->add_stack(rows, row, stack);
}

enum { GPU_WAITS = 1, GPU_SPINS = 2 };

/* Is a stack below a call that waits for a GPU, and if on a CPU, spins? Out of memory: no. */
static bool waits_for_gpu(struct rows_work *work, uint32_t stack, enum pkbpf_profile_kind kind)
{
	const uint64_t mask = kind == PKBPF_PROFILE_CPU ? GPU_SPINS : GPU_WAITS;
	size_t count;
	const uint32_t *functions;
	uint64_t *slot;
	bool added;

	slot = hash_map_get(&work->gpu_stacks, stack, 0, &added);
	if (!slot || !added)
		return slot && *slot & mask;
	functions = stack_table_get(work->rows->stacks, stack, &count);
	for (size_t i = 0; i < count; i++) {
		const struct function *function =
			function_table_get(work->rows->functions, functions[i]);

		*slot |= (gpu_call_waits(function) ? GPU_WAITS : 0) |
			 (gpu_call_spins(function) ? GPU_SPINS : 0);
	}
	return *slot & mask;
}

int rows_work_add_stacks(struct rows_work *work)
{
	size_t count;
	const struct profile_row *rows = profile_rows(work->profile, &count);

	work->rows->places = malloc((count + 1) * sizeof(*work->rows->places));
	if (!work->rows->places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t row, stack;

		work->rows->places[i] = (struct row_place){NO_ROW, ROW_NO_STACK};
		if ((unsigned int)rows[i].kind >= PKBPF_PROFILE_KINDS)
			continue;
		row = rows_are_of_regions(work->rows->by)
			      ? rows_work_stack_region_row(work, rows[i].stack)
			      : rows_work_row(work, rows[i].process, rows[i].tid);
		stack = row == NO_ROW ? STACK_TABLE_NONE : function_stack(work, rows[i].stack);
		if (stack == STACK_TABLE_NONE || add_stack(work, row, &rows[i], stack) ||
		    add_stack(work, TOTAL, &rows[i], stack))
			return -ENOMEM;
		work->rows->places[i] = (struct row_place){row, stack};
		if (waits_for_gpu(work, stack, rows[i].kind)) {
			row_gpu_add_call(&work->items.items[row], &rows[i]);
			row_gpu_add_call(&work->rows->total, &rows[i]);
		}
		add_numbers(work->rows, &work->items.items[row], &rows[i]);
		add_numbers(work->rows, &work->rows->total, &rows[i]);
	}
	return 0;
}
