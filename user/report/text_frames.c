// SPDX-License-Identifier: BSD-2-Clause
/* Prints the leaf end of single stacks, and whose they are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/text_sections.h"
#include "report/text_table.h"

/* Functions shown of a stack, and how far they are looked for behind those of the kernel. */
#define SHOWN_FUNCTIONS	   12
#define SEARCHED_FUNCTIONS 512

void text_who(struct text_table *table, const struct text_report *report, uint32_t id,
	      const char *comm)
{
	const struct process *process = process_table_by_id(profile_processes(report->profile), id);

	if (process_has_pid(process))
		text_table_cellf(table, "%" PRIu32, process->pid);
	else
		text_table_cell(table, process ? "-" : "?");
	if (!comm)
		comm = process ? process->comm : "";
	text_table_cell(table, comm[0] ? comm : "[unknown]");
}

/* First function outside of the kernel; `count` when there is none. */
static size_t first_of_user(const struct function_table *functions, const uint32_t *ids,
			    size_t count)
{
	size_t first = 0;

	while (first < count && function_is_outside(function_table_get(functions, ids[first])))
		first++;
	return first;
}

void text_leaf_frames(const struct text_report *report, const struct function_table *functions,
		      uint32_t stack, size_t kernel_max, const char *label)
{
	uint32_t ids[SEARCHED_FUNCTIONS];
	size_t total = function_table_stack(functions, report->profile, stack, ids,
					    SEARCHED_FUNCTIONS),
	       written = 0;
	size_t count = total < SEARCHED_FUNCTIONS ? total : SEARCHED_FUNCTIONS;
	size_t user = first_of_user(functions, ids, count);
	const char *gap = "";
	char text[2048] = "";
	size_t i = 0;

	for (; i < count && written < SHOWN_FUNCTIONS; i++, written++) {
		size_t length = strlen(text);
		char clean[160];

		escape_terminal(clean, sizeof(clean), function_table_get(functions, ids[i])->name);
		snprintf(text + length, sizeof(text) - length, "%s%s%s", gap, written ? " <- " : "",
			 clean);
		gap = "";
		if (written + 1 == kernel_max && i + 1 < user && user < count) {
			gap = " <- ...";
			i = user - 1;
		}
	}
	if (i < count)
		strncat(text, " <- ...", sizeof(text) - strlen(text) - 1);
	text_wrap(report->out, report->width, label, 12, written ? text : "[no stack]");
}
