// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function that explains most of what a row used or waited for. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/resource_rows.h"

struct inclusive {
	uint64_t weight;
	uint64_t depth; /* from the root, in the heaviest stack that has it */
	uint64_t depth_weight;
	size_t last_stack; /* 1 + the one that counted it last: recursion counts once */
};

static void add_inclusive(struct inclusive *functions, const struct resource_rows *rows,
			  size_t index, bool user_only)
{
	const struct row_stack *stack = &rows->weights[index].stack;
	size_t count;
	const uint32_t *frames = resource_rows_stack(rows, stack->stack, &count);

	for (size_t i = 0; i < count; i++) {
		struct inclusive *function = &functions[frames[i]];
		enum function_mark mark = function_table_get(rows->functions, frames[i])->mark;

		if (mark == FUNCTION_TRUNCATED || (user_only && mark == FUNCTION_KERNEL) ||
		    function->last_stack == index + 1)
			continue;
		function->last_stack = index + 1;
		function->weight += stack->weight;
		if (stack->weight >= function->depth_weight) {
			function->depth_weight = stack->weight;
			function->depth = count - i;
		}
	}
}

const struct function *resource_rows_explain(const struct resource_rows *rows,
					     const struct resource_row *row,
					     enum pkbpf_profile_kind kind, uint64_t *ret_weight)
{
	size_t count = function_table_count(rows->functions), best = count;
	_cleanup_free_ struct inclusive *functions = calloc(count + 1, sizeof(*functions));
	uint64_t half = row->kind_weight[kind] / 2 + row->kind_weight[kind] % 2;

	if (!functions || !half)
		return NULL;
	for (size_t i = 0; i < rows->weight_count; i++)
		if (rows->weights[i].number == row->number && rows->weights[i].kind == kind)
			add_inclusive(functions, rows, i,
				      kind == PKBPF_PROFILE_OFFCPU || kind == PKBPF_PROFILE_FAULTS);
	for (size_t i = 0; i < count; i++)
		if (functions[i].weight >= half &&
		    (best == count || functions[i].depth > functions[best].depth))
			best = i;
	if (best == count)
		return NULL;
	*ret_weight = functions[best].weight;
	return function_table_get(rows->functions, (uint32_t)best);
}
