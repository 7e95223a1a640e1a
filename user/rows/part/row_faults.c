// SPDX-License-Identifier: BSD-2-Clause
/* Adds up page faults that were recorded with stacks. */
#include "rows/part/row_faults.h"

#include "base/array.h"
#include "profile/account/fault_counts.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

/* Behind those of row_memory.c: they are one group. */
static const struct figure figures[] = {
	FIGURE_ROW("memory", "sampled_faults", COUNT, faults.sampled, ROW_HAS_FAULTS,
		   "page faults that the recorded stacks stand for"),
};

static void add_stack(const struct resource_rows *rows, struct resource_row *row,
		      const struct profile_row *stack)
{
	if (stack->kind == PKBPF_PROFILE_FAULTS && profile_fault_was_sampled(rows->profile, stack))
		row->faults.sampled += stack->weight;
}

const struct row_part row_faults_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_stack = add_stack,
};
