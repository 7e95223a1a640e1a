// SPDX-License-Identifier: BSD-2-Clause
/* Adds the kernel's account of CPU time, memory and storage to the rows. */
#include <errno.h>
#include <stdio.h>

#include "profile/process_age.h"
#include "rows/resource_rows_work.h"

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	const struct row_part *part;

	row->known |= ROW_HAS_USAGE;
	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (part->add_used)
			part->add_used(row, used);
}

/* Who calls exec goes on under the number of its process; the other threads exited. */
static bool is_new_thread(const struct rows_work *work, const struct resource_thread *thread)
{
	struct resource_process process = resource_usage_process(work->usage, thread->process);

	return thread->started_inside || (thread->tid && thread->tid == process.pid &&
					  process_is_new(work->profile, &process));
}

static void add_process(const struct rows_work *work, struct resource_row *row,
			const struct resource_process *process)
{
	const struct row_part *part;

	row->processes += process->processes;
	row->threads += process->threads;
	row->threads_seen += process->threads_seen;
	resource_row_add_life(row, process_is_new(work->profile, process), process->end_ns,
			      rows_work_lifetime_ns(work, process->start_ns, process->end_ns));
	/* Nobody read the last numbers of one that stopped being a target by its name or cgroup. */
	if (process->threads_counted)
		add_used(row, &process->used);
	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (part->add_process)
			part->add_process(row, process);
}

/* Of some it is only known that they might have become targets. */
static bool is_told(const struct resource_process *process)
{
	return !process->pid || process->threads_seen;
}

/* Not by the name of a group: a process may call itself the same. */
static int add_interrupts(struct rows_work *work)
{
	struct resource_counters used = {.run_ns = work->rows->no_thread_ns,
					 .system_ns = work->rows->no_thread_ns};
	struct resource_row *row;
	uint32_t number;

	if (!used.run_ns)
		return 0;
	number = rows_work_new_row(work);
	if (number == NO_ROW)
		return -ENOMEM;
	row = &work->items.items[number];
	row->no_process = true;
	row->started_inside = row->ended_inside = false;
	snprintf(work->rows->by == ROWS_BY_CONTAINER ? row->container : row->name, ROW_NAME_SIZE,
		 ROW_INTERRUPTS);
	add_used(row, &used);
	add_used(&work->rows->total, &used);
	return 0;
}

static int add_processes(struct rows_work *work)
{
	size_t count = resource_usage_process_count(work->usage);

	/* Rows are large: moving them as they become more costs a tenth of making them. */
	if (!array_reserve(&work->row_of_usage, count) ||
	    (work->rows->by == ROWS_BY_PROCESS && !array_reserve(&work->items, count)))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct resource_process process = resource_usage_process(work->usage, i);
		uint32_t *slot = array_add(&work->row_of_usage);

		if (!slot)
			return -ENOMEM;
		*slot = NO_ROW;
		if (!is_told(&process))
			continue;
		*slot = rows_work_process_row(work, process.pid, process.comm, process.cgroup_id);
		if (*slot == NO_ROW)
			return -ENOMEM;
		add_process(work, &work->rows->total, &process);
		if (rows_are_of_processes(work->rows->by))
			add_process(work, &work->items.items[*slot], &process);
	}
	return 0;
}

static int add_threads(struct rows_work *work)
{
	for (size_t i = 0; i < resource_usage_thread_count(work->usage); i++) {
		struct resource_thread thread;
		uint32_t number;

		if (!resource_usage_thread(work->usage, i, &thread))
			continue;
		/* Several that exited, as what has no thread, are told with their process. */
		number = work->row_of_usage.items[thread.process];
		if (thread.tid)
			number = rows_work_thread_row(work, thread.process, thread.tid, number,
						      thread.comm);
		if (number == NO_ROW)
			return -ENOMEM;
		work->items.items[number].threads_seen += thread.threads;
		work->items.items[number].threads += !thread.end_ns;
		resource_row_add_life(&work->items.items[number], is_new_thread(work, &thread),
				      thread.end_ns,
				      rows_work_lifetime_ns(work, thread.start_ns, thread.end_ns));
		add_used(&work->items.items[number], &thread.used);
	}
	return 0;
}

int rows_work_add_account(struct rows_work *work)
{
	int err = add_processes(work);

	if (!err && work->rows->by == ROWS_BY_THREAD)
		err = add_threads(work);
	return err ? err : add_interrupts(work);
}
