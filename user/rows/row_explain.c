// SPDX-License-Identifier: BSD-2-Clause
/* Finds the functions that explain most of what some rows used or waited for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "rows/plumbing.h"
#include "rows/resource_rows.h"

#define NO_FUNCTION UINT32_MAX
/* Who calls the function that explains most is told as far as at most one part in so many of it has
 * other callers: all that is said holds for the whole path. */
#define CALLER_MISSES 20

struct inclusive {
	uint64_t weight;
	/* from the path, or the leaf, times the weight: stacks that share it may have other
	 * roots */
	double distance;
	size_t last_stack; /* 1 + the one that counted it last: recursion counts once */
};

/* A stack that has the path found so far. */
struct stack_left {
	const uint32_t *functions; /* leaf first */
	size_t count;
	size_t above; /* the first that calls all of the path */
	uint64_t weight;
};

struct search {
	const struct resource_rows *rows;
	bool user_only;
	bool has_python; /* Python functions explain it: how they are run does not count */
	ARRAY_OF(struct stack_left) stacks;
	uint64_t weight;	     /* of these */
	struct inclusive *functions; /* of the table: by what these stacks have above the path */
	uint32_t path[ROW_EXPLANATION_FUNCTIONS]; /* callee first */
	size_t path_count;
};

const struct row_weight *resource_rows_weights(const struct resource_rows *rows,
					       const struct resource_row *row, size_t *ret_count)
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
	for (past = first; past < rows->weight_count && rows->weights[past].number == row->number;
	     past++)
		;
	*ret_count = past - first;
	return rows->weights + first;
}

static void search_done(struct search *search)
{
	array_free(&search->stacks);
	free(search->functions);
}

static void count_functions(struct search *search)
{
	const struct function_table *table = search->rows->functions;

	memset(search->functions, 0, function_table_count(table) * sizeof(*search->functions));
	for (size_t i = 0; i < search->stacks.count; i++) {
		const struct stack_left *stack = &search->stacks.items[i];
		double distance = 0;

		for (size_t j = stack->above; j < stack->count; j++) {
			struct inclusive *function = &search->functions[stack->functions[j]];
			enum function_mark mark =
				function_table_get(table, stack->functions[j])->mark;

			if (mark == FUNCTION_TRUNCATED ||
			    (search->user_only && mark == FUNCTION_KERNEL))
				continue;
			distance++;
			if (function->last_stack == i + 1)
				continue;
			function->last_stack = i + 1;
			function->weight += stack->weight;
			function->distance += distance * (double)stack->weight;
		}
	}
}

/* Goes on with the stacks in which this function calls the path. */
static void prepend(struct search *search, uint32_t function)
{
	size_t kept = 0;

	search->path[search->path_count++] = function;
	search->weight = 0;
	array_foreach(&search->stacks, stack) {
		while (stack->above < stack->count && stack->functions[stack->above] != function)
			stack->above++;
		if (stack->above == stack->count)
			continue;
		stack->above++;
		search->weight += stack->weight;
		search->stacks.items[kept++] = *stack;
	}
	search->stacks.count = kept;
	count_functions(search);
}

static bool has_any(const struct resource_rows *rows, const uint32_t *frames, size_t count,
		    bool in_kernel, const char *const *names)
{
	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(rows->functions, frames[i]);

		for (size_t j = 0; (function->mark == FUNCTION_KERNEL) == in_kernel && names[j];
		     j++)
			if (!strcmp(function->name, names[j]))
				return true;
	}
	return false;
}

static bool is_chosen(const struct resource_rows *rows, const struct row_weight *item,
		      const struct wait_choice *choice)
{
	const uint32_t *frames;
	size_t count;

	if (!choice)
		return true;
	if (choice->takes && !choice->takes(choice->context, item))
		return false;
	if (choice->mean_ns_max && item->stack.weight / choice->mean_ns_max >= item->stack.count)
		return false;
	frames = resource_rows_stack(rows, item->stack.stack, &count);
	return (!choice->kernel || has_any(rows, frames, count, true, choice->kernel)) &&
	       (!choice->without || !has_any(rows, frames, count, true, choice->without)) &&
	       (!choice->programs || has_any(rows, frames, count, false, choice->programs));
}

static uint64_t weight_in_states(const struct row_weight *item, unsigned int states)
{
	uint64_t weight = 0;

	if (!states)
		return item->stack.weight;
	for (int state = 0; state < KIND_STATES; state++)
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

static bool is_how_it_waits(const struct function *function)
{
	return function->mark != FUNCTION_KERNEL && plumbing_sort(function) == FRAME_INSIDE;
}

/* Where programs begin, and how they wait when they do, says nothing of what they do. */
static bool is_plumbing(const struct function *function)
{
	static const char *const names[] = {
		"main",
		"_start",
		"ProcSleep",
		"PGSemaphoreLock",
		"ServerLoop",
		"PostmasterMain",
		"BackendStartup",
		"PyCOND_TIMEDWAIT",
		"ObjectMonitor::EnterI",
		"start_thread",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function->name, names[i]))
			return true;
	return is_how_it_waits(function) ||
	       begins_with(function->name, "absl::synchronization_internal::");
}

/* Code that starts every program and thread, and names that are no function's ("[resident before
 * start]"): neither is a place. */
static bool is_no_place(const struct function *function)
{
	static const char *const names[] = {"_start",	       "__libc_start",
					    "libc_start_main", "__libc_init",
					    "start_thread",    "clone",
					    "__clone",	       "thread_start",
					    "__restore_rt",    "execute_native_thread_routine"};

	if (!function->named || function->mark == FUNCTION_KERNEL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins_with(function->name, names[i]))
			return true;
	return function->name[0] == '[';
}

/* How a runtime starts and runs programs; main() may be all there is of a small program. */
static bool is_entry(const struct function *function)
{
	return function->named && plumbing_sort(function) == FRAME_BEGINS &&
	       strcmp(function->name, "main") != 0;
}

enum wanted { WANT_ANY, WANT_NAMED, WANT_OF_PROGRAM };

static bool is_on_path(const struct search *search, uint32_t function)
{
	for (size_t i = 0; i < search->path_count; i++)
		if (search->path[i] == function)
			return true;
	return false;
}

static bool has_python(const struct search *search, uint64_t least)
{
	size_t count = function_table_count(search->rows->functions);

	for (uint32_t i = 0; i < count; i++)
		if (search->functions[i].weight >= least &&
		    function_table_get(search->rows->functions, i)->mark == FUNCTION_PYTHON)
			return true;
	return false;
}

/* The nearest of those above the path with at least this weight; NO_FUNCTION: there is none. */
static uint32_t nearest(const struct search *search, uint64_t least, enum wanted wanted)
{
	size_t count = function_table_count(search->rows->functions);
	uint32_t best = NO_FUNCTION;
	double least_distance = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(search->rows->functions, i);
		double distance;

		if (search->functions[i].weight < least || is_on_path(search, i) ||
		    is_no_place(function) || (wanted >= WANT_NAMED && !function->named) ||
		    (wanted >= WANT_OF_PROGRAM &&
		     (is_entry(function) || is_c_library(function) || is_plumbing(function) ||
		      (search->has_python && plumbing_is_of_interpreter(function)))))
			continue;
		distance = search->functions[i].distance / (double)search->functions[i].weight;
		if (best == NO_FUNCTION || distance < least_distance) {
			best = i;
			least_distance = distance;
		}
	}
	return best;
}

/* What the program calls in the C library, behind which it does as it likes: of those nearer than
 * the nearest function of the program the farthest. */
static uint32_t called_in_library(const struct search *search, uint32_t leaf, uint64_t half)
{
	size_t count = function_table_count(search->rows->functions);
	uint32_t caller = nearest(search, half, WANT_OF_PROGRAM), best = leaf;
	double limit, distance, best_distance = 0;

	if (caller == NO_FUNCTION)
		return leaf;
	limit = search->functions[caller].distance / (double)search->functions[caller].weight;
	for (uint32_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(search->rows->functions, i);

		if (search->functions[i].weight < half || !function->named ||
		    !is_c_library(function) || is_plumbing(function) || is_no_place(function))
			continue;
		distance = search->functions[i].distance / (double)search->functions[i].weight;
		if (distance < limit && distance > best_distance) {
			best = i;
			best_distance = distance;
		}
	}
	return best;
}

/* Callees are found first; each that is added leaves only the stacks that have it. */
static void find_path(struct search *search, uint64_t half)
{
	uint32_t leaf = nearest(search, half, WANT_ANY), function;
	const struct function *what =
		leaf == NO_FUNCTION ? NULL : function_table_get(search->rows->functions, leaf);

	if (what && what->named && is_c_library(what)) {
		function = called_in_library(search, leaf, half);
		if (!is_how_it_waits(function_table_get(search->rows->functions, function)))
			prepend(search, function);
	}
	function = nearest(search, half, WANT_OF_PROGRAM);
	while (function != NO_FUNCTION && search->path_count < ROW_EXPLANATION_FUNCTIONS) {
		prepend(search, function);
		function = nearest(search, search->weight - search->weight / CALLER_MISSES,
				   WANT_OF_PROGRAM);
	}
	if (!search->path_count) {
		function = nearest(search, half, WANT_NAMED);
		function = function == NO_FUNCTION ? leaf : function;
		if (function != NO_FUNCTION &&
		    !is_entry(function_table_get(search->rows->functions, function)) &&
		    !is_how_it_waits(function_table_get(search->rows->functions, function)))
			prepend(search, function);
	}
}

/* The stacks that were asked for; false: out of memory. */
static bool add_stacks(struct search *search, const struct resource_row *row,
		       enum pkbpf_profile_kind kind, unsigned int states,
		       const struct wait_choice *choice)
{
	size_t count;
	const struct row_weight *weights = resource_rows_weights(search->rows, row, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t weight = weight_in_states(&weights[i], states);
		struct stack_left *stack;

		if (weights[i].kind != kind || !weight ||
		    !is_chosen(search->rows, &weights[i], choice))
			continue;
		stack = array_add(&search->stacks);
		if (!stack)
			return false;
		stack->functions =
			resource_rows_stack(search->rows, weights[i].stack.stack, &stack->count);
		stack->weight = weight;
		search->weight += weight;
	}
	return true;
}

struct row_explanation resource_rows_explain(const struct resource_rows *rows,
					     const struct resource_row *const *members,
					     size_t count, enum pkbpf_profile_kind kind,
					     unsigned int states, const struct wait_choice *choice)
{
	_cleanup_(search_done) struct search search = {
		.rows = rows,
		.user_only = kind_ops_of(kind)->explained_by_programs ||
			     (choice && choice->programs_only),
		.functions = calloc(function_table_count(rows->functions) + 1,
				    sizeof(*search.functions)),
	};
	struct row_explanation explanation = {0};
	uint64_t half;

	if (!search.functions)
		return explanation;
	for (size_t i = 0; i < count; i++)
		if (!add_stacks(&search, members[i], kind, states, choice))
			return explanation;
	if (!search.weight)
		return explanation;
	explanation.whole = search.weight;
	half = search.weight / 2 + search.weight % 2;
	count_functions(&search);
	search.has_python = has_python(&search, half);
	if (search.user_only) {
		find_path(&search, half);
	} else {
		uint32_t function = nearest(&search, half, WANT_ANY);

		if (function != NO_FUNCTION)
			prepend(&search, function);
	}
	explanation.weight = search.path_count ? search.weight : 0;
	while (explanation.count < search.path_count) {
		uint32_t function = search.path[search.path_count - 1 - explanation.count];

		explanation.functions[explanation.count++] =
			function_table_get(rows->functions, function);
	}
	return explanation;
}

static uint64_t cut(const struct row_weight *item, uint64_t time_ns,
		    const struct wait_choice *choice)
{
	uint64_t most_ns;

	if (!choice || !choice->cut_ns ||
	    __builtin_mul_overflow(item->stack.count, choice->cut_ns, &most_ns))
		return time_ns;
	return time_ns < most_ns ? time_ns : most_ns;
}

struct wait_sum resource_rows_waits_in(const struct resource_rows *rows,
				       const struct resource_row *row, enum pkbpf_wait_state state,
				       const struct wait_choice *choice)
{
	struct wait_sum sum = {0};
	size_t count;
	const struct row_weight *weights = resource_rows_weights(rows, row, &count);

	for (size_t i = 0; i < count; i++) {
		const struct row_weight *item = &weights[i];

		if (item->kind != PKBPF_PROFILE_OFFCPU || !item->state_weight[state] ||
		    !is_chosen(rows, item, choice))
			continue;
		sum.time_ns += cut(item, item->state_weight[state], choice);
		sum.count += item->stack.count;
	}
	return sum;
}
