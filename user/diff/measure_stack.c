// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_stack.h"

/* A recursive function counts once. */
static bool add_totals(struct stack_measure *measure, struct diff_key key, const uint32_t *texts,
		       size_t text_count, double value, double count)
{
	key.level = DIFF_TOTAL;
	for (size_t i = 1; i < text_count; i++) {
		uint64_t *last = hash_map_get(&measure->seen, texts[i], 0, &(bool){0});

		if (!last)
			return false;
		if (*last == measure->number)
			continue;
		*last = measure->number;
		key.name = texts[i];
		if (!measurement_add(measure->measurement, &key, value, count))
			return false;
	}
	return true;
}

bool stack_measure_add(struct stack_measure *measure, uint32_t kind, const uint32_t *texts,
		       size_t text_count, double value, double count)
{
	struct diff_key stack = {
		kind, DIFF_STACK,
		stack_table_add(measure->measurement->names->stacks, texts, text_count)};
	struct diff_key self = {kind, DIFF_SELF, texts[text_count - 1]};
	struct diff_key all = {kind, DIFF_ALL_STACKS, 0};

	measure->number++;
	return stack.name != STACK_TABLE_NONE &&
	       measurement_add(measure->measurement, &stack, value, count) &&
	       measurement_add(measure->measurement, &all, value, count) &&
	       (text_count < 2 || measurement_add(measure->measurement, &self, value, count)) &&
	       add_totals(measure, stack, texts, text_count, value, count);
}

void stack_measure_done(struct stack_measure *measure)
{
	hash_map_done(&measure->seen);
}
