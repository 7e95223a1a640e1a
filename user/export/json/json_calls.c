// SPDX-License-Identifier: BSD-2-Clause
/* Writes the calls of chosen functions by the stacks that called them. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/json/json_sections.h"

#define STACKS_MAX 2000 /* those with most time; the rest is counted */

static int by_weight(const void *a, const void *b)
{
	const struct profile_row *one = *(const struct profile_row *const *)a;
	const struct profile_row *other = *(const struct profile_row *const *)b;

	if (one->weight != other->weight)
		return one->weight < other->weight ? 1 : -1;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return one < other ? -1 : 1;
}

static void write_stack(struct json_writer *writer, const struct resource_rows *rows,
			const struct profile_row *row)
{
	const struct profile *profile = rows->profile;
	const struct process *process =
		process_table_by_id(profile_processes(profile), row->process);
	uint32_t functions[JSON_FRAMES_MAX];
	size_t count = function_table_stack(rows->functions, profile, row->stack, functions,
					    JSON_FRAMES_MAX);

	json_writer_object_begin(writer, NULL);
	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	json_writer_string(writer, "comm", profile_string(profile, row->comm));
	json_writer_u64(writer, "calls", row->count);
	json_writer_u64(writer, "total_ns", row->weight);
	json_writer_u64(writer, "max_ns", row->max);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

int json_calls(struct json_writer *writer, const struct resource_rows *rows)
{
	size_t count, chosen_count = 0;
	const struct profile_row *all = profile_rows(rows->profile, &count);
	_cleanup_free_ const struct profile_row **chosen = calloc(count + 1, sizeof(*chosen));

	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (all[i].kind == PKBPF_PROFILE_CALLS)
			chosen[chosen_count++] = &all[i];
	qsort(chosen, chosen_count, sizeof(*chosen), by_weight);
	json_writer_array_begin(writer, "calls_by_stack");
	for (size_t i = 0; i < chosen_count && i < STACKS_MAX; i++)
		write_stack(writer, rows, chosen[i]);
	json_writer_array_end(writer);
	if (chosen_count > STACKS_MAX)
		json_writer_u64(writer, "calls_by_stack_left_out", chosen_count - STACKS_MAX);
	return 0;
}
