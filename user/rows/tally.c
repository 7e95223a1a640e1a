// SPDX-License-Identifier: BSD-2-Clause
// Adds up what a report shows about one profile kind.
#include "rows/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "profile/stack_table.h"

/* What is needed only while adding up. */
struct tally_work {
	const struct profile *profile;
	struct tally *tally;
	ARRAY_OF(struct tally_process) processes;
	ARRAY_OF(struct tally_stack) stacks; /* number = id of the sequence in keys */
	struct stack_table *keys;	     /* comm, then the stack of functions */
	struct hash_map process_numbers;     /* process -> number in processes */
	struct hash_map process_functions;   /* process number, function -> self weight */
	struct hash_map stack_processes;     /* stack number, process -> seen */
	ARRAY_OF(uint32_t) functions;	     /* of the row at hand, leaf first */
	ARRAY_OF(size_t) last_row;	     /* per function: 1 + the row that counted it last */
	bool *frame_seen;
	struct hash_map unnamed_seen; /* by what is known of an address without a name */
};

static void work_done(struct tally_work *work)
{
	array_free(&work->processes);
	array_free(&work->stacks);
	stack_table_free(work->keys);
	hash_map_done(&work->process_numbers);
	hash_map_done(&work->process_functions);
	hash_map_done(&work->stack_processes);
	array_free(&work->functions);
	array_free(&work->last_row);
	free(work->frame_seen);
	hash_map_done(&work->unnamed_seen);
}

/* Where the frame counts when it has no name; NULL when it has one. */
static struct tally_unnamed *unnamed_of(struct tally_work *work, uint32_t number)
{
	const struct frame *frame = profile_frame(work->profile, number);

	if (frame->location.space == FRAME_TRUNCATED || frame->symbol.result == SYMBOL_FOUND ||
	    frame->symbol.flags & SYMBOL_IS_GLUE ||
	    (unsigned int)frame->symbol.result >= SYMBOL_RESULT_COUNT)
		return NULL;
	return &work->tally->unnamed[frame->symbol.result];
}

/* Frames may differ where nothing that is shown of them does: called from there, or interrupted
 * there. */
static uint64_t reading_of(const struct frame *frame)
{
	const struct symbol *symbol = &frame->symbol;
	const char *module = symbol->module ? symbol->module : "";
	const char *build_id = symbol->build_id ? symbol->build_id : "";
	uint64_t words[4] = {
		(uint64_t)frame->location.space << 32 | symbol->flags,
		symbol->module_address,
		symbol->function_address,
		hash_bytes(module, strlen(module), 0),
	};

	return hash_bytes(words, sizeof(words), hash_bytes(build_id, strlen(build_id), 0));
}

static bool count_unnamed(struct tally_work *work, uint32_t number)
{
	struct tally_unnamed *unnamed;
	bool is_new;

	if (work->frame_seen[number])
		return true;
	work->frame_seen[number] = true;
	unnamed = unnamed_of(work, number);
	if (!unnamed)
		return true;
	if (!hash_map_get(&work->unnamed_seen, reading_of(profile_frame(work->profile, number)), 0,
			  &is_new))
		return false;
	unnamed->addresses += is_new;
	return true;
}

static bool collect_functions(struct tally_work *work, const struct profile_row *row)
{
	size_t frame_count, function_count;
	const uint32_t *frames = profile_stack(work->profile, row->stack, &frame_count);

	work->functions.count = 0;
	for (size_t i = 0; i < frame_count; i++) {
		const uint32_t *list =
			function_table_frame(work->tally->functions, frames[i], &function_count);

		if (!count_unnamed(work, frames[i]))
			return false;
		for (size_t j = 0; j < function_count; j++) {
			uint32_t *item = array_add(&work->functions);

			if (!item)
				return false;
			*item = list[j];
		}
	}
	if (frame_count) {
		struct tally_unnamed *unnamed = unnamed_of(work, frames[0]);

		if (unnamed)
			unnamed->self_weight += row->weight;
	}
	return true;
}

/* The function that a stack is in: the program's own. Of a Python program that is Python's
 * innermost one, whatever native code it calls. NULL: the stack has no functions. */
static const uint32_t *own_function(const struct tally_work *work, bool is_python_only)
{
	size_t count = work->functions.count;
	size_t at =
		function_table_find_python(work->tally->functions, work->functions.items, count);

	if (at < count)
		return &work->functions.items[at];
	return is_python_only || !count ? NULL : &work->functions.items[0];
}

/* Of equal weights the first name is told, in whatever order rows have come. */
static bool is_hotter_name(const struct tally_work *work, uint64_t weight,
			   const struct tally_process *process, uint32_t function)
{
	const struct function_table *functions = work->tally->functions;

	if (process->hottest_function == TALLY_NO_FUNCTION)
		return true;
	return weight == process->hottest_weight &&
	       strcmp(function_table_get(functions, function)->name,
		      function_table_get(functions, process->hottest_function)->name) < 0;
}

static bool add_to_process(struct tally_work *work, const struct profile_row *row)
{
	bool added;
	uint64_t *number, *self;
	struct tally_process *process;
	const uint32_t *own;

	number = hash_map_get(&work->process_numbers, row->process, work->processes.count, &added);
	if (!number)
		return false;
	if (added) {
		process = array_add(&work->processes);
		if (!process)
			return false;
		process->process = row->process;
		process->hottest_function = TALLY_NO_FUNCTION;
	}
	process = &work->processes.items[*number];
	process->count += row->count;
	process->weight += row->weight;
	own = own_function(work, false);
	if (!own)
		return true;
	self = hash_map_get(&work->process_functions, *number << 32 | *own, 0, &added);
	if (!self)
		return false;
	*self += row->weight;
	/* Weights only grow, so the largest one was the largest when it was last added to. */
	if (*self > process->hottest_weight || is_hotter_name(work, *self, process, *own)) {
		process->hottest_weight = *self;
		process->hottest_function = *own;
	}
	return true;
}

static void add_to_functions(struct tally_work *work, const struct profile_row *row, size_t number)
{
	struct tally_function *functions = work->tally->by_self;
	const uint32_t *python = own_function(work, true);

	if (python)
		functions[*python].python += row->weight;
	if (!work->functions.count)
		return;
	functions[work->functions.items[0]].self += row->weight;
	array_foreach(&work->functions, function) {
		if (work->last_row.items[*function] == number + 1)
			continue;
		work->last_row.items[*function] = number + 1;
		functions[*function].total += row->weight;
	}
}

static bool add_to_stacks(struct tally_work *work, const struct profile_row *row)
{
	struct tally_stack *stack;
	uint32_t *item, key;
	bool added;

	/* The comm goes behind the functions, so that they need not move. */
	item = array_add(&work->functions);
	if (!item)
		return false;
	*item = row->comm;
	key = stack_table_add(work->keys, work->functions.items, work->functions.count);
	work->functions.count--;
	if (key == STACK_TABLE_NONE)
		return false;
	if (key == work->stacks.count) {
		stack = array_add(&work->stacks);
		if (!stack)
			return false;
		stack->comm = row->comm;
		stack->process = row->process;
		stack->stack = stack_table_add(work->tally->function_stacks, work->functions.items,
					       work->functions.count);
		if (stack->stack == STACK_TABLE_NONE)
			return false;
	}
	stack = &work->stacks.items[key];
	stack->weight += row->weight;
	if (!hash_map_get(&work->stack_processes, (uint64_t)key << 32 | row->process, 1, &added))
		return false;
	stack->process_count += added;
	return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_processes(const void *left, const void *right)
{
	const struct tally_process *a = left, *b = right;
	int order = compare_u64(a->weight, b->weight);

	return order ? order : a->process < b->process ? -1 : a->process > b->process;
}

/* Equal weights are ordered by name: ids depend on the order of arrival, reports shall not. */
static int compare_names(const struct tally_function *a, const struct tally_function *b,
			 const struct function_table *functions)
{
	const struct function *x = function_table_get(functions, a->function);
	const struct function *y = function_table_get(functions, b->function);
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->module, y->module);
}

static int compare_self(const void *left, const void *right, void *functions)
{
	const struct tally_function *a = left, *b = right;
	int order = compare_u64(a->self, b->self);

	if (!order)
		order = compare_u64(a->total, b->total);
	return order ? order : compare_names(a, b, functions);
}

static int compare_total(const void *left, const void *right, void *functions)
{
	const struct tally_function *a = left, *b = right;
	int order = compare_u64(a->total, b->total);

	if (!order)
		order = compare_u64(a->self, b->self);
	return order ? order : compare_names(a, b, functions);
}

static int compare_python(const void *left, const void *right, void *functions)
{
	const struct tally_function *a = left, *b = right;
	int order = compare_u64(a->python, b->python);

	return order ? order : compare_total(left, right, functions);
}

static int compare_stacks(const void *left, const void *right)
{
	const struct tally_stack *a = left, *b = right;
	int order = compare_u64(a->weight, b->weight);

	return order ? order : a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Keeps the functions that have weight of this kind and names that are functions. */
static void sort_functions(struct tally *tally)
{
	size_t kept = 0;

	for (size_t i = 0; i < tally->function_count; i++) {
		const struct function *function = function_table_get(tally->functions, (uint32_t)i);

		/* Our own programs are no function of anybody. */
		if (!tally->by_self[i].total || function->mark == FUNCTION_TRUNCATED ||
		    (function->mark == FUNCTION_KERNEL &&
		     !strcmp(function->name, PROFILE_OWN_NAME)))
			continue;
		tally->by_self[kept] = tally->by_self[i];
		tally->by_self[kept].function = (uint32_t)i;
		kept++;
	}
	tally->function_count = kept;
	if (!kept)
		return;
	memcpy(tally->by_total, tally->by_self, kept * sizeof(*tally->by_total));
	memcpy(tally->by_python, tally->by_self, kept * sizeof(*tally->by_python));
	qsort_r(tally->by_self, kept, sizeof(*tally->by_self), compare_self, tally->functions);
	qsort_r(tally->by_total, kept, sizeof(*tally->by_total), compare_total, tally->functions);
	qsort_r(tally->by_python, kept, sizeof(*tally->by_python), compare_python,
		tally->functions);
}

static bool work_init(struct tally_work *work, bool lines)
{
	struct function_table_options options = {.lines = lines, .merge = true};
	struct tally *tally = work->tally;

	work->keys = stack_table_new();
	tally->function_stacks = stack_table_new();
	tally->functions = function_table_new(work->profile, &options);
	if (!work->keys || !tally->function_stacks || !tally->functions)
		return false;
	tally->function_count = function_table_count(tally->functions);
	/* One more, so that an empty profile is no failure. */
	tally->by_self = calloc(tally->function_count + 1, sizeof(*tally->by_self));
	tally->by_total = calloc(tally->function_count + 1, sizeof(*tally->by_total));
	tally->by_python = calloc(tally->function_count + 1, sizeof(*tally->by_python));
	work->frame_seen =
		calloc(profile_frame_count(work->profile) + 1, sizeof(*work->frame_seen));
	if (!tally->by_self || !tally->by_total || !tally->by_python || !work->frame_seen ||
	    !array_reserve(&work->last_row, tally->function_count + 1))
		return false;
	memset(work->last_row.items, 0,
	       (tally->function_count + 1) * sizeof(*work->last_row.items));
	return true;
}

int tally_init(struct tally *tally, const struct profile *profile, enum pkbpf_profile_kind kind,
	       bool lines)
{
	_cleanup_(work_done) struct tally_work work = {.profile = profile, .tally = tally};
	const struct profile_row *rows;
	size_t row_count;

	*tally = (struct tally){.kind = kind};
	if (!work_init(&work, lines))
		goto no_memory;
	rows = profile_rows(profile, &row_count);
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].kind != kind)
			continue;
		if (!collect_functions(&work, &rows[i]) || !add_to_process(&work, &rows[i]) ||
		    !add_to_stacks(&work, &rows[i]))
			goto no_memory;
		add_to_functions(&work, &rows[i], i);
		tally->count += rows[i].count;
		tally->weight += rows[i].weight;
	}
	sort_functions(tally);
	if (work.processes.count)
		qsort(work.processes.items, work.processes.count, sizeof(*work.processes.items),
		      compare_processes);
	if (work.stacks.count)
		qsort(work.stacks.items, work.stacks.count, sizeof(*work.stacks.items),
		      compare_stacks);
	tally->process_count = work.processes.count;
	tally->processes = take_pointer(work.processes.items);
	tally->stack_count = work.stacks.count;
	tally->stacks = take_pointer(work.stacks.items);
	return 0;
no_memory:
	tally_done(tally);
	return -ENOMEM;
}

void tally_done(struct tally *tally)
{
	free(tally->processes);
	free(tally->by_self);
	free(tally->by_total);
	free(tally->by_python);
	free(tally->stacks);
	function_table_free(tally->functions);
	stack_table_free(tally->function_stacks);
	*tally = (struct tally){0};
}

const uint32_t *tally_stack_functions(const struct tally *tally, uint32_t stack, size_t *ret_count)
{
	return stack_table_get(tally->function_stacks, stack, ret_count);
}
