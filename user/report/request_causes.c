// SPDX-License-Identifier: BSD-2-Clause
#include "report/request_causes.h"

#include <stdlib.h>
#include <string.h>

#include "finding/wait_class.h"
#include "report/path_text.h"

#define FRAMES_MAX 256
/* Functions of a place. */
#define PLACE_MAX 4

/* Of deeper stacks, the innermost functions. */
static size_t read_stack(const struct resource_rows *rows, uint32_t stack,
			 uint32_t functions[FRAMES_MAX])
{
	size_t count =
		function_table_stack(rows->functions, rows->profile, stack, functions, FRAMES_MAX);

	return count < FRAMES_MAX ? count : FRAMES_MAX;
}

static const char *cause_of(const struct resource_rows *rows, uint32_t stack)
{
	uint32_t functions[FRAMES_MAX];
	size_t count = read_stack(rows, stack, functions);

	return wait_class_row(wait_class_of_functions(rows, functions, count))->cause;
}

static int compare_causes(const void *left, const void *right)
{
	const struct request_cause *a = left, *b = right;

	return a->wait_ns != b->wait_ns ? (a->wait_ns > b->wait_ns ? -1 : 1) : 0;
}

size_t request_causes(const struct resource_rows *rows, const struct slow_request *request,
		      struct request_cause causes[PKBPF_CONTEXT_REASONS])
{
	size_t count = 0, at;

	for (size_t i = 0; i < PKBPF_CONTEXT_REASONS; i++) {
		const struct request_reason *reason = &request->reasons[i];
		const char *text;

		if (reason->stack == REQUEST_NO_STACK || !reason->wait_ns)
			continue;
		text = cause_of(rows, reason->stack);
		for (at = 0; at < count && strcmp(causes[at].text, text) != 0; at++)
			;
		if (at == count)
			causes[count++] = (struct request_cause){.text = text};
		causes[at].wait_ns += reason->wait_ns;
		if (reason->wait_ns > causes[at].stack_ns) {
			causes[at].stack = reason->stack;
			causes[at].stack_ns = reason->wait_ns;
		}
	}
	qsort(causes, count, sizeof(causes[0]), compare_causes);
	return count;
}

char *request_cause_place(const struct resource_rows *rows, const struct plumbing *plumbing,
			  const struct request_cause *cause, size_t columns)
{
	uint32_t functions[FRAMES_MAX];
	struct path_step steps[PLACE_MAX];
	size_t taken = 0, count = plumbing_remove(plumbing, functions,
						  read_stack(rows, cause->stack, functions));

	/* Leaf first; of a path the root comes first. */
	for (size_t i = count < PLACE_MAX ? count : PLACE_MAX; i > 0; i--) {
		const struct function *function =
			function_table_get(rows->functions, functions[i - 1]);

		if (function->named)
			path_step_function(&steps[taken++], function, false);
	}
	return taken ? path_text(steps, taken, columns) : NULL;
}
