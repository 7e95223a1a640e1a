// SPDX-License-Identifier: BSD-2-Clause
/* Finds the functions that explain most of what some rows used or waited for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/resource_rows.h"

struct inclusive {
	uint64_t weight;
	uint64_t depth; /* from the root, in the heaviest stack that has it */
	uint64_t depth_weight;
	size_t last_stack; /* 1 + the one that counted it last: recursion counts once */
};

static const struct row_weight *weights_of(const struct resource_rows *rows, const struct resource_row *row, size_t *ret_count)
{
	size_t first = 0, end = rows->weight_count, past;

	*ret_count = 0;
	if (!end)
		return NULL;
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (rows->weights[middle].number < row->number)
			first = middle + 1;
		else
			end = middle;
	}
	for (past = first; past < rows->weight_count && rows->weights[past].number == row->number; past++)
		;
	*ret_count = past - first;
	return rows->weights + first;
}

static void add_inclusive(struct inclusive *functions, const struct resource_rows *rows, const struct row_weight *item,
			  uint64_t weight, bool user_only)
{
	size_t count, index = (size_t)(item - rows->weights);
	const uint32_t *frames = resource_rows_stack(rows, item->stack.stack, &count);

	for (size_t i = 0; i < count; i++) {
		struct inclusive *function = &functions[frames[i]];
		enum function_mark mark = function_table_get(rows->functions, frames[i])->mark;

		if (mark == FUNCTION_TRUNCATED || (user_only && mark == FUNCTION_KERNEL) ||
		    function->last_stack == index + 1)
			continue;
		function->last_stack = index + 1;
		function->weight += weight;
		if (weight >= function->depth_weight) {
			function->depth_weight = weight;
			function->depth = count - i;
		}
	}
}

static bool has_any(const struct resource_rows *rows, const uint32_t *frames, size_t count, bool in_kernel,
		    const char *const *names)
{
	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(rows->functions, frames[i]);

		for (size_t j = 0; (function->mark == FUNCTION_KERNEL) == in_kernel && names[j]; j++)
			if (!strcmp(function->name, names[j]))
				return true;
	}
	return false;
}

static bool is_chosen(const struct resource_rows *rows, const struct row_weight *item, const struct wait_choice *choice)
{
	const uint32_t *frames;
	size_t count;

	if (!choice)
		return true;
	if (choice->mean_ns_max && item->stack.weight / choice->mean_ns_max >= item->stack.count)
		return false;
	frames = resource_rows_stack(rows, item->stack.stack, &count);
	return has_any(rows, frames, count, true, choice->kernel) &&
	       (!choice->programs || has_any(rows, frames, count, false, choice->programs));
}

static uint64_t weight_in_states(const struct row_weight *item, unsigned int states)
{
	uint64_t weight = 0;

	if (item->kind != PKBPF_PROFILE_OFFCPU)
		return item->stack.weight;
	for (int state = 0; state < PKBPF_WAIT_STATES; state++)
		weight += states & 1U << state ? item->state_weight[state] : 0;
	return weight;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_c_library(const struct function *function)
{
	return begins_with(function->module, "libc.") || begins_with(function->module, "libc-") ||
	       begins_with(function->module, "libpthread") ||
	       begins_with(function->module, "ld-") || begins_with(function->module, "[vdso]");
}

/* Where programs begin says nothing of what they do. */
static bool is_entry(const struct function *function)
{
	return !strcmp(function->name, "main") || !strcmp(function->name, "_start");
}

enum wanted { WANT_ANY, WANT_NAMED, WANT_OF_PROGRAM };

/* The deepest of those with half of the weight that is not as deep as `below`; NULL: none. */
static const struct function *deepest(const struct resource_rows *rows,
				      const struct inclusive *functions, uint64_t half,
				      uint64_t below, enum wanted wanted, size_t *ret_index)
{
	size_t count = function_table_count(rows->functions), best = count;

	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(rows->functions, (uint32_t)i);

		if (functions[i].weight < half || functions[i].depth >= below ||
		    (wanted >= WANT_NAMED && !function->named) ||
		    (wanted >= WANT_OF_PROGRAM && (is_c_library(function) || is_entry(function))))
			continue;
		if (best == count || functions[i].depth > functions[best].depth)
			best = i;
	}
	*ret_index = best;
	return best == count ? NULL : function_table_get(rows->functions, (uint32_t)best);
}

/* Fills from the end: callees are found first. */
static void find_path(const struct resource_rows *rows, const struct inclusive *functions,
		      uint64_t half, struct row_explanation *explanation)
{
	const struct function *path[ROW_EXPLANATION_FUNCTIONS], *leaf, *function;
	size_t at = ROW_EXPLANATION_FUNCTIONS, leaf_index, index;
	uint64_t below = UINT64_MAX;

	leaf = deepest(rows, functions, half, below, WANT_ANY, &leaf_index);
	if (!leaf)
		return;
	explanation->weight = functions[leaf_index].weight;
	if (leaf->named && is_c_library(leaf))
		path[--at] = leaf;
	while (at > 0 &&
	       (function = deepest(rows, functions, half, below, WANT_OF_PROGRAM, &index))) {
		if (at == ROW_EXPLANATION_FUNCTIONS)
			explanation->weight = functions[index].weight;
		below = functions[index].depth;
		path[--at] = function;
	}
	if (at == ROW_EXPLANATION_FUNCTIONS) {
		function = deepest(rows, functions, half, UINT64_MAX, WANT_NAMED, &index);
		if (function)
			explanation->weight = functions[index].weight;
		path[--at] = function ? function : leaf;
	}
	while (at < ROW_EXPLANATION_FUNCTIONS)
		explanation->functions[explanation->count++] = path[at++];
}

struct row_explanation resource_rows_explain(const struct resource_rows *rows,
					     const struct resource_row *const *members,
					     size_t count, enum pkbpf_profile_kind kind,
					     unsigned int states, const struct wait_choice *choice)
{
	_cleanup_free_ struct inclusive *functions =
		calloc(function_table_count(rows->functions) + 1, sizeof(*functions));
	bool user_only = kind == PKBPF_PROFILE_OFFCPU || kind == PKBPF_PROFILE_FAULTS;
	struct row_explanation explanation = {0};

	if (!functions)
		return explanation;
	for (size_t i = 0; i < count; i++) {
		size_t weight_count;
		const struct row_weight *weights = weights_of(rows, members[i], &weight_count);

		for (size_t j = 0; j < weight_count; j++) {
			uint64_t weight = weight_in_states(&weights[j], states);

			if (weights[j].kind != kind || !weight || !is_chosen(rows, &weights[j], choice))
				continue;
			explanation.whole += weight;
			add_inclusive(functions, rows, &weights[j], weight, user_only);
		}
	}
	if (!explanation.whole)
		return explanation;
	if (user_only) {
		find_path(rows, functions, explanation.whole / 2 + explanation.whole % 2,
			  &explanation);
	} else {
		size_t index;
		const struct function *function =
			deepest(rows, functions, explanation.whole / 2 + explanation.whole % 2,
				UINT64_MAX, WANT_ANY, &index);

		if (function) {
			explanation.functions[explanation.count++] = function;
			explanation.weight = functions[index].weight;
		}
	}
	return explanation;
}

struct wait_sum resource_rows_waits_in(const struct resource_rows *rows, const struct resource_row *row,
				       enum pkbpf_wait_state state, const struct wait_choice *choice)
{
	struct wait_sum sum = {0};
	size_t count;
	const struct row_weight *weights = weights_of(rows, row, &count);

	for (size_t i = 0; i < count; i++) {
		const struct row_weight *item = &weights[i];

		if (item->kind != PKBPF_PROFILE_OFFCPU || !item->state_weight[state] || !is_chosen(rows, item, choice))
			continue;
		sum.time_ns += item->state_weight[state];
		sum.count += item->stack.count;
	}
	return sum;
}
