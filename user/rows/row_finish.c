// SPDX-License-Identifier: BSD-2-Clause
/* What the sums of a row come to, which rows are left out, and in which order the others are
 * told. */
#include <stdlib.h>
#include <string.h>

#include "rows/figure_table.h"
#include "rows/human.h"
#include "rows/resource_rows_work.h"

/* What is added up by process, and lies in regions in parts that nobody knows. */
#define NOT_OF_REGIONS                                                                             \
	(ROW_HAS_KIND(PKBPF_PROFILE_BLOCKIO) | ROW_HAS_KIND(PKBPF_PROFILE_NETWORK) |               \
	 ROW_HAS_KIND(PKBPF_PROFILE_MEMORY) | ROW_HAS_KIND(PKBPF_PROFILE_LIVE))

static void finish_row(const struct rows_work *work, struct resource_row *row)
{
	const struct row_part *part;

	row->known |= profile_info_read(work->profile)->kinds_mask &
		      (ROW_HAS_KIND(PKBPF_PROFILE_KINDS) - 1);
	if (rows_are_of_regions(work->rows->by) && row != &work->rows->total)
		row->known &= ~NOT_OF_REGIONS;
	if (work->rows->interval_ns)
		row->known |= ROW_HAS_INTERVAL;
	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (part->finish)
			part->finish(work->rows, row);
}

/* So many that were asked for are told whatever they did: that may be what somebody wants to
 * know. */
#define ASKED_FOR_MAX 64

static bool was_asked_for(const struct rows_work *work)
{
	return profile_info_read(work->profile)->has_targets && work->items.count <= ASKED_FOR_MAX;
}

/* With threads, rows of processes may hold nothing at all. */
static bool is_nobody(const struct rows_work *work, const struct resource_row *row)
{
	return work->rows->by == ROWS_BY_THREAD && !row->tid && !row->threads_seen;
}

static bool has_activity(const struct row_part *part, const struct resource_row *row)
{
	for (size_t i = 0; i < part->figure_count; i++)
		if (part->figures[i].is_activity && figure_u64(&part->figures[i], row))
			return true;
	return false;
}

static bool is_active(const struct resource_rows *rows, const struct resource_row *row)
{
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++)
		if (has_activity(part, row) || (part->is_active && part->is_active(rows, row)))
			return true;
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (!kind_ops_of(kind)->is_idle && row->kind_weight[kind])
			return true;
	return false;
}

/*
 * What is scarce first: each resource counts as much as it is used up, from 0 (idle) to 1, times
 * the row's part of its use. CPUs are used up as busy as they are, the memory as little of it is
 * available, disks as long as anybody waited for them.
 */
static void score_row(const struct resource_rows *rows, struct resource_row *row)
{
	const struct resource_row *total = &rows->total;
	const struct resource_machine *machine = &rows->machine;
	double disk = row_ratio((double)total->waits.disk_ns + (double)total->blockio.device_ns,
				(double)rows->interval_ns);
	double memory =
		row_ratio((double)machine->memory_bytes - (double)machine->memory_available_bytes,
			  (double)machine->memory_bytes);
	double cpu = rows->busy_percent >= 0 ? rows->busy_percent / 100 : 1;

	row->score =
		(cpu > 0.01 ? cpu : 0.01) *
			row_ratio((double)row->cpu.total_ns, (double)total->cpu.total_ns) +
		(disk < 1 ? disk : 1) *
			row_ratio((double)row->waits.disk_ns + (double)row->blockio.device_ns,
				  (double)total->waits.disk_ns + (double)total->blockio.device_ns) +
		/* Memory that is merely held hurts nobody until little is left. */
		(memory > 0.9 ? memory : 0) *
			row_ratio((double)row->memory.rss_bytes, (double)total->memory.rss_bytes);
}

static int compare_rows(const void *left, const void *right)
{
	const struct resource_row *a = left, *b = right;

	if (a->is_quiet != b->is_quiet)
		return a->is_quiet ? 1 : -1;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->waits.wall_ns != b->waits.wall_ns)
		return a->waits.wall_ns > b->waits.wall_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return strcmp(a->container, b->container) ? strcmp(a->container, b->container)
						  : strcmp(a->name, b->name);
}

/* By row: what is asked about each row shall not look at all of them. */
static int compare_weights(const void *left, const void *right)
{
	const struct row_weight *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->stack.stack < b->stack.stack ? -1 : a->stack.stack > b->stack.stack;
}

static void keep_rows(struct rows_work *work)
{
	struct resource_rows *rows = work->rows;
	bool show_all = was_asked_for(work);

	array_foreach(&work->items, row) {
		finish_row(work, row);
		score_row(rows, row);
		row->is_quiet = !is_active(rows, row);
		if (row->is_quiet && is_nobody(work, row))
			continue;
		row->is_quiet = row->is_quiet && !show_all;
		if (row->is_quiet)
			rows->quiet_processes +=
				rows->by == ROWS_BY_THREAD ? row->threads_seen : row->processes;
		rows->count += !row->is_quiet;
		work->items.items[rows->all_count++] = *row;
	}
	rows->items = work->items.items;
	work->items.items = NULL;
	work->items.count = work->items.capacity = 0;
	if (rows->all_count)
		qsort(rows->items, rows->all_count, sizeof(*rows->items), compare_rows);
}

/* What the CPUs were busy with beside what is in the account. */
static uint64_t busy_beside(const struct resource_rows *rows)
{
	uint64_t used_ns = rows->total.cpu.total_ns;

	if (rows->busy_percent < 0 || !(rows->total.known & ROW_HAS_USAGE))
		return UINT64_MAX;
	return rows->machine.busy_ns > used_ns ? rows->machine.busy_ns - used_ns : 0;
}

/* Some kernels hide process 1 from BPF programs, and when it leaves a CPU: it seems to stay there
 * until it is seen again. */
static void add_estimates(struct rows_work *work)
{
	struct resource_rows *rows = work->rows;
	uint64_t most_ns = busy_beside(rows);

	array_foreach(&work->items, row) {
		if (row->known & ROW_HAS_USAGE)
			continue;
		row_cpu_estimate(rows, row);
		/* Their processes' time is in the total. */
		if (rows_are_of_regions(rows->by) && rows->total.known & ROW_HAS_USAGE)
			continue;
		if (row->cpu.total_ns > most_ns)
			row->cpu.total_ns = most_ns;
		most_ns -= row->cpu.total_ns;
		rows->total.cpu.total_ns += row->cpu.total_ns;
	}
}

void rows_work_finish(struct rows_work *work)
{
	struct resource_rows *rows = work->rows;

	add_estimates(work);
	finish_row(work, &rows->total);
	rows->weights = work->sums.items;
	rows->weight_count = work->sums.count;
	work->sums.items = NULL;
	work->sums.count = work->sums.capacity = 0;
	if (rows->weight_count)
		qsort(rows->weights, rows->weight_count, sizeof(*rows->weights), compare_weights);
	keep_rows(work);
}
