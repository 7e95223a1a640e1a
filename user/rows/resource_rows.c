// SPDX-License-Identifier: BSD-2-Clause
/* Joins the kernel's account with what was recorded of the same processes, grouped as asked. */
#include "rows/resource_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/stack_table.h"
#include "rows/resource_rows_work.h"

/* /proc/stat counts idle time in ticks of 10 ms: in ten of them it is a tenth off at most. */
#define BUSY_LEAST_NS (100 * NS_PER_MS)

const char *const rows_grouping_names[ROWS_BY_COUNT + 1] = {
	[ROWS_BY_PROCESS] = "process",	   [ROWS_BY_THREAD] = "thread",
	[ROWS_BY_CONTAINER] = "container", [ROWS_BY_COMM] = "comm",
	[ROWS_BY_NAME] = "name",	   [ROWS_BY_REGION] = "region",
	[ROWS_BY_LABEL] = "label",
};

const char *rows_grouping_name(enum rows_by by)
{
	return (unsigned int)by < ROWS_BY_COUNT ? rows_grouping_names[by] : "?";
}

static void work_done(struct rows_work *work)
{
	array_free(&work->items);
	array_free(&work->row_of_usage);
	hash_map_done(&work->row_of_process);
	hash_map_done(&work->row_of_thread);
	hash_map_done(&work->row_of_name);
	string_pool_free(work->names);
	array_free(&work->shares);
	hash_map_done(&work->function_stacks);
	hash_map_done(&work->gpu_stacks);
	hash_map_done(&work->weights);
	array_free(&work->sums);
	array_free(&work->functions);
}

/*
 * What is neither idle nor stolen. Kernels that stop the tick on idle CPUs know to the nanosecond
 * how long those were idle, but busy only in whole ticks. What runs between two of them goes
 * unseen, up to a fifth on a machine that is awake for moments only; where timers end with the
 * tick, it hits what they wake, a tenth too often.
 *
 * Of that, what ran no thread is what is left beside the kernel's counter of all threads' time (not
 * beside the rows, which are sums over threads: whether they are complete can be told by whether
 * all adds up). It cannot be measured where it happens: kernels exist that announce neither
 * interrupts nor switches of the idle task.
 */
static void measure_busy(struct resource_rows *rows, uint32_t cpu_count)
{
	struct resource_machine *machine = &rows->machine;
	uint64_t all_ns = resource_machine_cpu_ns(machine, cpu_count);

	if (all_ns > machine->idle_ns + machine->steal_ns)
		machine->busy_ns = all_ns - machine->idle_ns - machine->steal_ns;
	if (machine->threads_ns &&
	    all_ns > machine->idle_ns + machine->steal_ns + machine->threads_ns)
		rows->no_thread_ns =
			all_ns - machine->idle_ns - machine->steal_ns - machine->threads_ns;
}

static void describe_machine(struct resource_rows *rows, const struct profile *profile)
{
	const struct profile_info *info = profile_info_read(profile);

	rows->profile = profile;
	rows->interval_ns = info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
	rows->machine = resource_usage_machine(profile_resources(profile));
	measure_busy(rows, info->cpu_count);
	rows->missing_threads = resource_usage_missing(profile_resources(profile));
	rows->busy_percent = -1;
	if (rows->machine.known && rows->interval_ns >= BUSY_LEAST_NS &&
	    rows->machine.busy_ns + rows->machine.idle_ns + rows->machine.steal_ns)
		rows->busy_percent = 100 * row_ratio((double)rows->machine.busy_ns,
						     (double)rows->machine.busy_ns +
							     (double)rows->machine.idle_ns +
							     (double)rows->machine.steal_ns);
}

int resource_rows_init(struct resource_rows *rows, const struct profile *profile, enum rows_by by)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(work_done) struct rows_work work = {
		.rows = rows, .profile = profile, .usage = profile_resources(profile)};
	int err;

	*rows = (struct resource_rows){.by = by, .total = {.number = TOTAL}};
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		rows->total.stacks[kind].stack = ROW_NO_STACK;
	describe_machine(rows, profile);
	rows->functions = function_table_new(profile, &options);
	rows->stacks = stack_table_new();
	work.names = string_pool_new();
	err = rows->functions && rows->stacks && work.names ? 0 : -ENOMEM;
	if (!err && resource_usage_known(work.usage))
		err = rows_work_add_account(&work);
	err = err ? err : rows_work_add_distributions(&work);
	if (!err && rows_are_of_regions(by))
		err = rows_work_divide_by_region(&work);
	err = err ? err : rows_work_add_stacks(&work);
	if (!err && !rows_are_of_regions(by)) {
		rows_work_add_gpus(&work);
		err = rows_work_add_memory(&work);
	}
	if (!err && rows_are_of_processes(by))
		err = rows_work_add_outermost(&work);
	if (err) {
		resource_rows_done(rows);
		return err;
	}
	rows_work_finish(&work);
	return 0;
}

bool resource_rows_is_group(const struct resource_rows *rows, const struct resource_row *row)
{
	return (rows->by == ROWS_BY_PROCESS || rows->by == ROWS_BY_THREAD) && !row->pid &&
	       (row->processes > 1 || row->threads_seen > 1);
}

void resource_rows_done(struct resource_rows *rows)
{
	free(rows->items);
	free(rows->weights);
	free(rows->places);
	free(rows->shares);
	function_table_free(rows->functions);
	stack_table_free(rows->stacks);
	*rows = (struct resource_rows){0};
}

const uint32_t *resource_rows_stack(const struct resource_rows *rows, uint32_t stack,
				    size_t *ret_count)
{
	return stack_table_get(rows->stacks, stack, ret_count);
}
