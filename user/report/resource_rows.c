// SPDX-License-Identifier: BSD-2-Clause
/* Joins the kernel's account with what was recorded of the same processes, grouped as asked. */
#include "report/resource_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "process/cgroup_name.h"
#include "profile/stack_table.h"
#include "report/human.h"
#include "report/resource_rows_work.h"

static const char *const by_names[REPORT_BY_COUNT] = {
	[REPORT_BY_PROCESS] = "process",
	[REPORT_BY_THREAD] = "thread",
	[REPORT_BY_CONTAINER] = "container",
	[REPORT_BY_COMM] = "comm",
};

const char *report_grouping_name(enum report_by by)
{
	return (unsigned int)by < REPORT_BY_COUNT ? by_names[by] : "?";
}

bool report_grouping_find(const char *name, enum report_by *ret_by)
{
	for (unsigned int by = 0; by < REPORT_BY_COUNT; by++) {
		if (strcmp(by_names[by], name) == 0) {
			*ret_by = by;
			return true;
		}
	}
	return false;
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
	hash_map_done(&work->weights);
	array_free(&work->sums);
	array_free(&work->functions);
}

/* ---- who ---- */

static void name_container(const struct rows_work *work, uint64_t cgroup_id,
			   struct resource_row *row)
{
	const char *container = resource_usage_container(work->usage, cgroup_id);
	struct cgroup_name name;

	row->cgroup = resource_usage_cgroup(work->usage, cgroup_id);
	if (!row->cgroup)
		return;
	cgroup_name_parse(row->cgroup, &name);
	/* The root is everybody's who is in nothing. */
	if (!name.runtime && !name.unit[0] && !row->cgroup[1] &&
	    work->rows->by != REPORT_BY_CONTAINER)
		return;
	if (container && name.runtime)
		snprintf(name.id, sizeof(name.id), "%s", container);
	cgroup_name_display(&name, row->cgroup, row->container, sizeof(row->container));
}

static uint32_t new_row(struct rows_work *work)
{
	struct resource_row *row = work->items.count < NO_ROW - 1 ? array_add(&work->items) : NULL;

	if (!row)
		return NO_ROW;
	row->number = (uint32_t)(work->items.count - 1);
	row->started_inside = row->ended_inside = true; /* until one is seen that was not */
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		row->stacks[kind].stack = ROW_NO_STACK;
	return (uint32_t)(work->items.count - 1);
}

/* The row of a group with this name. */
static uint32_t named_row(struct rows_work *work, const char *name)
{
	uint32_t string = string_pool_add(work->names, name);
	uint64_t *row;
	bool added;

	if (string == STRING_POOL_NONE)
		return NO_ROW;
	row = hash_map_get(&work->row_of_name, string, work->items.count, &added);
	if (row && added && new_row(work) == NO_ROW)
		return NO_ROW;
	return row ? (uint32_t)*row : NO_ROW;
}

/* The row for one process, thread aside. */
static uint32_t row_for(struct rows_work *work, uint32_t pid, const char *comm, uint64_t cgroup_id)
{
	struct resource_row who = {0};
	uint32_t row;

	name_container(work, cgroup_id, &who);
	switch (work->rows->by) {
	case REPORT_BY_CONTAINER:
		row = named_row(work, who.container[0] ? who.container : "[unknown]");
		break;
	case REPORT_BY_COMM:
		row = named_row(work, comm);
		break;
	default:
		row = new_row(work);
	}
	if (row == NO_ROW)
		return row;
	if (work->rows->by == REPORT_BY_CONTAINER) {
		snprintf(work->items.items[row].container, ROW_CONTAINER_SIZE, "%s",
			 who.container[0] ? who.container : "[unknown]");
		work->items.items[row].cgroup = who.cgroup;
		return row;
	}
	snprintf(work->items.items[row].name, sizeof(work->items.items[row].name), "%s", comm);
	if (work->rows->by != REPORT_BY_COMM) {
		/* Numbers above those of processes stand for nobody in particular. */
		work->items.items[row].pid = pid & PKBPF_PID_WRITEBACK ? 0 : pid;
		memcpy(work->items.items[row].container, who.container, sizeof(who.container));
		work->items.items[row].cgroup = who.cgroup;
	}
	return row;
}

static uint32_t thread_row(struct rows_work *work, uint64_t owner, uint32_t tid,
			   uint32_t process_row, const char *comm)
{
	struct resource_row *row, *process;
	uint64_t *slot;
	bool added;

	slot = hash_map_get(&work->row_of_thread, owner << 32 | tid, work->items.count, &added);
	if (!slot || (added && new_row(work) == NO_ROW))
		return NO_ROW;
	if (!added)
		return (uint32_t)*slot;
	row = &work->items.items[*slot];
	process = &work->items.items[process_row];
	row->pid = process->pid;
	row->tid = tid;
	memcpy(row->container, process->container, sizeof(row->container));
	row->cgroup = process->cgroup;
	snprintf(row->name, sizeof(row->name), "%s", comm);
	return (uint32_t)*slot;
}

static uint64_t lifetime_ns(const struct rows_work *work, uint64_t start_ns, uint64_t end_ns)
{
	const struct profile_info *info = profile_info_read(work->profile);

	if (start_ns < info->start_ns)
		start_ns = info->start_ns;
	if (!end_ns || end_ns > info->end_ns)
		end_ns = info->end_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void add_used(struct resource_row *row, const struct resource_counters *used)
{
	row->known |= ROW_HAS_USAGE;
	row->cpu_ns += used->run_ns;
	row->user_ns += used->user_ns;
	row->system_ns += used->system_ns;
	row->voluntary += used->voluntary_switches;
	row->involuntary += used->involuntary_switches;
	row->runqueue_ns += used->run_delay_ns;
	row->minor_faults += used->minor_faults;
	row->major_faults += used->major_faults;
	row->storage_read_bytes += used->read_bytes;
	row->storage_written_bytes += used->written_bytes;
}

static void add_life(struct resource_row *row, bool started_inside, bool ended_inside,
		     uint64_t life_ns)
{
	row->started_inside = row->started_inside && started_inside;
	row->ended_inside = row->ended_inside && ended_inside;
	if (life_ns > row->lifetime_ns)
		row->lifetime_ns = life_ns;
}

static void add_process(const struct rows_work *work, struct resource_row *row,
			const struct resource_process *process)
{
	row->processes += process->processes;
	row->threads += process->threads;
	row->threads_seen += process->threads_seen;
	add_life(row, process->started_inside, process->end_ns,
		 lifetime_ns(work, process->start_ns, process->end_ns));
	add_used(row, &process->used);
	if (process->peak_rss_bytes > row->peak_rss_bytes)
		row->peak_rss_bytes = process->peak_rss_bytes;
	if (process->rss_known) {
		row->known |= ROW_HAS_RSS;
		row->rss_bytes += process->rss_bytes;
		row->rss_growth_bytes += (int64_t)(process->rss_bytes - process->start_rss_bytes);
		row->own_growth_bytes +=
			process->anonymous_rss_bytes
				? (int64_t)(process->anonymous_rss_bytes -
					    process->start_anonymous_rss_bytes)
				: (int64_t)(process->rss_bytes - process->start_rss_bytes);
	}
}

static int collect_account(struct rows_work *work)
{
	for (size_t i = 0; i < resource_usage_process_count(work->usage); i++) {
		struct resource_process process = resource_usage_process(work->usage, i);
		uint32_t *slot = array_add(&work->row_of_usage);

		if (!slot)
			return -ENOMEM;
		*slot = row_for(work, process.pid, process.comm, process.cgroup_id);
		if (*slot == NO_ROW)
			return -ENOMEM;
		add_process(work, &work->rows->total, &process);
		if (work->rows->by != REPORT_BY_THREAD)
			add_process(work, &work->items.items[*slot], &process);
	}
	if (work->rows->by != REPORT_BY_THREAD)
		return 0;
	for (size_t i = 0; i < resource_usage_thread_count(work->usage); i++) {
		struct resource_thread thread;
		uint32_t number;

		if (!resource_usage_thread(work->usage, i, &thread))
			continue;
		number = thread_row(work, thread.process, thread.tid,
				    work->row_of_usage.items[thread.process], thread.comm);
		if (number == NO_ROW)
			return -ENOMEM;
		work->items.items[number].threads_seen++;
		work->items.items[number].threads += !thread.end_ns;
		add_life(&work->items.items[number], thread.started_inside, thread.end_ns,
			 lifetime_ns(work, thread.start_ns, thread.end_ns));
		add_used(&work->items.items[number], &thread.used);
	}
	return 0;
}

uint32_t rows_work_row(struct rows_work *work, uint32_t id, uint32_t tid)
{
	const struct process *process = process_table_by_id(profile_processes(work->profile), id);
	uint64_t owner = (1ULL << 31) | id;
	uint32_t row = NO_ROW;
	uint64_t *slot;
	size_t index;
	bool added;

	if (process && resource_usage_known(work->usage) &&
	    resource_usage_find(work->usage, process->pid,
				process->start_ns ? process->start_ns : process->end_ns, &index)) {
		owner = index;
		row = work->row_of_usage.items[index];
	} else {
		slot = hash_map_get(&work->row_of_process, id, NO_ROW, &added);
		if (!slot)
			return NO_ROW;
		if (added) {
			row = row_for(work, process ? process->pid : 0,
				      process ? process->comm : "[unknown]",
				      process ? process->cgroup_id : 0);
			if (row == NO_ROW)
				return row;
			*slot = row;
			work->items.items[row].processes++;
			if (process) {
				work->items.items[row].threads += process->thread_count;
				add_life(&work->items.items[row], process->started_inside,
					 process->end_ns,
					 lifetime_ns(work, process->start_ns, process->end_ns));
			}
		}
		row = (uint32_t)*slot;
	}
	if (work->rows->by == REPORT_BY_THREAD && tid)
		row = thread_row(work, owner, tid, row, work->items.items[row].name);
	return row;
}

/* ---- stacks ---- */

static uint32_t function_stack(struct rows_work *work, uint32_t stack)
{
	size_t frame_count, function_count;
	const uint32_t *frames, *functions;
	uint64_t *slot;
	bool added;

	slot = hash_map_get(&work->function_stacks, stack, STACK_TABLE_NONE, &added);
	if (!slot || !added)
		return slot ? (uint32_t)*slot : STACK_TABLE_NONE;
	frames = profile_stack(work->profile, stack, &frame_count);
	work->functions.count = 0;
	for (size_t i = 0; i < frame_count; i++) {
		functions = function_table_frame(work->rows->functions, frames[i], &function_count);
		for (size_t j = 0; j < function_count; j++) {
			uint32_t *item = array_add(&work->functions);

			if (!item)
				return STACK_TABLE_NONE;
			*item = functions[j];
		}
	}
	*slot = stack_table_add(work->rows->stacks, work->functions.items, work->functions.count);
	return (uint32_t)*slot;
}

static int add_stack(struct rows_work *work, uint32_t row, const struct profile_row *from,
		     uint32_t stack)
{
	struct resource_row *into = row == TOTAL ? &work->rows->total : &work->items.items[row];
	struct row_stack *hottest = &into->stacks[from->kind], *sum;
	struct row_weight *item;
	/* Stack ids are dense: 30 bits are more than memory holds. */
	uint64_t key = (uint64_t)row << 32 | (uint64_t)stack << 2 | from->kind, *number;
	bool added;

	number = hash_map_get(&work->weights, key, work->sums.count, &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		item = array_add(&work->sums);
		if (!item)
			return -ENOMEM;
		*item = (struct row_weight){
			.number = row, .kind = from->kind, .stack = {.stack = stack}};
	}
	sum = &work->sums.items[*number].stack;
	sum->weight += from->weight;
	sum->count += from->count;
	if (from->kind == PKBPF_PROFILE_OFFCPU && from->state < PKBPF_WAIT_STATES)
		work->sums.items[*number].state_weight[from->state] += from->weight;
	if (from->max > sum->max)
		sum->max = from->max;
	if (hottest->stack == ROW_NO_STACK || hottest->stack == stack ||
	    sum->weight > hottest->weight)
		*hottest = *sum;
	into->kind_weight[from->kind] += from->weight;
	return 0;
}

static int collect_stacks(struct rows_work *work)
{
	size_t count;
	const struct profile_row *rows = profile_rows(work->profile, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t row, stack;

		if ((unsigned int)rows[i].kind >= PKBPF_PROFILE_KINDS)
			continue;
		row = rows_work_row(work, rows[i].process, rows[i].tid);
		stack = row == NO_ROW ? STACK_TABLE_NONE : function_stack(work, rows[i].stack);
		if (stack == STACK_TABLE_NONE || add_stack(work, row, &rows[i], stack) ||
		    add_stack(work, TOTAL, &rows[i], stack))
			return -ENOMEM;
		if (rows[i].kind == PKBPF_PROFILE_CPU) {
			work->items.items[row].samples += rows[i].count;
			work->rows->total.samples += rows[i].count;
		}
		if (rows[i].kind == PKBPF_PROFILE_FAULTS) {
			work->items.items[row].fault_weight += rows[i].weight;
			work->rows->total.fault_weight += rows[i].weight;
		}
	}
	return 0;
}

/* ---- the end ---- */

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void finish_row(const struct rows_work *work, struct resource_row *row)
{
	const struct profile_info *info = profile_info_read(work->profile);

	if (work->rows->interval_ns)
		row->known |= ROW_HAS_INTERVAL;
	if (info->kinds_mask & 1U << PKBPF_PROFILE_CPU && info->frequency_hz)
		row->known |= ROW_HAS_SAMPLES;
	/* Without the kernel's account samples are what is known of CPU time. */
	if (!resource_usage_known(work->usage) && row->known & ROW_HAS_SAMPLES)
		row->cpu_ns = human_whole((double)row->samples * 1e9 / info->frequency_hz);
	row->cpu_share = 100 * ratio((double)row->cpu_ns, (double)work->rows->interval_ns);
	if (info->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU && row->wall_ns)
		row->known |= ROW_HAS_WAITS;
	if (row->known & ROW_HAS_WAITS && work->rows->by != REPORT_BY_THREAD)
		row->known |= ROW_HAS_WAIT_LENGTHS;
	row->disk_share = 100 * ratio((double)row->disk_ns, (double)row->wall_ns);
	if (info->kinds_mask & 1U << PKBPF_PROFILE_BLOCKIO)
		row->known |= ROW_HAS_BLOCKIO;
	if (info->kinds_mask & 1U << PKBPF_PROFILE_FAULTS)
		row->known |= ROW_HAS_FAULTS;
}

static bool is_quiet(const struct resource_row *row)
{
	bool any = row->cpu_ns || row->voluntary || row->involuntary || row->minor_faults ||
		   row->major_faults || row->storage_read_bytes || row->storage_written_bytes ||
		   row->samples || row->requests || row->on_cpu_ns;

	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		/* A thread that slept all the time has a stack and has done nothing. */
		any = any || (kind != PKBPF_PROFILE_OFFCPU && row->kind_weight[kind]);
	return !any && !row->disk_ns && !row->uninterruptible_ns;
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
	double disk =
		ratio((double)total->disk_ns + (double)total->device_ns, (double)rows->interval_ns);
	double memory =
		ratio((double)machine->memory_bytes - (double)machine->memory_available_bytes,
		      (double)machine->memory_bytes);
	double cpu = rows->busy_percent >= 0 ? rows->busy_percent / 100 : 1;

	row->score =
		(cpu > 0.01 ? cpu : 0.01) * ratio((double)row->cpu_ns, (double)total->cpu_ns) +
		(disk < 1 ? disk : 1) * ratio((double)row->disk_ns + (double)row->device_ns,
					      (double)total->disk_ns + (double)total->device_ns) +
		/* Memory that is merely held hurts nobody until little is left. */
		(memory > 0.9 ? memory : 0) *
			ratio((double)row->rss_bytes, (double)total->rss_bytes);
}

static int compare_rows(const void *left, const void *right)
{
	const struct resource_row *a = left, *b = right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->wall_ns != b->wall_ns)
		return a->wall_ns > b->wall_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return strcmp(a->container, b->container) ? strcmp(a->container, b->container)
						  : strcmp(a->name, b->name);
}

static void finish_rows(struct rows_work *work)
{
	struct resource_rows *rows = work->rows;
	size_t kept = 0;

	finish_row(work, &rows->total);
	array_foreach (&work->items, row) {
		finish_row(work, row);
		/* With threads, rows of processes hold only what is known of no thread. */
		if (is_quiet(row)) {
			rows->quiet_processes +=
				rows->by == REPORT_BY_THREAD ? row->threads_seen : row->processes;
			continue;
		}
		score_row(rows, row);
		work->items.items[kept++] = *row;
	}
	rows->weights = work->sums.items;
	rows->weight_count = work->sums.count;
	work->sums.items = NULL;
	work->sums.count = work->sums.capacity = 0;
	rows->items = work->items.items;
	rows->count = kept;
	work->items.items = NULL;
	work->items.count = work->items.capacity = 0;
	if (kept)
		qsort(rows->items, kept, sizeof(*rows->items), compare_rows);
}

/*
 * What is neither idle nor stolen. Kernels that stop the tick on idle CPUs know to the nanosecond
 * how long those were idle, but busy only in whole ticks, which miss what runs between two of them:
 * up to a fifth on a machine that is awake for moments only.
 */
static void measure_busy(struct resource_rows *rows, uint32_t cpu_count)
{
	struct resource_machine *machine = &rows->machine;
	uint64_t all_ns = machine->elapsed_ns * cpu_count;

	if (all_ns > machine->idle_ns + machine->steal_ns + machine->busy_ns)
		machine->busy_ns = all_ns - machine->idle_ns - machine->steal_ns;
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
	if (rows->machine.known &&
	    rows->machine.busy_ns + rows->machine.idle_ns + rows->machine.steal_ns)
		rows->busy_percent =
			100 * ratio((double)rows->machine.busy_ns,
				    (double)rows->machine.busy_ns + (double)rows->machine.idle_ns +
					    (double)rows->machine.steal_ns);
}

int resource_rows_init(struct resource_rows *rows, const struct profile *profile, enum report_by by)
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
		err = collect_account(&work);
	err = err ? err : rows_work_add_distributions(&work);
	err = err ? err : collect_stacks(&work);
	if (err) {
		resource_rows_done(rows);
		return err;
	}
	finish_rows(&work);
	return 0;
}

void resource_rows_done(struct resource_rows *rows)
{
	free(rows->items);
	free(rows->weights);
	function_table_free(rows->functions);
	stack_table_free(rows->stacks);
	*rows = (struct resource_rows){0};
}

const uint32_t *resource_rows_stack(const struct resource_rows *rows, uint32_t stack,
				    size_t *ret_count)
{
	return stack_table_get(rows->stacks, stack, ret_count);
}
