// SPDX-License-Identifier: BSD-2-Clause
/* Adds up samples of wake-ups by who woke. */
#include "finding/waker.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "finding/finding_rules.h"

#define DEPTH	   256
#define CANDIDATES 64
/* Functions of the program, from the one that waits or wakes: itself, its caller, and one more. */
#define NEAR 3
/* Who woke less than this part of the waiters is no reason for their queue. */
#define CONVOY_PART 12

struct candidate {
	uint32_t pid;
	char comm[PKBPF_COMM_SIZE + 1];
	char place[WAKER_PLACE_SIZE];
	uint32_t function;
	uint64_t value_ns;
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Machinery of runtimes is below all that runs in them. Names of its own that a program has there
 * come from perf maps or from the interpreter, in modules of other names. */
static bool is_of_runtime(const struct function *function)
{
	static const char *const modules[] = {
		"libc.", "libc-",   "libpthread", "ld-",    "libjvm.", "libpython",   "python",
		"node",	 "libnode", "libstdc++",  "libc++", "libgomp", "libcoreclr.", "libruby"};
	static const char *const names[] = {"main",
					    "_start",
					    "std::",
					    "<std::",
					    "core::",
					    "<core::",
					    "<alloc::",
					    "tokio::runtime",
					    "java.lang.Thread",
					    "java.util.concurrent.",
					    "py::_bootstrap"};

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (begins_with(function->module, modules[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (i < 2 ? !strcmp(function->name, names[i])
			  : begins_with(function->name, names[i]))
			return true;
	return false;
}

bool waker_is_of_program(const struct function *function)
{
	return function->named && function->mark != FUNCTION_KERNEL &&
	       function->mark != FUNCTION_TRUNCATED && !is_of_runtime(function);
}

static bool by_timer(const struct analysis *analysis, const uint32_t *functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name =
			function_table_get(analysis->rows->functions, functions[i])->name;

		if (!strcmp(name, "hrtimer_wakeup") || !strcmp(name, "__hrtimer_run_queues") ||
		    !strcmp(name, "hrtimer_interrupt") || !strcmp(name, "process_timeout") ||
		    !strcmp(name, "call_timer_fn"))
			return true;
	}
	return false;
}

/* "caller > function", of the program, as near to the leaf as there are. */
static void say_place(const struct analysis *analysis, const uint32_t *functions, size_t count,
		      struct candidate *candidate)
{
	const char *caller = NULL, *name = NULL;

	candidate->function = WAKER_NO_FUNCTION;
	for (size_t i = 0; i < count && !caller; i++) {
		const struct function *function =
			function_table_get(analysis->rows->functions, functions[i]);

		if (!waker_is_of_program(function) || (name && !strcmp(function->name, name)))
			continue;
		if (name) {
			caller = function->name;
		} else {
			name = function->name;
			candidate->function = functions[i];
		}
	}
	if (name)
		snprintf(candidate->place, sizeof(candidate->place), "%s%s%s", caller ? caller : "",
			 caller ? " > " : "", name);
}

/* The innermost functions of the program; returns how many, at most NEAR. */
static size_t near_functions(const struct analysis *analysis, const uint32_t *functions,
			     size_t count, uint32_t ret_near[NEAR])
{
	size_t found = 0;

	for (size_t i = 0; i < count && found < NEAR; i++)
		if (waker_is_of_program(
			    function_table_get(analysis->rows->functions, functions[i])) &&
		    (!found || ret_near[found - 1] != functions[i]))
			ret_near[found++] = functions[i];
	return found;
}

/* Whether one function takes what another thread gives back in it. What is farther out may be the
 * frame in which a pool of threads runs whatever it is given. */
static bool have_a_function_in_common(const struct analysis *analysis, const uint32_t *a,
				      size_t a_count, const uint32_t *b, size_t b_count)
{
	uint32_t near_a[NEAR], near_b[NEAR];
	size_t in_a = near_functions(analysis, a, a_count, near_a),
	       in_b = near_functions(analysis, b, b_count, near_b);

	for (size_t i = 0; i < in_a; i++)
		for (size_t j = 0; j < in_b; j++)
			if (near_a[i] == near_b[j])
				return true;
	return false;
}

static bool has_names(const struct analysis *analysis, const uint32_t *functions, size_t count)
{
	uint32_t near[NEAR];

	return near_functions(analysis, functions, count, near) > 0;
}

static void add_candidate(struct candidate *candidates, size_t *count,
			  const struct candidate *candidate)
{
	for (size_t i = 0; i < *count; i++) {
		if (candidates[i].pid != candidate->pid ||
		    strcmp(candidates[i].place, candidate->place) != 0)
			continue;
		candidates[i].value_ns += candidate->value_ns;
		return;
	}
	if (*count < CANDIDATES)
		candidates[(*count)++] = *candidate;
}

struct below {
	const struct analysis *analysis;
	uint64_t classes;
	uint32_t function;
	uint64_t cpu, waits_ns;
};

static void add_below(void *context, const struct row_weight *weight)
{
	struct below *below = context;
	const uint32_t *functions;
	size_t count;

	if (weight->kind == PKBPF_PROFILE_OFFCPU &&
	    below->classes & 1ULL << below->analysis->classes[weight->stack.stack])
		return;
	functions = resource_rows_stack(below->analysis->rows, weight->stack.stack, &count);
	for (size_t i = 0; i < count; i++) {
		if (functions[i] != below->function)
			continue;
		if (weight->kind == PKBPF_PROFILE_CPU)
			below->cpu += weight->stack.weight;
		else
			below->waits_ns += weight->stack.weight;
		return;
	}
}

/* Time below a function, apart from the waits in question: who gives a lock back has had it there.
 */
static uint64_t time_below(const struct analysis *analysis, const struct activity *activity,
			   uint64_t classes, uint32_t function)
{
	struct below below = {.analysis = analysis, .classes = classes, .function = function};
	uint32_t frequency = profile_info_read(analysis->rows->profile)->frequency_hz;

	activity_each_stack(analysis, activity, PKBPF_PROFILE_CPU, add_below, &below);
	activity_each_stack(analysis, activity, PKBPF_PROFILE_OFFCPU, add_below, &below);
	return below.waits_ns + (frequency ? below.cpu * (NS_PER_SECOND / frequency) : 0);
}

/*
 * In a queue for a lock, each waiter wakes the next one: who has held it for long woke only the
 * first. So of those that woke a good part, it is the one that spends most time where it gives the
 * lock back.
 */
static void choose(const struct analysis *analysis, const struct activity *activity,
		   uint64_t classes, const struct candidate *candidates, size_t count,
		   struct wakers *wakers)
{
	const struct candidate *chosen = NULL;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t held_ns =
			candidates[i].function == WAKER_NO_FUNCTION
				? 0
				: time_below(analysis, activity, classes, candidates[i].function);

		if (candidates[i].value_ns < wakers->value_ns / CONVOY_PART)
			continue;
		if (chosen && (held_ns < most_ns ||
			       (held_ns == most_ns && candidates[i].value_ns <= chosen->value_ns)))
			continue;
		chosen = &candidates[i];
		most_ns = held_ns;
	}
	if (!chosen)
		return;
	wakers->pid = chosen->pid;
	wakers->most_ns = chosen->value_ns;
	wakers->function = chosen->function;
	memcpy(wakers->comm, chosen->comm, sizeof(wakers->comm));
	memcpy(wakers->place, chosen->place, sizeof(wakers->place));
}

static size_t stack_of(const struct analysis *analysis, uint32_t stack, uint32_t functions[DEPTH])
{
	size_t count = function_table_stack(analysis->rows->functions, analysis->rows->profile,
					    stack, functions, DEPTH);

	return count < DEPTH ? count : DEPTH;
}

enum wait_class waker_class(const struct analysis *analysis, const struct relation *relation)
{
	uint32_t functions[DEPTH];
	size_t count = stack_of(analysis, relation->stack, functions);

	return wait_class_of_functions(analysis->rows, functions, count);
}

struct wakers wakers_of(const struct analysis *analysis, const struct activity *activity,
			uint64_t classes)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	struct candidate candidates[CANDIDATES];
	struct wakers wakers = {.function = WAKER_NO_FUNCTION};
	uint32_t waiter[DEPTH], functions[DEPTH];
	size_t candidate_count = 0;

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);
		struct candidate candidate = {.pid = relation->other_pid,
					      .value_ns = relation->value};
		size_t depth, count;
		bool is_own;

		if (relation->kind != PKBPF_RELATION_WAKER ||
		    relation->stack == RELATION_NO_STACK ||
		    (relation->other_stack == RELATION_NO_STACK && relation->other_pid) ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		depth = stack_of(analysis, relation->stack, waiter);
		if (!(classes & 1ULL << wait_class_of_functions(analysis->rows, waiter, depth)))
			continue;
		/* An interrupt on an idle CPU: what wakes from a futex there is a timer. */
		if (relation->other_stack == RELATION_NO_STACK) {
			wakers.count += relation->count;
			wakers.value_ns += relation->value;
			wakers.timer_ns += relation->value;
			continue;
		}
		count = stack_of(analysis, relation->other_stack, functions);
		wakers.count += relation->count;
		wakers.value_ns += relation->value;
		if (by_timer(analysis, functions, count)) {
			wakers.timer_ns += relation->value;
			continue;
		}
		is_own = activity_has_pid(activity, relation->other_pid);
		wakers.own_ns += is_own ? relation->value : 0;
		if (is_own &&
		    (!has_names(analysis, waiter, depth) || !has_names(analysis, functions, count)))
			wakers.nameless_ns += relation->value;
		if (is_own && have_a_function_in_common(analysis, waiter, depth, functions, count))
			wakers.sibling_ns += relation->value;
		memcpy(candidate.comm, relation->other_comm, sizeof(candidate.comm));
		say_place(analysis, functions, count, &candidate);
		add_candidate(candidates, &candidate_count, &candidate);
	}
	choose(analysis, activity, classes, candidates, candidate_count, &wakers);
	return wakers;
}
