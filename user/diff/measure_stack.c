// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_stack.h"

#include <string.h>

#include "profile/kind_table.h"

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

static bool is_kernel(const struct diff_names *names, uint32_t text)
{
	const char *name = string_pool_get(names->texts, text);
	size_t length = strlen(name);

	return length > 4 && strcmp(name + length - 4, "_[k]") == 0;
}

/* The function that a stack's own value is of. How the kernel waits explains nothing: of waits it
 * is the function of the program that does. */
static uint32_t self_of(const struct diff_names *names, uint32_t kind, const uint32_t *texts,
			size_t text_count)
{
	size_t leaf = text_count - 1, self = leaf;

	if (!kind_ops_of((enum pkbpf_profile_kind)kind)->explained_by_programs)
		return texts[leaf];
	while (self && is_kernel(names, texts[self]))
		self--;
	return texts[self ? self : leaf];
}

bool stack_measure_add(struct stack_measure *measure, uint32_t kind, const uint32_t *texts,
		       size_t text_count, double value, double count)
{
	struct diff_key stack = {kind, DIFF_STACK, 0};
	struct diff_key self = {kind, DIFF_SELF,
				self_of(measure->measurement->names, kind, texts, text_count)};
	struct diff_key all = {kind, DIFF_ALL_STACKS, 0};

	measure->number++;
	if (measurement_wants(measure->measurement, DIFF_STACK))
		stack.name =
			stack_table_add(measure->measurement->names->stacks, texts, text_count);
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
